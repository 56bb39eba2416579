//! What must hold before a bootstrap must hold after it, too: the preflight checks, asked again.

use playbooks::{
    codes,
    preflight::{self, Finding as Checked, Stage},
};

use crate::{Check, Context, Finding, Kind, Part, Roles, check::Checking, finding::Inconclusive};

/// See [`super`].
pub(crate) const CHECK: Check = Check {
    name: "machine",
    about: "what `blackstart node preflight` checks",
    codes: &[
        codes::NOT_ROOT,
        codes::NO_PROGRAM,
        codes::CLOCK_WRONG,
        codes::BAD_MACHINE_ID,
        codes::MACHINE_ID_TAKEN,
        codes::NAME_LEADS_ELSEWHERE,
        codes::COMPONENTS_UNFIT,
        codes::KERNEL_LACKS,
        codes::NO_CGROUPS,
        codes::PORT_HELD,
        codes::DISK_FULL,
        codes::DISK_SLOW,
        codes::OTHER_CLUSTER,
    ],
    roles: Roles::All,
    run: check,
};

fn check<'a>(context: &'a Context<'a>) -> Checking<'a> {
    Box::pin(async move {
        let stage =
            Stage::read(&*context.host.disk, context.layout).map_err(|error| Inconclusive(explain::chain(&error)))?;
        let asked = preflight::Context {
            host: context.host,
            cluster: context.cluster,
            node: context.node,
            layout: context.layout,
            stage,
            machine_ids: &*context.machine_ids,
        };
        let outcomes = preflight::run(preflight::registry(), &[], &asked).await;
        let outcomes = outcomes.map_err(|error| Inconclusive(error.to_string()))?;
        Ok(outcomes.into_iter().filter_map(|outcome| evaluate(outcome.finding)).collect())
    })
}

/// Warnings of a preflight are said at every `node up`; here only what is wrong counts.
fn evaluate(finding: Checked) -> Option<Finding> {
    let Checked::Problem { code, message, hint } = finding else { return None };
    Some(Finding { code, kind: Kind::Cause, part: Part::Machine, evidence: message, fix: hint })
}
