//! The configuration of the pod network: there, in front of all others, and with plugins that exist.

use std::path::Path;

use playbooks::cluster::ids;
use serde_json::Value;
use spec::NetworkAddOn;

use crate::{
    Check, Checking, Context, Finding, Part,
    codes::{FOREIGN_POD_NETWORK, NO_NETWORK_PLUGIN, NO_POD_NETWORK},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "pod-network",
    "the CNI configuration and its plugins",
    &[NO_POD_NETWORK, FOREIGN_POD_NETWORK, NO_NETWORK_PLUGIN],
    check,
);

const CONFIGURATIONS: &str = "/etc/cni/net.d";
const PLUGINS: &str = "/opt/cni/bin";
/// What the agent writes for the built-in network.
const OURS: &str = "10-blackstart.conflist";

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::KUBELET).await? {
            return Ok(Vec::new());
        }
        let disk = &*context.host.disk;
        let all =
            if disk.exists(Path::new(CONFIGURATIONS))? { disk.list(Path::new(CONFIGURATIONS))? } else { Vec::new() };
        let first = first(&all);
        let is_built_in = matches!(context.cluster.networking().add_on, NetworkAddOn::Basic);
        let mut found: Vec<Finding> = evaluate(first, is_built_in).into_iter().collect();
        if let Some(first) = first {
            let text = context.text(Path::new(CONFIGURATIONS).join(first))?.unwrap_or_default();
            let mut missing = Vec::new();
            for plugin in plugins(&text) {
                if !disk.exists(&Path::new(PLUGINS).join(&plugin))? {
                    missing.push(format!("{PLUGINS}/{plugin}"));
                }
            }
            found.extend(lacking(first, &missing));
        }
        Ok(found)
    })
}

/// containerd takes the first in the order of names.
fn first(names: &[String]) -> Option<&str> {
    let is_one = |name: &&String| [".conf", ".conflist", ".json"].iter().any(|end| name.ends_with(end));
    names.iter().filter(is_one).min().map(String::as_str)
}

/// Who should have written a configuration that is missing is at fault, so that is only a symptom.
fn evaluate(first: Option<&str>, is_built_in: bool) -> Option<Finding> {
    match first {
        None => {
            let evidence = format!("{CONFIGURATIONS} holds no configuration, so no pod gets a network");
            Some(Finding::symptom(NO_POD_NETWORK, Part::PodNetwork, evidence))
        }
        Some(first) if is_built_in && first != OURS => {
            let evidence = format!("{CONFIGURATIONS}/{first} comes before {OURS}, so pods get another network");
            let fix = format!("`rm {CONFIGURATIONS}/{first}`; pods that were started meanwhile must be restarted");
            Some(Finding::cause(FOREIGN_POD_NETWORK, Part::PodNetwork, evidence).with_fix(fix))
        }
        Some(_) => None,
    }
}

/// The programs that a configuration calls, those for addresses among them.
fn plugins(configuration: &str) -> Vec<String> {
    let configuration: Value = serde_json::from_str(configuration).unwrap_or_default();
    let listed = configuration["plugins"].as_array().cloned().unwrap_or_default();
    let all = listed.iter().chain([&configuration]);
    let types = all.flat_map(|plugin| [&plugin["type"], &plugin["ipam"]["type"]]);
    types.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn lacking(first: &str, missing: &[String]) -> Option<Finding> {
    let evidence = format!("{first} needs what is not there: {}", missing.join(", "));
    // One that the bundle should have is reported with the bundle.
    (!missing.is_empty()).then(|| Finding::symptom(NO_NETWORK_PLUGIN, Part::PodNetwork, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_configuration_counts() {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let reported =
            |list: &[&str], is_built_in| evaluate(first(&names(list)), is_built_in).map(|finding| finding.id());
        assert_eq!(reported(&[OURS, "README", "99-other.conf"], true), None);
        assert_eq!(reported(&["00-other.conflist", OURS], true), Some(FOREIGN_POD_NETWORK.id));
        assert_eq!(reported(&["10-calico.conflist"], false), None);
        assert_eq!(reported(&[], true), Some(NO_POD_NETWORK.id));
        assert_eq!(reported(&["10-blackstart.conflist.tmp"], false), Some(NO_POD_NETWORK.id));
    }

    #[test]
    fn plugins_of_both_forms() {
        assert_eq!(plugins(&render::cni_basic("10.244.1.0/24", None)), ["ptp", "host-local", "portmap"]);
        assert_eq!(plugins(r#"{"type":"bridge","ipam":{"type":"dhcp"}}"#), ["bridge", "dhcp"]);
        assert_eq!(plugins("garbage"), Vec::<String>::new());
        assert_eq!(lacking(OURS, &[]), None);
        assert_eq!(
            lacking(OURS, &["/opt/cni/bin/ptp".into()]).unwrap().evidence,
            "10-blackstart.conflist needs what is not there: /opt/cni/bin/ptp"
        );
    }
}
