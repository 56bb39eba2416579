//! A way to break a node, what must be reported of it, and how to fix it.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use crate::bench::{Answer, Bench};

/// What is promised for a bootstrap node.
pub(crate) const PROMISED: Duration = Duration::from_secs(30);

/// The machines of the cluster.
pub(crate) const MASTER: &str = "master-01";
pub(crate) const WORKER: &str = "worker-01";

/// Something that breaks.
pub(crate) struct Case {
    /// What was done, in a few words.
    pub(crate) name: &'static str,
    /// Where it is done, and where the question is asked.
    pub(crate) machine: &'static str,
    /// Breaks it.
    pub(crate) provoke: Deed,
    /// Exactly what must be found: no code less, no code more.
    pub(crate) codes: &'static [&'static str],
    /// Warnings that must be among those reported.
    pub(crate) warnings: &'static [&'static str],
    /// A word that shows that the evidence is the right one.
    pub(crate) evidence: &'static str,
    /// Fixes it.
    pub(crate) fix: Deed,
    /// What the program gets by its environment, as `NAME=value`.
    pub(crate) environment: &'static str,
    /// What must be reported of it on other machines.
    pub(crate) elsewhere: &'static [Expected],
    /// Nothing is fixed: the next case goes on from here.
    pub(crate) stays: bool,
    /// Within this it is reported, counted from the moment in which the fault is there; `None` where some of that is what the fault is.
    pub(crate) within: Option<Duration>,
    /// Every other warning that may be there; `None` where that depends on the moment.
    pub(crate) beside: Option<&'static [&'static str]>,
}

/// What must be reported on a machine; the fields are those of a [`Case`].
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) machine: &'static str,
    pub(crate) codes: &'static [&'static str],
    pub(crate) warnings: &'static [&'static str],
    pub(crate) evidence: &'static str,
}

/// Something that is done to the cluster.
pub(crate) enum Deed {
    /// A line of shell on the case's machine; `set -eu` holds.
    Sh(&'static str),
    /// Whatever else.
    By(fn(&Bench)),
    /// Nothing has to be done.
    Nothing,
}

impl Case {
    /// What a case need not say.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        machine: MASTER,
        provoke: Deed::Nothing,
        codes: &[],
        warnings: &[],
        evidence: "",
        fix: Deed::Nothing,
        environment: "",
        elsewhere: &[],
        stays: false,
        within: None,
        beside: None,
    };

    /// Breaks, asks, fixes, asks again. What must be reported is reported at once with nothing else beside it.
    pub(crate) fn run(&self, bench: &Bench) -> Result<(), String> {
        let here =
            Expected { machine: self.machine, codes: self.codes, warnings: self.warnings, evidence: self.evidence };
        let all = || [here].into_iter().chain(self.elsewhere.iter().copied());
        let broken = self.provoke.on(bench, self.machine);
        let since = Instant::now();
        let reported = broken.and_then(|()| all().try_for_each(|expected| self.is_reported(&expected, bench, since)));
        if self.stays {
            return reported;
        }
        let fixed = self.fix.on(bench, self.machine);
        let well = all().try_for_each(|expected| expected.is_over(bench));
        reported.and(fixed).and(well)
    }

    fn is_reported(&self, expected: &Expected, bench: &Bench, since: Instant) -> Result<(), String> {
        let answer = bench.ask_until(expected.machine, self.environment, |answer| expected.is_named_in(answer));
        let time = since.elapsed();
        expected.evaluate(&answer)?;
        let known = |code: &String| self.beside.is_none_or(|beside| beside.contains(&code.as_str()));
        let warnings = answer.codes("warnings");
        if let Some(other) = warnings.iter().find(|code| !expected.warnings.contains(&code.as_str()) && !known(code)) {
            return Err(format!("{other} is not expected on {}: {answer}", expected.machine));
        }
        let after = format!("reported on {} after {:.1} s", expected.machine, time.as_secs_f64());
        eprintln!("  {after}");
        if self.within.is_some_and(|within| time > within) { Err(format!("{after}: {answer}")) } else { Ok(()) }
    }
}

impl Expected {
    /// Nothing is wrong any more, and there is no warning of the same.
    fn is_over(&self, bench: &Bench) -> Result<(), String> {
        let is_over = |answer: &Answer| {
            let warnings = answer.codes("warnings");
            answer.is_well() && !self.warnings.iter().any(|code| warnings.contains(*code))
        };
        let answer = bench.ask_until(self.machine, "", is_over);
        if is_over(&answer) { Ok(()) } else { Err(format!("{} is not well again: {answer}", self.machine)) }
    }

    /// Whether all that must be reported is among what was reported, with its evidence.
    fn is_named_in(&self, answer: &Answer) -> bool {
        let (findings, warnings) = (answer.codes("findings"), answer.codes("warnings"));
        self.codes.iter().all(|code| findings.contains(*code))
            && self.warnings.iter().all(|code| warnings.contains(*code))
            && answer.evidence().contains(self.evidence)
    }

    fn evaluate(&self, answer: &Answer) -> Result<(), String> {
        let expected: BTreeSet<String> = self.codes.iter().map(|code| (*code).to_owned()).collect();
        let found = answer.codes("findings");
        if found == expected && self.is_named_in(answer) {
            return Ok(());
        }
        let Self { machine, warnings, evidence, .. } = self;
        Err(format!("expected {expected:?}, warnings {warnings:?} and `{evidence}` on {machine}: {answer}"))
    }
}

impl Deed {
    fn on(&self, bench: &Bench, machine: &str) -> Result<(), String> {
        match self {
            Self::Sh(line) => bench.try_sh(machine, line).map(drop),
            Self::By(deed) => {
                deed(bench);
                Ok(())
            }
            Self::Nothing => Ok(()),
        }
    }
}
