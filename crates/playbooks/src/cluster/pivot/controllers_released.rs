//! The controller manager and the scheduler of a master lead, and those of this machine are gone.
//!
//! A scheduler gives its Lease back when it ends, a controller manager does not: others would wait for its end. Once the process
//! is seen to be gone, its Lease is cleared, and the next one leads within a retry period.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use host::Host;
use kubeapi::{
    ApiError,
    k8s_openapi::api::coordination::v1::Lease,
    kube::{
        self, Api,
        api::{Patch, PatchParams},
    },
};
use serde_json::json;
use spec::ports;

use super::{super::ids, port, static_pod::manifest};
use crate::access::{self, Access};

/// Process, and where it listens while it runs.
const CONTROLLERS: &[(&str, u16)] =
    &[("kube-controller-manager", ports::CONTROLLER_MANAGER), ("kube-scheduler", ports::SCHEDULER)];
const NAMESPACE: &str = "kube-system";
/// What the API server answers where an object has changed.
const CONFLICT: u16 = 409;

/// Gives them up.
pub(super) struct ControllersReleased {
    /// Holders of Leases are named after it.
    hostname: String,
    access: Arc<Access>,
}

/// What was found.
pub(super) struct Seen {
    /// Something of them is still here.
    is_here: bool,
    /// Lease and holder, where it has none or is held by this machine.
    not_led: Vec<(&'static str, String)>,
}

impl ControllersReleased {
    pub(super) fn new(hostname: &str, access: &Arc<Access>) -> Self {
        Self { hostname: hostname.to_owned(), access: access.clone() }
    }

    /// Who holds a Lease, and which version of it that is.
    async fn holder(&self, leases: &Api<Lease>, name: &str) -> Result<(String, Option<String>), StepError> {
        let lease = leases.get_opt(name).await;
        let lease = lease.map_err(|error| access::failed(&ApiError::of(format!("see the Lease {name}"))(error)))?;
        let Some(lease) = lease else { return Ok((String::new(), None)) };
        let holder = lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default();
        Ok((holder, lease.metadata.resource_version))
    }

    async fn leases(&self, host: &Host) -> Result<Api<Lease>, StepError> {
        Ok(Api::namespaced(self.access.required(host).await?, NAMESPACE))
    }

    /// Where it has run out, a master may have taken it since it was looked at: then it is no longer this one.
    async fn clear(&self, leases: &Api<Lease>, name: &str, version: Option<String>) -> Result<(), StepError> {
        let cleared = json!({
            "metadata": { "resourceVersion": version },
            "spec": { "holderIdentity": "", "leaseDurationSeconds": 1 },
        });
        match leases.patch(name, &PatchParams::default(), &Patch::Merge(cleared)).await {
            Err(kube::Error::Api(status)) if status.code == CONFLICT => Ok(()),
            patched => patched
                .map(drop)
                .map_err(|error| access::failed(&ApiError::of(format!("clear the Lease {name}"))(error))),
        }
    }
}

/// A holder is named after its machine's host name, which need not be the node's name.
pub(crate) fn is_own(holder: &str, hostname: &str) -> bool {
    holder.split('_').next() == Some(hostname)
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

impl Step for ControllersReleased {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::CONTROLLERS_RELEASED, "Hand the controllers over", "a master's controllers lead from now on")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let leases = self.leases(host).await?;
        let (mut is_here, mut not_led) = (false, Vec::new());
        for (name, port) in CONTROLLERS {
            is_here |= host.disk.exists(&manifest(name))? || port::is_open(local(*port)).await;
            let (holder, _) = self.holder(&leases, name).await?;
            if holder.is_empty() || is_own(&holder, &self.hostname) {
                not_led.push((*name, holder));
            }
        }
        Ok(Seen { is_here, not_led })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let is_due = seen.is_here || seen.not_led.iter().any(|(_, holder)| !holder.is_empty());
        let what = "stop this machine's controller manager and scheduler, and give their Leases back";
        Ok(is_due.then(|| Planned::act("release", what)).into_iter().collect())
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        let names: Vec<&str> = seen.not_led.iter().map(|(name, _)| *name).collect();
        if names.is_empty() {
            return Verdict::Met;
        }
        let what = format!("the {} of a master to lead", names.join(" and the "));
        Verdict::Waiting { progress: what.clone(), what }
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        for (name, _) in CONTROLLERS {
            host::remove_file(&*host.disk, &manifest(name))?;
        }
        let leases = self.leases(host).await?;
        for (name, port) in CONTROLLERS {
            port::until_closed(name, local(*port)).await?;
            let (holder, version) = self.holder(&leases, name).await?;
            if is_own(&holder, &self.hostname) {
                self.clear(&leases, name, version).await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machines_lease_is_cleared() {
        for (holder, hostname, expected) in [
            ("bootstrap_1b9c", "bootstrap", true),
            ("boot.example.org_1b9c", "boot.example.org", true),
            ("master-01_2f", "bootstrap", false),
            ("bootstrap-2_1b", "bootstrap", false),
            ("", "bootstrap", false),
        ] {
            assert_eq!(is_own(holder, hostname), expected, "{holder}");
        }
    }
}
