//! A step that counts only until the masters have begun to take over. Afterwards it must neither raise again what was given
//! up, nor wait for it.

use std::{path::PathBuf, time::Duration};

use engine::{About, Act, Permits, Step, StepError, Verdict};
use host::Host;
use nodekit::Layout;

use super::hand_over;

/// Wraps such steps.
pub(super) struct UntilHandOver {
    decision: PathBuf,
}

/// A step that is as good as done once the hand-over is decided.
pub(super) struct Until<S> {
    step: S,
    decision: PathBuf,
}

impl UntilHandOver {
    pub(super) fn of(layout: &Layout) -> Self {
        Self { decision: hand_over::decision(layout) }
    }

    pub(super) fn runs<S: Step>(&self, step: S) -> Until<S> {
        Until { step, decision: self.decision.clone() }
    }
}

impl<S: Step> Step for Until<S> {
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
