//! The ports of a node are free, or held by the node's own services. If not, the process that holds them is named.

mod holder;
mod sockets;

use std::collections::BTreeMap;

use spec::{BootstrapRole, ValidatedCluster, ports};

use self::holder::{Holder, Holders};
use super::{Check, Context, problem};
use crate::{Checking, Finding, Inconclusive, codes};

/// See [`super`].
pub(super) const CHECK: Check =
    Check::new("ports", "the node's ports are free, or held by its own services", &[codes::PORT_HELD], check);

/// The processes of a bootstrap node's static pods, as the kernel calls them: by 15 characters.
const STATIC_PODS: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller", "kube-scheduler"];

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let mut listening = Vec::new();
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            listening.extend(sockets::listening(&context.text(table)?.unwrap_or_default()));
        }
        let wanted = wanted(&context.cluster, context.role());
        let taken: Vec<(u16, u64)> = listening.into_iter().filter(|(port, _)| wanted.contains_key(port)).collect();
        if taken.is_empty() {
            return Ok(Vec::new());
        }
        let holders = Holders::read(&*context.host.disk, &taken.iter().map(|(_, inode)| *inode).collect())?;
        let taken = taken.iter().map(|(port, inode)| (*port, holders.of(*inode))).collect();
        evaluate(&wanted, &taken, context.role())
    })
}

/// The ports of a node of this role, with whom they are for.
fn wanted(cluster: &ValidatedCluster, role: BootstrapRole) -> BTreeMap<u16, &'static str> {
    let everywhere = [
        (ports::API_BALANCER, "the agent's load balancer"),
        (ports::KUBELET_HEALTH, "the kubelet's health"),
        (ports::KUBELET, "the kubelet"),
        (ports::KUBE_PROXY_METRICS, "kube-proxy's metrics"),
        (ports::KUBE_PROXY_HEALTH, "kube-proxy's health"),
    ];
    let on_masters = [
        (ports::ETCD_CLIENT, "etcd's clients"),
        (ports::ETCD_PEER, "etcd's members"),
        (ports::ETCD_METRICS, "etcd's metrics"),
        (cluster.api().port, "the API server"),
        (ports::JOIN, "the join service"),
        (ports::CONTROLLER_MANAGER, "the controller manager"),
        (ports::SCHEDULER, "the scheduler"),
    ];
    let mut wanted = BTreeMap::from(everywhere);
    if role.is_master() || role == BootstrapRole::Bootstrap {
        wanted.extend(on_masters);
    }
    wanted
}

/// A port has one line per address that is listened on; it is reported once.
fn evaluate(
    wanted: &BTreeMap<u16, &'static str>,
    taken: &BTreeMap<u16, Option<&Holder>>,
    role: BootstrapRole,
) -> Result<Vec<Finding>, Inconclusive> {
    let is_unit = |holder: &Holder| holder.unit.as_deref().is_some_and(|unit| render::units::NAMES.contains(&unit));
    let is_static_pod = |holder: &Holder| {
        role == BootstrapRole::Bootstrap && holder.is_pod && STATIC_PODS.contains(&holder.name.as_str())
    };
    let foreign = |holder: &Holder| !is_unit(holder) && !is_static_pod(holder);
    let mut held = Vec::new();
    let mut hidden = Vec::new();
    for (port, holder) in taken {
        let whose = wanted.get(port).copied().unwrap_or_default();
        match holder {
            Some(holder) if foreign(holder) => held.push(format!("{port} (for {whose}) by {holder}")),
            Some(_) => {}
            None => hidden.push(port.to_string()),
        }
    }
    if !held.is_empty() {
        Ok(problem(codes::PORT_HELD, format!("ports are held: {}", held.join("; "))))
    } else if !hidden.is_empty() {
        Err(Inconclusive(format!("port {} is in use; run as root to see by which process", hidden.join(", "))))
    } else {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::reported, *};

    fn cluster() -> ValidatedCluster {
        let text = "cluster: { name: home, api: { port: 8443 } }\n\
                    nodes: [{ name: m, ip: 192.168.1.10, roles: [master] }, { name: w, ip: 192.168.1.11, roles: [worker] }]";
        spec::check_text(text).cluster.unwrap()
    }

    #[test]
    fn each_role_needs_its_ports() {
        let lists = [BootstrapRole::MasterFirst, BootstrapRole::MasterAdditional, BootstrapRole::Worker]
            .map(|role| format!("{role}: {:?}", wanted(&cluster(), role).keys().collect::<Vec<_>>()));
        insta::assert_snapshot!(lists.join("\n"));
    }

    #[test]
    fn our_own_services_are_not_in_the_way_and_others_are_named() {
        let wanted = wanted(&cluster(), BootstrapRole::MasterFirst);
        let holder = |name: &str, unit: Option<&str>| Holder {
            pid: 42,
            name: name.into(),
            unit: unit.map(Into::into),
            is_pod: unit.is_none(),
        };
        let etcd = holder("etcd", Some("etcd.service"));
        let nginx = holder("nginx", Some("nginx.service"));
        let lone = holder("python3", None);
        let verdicts: Vec<_> = [
            BTreeMap::from([(2379, Some(&etcd)), (2380, Some(&etcd))]),
            BTreeMap::from([(8443, Some(&nginx)), (2380, Some(&etcd)), (10250, Some(&lone))]),
            BTreeMap::from([(2379, Some(&etcd)), (10250, None)]),
        ]
        .iter()
        .map(|taken| evaluate(&wanted, taken, BootstrapRole::MasterFirst))
        .collect();
        let static_pod = holder("kube-controller", None);
        for (role, count) in [(BootstrapRole::Bootstrap, 0), (BootstrapRole::MasterFirst, 1)] {
            let found = evaluate(&wanted, &BTreeMap::from([(10257, Some(&static_pod))]), role).unwrap();
            assert_eq!(found.len(), count, "{role}");
        }
        insta::assert_snapshot!(reported(verdicts));
    }
}
