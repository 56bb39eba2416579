//! What a step is: the contract between a playbook's parts and the runner.
//!
//! To add a step: a type with a few fields, an `impl Step` of `about`, `observe` and `plan`, and a line in its playbook.
//! A step whose changes are files and directories is undone by [`FilesOnly`](crate::FilesOnly) and needs nothing more. A step
//! that does something else names an [`Undo`](crate::Undo) of its own, plans an [`Act`] and implements `act` for it.

use std::{borrow::Cow, time::Duration};

use host::{Change, Host};

use crate::{
    Act, Planned, StepId,
    planned::unplanned,
    step_error::{Boxed, StepError},
    undo::Permits,
};

/// What people and files call a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its name in the ledger, events, metrics and docs.
    pub id: StepId,
    /// What is being done, for the progress display: "Issue the certificates".
    pub title: Cow<'static, str>,
    /// Why it is needed, in one line.
    pub why: Cow<'static, str>,
}

impl About {
    /// For steps whose texts are fixed, that is nearly all.
    pub const fn new(id: StepId, title: &'static str, why: &'static str) -> Self {
        Self { id, title: Cow::Borrowed(title), why: Cow::Borrowed(why) }
    }
}

/// Whether the promised state is there once nothing is left to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Met,
    /// Not yet; another process or machine (a service that starts, a peer) must do something first.
    Waiting {
        /// What is being waited for, as a person would say it: "etcd to answer on :2379".
        what: String,
        /// Anything that changes while there is progress; each change gives the wait its full time again.
        progress: String,
    },
}

/// One step of a playbook. Reading is in `observe`, thinking in `plan` and `verify`, doing in `act`; files are the engine's.
pub trait Step: Send + Sync + 'static {
    /// What `observe` finds out.
    type Seen: Send + Sync;

    /// How it is undone: by [`FilesOnly`](crate::FilesOnly), or by an [`Undo`](crate::Undo) beside it.
    type Undo: Permits;

    /// Whether there is something to do or to wait for only on a machine that runs. In an image such a step is done.
    const ONLY_LIVE: bool = false;

    /// Names and texts.
    fn about(&self) -> About;

    /// Looks at the machine. Reads only.
    fn observe(&self, host: &Host) -> impl Future<Output = Result<Self::Seen, StepError>> + Send;

    /// From what was seen, the changes still to be made; none when all of them are there, and none by a step that only waits.
    /// Touches nothing.
    fn plan(&self, _seen: &Self::Seen) -> Result<Vec<<Self::Undo as Permits>::Planned>, StepError> {
        Ok(Vec::new())
    }

    /// Asked when nothing is left to change: is the promised state there?
    fn verify(&self, _seen: &Self::Seen) -> Verdict {
        Verdict::Met
    }

    /// Makes one change. Doing it twice does no harm: a crash may come right after it.
    fn apply(&self, planned: &Planned, host: &Host) -> impl Future<Output = Result<(), StepError>> + Send {
        async move {
            match planned {
                Planned::Act(act) => self.act(act, host).await,
                Planned::File(change) => Ok(change.apply(&*host.disk)?),
                Planned::Fetch(act, files) => {
                    let changes = self.fetch(act, host).await?;
                    if let Some(path) = unplanned(&changes, files) {
                        return Err(StepError::not_planned(&act.key, path));
                    }
                    changes.iter().try_for_each(|change| Ok(change.apply(&*host.disk)?))
                }
                Planned::Claim(_) => Ok(()),
            }
        }
    }

    /// Makes a change that is no file, under the same condition.
    fn act(&self, act: &Act, _host: &Host) -> impl Future<Output = Result<(), StepError>> + Send {
        let error = StepError::no_such_action(&act.key);
        async move { Err(error) }
    }

    /// Gets the content of the files of a [`Planned::Fetch`], in an order in which a crash between two of them does no harm. The
    /// engine writes them, if they are those that were planned.
    fn fetch(&self, act: &Act, _host: &Host) -> impl Future<Output = Result<Vec<Change>, StepError>> + Send {
        let error = StepError::no_such_action(&act.key);
        async move { Err(error) }
    }

    /// How long to wait without any progress before this counts as a failed attempt.
    fn deadline(&self) -> Duration {
        Duration::from_mins(1)
    }
}

/// What one check of the machine says.
pub(crate) struct Observation {
    pub(crate) changes: Vec<Planned>,
    pub(crate) verdict: Verdict,
}

impl Observation {
    pub(crate) fn is_met(&self) -> bool {
        self.changes.is_empty() && self.verdict == Verdict::Met
    }
}

/// A [`Step`] without its type, as the runner holds it.
pub(crate) trait AnyStep: Send + Sync {
    fn check<'a>(&'a self, host: &'a Host) -> Boxed<'a, Observation>;
    fn apply<'a>(&'a self, change: &'a Planned, host: &'a Host) -> Boxed<'a, ()>;
    fn deadline(&self) -> Duration;
}

impl<S: Step> AnyStep for S {
    fn check<'a>(&'a self, host: &'a Host) -> Boxed<'a, Observation> {
        Box::pin(async move {
            if S::ONLY_LIVE && !host.is_live {
                return Ok(Observation { changes: Vec::new(), verdict: Verdict::Met });
            }
            let seen = self.observe(host).await?;
            let changes = self.plan(&seen)?.into_iter().map(Into::into).collect();
            Ok(Observation { changes, verdict: self.verify(&seen) })
        })
    }

    fn apply<'a>(&'a self, change: &'a Planned, host: &'a Host) -> Boxed<'a, ()> {
        Box::pin(Step::apply(self, change, host))
    }

    fn deadline(&self) -> Duration {
        Step::deadline(self)
    }
}
