//! A second bootstrap node: the masters have a cluster, and this machine would make another one.

use nodekit::run_record::Outcome;
use playbooks::codes::CLUSTER_EXISTS;

use super::last_run;
use crate::{Check, Checking, Context, Finding, Part, Roles};

/// See [`super::super`].
pub(crate) const CHECK: Check = Check::new(
    "second-bootstrap",
    "a bootstrap node that found the masters in a cluster already",
    &[CLUSTER_EXISTS],
    check,
)
.only(Roles::Masters);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if context.tenure()?.is_none() {
            return Ok(Vec::new());
        }
        let Some((run, Outcome::Failed)) = last_run(context)? else { return Ok(Vec::new()) };
        let refused = run.cause().filter(|error| error.diagnostic.code == CLUSTER_EXISTS.id);
        Ok(refused
            .map(|error| Finding::cause(CLUSTER_EXISTS, Part::Joining, &error.diagnostic.message))
            .into_iter()
            .collect())
    })
}
