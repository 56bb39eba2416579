//! A step that does what a test scripts.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use engine::{About, Planned, Stays, Step, StepError, StepId, Verdict};
use host::{Change, Content, Host, codes};

/// Failures still to come, first one first; shared, so that they do not come again after a restart.
pub(crate) type Failures = Arc<Mutex<VecDeque<Failure>>>;

/// How a change goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Another attempt may help.
    Retryable,
    /// It will not.
    Fatal,
}

type Evaluate = Box<dyn Fn(&Host) -> Verdict + Send + Sync>;

/// Files and directories, with failures and an evaluation from the test.
pub(crate) struct Scripted {
    id: String,
    wanted: Vec<Planned>,
    failures: Failures,
    evaluate: Evaluate,
    deadline: Duration,
}

impl Scripted {
    pub(crate) fn new(id: impl Into<String>, wanted: Vec<impl Into<Planned>>) -> Self {
        let evaluate: Evaluate = Box::new(|_| Verdict::Met);
        let wanted = wanted.into_iter().map(Into::into).collect();
        Self { id: id.into(), wanted, failures: Failures::default(), evaluate, deadline: Duration::from_mins(1) }
    }

    pub(crate) fn failing(mut self, failures: &Failures) -> Self {
        self.failures = Arc::clone(failures);
        self
    }

    pub(crate) fn evaluated(mut self, evaluate: impl Fn(&Host) -> Verdict + Send + Sync + 'static) -> Self {
        self.evaluate = Box::new(evaluate);
        self
    }

    /// Waits until something stands at a path.
    pub(crate) fn until(self, path: &'static str) -> Self {
        self.evaluated(move |host| match host.disk.exists(Path::new(path)) {
            Ok(true) => Verdict::Met,
            _ => Verdict::Waiting { what: path.to_owned(), progress: String::new() },
        })
    }
}

impl Step for Scripted {
    type Seen = (Vec<Planned>, Verdict);
    type Undo = Stays;

    fn about(&self) -> About {
        let text = self.id.clone();
        About { id: StepId::named(text.clone()), title: format!("Do {text}").into(), why: "for the test".into() }
    }

    async fn observe(&self, host: &Host) -> Result<Self::Seen, StepError> {
        let mut missing = Vec::new();
        for wanted in self.wanted.clone() {
            match wanted {
                Planned::File(file) => {
                    missing.extend(Change::missing(vec![file], &*host.disk)?.into_iter().map(Into::into));
                }
                act => missing.push(act),
            }
        }
        Ok((missing, (self.evaluate)(host)))
    }

    fn plan(&self, seen: &Self::Seen) -> Result<Vec<Planned>, StepError> {
        Ok(seen.0.clone())
    }

    fn verify(&self, seen: &Self::Seen) -> Verdict {
        seen.1.clone()
    }

    async fn apply(&self, planned: &Planned, host: &Host) -> Result<(), StepError> {
        let failure = self.failures.lock().unwrap().pop_front();
        let error = StepError::new(codes::WRITE, format!("scripted failure before: {planned}"));
        match failure {
            Some(Failure::Retryable) => Err(error.retryable()),
            Some(Failure::Fatal) => Err(error),
            None => match planned {
                Planned::File(change) => Ok(change.apply(&*host.disk)?),
                _ => Ok(()),
            },
        }
    }

    fn deadline(&self) -> Duration {
        self.deadline
    }
}

/// A file that says its own name.
pub(crate) fn file(path: impl Into<PathBuf>) -> Change {
    let path = path.into();
    let content = Content::Plain(format!("this is {}\n", path.display()).into_bytes());
    Change::File { path, mode: 0o644, content }
}
