//! What is printed before and after a node is removed.

use std::fmt::Write;

use engine::StepPlan;
use playbooks::remove::ids;

/// What still knows the node when it is out of the cluster.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    /// cluster.yaml of this master names it.
    pub(super) is_listed: bool,
    /// It has the cluster's keys.
    pub(super) was_master: bool,
}

/// Everything that would be done, in that order.
pub(in crate::commands) fn changes(steps: &[StepPlan]) -> Vec<String> {
    steps.iter().filter_map(|step| step.changes.as_ref().ok()).flatten().map(ToString::to_string).collect()
}

/// Whether etcd has a member of it.
pub(super) fn has_member(steps: &[StepPlan]) -> bool {
    let has_changes = |step: &StepPlan| step.changes.as_ref().is_ok_and(|changes| !changes.is_empty());
    steps.iter().any(|step| step.about.id == ids::ETCD_MEMBER && has_changes(step))
}

/// What a person should know before agreeing.
pub(in crate::commands) fn question(node: &str, cluster: &str, changes: &[String]) -> String {
    let mut text = format!("{node} will be taken out of {cluster}:\n");
    for change in changes {
        let _ = writeln!(text, "  - {change}");
    }
    text
}

/// How it ended, and what is left where this command does not reach.
pub(super) fn end(node: &str, cluster: &str, was_there: bool, left: Left) -> String {
    let mut text = if was_there {
        format!("{node} is out of {cluster}; what is left of it elsewhere:\n")
    } else {
        format!("nothing of {node} is in {cluster}; what may be left of it elsewhere:\n")
    };
    let mut say = |what: &str| _ = writeln!(text, "  - {what}");
    say(
        "the machine: run `blackstart node reset` there, or leave it switched off; its certificates are good until they \
         end, and with them it registers again when it starts",
    );
    if left.is_listed {
        say(&format!(
            "cluster.yaml: take {node} out of it on every node, and no master gives it a new certificate or lets it in \
             again; leave it there if a new machine of that name is to come"
        ));
    }
    if left.was_master {
        say("the cluster's keys: they are on its disk; wipe it before the machine goes out of your hands");
    }
    say("its sealed directory: it holds the secret by which it joined; delete it where it is kept");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before() {
        let changes = ["cordon worker-01", "evict 1 pod: default/web-1", "delete the Node worker-01"];
        insta::assert_snapshot!(question("worker-01", "home", &changes.map(String::from)), @r"
        worker-01 will be taken out of home:
          - cordon worker-01
          - evict 1 pod: default/web-1
          - delete the Node worker-01
        ");
    }

    #[test]
    fn after() {
        let worker = end("worker-01", "home", true, Left { is_listed: true, was_master: false });
        let master = end("master-03", "home", true, Left { is_listed: false, was_master: true });
        let again = end("worker-01", "home", false, Left { is_listed: true, was_master: false });
        insta::assert_snapshot!([worker, master, again].join("\n"));
    }
}
