//! The `NetworkManager` connection that gives the node its address.

use std::net::IpAddr;

use spec::{InterfaceChoice, Mac, Node, ValidatedCluster};

use crate::service::RenderedFile;

const PATH: &str = "/etc/NetworkManager/system-connections/blackstart.nmconnection";

/// The connection, as a keyfile. `mac` is that of the card that was found to carry the node's address; where
/// cluster.yaml names the interface, the name decides, so that the card can be replaced.
pub fn connection(cluster: &ValidatedCluster, node: &Node, mac: Mac) -> RenderedFile {
    let card = match &cluster.networking().interface {
        InterfaceChoice::Named(name) => format!("interface-name={name}\n"),
        InterfaceChoice::ByMac => format!("\n[ethernet]\nmac-address={mac}\n"),
    };
    let (ipv4, ipv6) = match node.ip {
        IpAddr::V4(_) => (address(cluster, node), "method=link-local\n".to_owned()),
        IpAddr::V6(_) => ("method=disabled\n".to_owned(), address(cluster, node)),
    };
    // The priority is above that of whatever connection the installer left; zero retries means no limit to them.
    let text = format!(
        "[connection]\n\
         id=blackstart\n\
         type=ethernet\n\
         autoconnect-priority=999\n\
         autoconnect-retries=0\n\
         {card}\n\
         [ipv4]\n\
         {ipv4}\n\
         [ipv6]\n\
         {ipv6}"
    );
    RenderedFile::private(PATH, text)
}

/// The family in which the cluster is. Whatever a router announces is not believed in it.
fn address(cluster: &ValidatedCluster, node: &Node) -> String {
    let networking = cluster.networking();
    let gateway = networking.gateway.map(|gateway| format!(",{gateway}")).unwrap_or_default();
    let servers: String = networking.dns.iter().map(|server| format!("{server};")).collect();
    let dns = if servers.is_empty() { String::new() } else { format!("dns={servers}\n") };
    format!("method=manual\naddress1={}/{}{gateway}\n{dns}may-fail=false\n", node.ip, networking.node_cidr.prefix_len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, OTHER, cluster, node};

    fn rendered(text: &str, name: &str) -> RenderedFile {
        let cluster = cluster(text);
        let node = node(&cluster, name);
        connection(&cluster, node, node.hardware.mac_addresses[0])
    }

    #[test]
    fn by_the_address_of_the_card() {
        let file = rendered(HOME, "worker-01");
        assert_eq!((file.path.to_str(), file.mode), (Some(PATH), 0o600));
        insta::assert_snapshot!(file.text);
    }

    #[test]
    fn by_the_name_of_the_interface_without_gateway() {
        insta::assert_snapshot!(rendered(OTHER, "m1").text);
    }
}
