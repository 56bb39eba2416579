//! The API server of this machine is gone, and the `kubernetes` Service does not lead to it any more.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use host::Host;
use kubeapi::{ApiError, k8s_openapi::api::discovery::v1::EndpointSlice, kube::Api};
use spec::{Node, ValidatedCluster};

use super::{super::ids, port, static_pod::manifest};
use crate::access::{self, Access};

const PROCESS: &str = "kube-apiserver";
/// The Service through which pods reach the API.
const SERVICE: &str = "kubernetes";

/// Gives it up.
pub(super) struct ApiReleased {
    address: SocketAddr,
    access: Arc<Access>,
}

/// What was found.
pub(super) struct Seen {
    is_here: bool,
    is_listed: bool,
}

impl ApiReleased {
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, access: &Arc<Access>) -> Self {
        Self { address: SocketAddr::new(node.ip, cluster.api().port), access: access.clone() }
    }

    async fn is_listed(&self, host: &Host) -> Result<bool, StepError> {
        let slices = Api::<EndpointSlice>::namespaced(self.access.required(host).await?, "default");
        let slice = slices.get_opt(SERVICE).await;
        let slice = slice.map_err(|error| access::failed(&ApiError::of("see where the API's Service leads")(error)))?;
        Ok(slice.is_some_and(|slice| leads_to(&slice, self.address.ip())))
    }
}

/// Whether it leads to this address.
pub(crate) fn leads_to(slice: &EndpointSlice, ip: IpAddr) -> bool {
    let ip = ip.to_string();
    slice.endpoints.iter().flatten().flat_map(|endpoint| &endpoint.addresses).any(|address| *address == ip)
}

impl Step for ApiReleased {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::API_RELEASED, "Hand the API over", "clients are served by the masters from now on")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let is_here = host.disk.exists(&manifest(PROCESS))? || port::is_open(self.address).await;
        Ok(Seen { is_here, is_listed: self.is_listed(host).await? })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let what = "stop this machine's API server, which announces its end first";
        Ok(seen.is_here.then(|| Planned::act("release", what)).into_iter().collect())
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        if !seen.is_listed {
            return Verdict::Met;
        }
        let what = format!("the Service {SERVICE} to lead to {} no longer", self.address.ip());
        Verdict::Waiting { progress: what.clone(), what }
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        host::remove_file(&*host.disk, &manifest(PROCESS))?;
        port::until_closed(PROCESS, self.address).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_is_listed_whole() {
        let slice: EndpointSlice = serde_json::from_value(json!({
            "addressType": "IPv4",
            "endpoints": [{ "addresses": ["10.0.0.11"] }, { "addresses": ["10.0.0.90"] }],
        }))
        .unwrap();
        for (ip, expected) in [("10.0.0.11", true), ("10.0.0.9", false), ("10.0.0.90", true)] {
            assert_eq!(leads_to(&slice, ip.parse().unwrap()), expected, "{ip}");
        }
    }
}
