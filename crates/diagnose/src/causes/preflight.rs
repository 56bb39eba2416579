//! What must hold before a bootstrap must hold after it, too: the preflight checks, asked again.

use checks::{Outcome, Subject, codes, preflight};
use playbooks::cluster;

use crate::{Check, Checking, Context, Inconclusive};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "machine",
    "what `blackstart node preflight` checks",
    &[
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
    check,
);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let stage = cluster::stage(&*context.host.disk, &context.layout)
            .map_err(|error| Inconclusive(explain::chain(&error)))?;
        let asked = preflight::Context { subject: Subject::clone(context), stage };
        let outcomes = preflight::run(preflight::registry(), &[], &asked).await;
        let outcomes = outcomes.map_err(|error| Inconclusive(error.to_string()))?;
        // Warnings of a preflight are reported at every `node up`; here only what is wrong counts.
        Ok(outcomes.iter().flat_map(Outcome::problems).cloned().collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_can_answer_with_every_code_of_a_preflight() {
        let codes = preflight::registry().iter().flat_map(|check| check.codes);
        assert_eq!(CHECK.codes.iter().collect::<Vec<_>>(), codes.collect::<Vec<_>>());
    }
}
