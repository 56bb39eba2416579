//! The `ceph` command, always with a deadline: without one it waits five minutes for a monitor that is not there.

use std::{path::PathBuf, time::Duration};

use host::{Cmd, CommandError, Host};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::{
    CephError, Entity,
    answers::{Health, MgrMap, OsdMap, Quorum, Status, Tree, Versions},
    paths,
};

/// How long monitors may take until they let a client in.
const CONNECT: Duration = Duration::from_secs(5);
/// How long the whole command may take. Python starts slowly on a machine that starts everything else, too.
const WHOLE: Duration = Duration::from_secs(30);

/// A client of Ceph.
pub struct Client<'a> {
    host: &'a Host,
    entity: Entity,
    keyring: PathBuf,
    connect: Duration,
    whole: Duration,
}

impl<'a> Client<'a> {
    /// For an entity whose key is in this keyring.
    pub fn new(host: &'a Host, entity: Entity, keyring: impl Into<PathBuf>) -> Self {
        Self { host, entity, keyring: keyring.into(), connect: CONNECT, whole: WHOLE }
    }

    /// As `client.admin`, which may do everything.
    pub fn admin(host: &'a Host) -> Self {
        Self::new(host, Entity::Admin, paths::ADMIN_KEYRING)
    }

    /// The same, for a person who waits: no answer is an answer soon.
    #[must_use]
    pub fn with_short_timeout(self) -> Self {
        Self { connect: Duration::from_secs(3), whole: Duration::from_secs(10), ..self }
    }

    /// How Ceph is, with every reason.
    pub async fn health(&self) -> Result<Health, CephError> {
        self.ask(&["health", "detail"]).await
    }

    /// A little of everything.
    pub async fn status(&self) -> Result<Status, CephError> {
        self.ask(&["status"]).await
    }

    /// Which monitors agree.
    pub async fn quorum(&self) -> Result<Quorum, CephError> {
        self.ask(&["quorum_status"]).await
    }

    /// Which managers there are.
    pub async fn managers(&self) -> Result<MgrMap, CephError> {
        self.ask(&["mgr", "dump"]).await
    }

    /// Which OSDs there are.
    pub async fn osds(&self) -> Result<OsdMap, CephError> {
        self.ask(&["osd", "dump"]).await
    }

    /// Where each OSD is.
    pub async fn tree(&self) -> Result<Tree, CephError> {
        self.ask(&["osd", "tree"]).await
    }

    /// What runs.
    pub async fn versions(&self) -> Result<Versions, CephError> {
        self.ask(&["versions"]).await
    }

    /// Asks for an answer in JSON.
    pub async fn ask<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T, CephError> {
        self.ask_with(arguments, Vec::new()).await
    }

    /// The same, with input that no other process may see.
    pub async fn ask_with<T: DeserializeOwned>(&self, arguments: &[&str], input: Vec<u8>) -> Result<T, CephError> {
        let printed = self.run(&[&["--format", "json"], arguments].concat(), input).await?;
        let garbled = |source| CephError::Garbled { asked: arguments.join(" "), source };
        serde_json::from_str(printed.trim()).map_err(garbled)
    }

    /// Sends Ceph a command, and returns what it answers.
    pub async fn send(&self, arguments: &[&str]) -> Result<String, CephError> {
        self.run(arguments, Vec::new()).await
    }

    /// The same, with input that no other process may see; the arguments name it `-`.
    pub async fn send_with(&self, arguments: &[&str], input: impl Into<Vec<u8>>) -> Result<String, CephError> {
        self.run(arguments, input.into()).await
    }

    async fn run(&self, arguments: &[&str], input: Vec<u8>) -> Result<String, CephError> {
        let command = Cmd::new("ceph")
            .args(["--connect-timeout", &self.connect.as_secs().to_string()])
            .args(["--name", &self.entity.to_string()])
            .arg("--keyring")
            .arg(&self.keyring)
            .args(arguments.iter().copied())
            .input(input);
        let late = |_| CephError::Silent { why: format!("no answer within {} s", self.whole.as_secs()) };
        let ended = timeout(self.whole, self.host.commands.run(&command)).await.map_err(late)?;
        ended.map(|printed| printed.stdout).map_err(|error| self.understood(error))
    }

    /// The command ends with 1 whatever the cause; only its output distinguishes them.
    fn understood(&self, error: CommandError) -> CephError {
        let CommandError::Failed { output, .. } = &error else { return CephError::Command(error) };
        if output.contains("timed out") || output.contains("TimedOut") {
            return CephError::Silent { why: format!("no answer within {} s", self.connect.as_secs()) };
        }
        if output.contains("RADOS permission denied") {
            return CephError::Denied { entity: self.entity.to_string(), keyring: self.keyring.display().to_string() };
        }
        CephError::Command(error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use explain::Explain;
    use host::{Commands, Printed, Running};

    use super::*;

    /// Says the same to everybody, or nothing for ever.
    struct Says(Option<Result<&'static str, &'static str>>);

    impl Commands for Says {
        fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
            let Self(says) = self;
            Box::pin(async move {
                match says {
                    Some(Ok(text)) => Ok(Printed { stdout: (*text).to_owned(), stderr: String::new() }),
                    Some(Err(output)) => Err(CommandError::Failed {
                        command: command.to_string(),
                        status: "exit status: 1".into(),
                        output: (*output).to_owned(),
                    }),
                    None => std::future::pending().await,
                }
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn every_failure_is_distinguished_and_none_lasts() {
        for (says, expected) in [
            (Some(Ok("\n{\"status\":\"HEALTH_OK\",\"checks\":{}}\n")), "HEALTH_OK"),
            (Some(Ok("HEALTH_OK")), "BS-CEPH-003"),
            (Some(Err("[errno 110] RADOS timed out (error connecting to the cluster)")), "BS-CEPH-001"),
            (Some(Err("[errno 13] RADOS permission denied (error connecting to the cluster)")), "BS-CEPH-004"),
            (Some(Err("Error EINVAL: invalid command")), "BS-CEPH-002"),
            (None, "BS-CEPH-001"),
        ] {
            let host = Host { commands: Arc::new(Says(says)), ..Host::rooted("/nowhere") };
            let reported = match Client::admin(&host).health().await {
                Ok(health) => health.status,
                Err(error) => error.code().id.to_owned(),
            };
            assert_eq!(reported, expected, "{says:?}");
        }
    }
}
