//! A temporary bootstrap node: what breaks while it holds the cluster, in its hand-over, and what it leaves behind.
//!
//! One lab goes all the way: a bootstrap node that waits for its masters ([`holds`]), masters that wait for it and a hand-over that is
//! cut off ([`takes_over`]), and the cluster that is left ([`left`]). A commit plays some cases of the first part, chosen by its
//! seed; all of it is played with `BLACKSTART_TEST_FULL=1`.

pub(crate) mod holds;
pub(crate) mod left;
mod stage;
pub(crate) mod takes_over;

pub(crate) use stage::{BOOTSTRAP, Stage};

use crate::{case::Case, common};

/// So many cases of the bootstrap node are played by one commit.
const SAMPLE: usize = 4;

/// Those whose turn it is: neighbouring commits have others.
pub(crate) fn of_the_seed(cases: &'static [Case]) -> Vec<&'static Case> {
    if is_full() {
        return cases.iter().collect();
    }
    let first = usize::try_from(common::seed()).unwrap() * SAMPLE;
    (first..first + SAMPLE).map(|at| &cases[at % cases.len()]).collect()
}

/// Whether everything is played.
pub(crate) fn is_full() -> bool {
    ["BLACKSTART_TEST_FULL", "BLACKSTART_CASES"].into_iter().any(|name| std::env::var_os(name).is_some())
}
