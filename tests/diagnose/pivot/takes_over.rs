//! Masters that wait for their bootstrap node, and a hand-over that is cut off in the middle.

use super::{BOOTSTRAP, Stage, holds::IGNITED_OLD};
use crate::{
    case::{Case, Deed, Expected, MASTER},
    masters::NAMES,
};

/// On a master that was switched on while its bootstrap node stands still.
pub(crate) const AWAITS: &[Case] = &[
    Case {
        name: "master waits: bootstrap node silent",
        provoke: Deed::By(|bench| {
            bench.lab.run("pause", &[BOOTSTRAP]).ok();
            let dir = bench.lab.dir().join("sealed").join(MASTER).display().to_string();
            bench.lab.run("cp", &[&dir, &format!("{MASTER}:/root")]).ok();
            bench.sh(MASTER, &format!("blackstart node install --now --config /root/{MASTER} >/dev/null"));
        }),
        codes: &["BS-DIAG-092"],
        evidence: "this master waits for bootstrap",
        stays: true,
        ..Case::PLAIN
    },
    Case {
        name: "master waits: Ignition config too old",
        provoke: Deed::Sh(IGNITED_OLD),
        codes: &["BS-IGN-010"],
        evidence: "ended on 2025-02-01",
        fix: Deed::By(|bench| {
            bench.sh(MASTER, "rm /etc/blackstart/ignition.json /etc/.ignition-result.json");
            bench.lab.run("resume", &[BOOTSTRAP]).ok();
        }),
        ..Case::PLAIN
    },
];

/// The hand-over has ended with its process, between the API and etcd.
pub(crate) const CUT_OFF: &[Case] = &[
    Case {
        name: "hand-over cut off",
        machine: BOOTSTRAP,
        codes: &["BS-DIAG-085"],
        evidence: "the hand-over was cut off",
        elsewhere: &[Expected {
            machine: MASTER,
            codes: &[],
            warnings: &["BS-DIAG-086"],
            evidence: "still leads etcd",
        }],
        stays: true,
        ..Case::PLAIN
    },
    Case {
        name: "bootstrap node dead in its hand-over",
        provoke: Deed::By(|bench| drop(bench.lab.run("pause", &[BOOTSTRAP]).ok())),
        warnings: &["BS-DIAG-087", "BS-DIAG-090"],
        evidence: "3 of 4 voters healthy, 3 needed): one more failure stops etcd",
        fix: Deed::By(|bench| drop(bench.lab.run("resume", &[BOOTSTRAP]).ok())),
        ..Case::PLAIN
    },
];

/// Brings the masters up, with a bootstrap node that is killed when it has given up its API.
pub(crate) fn cut_off(stage: &Stage) {
    let dir = "/run/systemd/system/cluster-bootstrap.service.d";
    let fault = "[Service]\\nEnvironment=BLACKSTART_FAULT=api-released:ended:kill\\nRestart=no\\n";
    let line = format!(
        "mkdir -p {dir}; printf '{fault}' > {dir}/fault.conf; systemctl daemon-reload; systemctl restart --no-block cluster-bootstrap"
    );
    stage.bench.sh(BOOTSTRAP, &line);
    for master in &NAMES[1..] {
        stage.install(master);
    }
    stage.await_sh("the hand-over was cut off", BOOTSTRAP, "test -e /run/blackstart-fault");
}

/// Lets the hand-over go on to its end; nothing is wrong on any machine then.
pub(crate) fn goes_on(stage: &Stage) {
    stage.bench.sh(
        BOOTSTRAP,
        "rm -r /run/systemd/system/cluster-bootstrap.service.d; systemctl daemon-reload; systemctl start --no-block cluster-bootstrap",
    );
    stage.await_sh(
        "the bootstrap node is retired",
        BOOTSTRAP,
        "! test -e /etc/kubernetes && ! systemctl is-active kubelet",
    );
    let left = ["BS-DIAG-086", "BS-DIAG-087", "BS-DIAG-088", "BS-DIAG-089", "BS-DIAG-090", "BS-DIAG-091"];
    for machine in [BOOTSTRAP].iter().chain(&NAMES) {
        let is_clean = |answer: &crate::bench::Answer| {
            answer.is_well() && !left.iter().any(|code| answer.codes("warnings").contains(*code))
        };
        let answer = stage.bench.ask_until(machine, "", is_clean);
        assert!(is_clean(&answer), "{machine} after the hand-over: {answer}");
    }
}
