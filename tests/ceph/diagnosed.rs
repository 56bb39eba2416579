//! Ceph is broken in every way that `blackstart diagnose` knows, and it says so.

use std::mem::ManuallyDrop;

use crate::{
    FIRST, LAST,
    bench::Bench,
    case::{Case, Deed},
    storage::await_health,
    support::{Check, Cluster, TestLab},
};

pub(crate) const CHECKS: &[Check] = &[("whoever breaks Ceph is told what they did", told)];

const CASES: &[Case] = &[
    Case {
        name: "monitor stopped",
        machine: LAST,
        provoke: Deed::Sh("systemctl stop ceph-mon@master-03"),
        codes: &["BS-DIAG-070"],
        tells: "ceph-mon@master-03.service is inactive (dead): somebody stopped it",
        mend: Deed::Sh("systemctl start ceph-mon@master-03"),
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
        tells: "port 3300 is held by `socat`",
        mend: Deed::Sh(
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
        tells: "/var/lib/ceph/mgr/ceph-master-03/keyring",
        mend: Deed::Sh(
            "mv /run/kept-keyring /var/lib/ceph/mgr/ceph-master-03/keyring
             systemctl reset-failed ceph-mgr@master-03; systemctl restart ceph-mgr@master-03",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "OSDs nearly full",
        provoke: Deed::Sh("ceph osd set-nearfull-ratio 0.0001"),
        codes: &["BS-DIAG-076"],
        tells: "OSD_NEARFULL",
        mend: Deed::Sh("ceph osd set-nearfull-ratio 0.85"),
        ..Case::PLAIN
    },
    Case {
        name: "clocks that differ by more than is allowed",
        provoke: Deed::Sh(
            "ceph config set mon mon_clock_drift_allowed 0.0000001
             ceph config set mon mon_timecheck_interval 2; ceph config set mon mon_timecheck_skew_interval 2
             systemctl restart ceph-mon@master-01",
        ),
        codes: &["BS-DIAG-075"],
        tells: "MON_CLOCK_SKEW",
        mend: Deed::Sh(
            "for setting in mon_clock_drift_allowed mon_timecheck_interval mon_timecheck_skew_interval; do
               ceph config rm mon $setting
             done; systemctl restart ceph-mon@master-01",
        ),
        ..Case::PLAIN
    },
    Case {
        name: "two of three monitors stopped",
        provoke: Deed::By(|bench| {
            for other in ["master-02", "master-03"] {
                bench.sh(other, &format!("systemctl stop ceph-mon@{other}"));
            }
        }),
        codes: &["BS-DIAG-074"],
        tells: "1 of 3 monitors answer on port 3300, 2 are needed; silent: master-02, master-03",
        mend: Deed::By(|bench| {
            for other in ["master-02", "master-03"] {
                bench.sh(other, &format!("systemctl start ceph-mon@{other}"));
            }
        }),
        ..Case::PLAIN
    },
];

fn told(cluster: &Cluster) {
    let bench = Bench { lab: ManuallyDrop::new(TestLab { name: cluster.lab.name.clone() }), is_borrowed: true };
    let wanted = std::env::var("BLACKSTART_CASES").unwrap_or_default();
    let mut failed = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(&wanted)) {
        let ended = case.run(&bench);
        eprintln!("  {} {}", if ended.is_ok() { "told" } else { "FAILED" }, case.name);
        failed.extend(ended.err().map(|why| format!("{}: {why}", case.name)));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    await_health(cluster);
    assert!(bench.ask(FIRST, "").is_well());
}
