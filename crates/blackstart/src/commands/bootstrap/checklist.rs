//! The checklist of a bootstrap node: what its control plane is seen to do right now.

use std::{net::SocketAddr, time::Duration};

use host::Cmd;
use kubeapi::{
    ApiError,
    k8s_openapi::api::core::v1::Namespace,
    kube::{Api, api::ListParams},
};
use nodekit::milestones::{self, Progress};
use serde::{Deserialize, Serialize};

use crate::context::Context;

/// What is there answers at once.
const LIMIT: Duration = Duration::from_secs(5);
/// Of the control plane, as the kubelet names its static pods.
const PODS: [&str; 4] = ["etcd-", "kube-apiserver-", "kube-controller-manager-", "kube-scheduler-"];

/// One line of it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Item {
    /// What should be true.
    pub(super) name: &'static str,
    /// Whether it is.
    pub(super) is_met: bool,
    /// What was seen.
    pub(super) seen: String,
}

/// Checks this machine. One whose work is done has nothing left to check.
pub(super) async fn check(context: &Context, progress: &[Progress]) -> Vec<Item> {
    if milestones::completed(progress).is_some() {
        return vec![item("bootstrap complete", Ok("the masters have taken over; this machine may be removed".into()))];
    }
    vec![
        item("static pods running", pods(context).await),
        item("etcd healthy", etcd(context).await),
        item("API responding", api(context).await),
        item("cluster manifests applied", manifests(context).await),
    ]
}

fn item(name: &'static str, outcome: Result<String, String>) -> Item {
    let is_met = outcome.is_ok();
    Item { name, is_met, seen: outcome.unwrap_or_else(|why| why) }
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    items: Vec<Sandbox>,
}

#[derive(Deserialize)]
struct Sandbox {
    metadata: Named,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// As `crictl pods` lists them. Its word for one that runs is `Ready`.
async fn pods(context: &Context) -> Result<String, String> {
    let command = Cmd::new("crictl").args(["pods", "--state", "ready", "-o", "json"]);
    let output = context.host.commands.run(&command).await.map_err(|error| explain::chain(&error))?;
    let listed: Listed = serde_json::from_str(&output.stdout).map_err(|error| format!("`crictl pods`: {error}"))?;
    running(&listed.items.iter().map(|pod| pod.metadata.name.as_str()).collect::<Vec<_>>())
}

fn running(ready: &[&str]) -> Result<String, String> {
    let is_ready = |pod: &str| ready.iter().any(|name| name.starts_with(pod));
    let missing: Vec<&str> = PODS.iter().filter(|pod| !is_ready(pod)).map(|pod| pod.trim_end_matches('-')).collect();
    if missing.is_empty() {
        return Ok(format!("{} of {} are ready", PODS.len(), PODS.len()));
    }
    Err(format!("not ready: {}; `crictl pods` lists them", missing.join(", ")))
}

async fn etcd(context: &Context) -> Result<String, String> {
    let access = etcd::Access::read(&*context.host.disk, &context.layout.kubernetes_dir);
    let access = access.map_err(|error| explain::chain(&error))?;
    let members = access.own().members().await.map_err(|error| explain::chain(&error))?;
    let voters = members.iter().filter(|member| !member.is_learner).count();
    Ok(format!("{voters} of {} members have a vote", members.len()))
}

async fn api(context: &Context) -> Result<String, String> {
    let ca = context.host.disk.read(&context.layout.kubernetes_dir.join("pki/ca.crt"));
    let ca = ca.map_err(|error| explain::chain(&error))?;
    let client = tls::client(&String::from_utf8_lossy(&ca), None).map_err(|error| explain::chain(&error))?;
    let port = context.cluster(None).map(|cluster| cluster.api().port);
    let port = port.map_err(|_| "cluster.yaml has errors; `blackstart check` shows them".to_owned())?;
    let url = format!("https://{}/healthz", SocketAddr::from(([127, 0, 0, 1], port)));
    let answer = client.get(&url).timeout(LIMIT).send().await.map_err(|error| explain::chain(&error))?;
    let status = answer.status();
    let text = answer.text().await.map_err(|error| explain::chain(&error))?;
    if status.is_success() { Ok(format!("{url}: {text}")) } else { Err(format!("{url} answers {status}")) }
}

async fn manifests(context: &Context) -> Result<String, String> {
    let path = context.layout.kubernetes_dir.join("kubeconfigs/localhost.kubeconfig");
    let text = context.host.disk.read(&path).map_err(|error| explain::chain(&error))?;
    tls::install_provider();
    let client = kubeapi::connect_with_short_timeout(&String::from_utf8_lossy(&text)).await;
    let client = client.map_err(|error| explain::chain(&error))?;
    let namespaces = Api::<Namespace>::all(client).list(&ListParams::default()).await;
    let namespaces = namespaces.map_err(|error| explain::chain(&ApiError::of("list the namespaces")(error)))?;
    let names: Vec<String> = namespaces.items.into_iter().filter_map(|namespace| namespace.metadata.name).collect();
    Ok(format!("namespaces {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_four_must_be_ready() {
        let all =
            ["etcd-bootstrap", "kube-apiserver-bootstrap", "kube-controller-manager-bootstrap", "kube-scheduler-b"];
        assert_eq!(running(&all).unwrap(), "4 of 4 are ready");
        assert_eq!(running(&all[..3]).unwrap_err(), "not ready: kube-scheduler; `crictl pods` lists them");
    }
}
