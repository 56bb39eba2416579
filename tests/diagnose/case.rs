//! A way to break a node, what must be said of it, and how to mend it.

use std::collections::BTreeSet;

use crate::bench::{Answer, Bench};

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
    /// Warnings that must be among those told.
    pub(crate) warnings: &'static [&'static str],
    /// A word that shows that the evidence is the right one.
    pub(crate) tells: &'static str,
    /// Mends it.
    pub(crate) mend: Deed,
    /// What the program is told by its environment, as `NAME=value`.
    pub(crate) environment: &'static str,
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
        tells: "",
        mend: Deed::Nothing,
        environment: "",
    };

    /// Breaks, asks, mends, asks again. What must be told is told at once with nothing else beside it.
    pub(crate) fn run(&self, bench: &Bench) -> Result<(), String> {
        let broken = self.provoke.on(bench, self.machine);
        let told = broken.and_then(|()| {
            let answer = bench.ask_until(self.machine, self.environment, |answer| self.is_named_in(answer));
            self.judge(&answer)
        });
        let mended = self.mend.on(bench, self.machine);
        let well = bench.ask_until(self.machine, "", Answer::is_well);
        let well = if well.is_well() { Ok(()) } else { Err(format!("it is not well again afterwards: {well}")) };
        told.and(mended).and(well)
    }

    /// Whether all that must be told is among what was told.
    fn is_named_in(&self, answer: &Answer) -> bool {
        let (findings, warnings) = (answer.codes("findings"), answer.codes("warnings"));
        self.codes.iter().all(|code| findings.contains(*code))
            && self.warnings.iter().all(|code| warnings.contains(*code))
    }

    fn judge(&self, answer: &Answer) -> Result<(), String> {
        let expected: BTreeSet<String> = self.codes.iter().map(|code| (*code).to_owned()).collect();
        let told = answer.codes("findings");
        if told != expected || !self.is_named_in(answer) {
            return Err(format!("expected {expected:?} and warnings {:?}: {answer}", self.warnings));
        }
        if !answer.evidence().contains(self.tells) {
            return Err(format!("`{}` is not in the evidence: {answer}", self.tells));
        }
        Ok(())
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
