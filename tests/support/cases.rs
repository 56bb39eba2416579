//! Many ways to disturb a machine: those that the seed chooses are played one after the other, and the recoveries counted.
//!
//! `BLACKSTART_TEST_FULL=1` plays all of them, `BLACKSTART_TEST_SEED=N` those of another commit again,
//! `BLACKSTART_TEST_ONLY='etcd ended|etcd started'` those whose names hold one of these.

use std::{
    env,
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use crate::support::seed;

/// Plays cases; `play` says where one struck, or `None` if its instant did not come. Fails at the end if one did.
pub(crate) fn play_all<C: Clone + Display>(
    kind: &str,
    all: &[C],
    of_the_seed: impl FnOnce(usize) -> C,
    play: impl Fn(&C) -> Option<String>,
    evidence: impl Fn() -> String,
) {
    let chosen = chosen(all, of_the_seed);
    let names = || all.iter().map(|case| format!("\n{case}")).collect::<String>();
    assert!(!chosen.is_empty(), "no case is called that: {}", names());
    let (mut recovered, mut failed) = (0, Vec::new());
    for case in &chosen {
        let started = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| play(case))) {
            Ok(Some(at)) => {
                recovered += 1;
                eprintln!("  {kind}: {case} (at `{at}`): recovered ({:.1} s)", started.elapsed().as_secs_f64());
            }
            Ok(None) => eprintln!("  {kind}: {case}: there was nothing to wait for this time"),
            Err(_) => {
                eprintln!("  {kind}: {case}: FAILED\n{}", evidence());
                failed.push(case.to_string());
            }
        }
    }
    eprintln!("  {kind}: recovered {recovered} of {} ({} in all)", recovered + failed.len(), all.len());
    assert!(failed.is_empty(), "{failed:#?}");
}

/// What takes minutes is checked on one commit of so many, unless everything is wanted or checks are named.
pub(crate) fn is_turn(kind: u64, of: u64) -> bool {
    let is_wanted =
        ["CHECKS", "BLACKSTART_TEST_ONLY", "BLACKSTART_TEST_FULL"].into_iter().any(|name| env::var_os(name).is_some());
    is_wanted || seed() % of == kind
}

/// Every so-many-th of a list: the next commit has others.
pub(crate) fn in_turn<C: Copy>(list: &[C], of: u64) -> Vec<C> {
    list.iter().enumerate().filter(|(at, _)| is_turn(*at as u64 % of, of)).map(|(_, one)| *one).collect()
}

/// The one of the seed, unless another is asked for.
fn chosen<C: Clone + Display>(all: &[C], of_the_seed: impl FnOnce(usize) -> C) -> Vec<C> {
    if let Ok(only) = env::var("BLACKSTART_TEST_ONLY") {
        let is_wanted = |case: &&C| only.split('|').any(|part| case.to_string().contains(part));
        return all.iter().filter(is_wanted).cloned().collect();
    }
    if env::var_os("BLACKSTART_TEST_FULL").is_some() {
        return all.to_vec();
    }
    vec![of_the_seed(usize::try_from(seed()).unwrap())]
}
