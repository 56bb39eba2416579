//! What apt and dnf have in common: one writer at a time, so waiting for the other one, and the messages for what
//! keeps packages from coming and going. What each of them says is read in its own module.

use std::time::Duration;

use engine::StepError;
use explain::Code;
use host::{Cmd, CommandError, Host, Printed};
use tokio::time::{Instant, sleep};

use crate::codes;

/// How long another process may work with packages; a large upgrade takes minutes.
const BUSY: Duration = Duration::from_mins(10);
/// How often a lock is tried.
const POLL: Duration = Duration::from_secs(1);

/// What was to be done with packages, for the message of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// They were to come.
    Install,
    /// They were to go.
    Remove,
}

impl Work {
    /// As an infinitive.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Remove => "remove",
        }
    }

    const fn past(self) -> &'static str {
        match self {
            Self::Install => "installed",
            Self::Remove => "removed",
        }
    }
}

/// What keeps a package from being installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Another process works with packages; which, as far as its output names it.
    Busy(String),
    /// This program was killed in the middle of something.
    Interrupted(&'static str),
    /// What is needed cannot be fetched.
    Unreachable(String),
    /// There is no room for it.
    Full(String),
    /// Anything else.
    Failed(String),
}

impl Failure {
    /// For people.
    pub fn into_error(self, work: Work, names: &str) -> StepError {
        let error = |code: Code, what: String| StepError::new(code, what);
        let (verb, past) = (work.verb(), work.past());
        match self {
            Self::Busy(holder) => {
                error(codes::PACKAGES_BUSY, format!("{holder} keeps {names} from being {past}")).retryable()
            }
            Self::Interrupted(program) => {
                error(codes::PACKAGES_FAILED, format!("{program} was interrupted while it {past} {names}")).retryable()
            }
            Self::Unreachable(reported) => {
                error(codes::PACKAGES_UNREACHABLE, format!("cannot fetch {names}: {reported}")).retryable()
            }
            Self::Full(reported) => error(codes::PACKAGES_NO_SPACE, format!("no space to {verb} {names}: {reported}")),
            Self::Failed(reported) => error(codes::PACKAGES_FAILED, format!("cannot {verb} {names}: {reported}")),
        }
    }
}

/// Why a command did not do its work.
pub enum Problem {
    /// It ran, and its output has the reason.
    Failure(Failure),
    /// It did not run.
    NotStarted(CommandError),
}

impl Problem {
    /// For people.
    pub fn into_error(self, work: Work, names: &str) -> StepError {
        match self {
            Self::Failure(failure) => failure.into_error(work, names),
            Self::NotStarted(error) => StepError::from_explained(&error),
        }
    }
}

/// Runs a command once. Killed, it prints nothing; any other output is for `read` to parse.
pub async fn attempt(
    host: &Host,
    command: &Cmd,
    program: &'static str,
    read: impl FnOnce(&str) -> Failure,
) -> Result<Printed, Problem> {
    host.commands.run(command).await.map_err(|error| match error {
        CommandError::Failed { status, .. } if status.starts_with("signal") => {
            Problem::Failure(Failure::Interrupted(program))
        }
        CommandError::Failed { output, .. } => Problem::Failure(read(&output)),
        error @ CommandError::NotStarted { .. } => Problem::NotStarted(error),
    })
}

/// Makes an attempt, again and again while another process works with packages.
pub async fn with_retries<A>(host: &Host, attempt: impl Fn() -> A) -> Result<Printed, Problem>
where
    A: Future<Output = Result<Printed, Problem>>,
{
    let deadline = Instant::now() + BUSY;
    let mut reported = String::new();
    loop {
        match attempt().await {
            Err(Problem::Failure(Failure::Busy(holder))) if Instant::now() < deadline => {
                if reported != holder {
                    host.doing(format!("waiting for {holder} to be done with packages"));
                    reported = holder;
                }
                sleep(POLL).await;
            }
            ended => return ended,
        }
    }
}
