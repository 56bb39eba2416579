//! NetworkManager, through its own command.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use engine::StepError;
use host::{Cmd, CommandError, Host};
use tokio::time::{Instant, sleep};

use crate::codes;

/// Seconds until an activation counts as failed. Duplicate addresses are looked for in this time.
const DEADLINE: &str = "10";
/// How long an interface may take to change its state.
const STABLE_WITHIN: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(100);

/// A profile in use.
#[derive(Debug, PartialEq, Eq)]
pub struct Active {
    /// By which NetworkManager knows it.
    pub uuid: String,
    /// Where NetworkManager has it from; the file need not be there any more.
    pub file: PathBuf,
}

/// NetworkManager of a machine that runs.
pub struct Manager<'a> {
    host: &'a Host,
}

impl<'a> Manager<'a> {
    /// That of this machine.
    pub fn new(host: &'a Host) -> Self {
        Self { host }
    }

    /// The profile that is active on an interface.
    pub async fn active(&self, interface: &str) -> Result<Option<Active>, StepError> {
        let table = self.run(["-g", "UUID,FILENAME,DEVICE", "connection", "show", "--active"]).await?;
        Ok(active(&table, interface))
    }

    /// Waits until an interface is connected or has given up. One that takes longer is taken as it is.
    pub async fn wait_until_stable(&self, interface: &str) -> Result<(), StepError> {
        let until = Instant::now() + STABLE_WITHIN;
        while is_changing(&self.run(["-g", "GENERAL.STATE", "device", "show", interface]).await?)
            && Instant::now() < until
        {
            sleep(POLL).await;
        }
        Ok(())
    }

    /// Waits until no interface is on its way to something else. Those that take longer are taken as they are.
    pub async fn wait_until_all_stable(&self) -> Result<(), StepError> {
        let until = Instant::now() + STABLE_WITHIN;
        while self.run(["-g", "STATE", "device"]).await?.lines().any(is_on_its_way) && Instant::now() < until {
            sleep(POLL).await;
        }
        Ok(())
    }

    /// Reads one profile's file.
    pub async fn load(&self, profile: &Path) -> Result<(), StepError> {
        self.run(["connection", "load", &profile.to_string_lossy()]).await.map(drop)
    }

    /// Activates a profile and waits until it is.
    pub async fn up(&self, uuid: &str, interface: &str) -> Result<(), StepError> {
        self.run(["-w", DEADLINE, "connection", "up", "uuid", uuid, "ifname", interface]).await.map(drop)
    }

    /// Reads all profiles' files again. One whose file is gone is no longer active, and the next best takes over.
    pub async fn reload_connections(&self) -> Result<(), StepError> {
        self.run(["connection", "reload"]).await.map(drop)
    }

    /// Reads its settings again.
    pub async fn reload_settings(&self) -> Result<(), StepError> {
        self.run(["general", "reload", "conf"]).await.map(drop)
    }

    async fn run<const N: usize>(&self, arguments: [&str; N]) -> Result<String, StepError> {
        let command = Cmd::new("nmcli").args(arguments).env("LC_ALL", "C");
        Ok(self.host.commands.run(&command).await.map_err(refused)?.stdout)
    }
}

/// `UUID:FILE:INTERFACE`, one per line. A file's name with a colon has it escaped, and is none of ours.
fn active(table: &str, interface: &str) -> Option<Active> {
    table.lines().find_map(|line| match line.split(':').collect::<Vec<_>>().as_slice() {
        [uuid, file, device] if *device == interface => Some(Active { uuid: (*uuid).into(), file: file.into() }),
        _ => None,
    })
}

/// `70 (connecting (getting IP configuration))`: above 30 (disconnected) and not 100 (connected).
fn is_changing(state: &str) -> bool {
    let number: Option<u32> = state.split_whitespace().next().and_then(|number| number.parse().ok());
    number.is_some_and(|number| number > 30 && number != 100)
}

/// `connecting (getting IP configuration)`, `deactivating`.
fn is_on_its_way(state: &str) -> bool {
    state.starts_with("connecting") || state.starts_with("deactivating")
}

/// NetworkManager may be about to start: another attempt can help.
pub(super) fn refused(error: CommandError) -> StepError {
    match error {
        CommandError::Failed { command, output, .. } => {
            StepError::new(codes::NO_NETWORK_MANAGER, format!("`{command}` failed: {output}")).retryable()
        }
        CommandError::NotStarted { .. } => StepError::from_explained(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_of_an_interface() {
        let table = "1307dd06:/etc/NetworkManager/system-connections/lab.nmconnection:eth0\n\
                     b3454b5c:/run/NetworkManager/system-connections/lo.nmconnection:lo\n";
        assert_eq!(active(table, "lo").unwrap().uuid, "b3454b5c");
        assert!(active(table, "eth0").unwrap().file.starts_with("/etc"));
        assert_eq!(active(table, "eth1"), None);
        assert_eq!(active("", "eth0"), None);
    }

    #[test]
    fn an_interface_is_something_or_on_its_way() {
        for (state, expected) in [
            ("100 (connected)\n", false),
            ("30 (disconnected)\n", false),
            ("20 (unavailable)\n", false),
            ("10 (unmanaged)\n", false),
            ("70 (connecting (getting IP configuration))\n", true),
            ("110 (deactivating)\n", true),
            ("", false),
        ] {
            assert_eq!(is_changing(state), expected, "{state}");
        }
    }
}
