//! A step that does what a test tells it to.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use engine::{About, Step, StepError, Verdict};
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

type Judge = Box<dyn Fn(&Host) -> Verdict + Send + Sync>;

/// Files and directories, with failures and a judgement from the test.
pub(crate) struct Scripted {
    id: String,
    wanted: Vec<Change>,
    failures: Failures,
    judge: Judge,
    patience: Duration,
}

impl Scripted {
    pub(crate) fn new(id: impl Into<String>, wanted: Vec<Change>) -> Self {
        let judge: Judge = Box::new(|_| Verdict::Met);
        Self { id: id.into(), wanted, failures: Failures::default(), judge, patience: Duration::from_mins(1) }
    }

    pub(crate) fn failing(mut self, failures: &Failures) -> Self {
        self.failures = Arc::clone(failures);
        self
    }

    pub(crate) fn judged(mut self, judge: impl Fn(&Host) -> Verdict + Send + Sync + 'static) -> Self {
        self.judge = Box::new(judge);
        self
    }

    /// Waits until something stands at a path.
    pub(crate) fn until(self, path: &'static str) -> Self {
        self.judged(move |host| match host.disk.exists(Path::new(path)) {
            Ok(true) => Verdict::Met,
            _ => Verdict::Waiting { what: path.to_owned(), progress: String::new() },
        })
    }
}

impl Step for Scripted {
    type Seen = (Vec<Change>, Verdict);

    fn about(&self) -> About {
        let text = self.id.clone();
        About { id: text.clone().into(), title: format!("Do {text}").into(), why: "for the test".into() }
    }

    async fn observe(&self, host: &Host) -> Result<Self::Seen, StepError> {
        Ok((Change::missing(self.wanted.clone(), &*host.disk)?, (self.judge)(host)))
    }

    fn plan(&self, seen: &Self::Seen) -> Result<Vec<Change>, StepError> {
        Ok(seen.0.clone())
    }

    fn judge(&self, seen: &Self::Seen) -> Verdict {
        seen.1.clone()
    }

    async fn apply(&self, change: &Change, host: &Host) -> Result<(), StepError> {
        let failure = self.failures.lock().unwrap().pop_front();
        let error = StepError::new(codes::WRITE, format!("told to fail before: {change}"));
        match failure {
            Some(Failure::Retryable) => Err(error.retryable()),
            Some(Failure::Fatal) => Err(error),
            None => Ok(change.apply(&*host.disk)?),
        }
    }

    fn patience(&self) -> Duration {
        self.patience
    }
}

/// A file that says its own name.
pub(crate) fn file(path: impl Into<PathBuf>) -> Change {
    let path = path.into();
    let content = Content::Plain(format!("this is {}\n", path.display()).into_bytes());
    Change::File { path, mode: 0o644, content }
}
