//! A master that waits for a bootstrap node of which nothing answers.

use nodekit::run_record::Outcome;
use playbooks::cluster::ids;
use spec::{Node, ports};

use super::last_run;
use crate::{Check, Checking, Context, Finding, Part, Roles, codes::BOOTSTRAP_SILENT};

/// See [`super::super`].
pub(crate) const CHECK: Check = Check::new(
    "bootstrap-silent",
    "a master that waits for a bootstrap node which does not answer",
    &[BOOTSTRAP_SILENT],
    check,
)
.only(Roles::Masters);

/// What a master does before it is part of a cluster, and waits in.
const BEFORE: [&str; 2] = [ids::SPLIT_BRAIN_GUARD.as_str(), ids::CLUSTER_KEYS.as_str()];

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let Some((run, Outcome::Working)) = last_run(context)? else { return Ok(Vec::new()) };
        if !run.waiting().iter().any(|wait| BEFORE.contains(&wait.step)) {
            return Ok(Vec::new());
        }
        Ok(context.silent_bootstrap_node().await.map(evaluate).into_iter().collect())
    })
}

/// The reason may be the way there, which has looks of its own.
fn evaluate(node: &Node) -> Finding {
    let Node { name, ip, .. } = node;
    let evidence = format!(
        "this master waits for {name}, and {name} ({ip}) answers neither on port {} nor as an API server",
        ports::JOIN
    );
    Finding::symptom(BOOTSTRAP_SILENT, Part::Joining, evidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_bootstrap_node;

    #[test]
    fn it_is_named_with_its_address() {
        let cluster = with_bootstrap_node();
        let evidence = evaluate(cluster.bootstrap_node().unwrap()).evidence;
        assert!(
            evidence.starts_with("this master waits for bootstrap, and bootstrap (10.0.0.9) answers"),
            "{evidence}"
        );
    }
}
