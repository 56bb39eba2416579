//! Debian's packages: what is installed ([`Packages`]), and how more are ([`install`], [`repair`]).
//!
//! apt has one writer at a time, and an upgrade in the background is the usual other one: it is waited for, and named. A
//! mirror that is away is tried again by whoever called. A dpkg that was killed in the middle is repaired first; until
//! then apt refuses everything.

mod dpkg;
mod trouble;

use std::time::Duration;

use engine::StepError;
use host::{Cmd, CommandError, Host, Printed};
use tokio::time::{Instant, sleep};

pub(crate) use dpkg::Packages;
use trouble::Trouble;

use crate::codes;

/// How long somebody else may work with packages; a large upgrade takes minutes.
const BUSY: Duration = Duration::from_mins(10);
/// How often a lock is tried.
const POLL: Duration = Duration::from_secs(1);

/// A configuration file that somebody changed stays as it is; nothing is ever asked.
const CONFIGURATION: [&str; 2] = ["--force-confdef", "--force-confold"];

/// Installs packages from the machine's own sources, without what they only recommend.
pub(crate) async fn install(host: &Host, names: &[&str]) -> Result<(), StepError> {
    let listed = names.join(", ");
    host.doing("fetching the lists of packages");
    // One source that is away must not stand in the way of the others; whether it mattered, the installation tells.
    match patiently(host, &apt_get(["update"])).await {
        Err(problem @ (Problem::Trouble(Trouble::Busy(_)) | Problem::NotStarted(_))) => {
            return Err(problem.into_error(&listed));
        }
        Ok(_) | Err(Problem::Trouble(_)) => {}
    }
    host.doing(format!("installing {listed}"));
    let install = apt_get(["install", "--yes", "--no-install-recommends"]).args(names.iter().copied());
    patiently(host, &install).await.map(drop).map_err(|problem| problem.into_error(&listed))
}

/// Finishes what a killed dpkg has left.
pub(crate) async fn repair(host: &Host) -> Result<(), StepError> {
    let finish = in_english(Cmd::new("dpkg").args(["--configure", "--pending"]).args(CONFIGURATION));
    // What could not be set up is often cured by the second command, which fetches what is missing.
    match patiently(host, &finish).await {
        Ok(_) | Err(Problem::Trouble(Trouble::Failed(_))) => {}
        Err(problem) => return Err(problem.into_error("what is unfinished")),
    }
    let fix = apt_get(["install", "--yes", "--fix-broken", "--no-install-recommends"]);
    patiently(host, &fix).await.map(drop).map_err(|problem| problem.into_error("what is unfinished"))
}

/// Why a command did not do its work.
enum Problem {
    Trouble(Trouble),
    NotStarted(CommandError),
}

impl Problem {
    fn into_error(self, names: &str) -> StepError {
        match self {
            Self::Trouble(trouble) => trouble.into_error(names),
            Self::NotStarted(error) => {
                StepError::new(codes::NO_APT, format!("cannot install {names}")).with_source(error)
            }
        }
    }
}

/// Runs a command, again and again while somebody else works with packages.
async fn patiently(host: &Host, command: &Cmd) -> Result<Printed, Problem> {
    let deadline = Instant::now() + BUSY;
    loop {
        let trouble = match host.commands.run(command).await {
            Ok(printed) => return Ok(printed),
            Err(CommandError::Failed { said, .. }) => Trouble::read(&said),
            Err(error @ CommandError::NotStarted { .. }) => return Err(Problem::NotStarted(error)),
        };
        match trouble {
            Trouble::Busy(holder) if Instant::now() < deadline => {
                host.doing(format!("waiting for {holder} to be done with packages"));
                sleep(POLL).await;
            }
            trouble => return Err(Problem::Trouble(trouble)),
        }
    }
}

fn apt_get<const N: usize>(arguments: [&str; N]) -> Cmd {
    let options = CONFIGURATION.map(|option| format!("--option=Dpkg::Options::={option}"));
    let command = Cmd::new("apt-get").args(["--quiet", "--option=Acquire::Retries=3"]).args(options).args(arguments);
    // Asks which services to restart, where it is installed.
    in_english(command).env("NEEDRESTART_MODE", "l")
}

/// What is said is read by us.
fn in_english(command: Cmd) -> Cmd {
    command.env("LC_ALL", "C").env("DEBIAN_FRONTEND", "noninteractive")
}

#[cfg(test)]
mod tests;
