//! Steps as a reset sees them: only how each is taken back.
//!
//! A reset must work when everything that the playbook was made from is gone, so it brings its own list. What is files is
//! in the ledger and needs nobody; a step that did more than files has a [`TakeBack`] in the list:
//!
//! ```text
//! before ─► entries of the ledger, the last one first (act for each that is no file) ─► after ─► forgotten
//! ```
//! To add one: a type with an `impl TakeBack`, beside the step it belongs to, and a line in the playbook's reversal.

use std::{collections::BTreeMap, future::ready};

use host::Host;

use crate::{Playbook, StepError, step::Boxed};

/// What there is to say at the end: what was left where this machine cannot reach, and how a person removes it.
pub type Notes = Vec<String>;

/// How one step is taken back, beyond its files. Everything here may be done twice, and when the step was never done.
pub trait TakeBack: Send + Sync + 'static {
    /// What `before` and `after` do, for a dry run: lines that begin with a verb.
    fn shows(&self) -> Vec<String> {
        Vec::new()
    }

    /// What `act` does with this key, for a dry run; `None` where `before` or `after` has done it.
    fn shows_act(&self, key: &str) -> Option<String> {
        Some(format!("take back {key}"))
    }

    /// Whether the entry of this key is only partly taken back, because something in it is to be kept; then it stays in
    /// the ledger, for a later time.
    fn keeps(&self, _key: &str) -> bool {
        false
    }

    /// Comes before the step's entries, whatever they are: also what the step found done, and what came of it later,
    /// goes here. If it fails, the step's entries stay for another try.
    fn before(&self, _host: &Host) -> impl Future<Output = Result<Notes, StepError>> + Send {
        ready(Ok(Notes::new()))
    }

    /// Takes back the [`host::Change::Act`] of that key.
    fn act(&self, key: &str, _host: &Host) -> impl Future<Output = Result<(), StepError>> + Send {
        ready(Err(StepError::no_such_action("undo", key)))
    }

    /// Comes after the step's entries.
    fn after(&self, _host: &Host) -> impl Future<Output = Result<(), StepError>> + Send {
        ready(Ok(()))
    }
}

/// How a playbook is taken back.
pub struct Reversal {
    playbook: &'static str,
    steps: BTreeMap<&'static str, Box<dyn AnyTakeBack>>,
    kept: Vec<&'static str>,
}

impl Reversal {
    /// Of steps that were files and nothing else, until others are named.
    pub fn new(playbook: &'static str) -> Self {
        Self { playbook, steps: BTreeMap::new(), kept: Vec::new() }
    }

    /// Names a step that was more than files.
    #[must_use]
    pub fn step(mut self, id: &'static str, how: impl TakeBack) -> Self {
        self.steps.insert(id, Box::new(how));
        self
    }

    /// Leaves these steps, and what the ledger knows of them, as they are.
    #[must_use]
    pub fn keeping(mut self, ids: impl IntoIterator<Item = &'static str>) -> Self {
        self.kept.extend(ids);
        self
    }
}

/// Whoever knows how the steps of a playbook are taken back.
pub(crate) trait Reverse: Send + Sync {
    fn playbook(&self) -> &'static str;
    fn keeps(&self, step: &str) -> bool;
    fn keeps_entry(&self, step: &str, key: &str) -> bool;
    fn shows(&self, step: &str) -> Vec<String>;
    fn shows_act(&self, step: &str, key: &str) -> Option<String>;
    fn before<'a>(&'a self, step: &'a str, host: &'a Host) -> Boxed<'a, Notes>;
    fn act<'a>(&'a self, step: &'a str, key: &'a str, host: &'a Host) -> Boxed<'a, ()>;
    fn after<'a>(&'a self, step: &'a str, host: &'a Host) -> Boxed<'a, ()>;
}

impl Reverse for Reversal {
    fn playbook(&self) -> &'static str {
        self.playbook
    }

    fn keeps(&self, step: &str) -> bool {
        self.kept.contains(&step)
    }

    fn keeps_entry(&self, step: &str, key: &str) -> bool {
        self.steps.get(step).is_some_and(|how| how.keeps(key))
    }

    fn shows(&self, step: &str) -> Vec<String> {
        self.steps.get(step).map(|how| how.shows()).unwrap_or_default()
    }

    fn shows_act(&self, step: &str, key: &str) -> Option<String> {
        self.steps.get(step).and_then(|how| how.shows_act(key))
    }

    fn before<'a>(&'a self, step: &'a str, host: &'a Host) -> Boxed<'a, Notes> {
        match self.steps.get(step) {
            Some(how) => how.before(host),
            None => Box::pin(ready(Ok(Notes::new()))),
        }
    }

    fn act<'a>(&'a self, step: &'a str, key: &'a str, host: &'a Host) -> Boxed<'a, ()> {
        match self.steps.get(step) {
            Some(how) => how.act(key, host),
            None => Box::pin(ready(Err(StepError::no_such_step(step, key)))),
        }
    }

    fn after<'a>(&'a self, step: &'a str, host: &'a Host) -> Boxed<'a, ()> {
        match self.steps.get(step) {
            Some(how) => how.after(host),
            None => Box::pin(ready(Ok(()))),
        }
    }
}

/// A playbook takes its steps back by itself, as long as everything that it is made from is there.
impl Reverse for Playbook {
    fn playbook(&self) -> &'static str {
        self.name()
    }

    fn keeps(&self, _step: &str) -> bool {
        false
    }

    fn keeps_entry(&self, _step: &str, _key: &str) -> bool {
        false
    }

    fn shows(&self, _step: &str) -> Vec<String> {
        Vec::new()
    }

    fn shows_act(&self, _step: &str, key: &str) -> Option<String> {
        Some(format!("take back {key}"))
    }

    fn before<'a>(&'a self, _step: &'a str, _host: &'a Host) -> Boxed<'a, Notes> {
        Box::pin(ready(Ok(Notes::new())))
    }

    fn act<'a>(&'a self, step: &'a str, key: &'a str, host: &'a Host) -> Boxed<'a, ()> {
        match self.position(step) {
            Some(index) => self.steps()[index].step.undo(key, host),
            None => Box::pin(ready(Err(StepError::no_such_step(step, key)))),
        }
    }

    fn after<'a>(&'a self, _step: &'a str, _host: &'a Host) -> Boxed<'a, ()> {
        Box::pin(ready(Ok(())))
    }
}

/// A [`TakeBack`] without its type.
trait AnyTakeBack: Send + Sync {
    fn keeps(&self, key: &str) -> bool;
    fn shows(&self) -> Vec<String>;
    fn shows_act(&self, key: &str) -> Option<String>;
    fn before<'a>(&'a self, host: &'a Host) -> Boxed<'a, Notes>;
    fn act<'a>(&'a self, key: &'a str, host: &'a Host) -> Boxed<'a, ()>;
    fn after<'a>(&'a self, host: &'a Host) -> Boxed<'a, ()>;
}

impl<T: TakeBack> AnyTakeBack for T {
    fn keeps(&self, key: &str) -> bool {
        TakeBack::keeps(self, key)
    }

    fn shows(&self) -> Vec<String> {
        TakeBack::shows(self)
    }

    fn shows_act(&self, key: &str) -> Option<String> {
        TakeBack::shows_act(self, key)
    }

    fn before<'a>(&'a self, host: &'a Host) -> Boxed<'a, Notes> {
        Box::pin(TakeBack::before(self, host))
    }

    fn act<'a>(&'a self, key: &'a str, host: &'a Host) -> Boxed<'a, ()> {
        Box::pin(TakeBack::act(self, key, host))
    }

    fn after<'a>(&'a self, host: &'a Host) -> Boxed<'a, ()> {
        Box::pin(TakeBack::after(self, host))
    }
}
