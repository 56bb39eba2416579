//! How far the bootstrap is, in ConfigMap `kube-system/bootstrap`: people and `blackstart bootstrap wait` see it from anywhere.
//!
//! Only the milestones are published here. Its last step publishes that the bootstrap is complete.

use std::{collections::BTreeMap, time::Duration};

use kubeapi::{
    k8s_openapi::api::core::v1::ConfigMap,
    kube::{
        Api,
        api::{Patch, PatchParams},
    },
};
use nodekit::{milestones, run_record::RunRecord};
use operations::outage::Outage;
use render::objects;
use tokio::time::sleep;

use crate::{Agent, AgentError, session};

/// Through this machine's balancer: also when its own API server is gone.
const KUBECONFIG: &str = "kubeconfigs/localhost.kubeconfig";
const FIELD_MANAGER: &str = "blackstart-progress";
/// Milestones are seconds apart.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Runs until the machine is retired.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let path = agent.paths.kubernetes_dir.join(KUBECONFIG);
    let text = session::wait_for(&agent.host, &path).await?;
    let client = kubeapi::connect(&text).await?;
    let configs = Api::namespaced(client, objects::BOOTSTRAP_NAMESPACE);
    tokio::select! {
        () = follow(agent, &configs) => Ok(()),
        changed = session::until_changed(&agent.host, &path, &text) => changed,
    }
}

async fn follow(agent: &Agent, configs: &Api<ConfigMap>) {
    let (mut published, mut outage) = (BTreeMap::new(), Outage::new("publish how far the bootstrap is"));
    loop {
        let reached = reached(agent);
        // One that could not be read just now takes nothing back.
        if !reached.is_empty() && reached != published {
            let object = objects::bootstrap_progress(&reached);
            let as_us = PatchParams::apply(FIELD_MANAGER).force();
            match configs.patch(objects::BOOTSTRAP_NAME, &as_us, &Patch::Apply(object)).await {
                Ok(_) => {
                    outage.over();
                    published = reached;
                }
                Err(error) => outage.failed(&explain::chain(&error)),
            }
        }
        sleep(CHECK_INTERVAL).await;
    }
}

/// When each was reached. A record that cannot be read just now is read the next time.
pub(crate) fn reached(agent: &Agent) -> BTreeMap<String, String> {
    let records = RunRecord::all(&*agent.host.disk, &agent.paths.state_dir).unwrap_or_default();
    milestones::times(&milestones::progress(&records))
}
