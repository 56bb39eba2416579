//! NetworkManager's checkpoint: a change of an interface that is rolled back unless it is confirmed in time.
//!
//! There is no command for it, so it is asked over D-Bus with systemd's `busctl`.

use std::time::Duration;

use engine::StepError;
use host::{Cmd, Host};
use serde::Deserialize;
use tokio::time::{Instant, sleep};

use super::manager::refused;
use crate::codes;

const MANAGER: &str = "org.freedesktop.NetworkManager";
const OBJECT: &str = "/org/freedesktop/NetworkManager";

/// Seconds until NetworkManager rolls back what was not confirmed. Longer than a trial takes.
const HOLDS: u32 = 30;
/// Profiles that came after the checkpoint are deleted when it is rolled back.
const DELETE_NEW_CONNECTIONS: u32 = 2;
const POLL: Duration = Duration::from_millis(200);

/// A checkpoint that is set. Dropped without an answer, it is rolled back by NetworkManager.
pub struct Guard<'a> {
    host: &'a Host,
    checkpoint: String,
}

impl<'a> Guard<'a> {
    /// Remembers how an interface is configured.
    pub async fn set(host: &'a Host, interface: &str) -> Result<Self, StepError> {
        let device = path(&ask(host, &["GetDeviceByIpIface", "s", interface]).await?)?;
        let (holds, flags) = (HOLDS.to_string(), DELETE_NEW_CONNECTIONS.to_string());
        let checkpoint = path(&ask(host, &["CheckpointCreate", "aouu", "1", &device, &holds, &flags]).await?)?;
        Ok(Self { host, checkpoint })
    }

    /// The change is good and stays.
    pub async fn lift(self) -> Result<(), StepError> {
        ask(self.host, &["CheckpointDestroy", "o", &self.checkpoint]).await.map(drop)
    }

    /// The change is bad and goes, now.
    pub async fn roll_back(self) -> Result<(), StepError> {
        ask(self.host, &["CheckpointRollback", "o", &self.checkpoint]).await.map(drop)
    }
}

/// Makes sure that no guard is set. What one guards that a killed run left was never proved: it must be neither what a
/// new one goes back to, nor what a new configuration is compared with. Another program's is waited for.
pub async fn clear(host: &Host, is_ours: bool) -> Result<(), StepError> {
    let until = Instant::now() + Duration::from_secs(u64::from(HOLDS));
    loop {
        let set = paths(&call(host, &["get-property", MANAGER, OBJECT, MANAGER, "Checkpoints"]).await?)?;
        if set.is_empty() {
            return Ok(());
        }
        if is_ours {
            for checkpoint in set {
                Guard { host, checkpoint }.roll_back().await?;
            }
        } else if Instant::now() < until {
            sleep(POLL).await;
        } else {
            let message = "another process changes the network: NetworkManager holds a checkpoint that is not ours";
            return Err(StepError::new(codes::NO_NETWORK_MANAGER, message).retryable());
        }
    }
}

async fn ask(host: &Host, method: &[&str]) -> Result<String, StepError> {
    call(host, &[&["call", MANAGER, OBJECT, MANAGER], method].concat()).await
}

async fn call(host: &Host, arguments: &[&str]) -> Result<String, StepError> {
    let command = Cmd::new("busctl").arg("--json=short").args(arguments.iter().copied());
    Ok(host.commands.run(&command).await.map_err(refused)?.stdout)
}

/// `{"type":"o","data":["/org/…"]}`: the one object in a method's answer.
fn path(answer: &str) -> Result<String, StepError> {
    paths(answer)?.pop().ok_or_else(|| not_understood(answer))
}

/// The same for a property that is a list, `{"type":"ao","data":[…]}`.
fn paths(answer: &str) -> Result<Vec<String>, StepError> {
    #[derive(Deserialize)]
    struct Answer {
        data: Vec<String>,
    }
    let answer: Answer = serde_json::from_str(answer).map_err(|_| not_understood(answer))?;
    Ok(answer.data)
}

fn not_understood(answer: &str) -> StepError {
    StepError::new(codes::NO_NETWORK_MANAGER, format!("unexpected answer from NetworkManager: `{}`", answer.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_bus() {
        let one = r#"{"type":"o","data":["/org/freedesktop/NetworkManager/Checkpoint/1"]}"#;
        assert_eq!(path(one).unwrap(), "/org/freedesktop/NetworkManager/Checkpoint/1");
        assert!(paths(r#"{"type":"ao","data":[]}"#).unwrap().is_empty());
        assert!(path(r#"{"type":"ao","data":[]}"#).is_err());
        assert!(paths("Failed to connect to bus").is_err());
    }
}
