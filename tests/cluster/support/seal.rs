//! Machines that have booted and become nodes one by one, with sealed directories, as on metal.

use std::path::PathBuf;

use super::{Cluster, CommandOutput, PROGRAM, TestLab, run};

/// Where a node looks for its configuration.
const CONFIG: &str = "/etc/cluster-config";

impl Cluster {
    /// Machines that are nothing yet, and a sealed directory for each of them.
    pub(crate) fn sealed(masters: u8, workers: u8) -> Self {
        Self::seal(TestLab::with(masters, workers))
    }

    /// A sealed directory for each machine of a lab.
    pub(crate) fn seal(lab: TestLab) -> Self {
        let [config, out] = ["config", "sealed"].map(|name| lab.dir().join(name).display().to_string());
        run(PROGRAM, &["config", "seal", &config, "--out", &out]).ok();
        Self { lab }
    }

    /// The sealed directory of a node.
    pub(crate) fn sealed_dir(&self, node: &str) -> PathBuf {
        self.lab.dir().join("sealed").join(node)
    }

    /// Brings a directory of this computer to a machine, in place of what it had.
    pub(crate) fn bring(&self, dir: &std::path::Path, machine: &str) {
        self.lab.run("cp", &[&dir.display().to_string(), &format!("{machine}:/root")]).ok();
        let name = dir.file_name().unwrap().to_string_lossy();
        self.sh(machine, &format!("rm -rf {CONFIG} && mv /root/{name} {CONFIG} && chown -R root:root {CONFIG}"));
    }

    /// `node install --now` with a directory of this computer.
    pub(crate) fn install(&self, dir: &std::path::Path, machine: &str) -> String {
        self.lab.run("cp", &[&dir.display().to_string(), &format!("{machine}:/root")]).ok();
        let name = dir.file_name().unwrap().to_string_lossy();
        self.sh(machine, &format!("blackstart node install --now --config /root/{name} && rm -rf /root/{name}"))
    }

    /// `node up` on a machine, to its end.
    pub(crate) fn node_up(&self, machine: &str, arguments: &str) -> CommandOutput {
        self.try_sh(machine, &format!("blackstart node up {arguments}"))
    }
}
