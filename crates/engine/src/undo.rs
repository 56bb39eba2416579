//! How steps are undone.
//!
//! What is files is in the ledger and needs no code. A step that does more names an [`Undo`], beside itself; the type of what it
//! plans depends on it, so that a step without one cannot plan an act. A reset must work when everything that the playbook
//! was made from is gone, so each playbook has one list, [`Undos`], made from what a reset knows. A playbook is built against
//! that list: a step that acts and is not in it makes no playbook.
//!
//! ```text
//! before ─► entries of the ledger, the last one first (act for each that is no file) ─► after ─► forgotten
//! ```
//!
//! A step that says it only writes files and plans an act does not compile:
//!
//! ```compile_fail,E0053
//! # use engine::{About, FilesOnly, Planned, Step, StepError, StepId};
//! # use host::Host;
//! struct Forgetful;
//!
//! impl Step for Forgetful {
//!     type Seen = ();
//!     type Undo = FilesOnly;
//! #   fn about(&self) -> About {
//! #       About::new(StepId::new("forgetful"), "Forget", "to see it refused")
//! #   }
//! #   async fn observe(&self, _host: &Host) -> Result<(), StepError> {
//! #       Ok(())
//! #   }
//!
//!     fn plan(&self, (): &()) -> Result<Vec<Planned>, StepError> {
//!         Ok(vec![Planned::act("restart", "restart the kubelet")])
//!     }
//! }
//! ```

use std::{any::TypeId, collections::BTreeMap, future::ready};

use host::{Change, Host};

use crate::{
    Planned, StepId,
    step_error::{Boxed, StepError},
};

/// What there is to say at the end: what was left where this machine cannot reach, and how a person removes it.
pub type Notes = Vec<String>;

/// How a step is undone, beyond its files. Everything here may be done twice, and when the step was never done.
pub trait Undo: Send + Sync + 'static {
    /// Whether there is something to do only on a machine that runs, and nothing in an image.
    const ONLY_LIVE: bool = false;

    /// What `before` and `after` do, for a dry run: lines that begin with a verb.
    fn shows(&self) -> Vec<String> {
        Vec::new()
    }

    /// What `act` does with this key, for a dry run; `None` where it does nothing.
    fn shows_act(&self, _key: &str) -> Option<String> {
        None
    }

    /// Whether the entry of this key is only partly undone, because something in it is to be kept; then it stays in the
    /// ledger, for a later time.
    fn keeps(&self, _key: &str) -> bool {
        false
    }

    /// Comes before the step's entries, whatever they are: also what the step found done, and what came of it later,
    /// goes here. If it fails, the step's entries stay for another try.
    fn before(&self, _host: &Host) -> impl Future<Output = Result<Notes, StepError>> + Send {
        ready(Ok(Notes::new()))
    }

    /// Undoes the [`Act`](crate::Act) of that key, unless that has gone with what `before` removed.
    fn act(&self, key: &str, host: &Host) -> impl Future<Output = Result<(), StepError>> + Send;

    /// Comes after the step's entries.
    fn after(&self, _host: &Host) -> impl Future<Output = Result<(), StepError>> + Send {
        ready(Ok(()))
    }
}

/// Of a step whose changes are files and nothing else. It is no [`Undo`]: there is nothing to add to the ledger.
pub struct FilesOnly;

/// What the undo of a step lets it plan. It is there for [`FilesOnly`] and for every [`Undo`], and for nothing else.
pub trait Permits: 'static {
    /// Files only, or acts as well.
    type Planned: Into<Planned>;

    /// Whether `undos` undo that step this way.
    fn is_in(undos: &Undos, id: StepId) -> bool;
}

impl Permits for FilesOnly {
    type Planned = Change;

    fn is_in(_undos: &Undos, _id: StepId) -> bool {
        true
    }
}

impl<U: Undo> Permits for U {
    type Planned = Planned;

    fn is_in(undos: &Undos, id: StepId) -> bool {
        undos.steps.get(id.as_str()).is_some_and(|(known, _)| *known == TypeId::of::<U>())
    }
}

/// What was done beyond files stays. Why, stands where the step is listed.
pub struct Stays;

impl Undo for Stays {
    fn act(&self, _key: &str, _host: &Host) -> impl Future<Output = Result<(), StepError>> + Send {
        ready(Ok(()))
    }
}

/// How the steps of a playbook are undone.
pub struct Undos {
    playbook: &'static str,
    steps: BTreeMap<&'static str, (TypeId, Box<dyn AnyUndo>)>,
    kept: Vec<StepId>,
}

impl Undos {
    /// Of steps that were files and nothing else, until others are named.
    pub fn new(playbook: &'static str) -> Self {
        Self { playbook, steps: BTreeMap::new(), kept: Vec::new() }
    }

    /// Names a step that was more than files.
    #[must_use]
    pub fn step<U: Undo>(mut self, id: StepId, undo: U) -> Self {
        self.steps.insert(id.as_str(), (TypeId::of::<U>(), Box::new(undo)));
        self
    }

    /// Leaves these steps, and what the ledger knows of them, as they are.
    #[must_use]
    pub fn keeping<'a>(mut self, ids: impl IntoIterator<Item = &'a StepId>) -> Self {
        self.kept.extend(ids);
        self
    }

    pub(crate) fn playbook(&self) -> &'static str {
        self.playbook
    }

    pub(crate) fn keeps(&self, step: &str) -> bool {
        self.kept.iter().any(|kept| kept.as_str() == step)
    }

    /// How a step of the ledger is undone; no version may know it any more.
    pub(crate) fn get(&self, step: &str) -> Option<&dyn AnyUndo> {
        self.steps.get(step).map(|(_, undo)| &**undo)
    }
}

/// An [`Undo`] without its type.
pub(crate) trait AnyUndo: Send + Sync {
    fn only_live(&self) -> bool;
    fn keeps(&self, key: &str) -> bool;
    fn shows(&self) -> Vec<String>;
    fn shows_act(&self, key: &str) -> Option<String>;
    fn before<'a>(&'a self, host: &'a Host) -> Boxed<'a, Notes>;
    fn act<'a>(&'a self, key: &'a str, host: &'a Host) -> Boxed<'a, ()>;
    fn after<'a>(&'a self, host: &'a Host) -> Boxed<'a, ()>;
}

impl<U: Undo> AnyUndo for U {
    fn only_live(&self) -> bool {
        U::ONLY_LIVE
    }

    fn keeps(&self, key: &str) -> bool {
        Undo::keeps(self, key)
    }

    fn shows(&self) -> Vec<String> {
        Undo::shows(self)
    }

    fn shows_act(&self, key: &str) -> Option<String> {
        Undo::shows_act(self, key)
    }

    fn before<'a>(&'a self, host: &'a Host) -> Boxed<'a, Notes> {
        Box::pin(Undo::before(self, host))
    }

    fn act<'a>(&'a self, key: &'a str, host: &'a Host) -> Boxed<'a, ()> {
        Box::pin(Undo::act(self, key, host))
    }

    fn after<'a>(&'a self, host: &'a Host) -> Boxed<'a, ()> {
        Box::pin(Undo::after(self, host))
    }
}
