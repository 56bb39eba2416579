//! A process of the control plane, described once: what it runs, what it reads and writes, and who answers that it is well.
//!
//! ```text
//! Process ─► Process::unit         ─► Unit ─► Service          on masters
//!         ─► Process::static_pod   ─► RenderedFile             where a kubelet keeps it running
//! ```

use std::path::PathBuf;

use crate::{
    service::RenderedFile,
    unit::{Command, Unit},
};

/// What both forms have in common.
#[derive(Debug, Clone)]
pub struct Process {
    /// Of the program, the unit and the pod.
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) documentation: &'static str,
    pub(crate) command: Command,
    /// Files that belong to it alone.
    pub(crate) files: Vec<RenderedFile>,
    /// Directories and files of the machine that it reads.
    pub(crate) reads: Vec<&'static str>,
    /// Directories of the machine that it writes to; they are made where they are missing.
    pub(crate) writes: Vec<&'static str>,
    /// Files without which a kubelet does not start it.
    pub(crate) needs: Vec<PathBuf>,
    pub(crate) health: Health,
    /// Variables that people need who work inside of its container.
    pub(crate) environment: Vec<(&'static str, String)>,
}

/// Where it answers on the machine itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Health {
    pub(crate) scheme: &'static str,
    pub(crate) port: u16,
    /// Does it live? What says no is started again.
    pub(crate) live: &'static str,
    /// Can it be used?
    pub(crate) ready: &'static str,
}

impl Process {
    /// As a unit that is started with the machine, to which a service adds what is its own.
    pub(crate) fn unit(&self, name: &'static str) -> Unit {
        Unit::new(name, self.description).unit("Documentation", self.documentation)
    }

    /// What systemd runs, and how it is kept running: behind what a service adds of its own.
    pub(crate) fn kept_running(&self, unit: Unit) -> Unit {
        unit.exec(&self.command).restarted("2s").service("OOMScoreAdjust", -997).confined()
    }

    /// Of the program, the unit and the pod.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The files that it reads and that belong to no other process.
    pub fn files(&self) -> &[RenderedFile] {
        &self.files
    }
}
