//! Ceph is broken in every way that `blackstart diagnose` knows, and it says so.

use std::mem::ManuallyDrop;

use serde_json::Value;

use crate::{
    FIRST, LAST, MACHINES,
    bench::{Answer, Bench},
    case::{Case, Deed},
    cases::is_turn,
    storage::await_health,
    support::{Check, Cluster, TestLab, eventually, run},
};

pub(crate) const CHECKS: &[Check] = &[("what breaks Ceph is diagnosed", diagnosed)];

const CASES: &[Case] = &[
    Case {
        name: "monitor stopped",
        machine: LAST,
        provoke: Deed::By(|bench| {
            bench.sh(LAST, "systemctl stop ceph-mon@master-03");
            await_status(bench, 1, |status| status["monitors"]["missing"] == Value::from(vec![LAST]));
        }),
        codes: &["BS-DIAG-070"],
        evidence: "ceph-mon@master-03.service is inactive (dead): it was stopped by hand",
        fix: Deed::Sh("systemctl start ceph-mon@master-03"),
        ..Case::PLAIN
    },
    Case {
        name: "port of the monitor held by another program",
        machine: LAST,
        provoke: Deed::Sh(
            "systemctl stop ceph-mon@master-03
             systemd-run --quiet --unit=squatter socat TCP-LISTEN:3300,reuseaddr,fork EXEC:cat
             until ss -Hltn 'sport = :3300' | grep -q .; do sleep 0.1; done
             systemctl start ceph-mon@master-03",
        ),
        codes: &["BS-DIAG-072"],
        evidence: "port 3300 is held by `socat`",
        fix: Deed::Sh(
            "systemctl stop squatter; systemctl reset-failed ceph-mon@master-03; systemctl restart ceph-mon@master-03",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "key of the manager exchanged",
        machine: LAST,
        provoke: Deed::Sh(
            "cp -a /var/lib/ceph/mgr/ceph-master-03/keyring /run/kept-keyring
             ceph-authtool /var/lib/ceph/mgr/ceph-master-03/keyring --name mgr.master-03 --gen-key
             systemctl restart ceph-mgr@master-03",
        ),
        codes: &["BS-DIAG-073"],
        evidence: "/var/lib/ceph/mgr/ceph-master-03/keyring",
        fix: Deed::Sh(
            "mv /run/kept-keyring /var/lib/ceph/mgr/ceph-master-03/keyring
             systemctl reset-failed ceph-mgr@master-03; systemctl restart ceph-mgr@master-03",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "OSDs nearly full",
        provoke: Deed::Sh("ceph osd set-nearfull-ratio 0.0001"),
        codes: &["BS-DIAG-076"],
        evidence: "OSD_NEARFULL",
        fix: Deed::Sh("ceph osd set-nearfull-ratio 0.85"),
        ..Case::PLAIN
    },
    Case {
        name: "a monitor with a clock of its own",
        provoke: Deed::By(set_clock_ahead),
        codes: &["BS-DIAG-075"],
        evidence: "clock skew detected on mon.master-03",
        fix: Deed::By(|bench| {
            bench.sh(LAST, &format!("rm {CLOCK_SETTINGS}"));
            restart_monitor(bench);
        }),
        ..Case::PLAIN
    },
    Case {
        name: "two of three monitors stopped",
        provoke: Deed::By(|bench| {
            for other in ["master-02", "master-03"] {
                bench.sh(other, &format!("systemctl stop ceph-mon@{other}"));
            }
            await_status(bench, 3, |status| status["answers"] == false);
        }),
        codes: &["BS-DIAG-074"],
        evidence: "1 of 3 monitors answer on port 3300, 2 are needed; silent: master-02, master-03",
        fix: Deed::By(|bench| {
            for other in ["master-02", "master-03"] {
                bench.sh(other, &format!("systemctl start ceph-mon@{other}"));
            }
        }),
        ..Case::PLAIN
    },
];

const CLOCK_SETTINGS: &str = "/run/systemd/system/ceph-mon@master-03.service.d/clock.conf";

/// Of one monitor: it is given a library that answers when it asks for the time.
fn set_clock_ahead(bench: &Bench) {
    let dir = tempfile::tempdir().unwrap();
    let library = dir.path().join("ahead.so").display().to_string();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ceph/clock_ahead.c");
    run("cc", &["-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", &library, source]).ok();
    let library = std::fs::read(library).unwrap();
    bench.lab.feed("exec", &[LAST, "--", "sh", "-c", "umask 022; cat > /run/ahead.so"], &library).ok();
    let settings = "[Service]\\nEnvironment=LD_PRELOAD=/run/ahead.so\\n";
    bench.sh(LAST, &format!("mkdir -p $(dirname {CLOCK_SETTINGS}); printf '{settings}' > {CLOCK_SETTINGS}"));
    restart_monitor(bench);
}

/// Waits until `ceph status` ends with this code, and shows what it should.
fn await_status(bench: &Bench, code: i32, is_shown: impl Fn(&Value) -> bool) {
    eventually(&format!("`ceph status` ends with {code}"), || {
        let output =
            bench.lab.run("exec", &[FIRST, "--", "timeout", "30", "blackstart", "ceph", "status", "-o", "json"]);
        output.code == Some(code) && is_shown(&serde_json::from_str(&output.out).unwrap_or_default())
    });
}

/// As often as wanted: systemd would let it start five times in half an hour.
fn restart_monitor(bench: &Bench) {
    let unit = "ceph-mon@master-03";
    bench.sh(LAST, &format!("systemctl daemon-reload; systemctl reset-failed {unit}; systemctl restart {unit}"));
}

fn diagnosed(cluster: &Cluster) {
    let bench = Bench { lab: ManuallyDrop::new(TestLab { name: cluster.lab.name.clone() }), is_borrowed: true };
    for machine in MACHINES {
        let answer = bench.ask_until(machine, "", Answer::is_well);
        assert!(answer.is_well(), "{machine} before anything is broken: {answer}");
    }
    let wanted = std::env::var("BLACKSTART_CASES").unwrap_or_default();
    let mut failed = Vec::new();
    // Half of them, unless more are asked for.
    let of_the_seed = CASES.iter().enumerate().filter(|(at, _)| !wanted.is_empty() || is_turn(*at as u64 % 2, 2));
    for (_, case) in of_the_seed.filter(|(_, case)| case.name.contains(&wanted)) {
        let ended = case.run(&bench);
        eprintln!("  {} {}", if ended.is_ok() { "diagnosed" } else { "FAILED" }, case.name);
        failed.extend(ended.err().map(|why| format!("{}: {why}", case.name)));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    await_health(cluster);
    assert!(bench.ask(FIRST, "").is_well());
}
