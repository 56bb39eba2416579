//! The ways in which a machine is disturbed while the masters take over. To add one: an [`Ending`], its line in [`all`], and what is done
//! in `strike`.

use std::fmt;

use crate::{BOOTSTRAP, MASTERS};

/// The steps of the bootstrap node that others can notice, in their order. Those before `masters-present` come before there is a
/// master, those from `etcd-scaled` on when the masters have a majority in etcd without it.
const STEPS: &[&str] = &[
    "split-brain-guard",
    "cluster-keys",
    "pki",
    "kubelet",
    "etcd-pod",
    "kube-apiserver-pod",
    "api-ready",
    "roles",
    "cluster-operators",
    "node-ready",
    "masters-present",
    "etcd-announced",
    "etcd-scaled",
    "masters-ready",
    "hand-over",
    "controllers-released",
    "api-released",
    "etcd-left",
    "bootstrap-complete",
    "node-retired",
    "keys-erased",
];
/// The steps of a master in which it changes something that others count with.
const STEPS_OF_A_MASTER: &[&str] = &[
    "split-brain-guard",
    "cluster-keys",
    "pki",
    "etcd-join",
    "etcd",
    "etcd-vote",
    "kube-apiserver",
    "api-ready",
    "kubelet",
    "node-ready",
    "kube-controller-manager",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Kill,
    PowerLoss,
    /// The power is cut, and the machine comes back with an empty disk.
    LostDisk,
    /// The power is cut for good; a master removes it.
    Dead,
    /// It goes on, and for a while none of the others sees it.
    CutOff,
    /// The power is cut while a master is a learner, and the machine comes back with an empty disk.
    LostBeforeVotes,
}

/// Which machine is ended, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) machine: &'static str,
    /// After which step; empty where the ending says it.
    pub(crate) step: &'static str,
    pub(crate) ending: Ending,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match self.ending {
            Ending::Kill => "SIGKILL",
            Ending::PowerLoss => "power loss",
            Ending::LostDisk => "disk lost",
            Ending::Dead => "dead for good",
            Ending::CutOff => "cut off",
            Ending::LostBeforeVotes => "disk lost while a master is a learner",
        };
        match self.step {
            "" => write!(f, "{}: {ending}", self.machine),
            step => write!(f, "{}: {step} ended, {ending}", self.machine),
        }
    }
}

pub(crate) fn all() -> Vec<Case> {
    let at = |name: &str| STEPS.iter().position(|step| *step == name).unwrap();
    let joins = STEPS_OF_A_MASTER.iter().position(|step| *step == "etcd-join").unwrap();
    let on = |machine, ending, steps: &[&'static str]| -> Vec<Case> {
        steps.iter().map(|step| Case { machine, step, ending }).collect()
    };
    [
        on(BOOTSTRAP, Ending::Kill, STEPS),
        on(BOOTSTRAP, Ending::PowerLoss, STEPS),
        on(BOOTSTRAP, Ending::LostDisk, &STEPS[..at("masters-present")]),
        on(BOOTSTRAP, Ending::Dead, &STEPS[at("etcd-scaled")..at("node-retired")]),
        on(MASTERS[1], Ending::Kill, STEPS_OF_A_MASTER),
        on(MASTERS[1], Ending::PowerLoss, STEPS_OF_A_MASTER),
        on(BOOTSTRAP, Ending::CutOff, &STEPS[at("masters-present")..at("bootstrap-complete")]),
        on(MASTERS[1], Ending::CutOff, &STEPS_OF_A_MASTER[joins..]),
        on(BOOTSTRAP, Ending::LostBeforeVotes, &[""]),
    ]
    .concat()
}
