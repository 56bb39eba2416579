//! Masters do what the bootstrap node did: their controllers lead, and the API's Service leads to them alone.
//!
//! Leases and the address of an API server that died end by themselves, within some fifteen seconds.

use std::{net::IpAddr, sync::Arc};

use engine::{About, FilesOnly, Step, StepError, Verdict};
use host::Host;
use kubeapi::{
    k8s_openapi::api::{coordination::v1::Lease, discovery::v1::EndpointSlice},
    kube::Api,
};

use super::{Target, ids, refused};
use crate::{
    access::Access,
    cluster::pivot::{is_own, leads_to},
};

const LEASES: [&str; 2] = ["kube-controller-manager", "kube-scheduler"];

/// Waits for it.
pub(super) struct MastersLead {
    hostname: String,
    ip: Option<IpAddr>,
    access: Arc<Access>,
}

impl MastersLead {
    pub(super) fn new(target: &Target) -> Self {
        Self { hostname: target.hostname.clone(), ip: target.ip, access: target.api.clone() }
    }
}

impl Step for MastersLead {
    /// What is missing.
    type Seen = Vec<String>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::MASTERS_LEAD, "Wait until masters lead", "nothing may depend on a machine that is gone")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<String>, StepError> {
        let client = self.access.required(host).await?;
        let leases = Api::<Lease>::namespaced(client.clone(), "kube-system");
        let mut missing = Vec::new();
        for name in LEASES {
            let lease = leases.get_opt(name).await.map_err(refused(format!("see the Lease {name}")))?;
            let holder = lease.and_then(|lease| lease.spec?.holder_identity).unwrap_or_default();
            if holder.is_empty() || is_own(&holder, &self.hostname) {
                missing.push(format!("the {name} of a master to lead"));
            }
        }
        let slices = Api::<EndpointSlice>::namespaced(client, "default");
        let slice = slices.get_opt("kubernetes").await.map_err(refused("see where the API's Service leads"))?;
        if let (Some(slice), Some(ip)) = (slice, self.ip)
            && leads_to(&slice, ip)
        {
            missing.push(format!("the Service kubernetes to lead to {ip} no longer"));
        }
        Ok(missing)
    }

    fn verify(&self, missing: &Vec<String>) -> Verdict {
        if missing.is_empty() {
            return Verdict::Met;
        }
        let what = missing.join("; ");
        Verdict::Waiting { progress: what.clone(), what }
    }
}
