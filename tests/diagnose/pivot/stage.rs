//! The lab of a bootstrap node and its masters, as far as it has been brought.

use std::{mem::ManuallyDrop, path::Path};

use super::is_full;
use crate::{
    bench::{Answer, Bench},
    common::{PROGRAM, TestLab, eventually, run},
};

pub(crate) const BOOTSTRAP: &str = "bootstrap";

/// What a bootstrap node is warned of as long as there are no masters.
pub(crate) const AWAITED: &str = "BS-DIAG-084";

/// Machines of `examples/pivot`.
pub(crate) struct Stage {
    pub(crate) bench: Bench,
}

impl Stage {
    /// A bootstrap node that waits for its masters, and nothing is wrong with it: in the lab that the variable names, or in one of its own.
    pub(crate) fn waiting_for_masters(variable: &str) -> Self {
        let borrowed = std::env::var(variable).ok();
        let is_borrowed = borrowed.is_some();
        let lab = borrowed.map_or_else(TestLab::unmade, |name| TestLab { name });
        let stage = Self { bench: Bench { lab: ManuallyDrop::new(lab), is_borrowed } };
        if stage.bench.try_sh(BOOTSTRAP, "test -e /var/lib/cluster-state").is_err() {
            let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pivot");
            stage.bench.lab.run("up", &["--machines-only", "--config", &config.display().to_string()]).ok();
            let [config, out] = ["config", "sealed"].map(|name| stage.bench.lab.dir().join(name).display().to_string());
            run(PROGRAM, &["config", "seal", &config, "--out", &out]).ok();
            stage.install(BOOTSTRAP);
        }
        let is_waiting = |answer: &Answer| answer.is_well() && answer.codes("warnings").contains(AWAITED);
        let answer = stage.bench.ask_until(BOOTSTRAP, "", is_waiting);
        assert!(is_waiting(&answer), "the bootstrap node before anything is broken: {answer}");
        assert!(answer.evidence().contains("no answer from master-01, master-02, master-03") || is_full(), "{answer}");
        stage
    }

    /// `node install --now` with a machine's sealed directory.
    pub(crate) fn install(&self, machine: &str) {
        let dir = self.bench.lab.dir().join("sealed").join(machine).display().to_string();
        self.bench.lab.run("cp", &[&dir, &format!("{machine}:/root")]).ok();
        let line =
            format!("blackstart node install --now --config /root/{machine} >/dev/null && rm -rf /root/{machine}");
        self.bench.sh(machine, &line);
    }

    /// Waits until a line of shell ends well on a machine.
    pub(crate) fn await_sh(&self, what: &str, machine: &str, line: &str) {
        eventually(what, || self.bench.try_sh(machine, line).is_ok());
    }
}
