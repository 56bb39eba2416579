//! What `NetworkManager` leaves alone: interfaces that network add-ons make. If it takes one over, its pod silently
//! loses its routes.

use crate::service::RenderedFile;

const PATH: &str = "/etc/NetworkManager/conf.d/blackstart.conf";

const INTERFACES: &[&str] = &[
    "veth*",
    "cali*",
    "tunl*",
    "vxlan*",
    "wireguard.cali",
    "wg-v6.cali",
    "flannel*",
    "cni*",
    "cilium*",
    "lxc*",
    "kube-*",
    "nodelocaldns",
];

/// The file that says so.
pub fn unmanaged() -> RenderedFile {
    let devices: Vec<String> = INTERFACES.iter().map(|name| format!("interface-name:{name}")).collect();
    RenderedFile::public(PATH, format!("[keyfile]\nunmanaged-devices+={}\n", devices.join(";")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_of_add_ons() {
        insta::assert_snapshot!(unmanaged().text);
    }
}
