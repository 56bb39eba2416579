//! What every door does, whoever opens it: program and units in place, and the unit runs.

use std::{
    io,
    path::{Path, PathBuf},
};

use host::{Cmd, Host, HostError};
use nodekit::from_pod::{ask, is_running_by};

use super::{DoorError, put::Put};
use crate::paths;

pub(super) struct Opener {
    node: String,
    /// The node's file system.
    host: Host,
    /// The node's own.
    systemctl: fn() -> Cmd,
    put: Put,
}

impl Opener {
    pub(super) fn new(node: &str, host: Host, systemctl: fn() -> Cmd, program: &Path) -> Self {
        Self { node: node.to_owned(), host, systemctl, put: Put::new(program) }
    }

    /// Puts program and units in place.
    pub(super) async fn put(&mut self) -> Result<(), DoorError> {
        let (mut put, host, node) = (self.put.clone(), self.host.clone(), self.node.clone());
        // The program is large, and the agent has more to do meanwhile.
        let putting = tokio::task::spawn_blocking(move || {
            let wrote = put.put(&host, &node);
            (put, wrote)
        });
        let (put, wrote) = putting.await.map_err(cut_off)?;
        self.put = put;
        if wrote? {
            self.systemctl(&["daemon-reload"]).await?;
        }
        Ok(())
    }

    /// Starts the unit, unless it runs.
    pub(super) async fn start(&self) -> Result<(), DoorError> {
        if is_running_by(&*self.host.commands, (self.systemctl)(), paths::UNIT).await.map_err(DoorError::Systemd)? {
            return Ok(());
        }
        self.systemctl(&["enable", "--quiet", paths::UNIT, paths::BOOT_UNIT]).await?;
        self.systemctl(&["start", paths::UNIT]).await?;
        tracing::info!("started {} on the node", paths::UNIT);
        Ok(())
    }

    async fn systemctl(&self, arguments: &[&str]) -> Result<(), DoorError> {
        let command = (self.systemctl)().args(arguments.iter().copied());
        ask(&*self.host.commands, &command).await.map_err(DoorError::Systemd)?;
        Ok(())
    }
}

fn cut_off(error: tokio::task::JoinError) -> DoorError {
    let path = PathBuf::from(paths::PROGRAM);
    let source = HostError { doing: "write", path: path.clone(), source: io::Error::other(error) };
    DoorError::NotPut { path, source }
}
