//! Whether the work can be done: everything is observed, and all that is wrong is reported at once.

use std::time::Duration;

use checks::{Check, End, Finding, Kind, Outcome, run_all};
use explain::{Diagnostic, Explain};
use host::Host;

use crate::{
    Run, codes,
    drivers::{Described, Driver, Subject},
};

/// For one check: a mirror may be slow.
const LIMIT: Duration = Duration::from_mins(3);

/// What was found.
pub(crate) struct Found {
    pub(crate) problems: Vec<Diagnostic<String>>,
    pub(crate) warnings: Vec<String>,
    pub(crate) described: Described,
}

/// Observes everything, and fetches the payload meanwhile.
pub(crate) async fn preflight(driver: &dyn Driver, run: &Run, host: &Host) -> Found {
    let subject = Subject { run: run.clone(), host: host.clone() };
    let (mut outcomes, fetched) = tokio::join!(run_checks(driver.checks(), &subject), driver.fetch(run, host));
    let mut problems = Vec::new();
    let mut described = Described::new();
    if let Err(error) = fetched {
        problems.push(error.diagnostic().recorded());
    } else {
        outcomes.extend(run_checks(driver.payload_checks(), &subject).await);
        match driver.describe(run, host).await {
            Ok(found) => described = found,
            Err(error) => problems.push(error.diagnostic().recorded()),
        }
    }
    let warnings = outcomes.iter().flat_map(Outcome::warnings).map(|finding| finding.evidence.clone()).collect();
    problems.extend(outcomes.iter().flat_map(problems_of));
    // A cause may be seen by more than one check.
    let mut all: Vec<Diagnostic<String>> = Vec::new();
    for problem in problems {
        if !all.contains(&problem) {
            all.push(problem);
        }
    }
    Found { problems: all, warnings, described }
}

async fn run_checks(checks: &'static [Check<Subject>], subject: &Subject) -> Vec<Outcome> {
    run_all(checks, subject, LIMIT, |_| None).await
}

/// What could not be observed is a problem too: the work would find out when it is too late.
fn problems_of(outcome: &Outcome) -> Vec<Diagnostic<String>> {
    match &outcome.end {
        End::Checked(found) => found.iter().filter(|finding| finding.kind != Kind::Warning).map(diagnostic).collect(),
        End::Inconclusive(why) => {
            vec![Diagnostic::new(codes::INCONCLUSIVE, format!("{}: {why}", outcome.check)).recorded()]
        }
        End::Skipped(_) => Vec::new(),
    }
}

fn diagnostic(finding: &Finding) -> Diagnostic<String> {
    Diagnostic {
        code: finding.code.map_or(codes::INCONCLUSIVE, |code| code).id.to_owned(),
        message: finding.evidence.clone(),
        hint: finding.fix.clone(),
    }
}
