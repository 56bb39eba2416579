//! The door to the machine: everything that touches the outside goes through here.
//!
//! A [`Host`] is a bundle of small capabilities, each behind a trait so that a test can take its place: the [`Disk`]
//! (files and directories, down to `fsync`) and the [`Clock`]. [`Change`] is a change to the machine as data: it can be
//! shown in a dry run, applied, and undone.

mod atomic;
mod capabilities;
mod change;
mod clock;
pub mod codes;
mod command;
pub mod disk;
mod error;
mod facts;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

pub use atomic::{create_dir_all, remove_dir_if_empty, remove_file, set_dir_mode, write_atomic};
pub use capabilities::Capabilities;
pub use change::{Change, Content};
pub use clock::{Clock, FixedClock, SystemClock};
pub use command::{Cmd, CommandError, Commands, Printed, RealCommands, Running};
pub use disk::{Disk, Kind, Meta, RealDisk};
pub use error::HostError;
pub use facts::{Facts, Interface};
use tokio::sync::mpsc::UnboundedSender;

/// The machine a playbook works on.
#[derive(Clone)]
pub struct Host {
    /// Files and directories.
    pub disk: Arc<dyn Disk>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Commands of the outside.
    pub commands: Arc<dyn Commands>,
    /// True if this is the machine that runs the program, booted by systemd; false for an image.
    pub is_live: bool,
    /// Gets what a long change is doing right now; none by default.
    pub listener: Option<UnboundedSender<String>>,
}

impl Host {
    /// This machine.
    pub fn real() -> Self {
        Self::rooted("/")
    }

    /// A directory that stands for a machine's `/`: an image being built, or a test.
    pub fn rooted(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            is_live: root == Path::new("/") && Path::new("/run/systemd/system").is_dir(),
            disk: Arc::new(RealDisk::new(root)),
            clock: Arc::new(SystemClock),
            commands: Arc::new(RealCommands),
            listener: None,
        }
    }

    /// Says what is being done within a change that takes long: "compiling etcd".
    pub fn doing(&self, what: impl Into<String>) {
        if let Some(listener) = &self.listener {
            // A listener that has gone away does not want to hear it.
            let _ = listener.send(what.into());
        }
    }
}
