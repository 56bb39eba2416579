//! Debian's packages: what is installed ([`Packages`]), how more are ([`install`], [`repair`]), and how they go ([`remove`]).
//!
//! apt has one writer at a time, and an upgrade in the background is the usual other one: it is waited for, and named. A
//! mirror that is away is tried again by the caller. A dpkg that was killed in the middle is repaired first; until
//! then apt refuses everything. Where there is no mirror, a [`Directory`] of packages takes its place.

mod directory;
mod dpkg;
mod dpkg_output;
mod failure;
mod remove;

use engine::StepError;
use host::{Cmd, Host, Printed};

pub use directory::Directory;
pub use dpkg::Packages;
pub use remove::remove;

use crate::{
    codes,
    packaging::{self, Failure, Problem, Work},
};

/// A configuration file that was changed by hand stays as it is; nothing is ever asked.
const CONFIGURATION: [&str; 2] = ["--force-confdef", "--force-confold"];

/// How apt says that something that is depended on cannot be had.
const UNMET: &str = "you have held broken packages";

/// Where packages come from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// The machine's own sources.
    Mirrors,
    /// A directory, and nothing else.
    Directory(&'a Directory),
}

impl Source<'_> {
    fn options(self) -> Vec<String> {
        match self {
            Self::Mirrors => Vec::new(),
            Self::Directory(directory) => directory.options(),
        }
    }

    /// For people. That a package is not there has another fix where there is no mirror.
    fn error(self, problem: Problem, names: &str) -> StepError {
        match (self, problem) {
            (Self::Directory(directory), Problem::Failure(Failure::Unreachable(reported))) => {
                directory.lacks(&format!("{names}: {reported}"))
            }
            // What exactly is missing apt says elsewhere; that something is, it puts like this.
            (Self::Directory(directory), Problem::Failure(Failure::Failed(reported))) if reported.contains(UNMET) => {
                directory.lacks(&format!("something that {names} depends on"))
            }
            (_, problem) => explained(problem, Work::Install, names),
        }
    }
}

/// Installs packages from the machine's own sources, without what they only recommend.
pub async fn install(host: &Host, names: &[&str]) -> Result<(), StepError> {
    install_from(host, names, Source::Mirrors).await
}

/// The same from somewhere.
pub async fn install_from(host: &Host, names: &[&str], source: Source<'_>) -> Result<(), StepError> {
    let listed = names.join(", ");
    host.doing("fetching the lists of packages");
    // One source that is away must not stand in the way of the others; whether it mattered, the installation shows.
    match with_retries(host, &apt_get(source, ["update"])).await {
        Err(problem @ (Problem::Failure(Failure::Busy(_)) | Problem::NotStarted(_))) => {
            return Err(source.error(problem, &listed));
        }
        Ok(_) | Err(Problem::Failure(_)) => {}
    }
    host.doing(format!("installing {listed}"));
    let install = apt_get(source, ["install", "--yes", "--no-install-recommends"]).args(names.iter().copied());
    with_retries(host, &install).await.map(drop).map_err(|problem| source.error(problem, &listed))
}

/// Finishes what a killed dpkg has left, from the machine's own sources where something is missing.
pub async fn repair(host: &Host) -> Result<(), StepError> {
    repair_from(host, Source::Mirrors).await
}

/// The same from somewhere.
pub async fn repair_from(host: &Host, source: Source<'_>) -> Result<(), StepError> {
    const UNFINISHED: &str = "what is unfinished";
    let finish = in_english(Cmd::new("dpkg").args(["--configure", "--pending"]).args(CONFIGURATION));
    // What could not be set up is often fixed by the second command, which fetches what is missing.
    match with_retries(host, &finish).await {
        Ok(_) | Err(Problem::Failure(Failure::Failed(_))) => {}
        Err(problem) => return Err(source.error(problem, UNFINISHED)),
    }
    let fix = apt_get(source, ["install", "--yes", "--fix-broken", "--no-install-recommends"]);
    // A package that had been removed before, and was killed while it came back, apt takes for one that is there.
    let damaged = Packages::read(&*host.disk)?.unwrap_or_default().damaged;
    let fix = if damaged.is_empty() { fix } else { fix.arg("--reinstall").args(damaged) };
    with_retries(host, &fix).await.map(drop).map_err(|problem| source.error(problem, UNFINISHED))
}

/// For people.
fn explained(problem: Problem, work: Work, names: &str) -> StepError {
    match problem {
        Problem::NotStarted(error) => {
            StepError::new(codes::NO_APT, format!("cannot {} {names}", work.verb())).with_source(error)
        }
        problem @ Problem::Failure(_) => problem.into_error(work, names),
    }
}

/// Runs a command, again and again while another process works with packages.
async fn with_retries(host: &Host, command: &Cmd) -> Result<Printed, Problem> {
    let read = |output: &str| {
        let failure = failure::read(output);
        dpkg_output::of_dpkg(&*host.disk, output)
            .map_or(failure.clone(), |output| failure::with_output(failure, output))
    };
    packaging::with_retries(host, || packaging::attempt(host, command, failure::DPKG, read)).await
}

fn apt_get<const N: usize>(source: Source<'_>, arguments: [&str; N]) -> Cmd {
    let options = CONFIGURATION.map(|option| format!("--option=Dpkg::Options::={option}"));
    let command = Cmd::new("apt-get").args(["--quiet", "--option=Acquire::Retries=3"]).args(options);
    let command = command.args(source.options()).args(arguments);
    // Asks which services to restart, where it is installed.
    in_english(command).env("NEEDRESTART_MODE", "l")
}

/// Its output is read by us.
fn in_english(command: Cmd) -> Cmd {
    command.env("LC_ALL", "C").env("DEBIAN_FRONTEND", "noninteractive")
}

#[cfg(test)]
mod tests;
