//! The built-in network add-on: a pair of interfaces per pod, and addresses from the node's own part of the pod network.
//!
//! Routes to the other nodes' pods and masquerading towards the outside are kept by the agent, once per node and not
//! once per pod: pods see each other's real addresses.

use serde_json::{Value, json};

/// The text of `/etc/cni/net.d/10-blackstart.conflist` for a node with this part of the pod network.
pub fn cni_basic(pod_cidr: &str, mtu: Option<u32>) -> String {
    let everywhere = if pod_cidr.contains(':') { "::/0" } else { "0.0.0.0/0" };
    let mut ptp = json!({
        "type": "ptp",
        "ipMasq": false,
        "ipam": {
            "type": "host-local",
            // Below /run, because pods do not survive a reboot and neither may their addresses.
            "dataDir": "/run/cni-ipam-state",
            "ranges": [[{ "subnet": pod_cidr }]],
            "routes": [{ "dst": everywhere }],
        },
    });
    if let Some(mtu) = mtu {
        ptp["mtu"] = mtu.into();
    }
    let portmap = json!({ "type": "portmap", "backend": "nftables", "capabilities": { "portMappings": true } });
    pretty(&json!({ "cniVersion": "1.0.0", "name": "blackstart", "plugins": [ptp, portmap] }))
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_its_own_addresses() {
        insta::assert_snapshot!(cni_basic("10.244.3.0/24", None));
    }

    #[test]
    fn the_other_family_and_a_smaller_mtu() {
        insta::assert_snapshot!(cni_basic("fd00:2:0:3::/64", Some(1400)));
    }
}
