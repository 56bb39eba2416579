//! The checks of [`checks::preflight`] as a step: nothing after it begins on a machine that cannot become a node.
//!
//! It changes nothing. One problem or ten, all are reported at once. What a check advises, or could not check, is reported
//! and stops nothing. Once the step is verified, its record in the ledger shows later runs that what they find may be the
//! node itself.

use std::sync::Arc;

use checks::{
    End, Finding, MachineIds, NoPeers, Outcome, Subject,
    preflight::{self, Context, Stage},
};
use engine::{About, FilesOnly, Ledger, LedgerError, LedgerStore, Step, StepError};
use explain::counted;
use host::{Change, Disk, Host};
use spec::{Node, ValidatedCluster};

use super::ids;
use nodekit::Layout;

/// How far the machine is, as its ledger says: undoing a bootstrap undoes the record, too.
pub fn stage(disk: &dyn Disk, layout: &Layout) -> Result<Stage, LedgerError> {
    let ledger = LedgerStore::new(&layout.state_dir).open(disk)?.ledger;
    let passed = ledger.is_verified(&Ledger::key(super::NAME, ids::PREFLIGHT.as_str()));
    Ok(if passed { Stage::Begun } else { Stage::Untouched })
}

/// Runs the checks that are meant for this node.
pub struct Preflight {
    cluster: ValidatedCluster,
    node: Node,
    layout: Layout,
    skip: Vec<String>,
    machine_ids: Arc<dyn MachineIds>,
}

impl Preflight {
    /// All checks for this node.
    pub fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        Self {
            cluster: cluster.clone(),
            node: node.clone(),
            layout: layout.clone(),
            skip: Vec::new(),
            machine_ids: Arc::new(NoPeers),
        }
    }

    /// Without the checks of these names.
    #[must_use]
    pub fn skipping(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.skip.extend(names);
        self
    }

    /// With what knows the other machines.
    #[must_use]
    pub fn asking(mut self, machine_ids: Arc<dyn MachineIds>) -> Self {
        self.machine_ids = machine_ids;
        self
    }

    /// Runs the checks, as the step does, for those who want to see how each one ended.
    pub async fn outcomes(&self, host: &Host) -> Result<Vec<Outcome>, StepError> {
        let stage = stage(&*host.disk, &self.layout).map_err(|error| StepError::from_explained(&error))?;
        let subject = Subject {
            host: host.clone(),
            cluster: self.cluster.clone(),
            node: self.node.clone(),
            layout: self.layout.clone(),
            machine_ids: self.machine_ids.clone(),
        };
        let context = Context { subject, stage };
        let outcomes = preflight::run(preflight::registry(), &self.skip, &context).await;
        outcomes.map_err(|error| StepError::from_explained(&error))
    }
}

impl Step for Preflight {
    type Seen = Vec<Outcome>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::PREFLIGHT, "Check the machine", "failing early, before anything is changed")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Outcome>, StepError> {
        let outcomes = self.outcomes(host).await?;
        for outcome in &outcomes {
            let check = outcome.check;
            for Finding { evidence, fix, .. } in outcome.warnings() {
                host.doing(format!("{check}: warning: {evidence}; {fix}"));
            }
            if let End::Inconclusive(why) = &outcome.end {
                host.doing(format!("{check}: could not be checked: {why}"));
            }
        }
        Ok(outcomes)
    }

    fn plan(&self, outcomes: &Vec<Outcome>) -> Result<Vec<Change>, StepError> {
        match problems(outcomes) {
            Some(error) => Err(error),
            None => Ok(Vec::new()),
        }
    }
}

/// All problems as one error, with the code of the first.
fn problems(outcomes: &[Outcome]) -> Option<StepError> {
    let problems = outcomes.iter().flat_map(|outcome| outcome.problems().map(|found| (outcome.check, found)));
    let found: Vec<_> = problems.filter_map(|(check, one)| Some((check, one.code?, &one.evidence, &one.fix))).collect();
    let (first, code, message, hint) = *found.first()?;
    if found.len() == 1 {
        return Some(StepError::new(code, format!("{first}: {message}")).with_hint(hint.as_str()));
    }
    let each: Vec<String> =
        found.iter().map(|(check, code, message, _)| format!("{code} {check}: {message}")).collect();
    let hints: Vec<String> = found.iter().map(|(check, _, _, hint)| format!("{check}: {hint}")).collect();
    let message = format!("{} found: {}", counted(found.len(), "problem"), each.join("; "));
    Some(StepError::new(code, message).with_hint(hints.join("; ")))
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::*;
    use checks::{Part, codes};

    fn problem(check: &'static str, code: explain::Code, message: &str) -> Outcome {
        Outcome { check, end: vec![Finding::cause(code, Part::Machine, message)].into() }
    }

    #[test]
    fn all_problems_are_reported_and_nothing_else_stops() {
        let reported = |outcomes: &[Outcome]| {
            let error = problems(outcomes)?;
            Some(format!("{}: {error}\nhint: {}", error.code(), error.advice()))
        };
        let swapping = Finding::advice(Part::Machine, "swap is on", "`swapoff -a`");
        let swap = Outcome { check: "swap", end: vec![swapping].into() };
        let clock = Outcome { check: "clock", end: End::Inconclusive("no `timedatectl`".into()) };
        let root = problem("root", codes::NOT_ROOT, "the program runs as user 1000");
        let port = problem("ports", codes::PORT_HELD, "ports are held: 6443 (for the API server) by `nginx`");
        assert_eq!(reported(&[swap.clone(), clock.clone()]), None);
        let one = reported(&[clock.clone(), root.clone()]).unwrap();
        let two = reported(&[root, swap, clock, port]).unwrap();
        insta::assert_snapshot!(format!("{one}\n\n{two}"));
    }
}
