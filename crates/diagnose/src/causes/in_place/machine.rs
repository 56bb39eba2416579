//! What a machine itself shows of work in place: a file that would make its operating system begin by itself, and updaters
//! that would interfere.

use kubeapi::k8s_openapi::api::core::v1::Node as ApiNode;
use playbooks::cluster::ids;
use reprovision::paths;
use upgrades::names::ORDER_ANNOTATION;

use super::{annotation, is_labelled, name};
use crate::{
    Check, Checking, Context, Finding, Inconclusive, Part,
    codes::{IN_PLACE_ENCAPSULATED, IN_PLACE_UPDATER},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "in-place-machine",
    "a file that makes the operating system provision itself anew; updaters beside work in place",
    &[IN_PLACE_ENCAPSULATED, IN_PLACE_UPDATER],
    check,
);

/// RHCOS runs a unit of its own before the kubelet at every boot at which this file is there.
const ENCAPSULATED: &str = "/etc/ignition-machine-config-encapsulated.json";

/// Units of updaters that change or reboot a machine by themselves, as patterns.
const UPDATERS: [&str; 6] = [
    "dnf-automatic*.timer",
    "dnf5-automatic*.timer",
    "locksmithd.service",
    "rpm-ostreed-automatic.timer",
    "yum-cron.service",
    "zincati.service",
];

/// Debian's updates itself every day, and reboots only where it is told to.
const UNATTENDED: &str = "apt-daily-upgrade.timer";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let disk = &*context.host.disk;
        let works = disk.exists(&paths::payload())?;
        let mut found = Vec::new();
        if disk.exists(ENCAPSULATED.as_ref())? {
            found.extend(encapsulated(works));
        }
        // Only a node that was once in the cluster can be asked for.
        if !context.was_done(ids::NODE_READY).await? {
            return Ok(found);
        }
        let is_asked = match context.nodes().await? {
            Ok(nodes) => nodes.iter().any(|node| name(node) == context.node.name && is_asked(node)),
            Err(_) if works || !found.is_empty() => works,
            Err(why) => return Err(Inconclusive::from(why.clone())),
        };
        if is_asked {
            found.extend(updaters(&active(context).await?));
        }
        Ok(found)
    })
}

/// It is labelled, or was told to do something: the label goes when it begins.
fn is_asked(node: &ApiNode) -> bool {
    is_labelled(node) || annotation(node, ORDER_ANNOTATION).is_some()
}

/// A run of ours never writes it, but its payload may come with a program that does.
fn encapsulated(works: bool) -> Option<Finding> {
    let evidence =
        format!("{ENCAPSULATED} is there without a run: RHCOS applies it at its next boot, before the kubelet");
    (!works).then(|| Finding::warning(IN_PLACE_ENCAPSULATED, Part::Machine, evidence))
}

/// The updaters that are active.
async fn active(context: &Context) -> Result<Vec<String>, Inconclusive> {
    let mut arguments =
        vec!["list-units", "--state=active,activating", "--plain", "--no-legend", "--no-pager", UNATTENDED];
    arguments.extend(UPDATERS);
    let command = host::Cmd::new("systemctl").args(arguments).env("LC_ALL", "C");
    let printed = context.host.commands.run(&command).await?.stdout;
    let mut names: Vec<String> =
        printed.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    if names.iter().any(|name| name == UNATTENDED) {
        let settings = context.output("apt-config", ["dump", "Unattended-Upgrade::Automatic-Reboot"]).await?;
        names.retain(|name| name != UNATTENDED || reboots(&settings));
    }
    Ok(names)
}

/// `Unattended-Upgrade::Automatic-Reboot "true";`: one of the words by which apt says yes.
fn reboots(settings: &str) -> bool {
    const YES: [&str; 6] = ["1", "yes", "true", "with", "on", "enable"];
    let value =
        settings.lines().find_map(|line| line.strip_prefix("Unattended-Upgrade::Automatic-Reboot ")?.split('"').nth(1));
    value.is_some_and(|value| YES.contains(&value.to_lowercase().as_str()))
}

fn updaters(active: &[String]) -> Option<Finding> {
    let names = active.join(" ");
    let evidence = format!("active beside the work on this node: {}", active.join(", "));
    let fix = format!("for the time of the work: `systemctl stop {names}`; afterwards `systemctl start {names}`");
    (!active.is_empty()).then(|| Finding::warning(IN_PLACE_UPDATER, Part::Machine, evidence).with_fix(fix))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_that_no_run_has_written_is_named() {
        assert_eq!(encapsulated(true), None);
        assert!(encapsulated(false).unwrap().evidence.starts_with("/etc/ignition-machine-config-encapsulated.json is"));
    }

    #[test]
    fn updaters_are_named_with_what_stops_them() {
        assert_eq!(updaters(&[]), None);
        let found = updaters(&["zincati.service".to_owned(), "dnf-automatic.timer".to_owned()]).unwrap();
        assert_eq!(found.evidence, "active beside the work on this node: zincati.service, dnf-automatic.timer");
        assert!(found.fix.contains("`systemctl stop zincati.service dnf-automatic.timer`"), "{}", found.fix);
    }

    #[test]
    fn debians_counts_where_it_reboots() {
        for (settings, expected) in [
            ("", false),
            ("Unattended-Upgrade::Automatic-Reboot \"false\";\n", false),
            ("Unattended-Upgrade::Automatic-Reboot \"true\";\n", true),
            ("Unattended-Upgrade::Automatic-Reboot-Time \"true\";\n", false),
        ] {
            assert_eq!(reboots(settings), expected, "{settings}");
        }
    }

    #[test]
    fn a_node_is_asked_by_its_label_or_by_an_order() {
        for (metadata, expected) in [
            (json!({ "name": "w1" }), false),
            (json!({ "labels": { "ibm-cloud.kubernetes.io/ipb-schedule": "true" } }), true),
            (json!({ "labels": { "ibm-cloud.kubernetes.io/ipb-schedule": "no" } }), false),
            (json!({ "annotations": { "blackstart.io/upgrade-order": "{}" } }), true),
        ] {
            let node = serde_json::from_value(json!({ "metadata": metadata })).unwrap();
            assert_eq!(is_asked(&node), expected, "{metadata}");
        }
    }
}
