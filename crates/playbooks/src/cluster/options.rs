//! What a run has to know besides the configuration.

use engine::StepError;
use host::{Capabilities, Host};
use render::{Cgroup, Machine};
use spec::Token;

use super::images::installed;
use crate::membership::machine_id;

/// What a run may be given besides the configuration.
#[derive(Debug, Clone)]
pub struct Options {
    /// What the kernel lets the machine do.
    pub machine: Machine,
    /// Which machine it is; see `machine_id` of the join service.
    pub machine_id: String,
    /// The image that holds a pod's namespaces.
    pub pause_image: String,
    /// The image of the cluster's DNS.
    pub dns_image: String,
    /// Preflight checks to leave out.
    pub skip: Vec<String>,
    /// A token to join with, instead of the sealed secret or the token of cluster.yaml.
    pub token: Option<Token>,
    /// Start a cluster without asking the other masters whether there is one.
    pub force_new_cluster: bool,
}

impl Options {
    /// As the machine and its installed bundle say, with nothing left out and no token.
    pub fn read(host: &Host) -> Result<Self, StepError> {
        let capabilities = Capabilities::read(&*host.disk)?;
        let bundle = installed(host)?;
        let image = |name: &str| bundle.as_ref().and_then(|bundle| bundle.image(name)).unwrap_or_default().to_owned();
        let resolv_conf =
            if capabilities.has_resolved { "/run/systemd/resolve/resolv.conf" } else { "/etc/resolv.conf" };
        Ok(Self {
            machine: Machine {
                cgroup: if capabilities.cgroup_v2 { Cgroup::V2 } else { Cgroup::V1 },
                may_raise_limits: capabilities.may_raise_limits,
                may_size_conntrack: capabilities.may_set_conntrack,
                has_own_disk: capabilities.has_own_disk,
                resolv_conf: resolv_conf.into(),
            },
            machine_id: machine_id(&*host.disk)?.unwrap_or_else(|| join::machine_id("")),
            pause_image: image("pause"),
            dns_image: image("coredns"),
            skip: Vec::new(),
            token: None,
            force_new_cluster: false,
        })
    }
}
