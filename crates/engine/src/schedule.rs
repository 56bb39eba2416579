//! Which steps may start, and which never will: pure functions over the states of all steps.

use crate::playbook::Entry;

/// Where a step is in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepStatus {
    /// Not started.
    Pending,
    /// Being worked on.
    Running,
    /// Its promise is kept.
    Verified,
    /// It failed, was cancelled, or comes after one that did.
    Out,
}

/// The steps that may start now: pending, and everything before them verified.
pub(crate) fn ready(steps: &[Entry], statuses: &[StepStatus]) -> Vec<usize> {
    let verified = |index: &usize| statuses[*index] == StepStatus::Verified;
    (0..steps.len())
        .filter(|index| statuses[*index] == StepStatus::Pending && steps[*index].after.iter().all(verified))
        .collect()
}

/// The pending steps that cannot start any more, because something before them is out.
pub(crate) fn blocked(steps: &[Entry], statuses: &[StepStatus]) -> Vec<usize> {
    let mut out: Vec<bool> = statuses.iter().map(|status| *status == StepStatus::Out).collect();
    let mut blocked = Vec::new();
    // `after` points only upwards in the list, so one pass reaches everything.
    for (index, entry) in steps.iter().enumerate() {
        if statuses[index] == StepStatus::Pending && entry.after.iter().any(|before| out[*before]) {
            out[index] = true;
            blocked.push(index);
        }
    }
    blocked
}

#[cfg(test)]
mod tests {
    use StepStatus::{Out, Pending, Running, Verified};

    use super::*;
    use crate::{About, FilesOnly, Playbook, Step, StepError, StepId};

    const A: StepId = StepId::new("a");
    const B: StepId = StepId::new("b");
    const C: StepId = StepId::new("c");
    const D: StepId = StepId::new("d");

    struct Named(StepId);

    impl Step for Named {
        type Seen = ();
        type Undo = FilesOnly;

        fn about(&self) -> About {
            About::new(self.0, "", "")
        }

        async fn observe(&self, _host: &host::Host) -> Result<(), StepError> {
            Ok(())
        }
    }

    #[test]
    fn what_may_start_and_what_never_will() {
        // a ── c ── d
        // b ──┘
        let playbook = Playbook::never_undone("test")
            .step(Named(A), &[])
            .step(Named(B), &[])
            .step(Named(C), &[A, B])
            .step(Named(D), &[C])
            .build()
            .unwrap();
        for (statuses, may_start, never_will) in [
            ([Pending, Pending, Pending, Pending], vec![0, 1], vec![]),
            ([Running, Pending, Pending, Pending], vec![1], vec![]),
            ([Verified, Running, Pending, Pending], vec![], vec![]),
            ([Verified, Verified, Pending, Pending], vec![2], vec![]),
            ([Verified, Verified, Verified, Pending], vec![3], vec![]),
            ([Out, Pending, Pending, Pending], vec![1], vec![2, 3]),
            ([Verified, Out, Pending, Pending], vec![], vec![2, 3]),
            ([Verified, Verified, Out, Pending], vec![], vec![3]),
        ] {
            assert_eq!(ready(playbook.steps(), &statuses), may_start, "{statuses:?}");
            assert_eq!(blocked(playbook.steps(), &statuses), never_will, "{statuses:?}");
        }
    }
}
