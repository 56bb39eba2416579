//! A step that counts only until something is decided for good, which is a file. Once the masters take over, no step may raise
//! again what was given up, or wait for it; once this machine is retired, it has no key to ask the cluster with.

use std::{path::PathBuf, time::Duration};

use engine::{About, Act, Permits, Step, StepError, Verdict};
use host::Host;

/// Wraps steps that count until this file is there.
pub(super) struct Until {
    decision: PathBuf,
}

/// A step that is as good as done once it is decided.
pub(super) struct Undecided<S> {
    step: S,
    decision: PathBuf,
}

impl Until {
    pub(super) fn new(decision: PathBuf) -> Self {
        Self { decision }
    }

    pub(super) fn step<S: Step>(&self, step: S) -> Undecided<S> {
        Undecided { step, decision: self.decision.clone() }
    }
}

impl<S: Step> Step for Undecided<S> {
    /// `None` where it does not count any more.
    type Seen = Option<S::Seen>;
    type Undo = S::Undo;
    const ONLY_LIVE: bool = S::ONLY_LIVE;

    fn about(&self) -> About {
        self.step.about()
    }

    async fn observe(&self, host: &Host) -> Result<Self::Seen, StepError> {
        if host.disk.exists(&self.decision)? { Ok(None) } else { self.step.observe(host).await.map(Some) }
    }

    fn plan(&self, seen: &Self::Seen) -> Result<Vec<<S::Undo as Permits>::Planned>, StepError> {
        seen.as_ref().map_or_else(|| Ok(Vec::new()), |seen| self.step.plan(seen))
    }

    fn verify(&self, seen: &Self::Seen) -> Verdict {
        seen.as_ref().map_or(Verdict::Met, |seen| self.step.verify(seen))
    }

    async fn act(&self, act: &Act, host: &Host) -> Result<(), StepError> {
        self.step.act(act, host).await
    }

    fn deadline(&self) -> Duration {
        self.step.deadline()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::pivot::hand_over::HandOver;

    #[tokio::test]
    async fn what_was_given_up_is_not_raised_again() {
        let root = tempfile::tempdir().unwrap();
        let (host, layout) = (Host::rooted(root.path()), nodekit::Layout::default());
        let cluster = spec::check_dir("../../examples/pivot".as_ref()).cluster.unwrap();
        let until = Until::new("/decided".into());
        let step = until.step(HandOver::new(&cluster, &layout));
        let seen = step.observe(&host).await.unwrap();
        assert_eq!((seen, step.plan(&seen).unwrap().len()), (Some(false), 1));
        std::fs::write(root.path().join("decided"), "").unwrap();
        let seen = step.observe(&host).await.unwrap();
        assert_eq!((seen, step.plan(&seen).unwrap().len(), step.verify(&seen)), (None, 0, Verdict::Met));
    }
}
