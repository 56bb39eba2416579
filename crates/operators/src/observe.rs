//! From the API to [`Seen`]: a few small requests, and one to every master's API server.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use futures::future::join_all;
use http::Request;
use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::{
        apps::v1::Deployment,
        coordination::v1::Lease,
        core::v1::{ConfigMap, Node as ApiNode},
        discovery::v1::EndpointSlice,
    },
    kube::{self, Api as KubeApi, Config, api::ListParams},
};
use operations::readiness::Readiness;
use tokio::time::Instant;

use crate::{
    OperatorError,
    seen::{Api, Leader, Node, Replicas, Seen},
};

const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";
const BOOTSTRAP: &str = "node-role.kubernetes.io/bootstrap";
const NAMESPACE: &str = "kube-system";
const CONTROLLER_MANAGER: &str = "kube-controller-manager";
const SCHEDULER: &str = "kube-scheduler";

/// A machine of the same network answers at once or not at all.
const ANSWER: Duration = Duration::from_secs(3);
/// Leases are renewed every two seconds and are others' to take after fifteen.
const LOST: Duration = Duration::from_secs(25);
const NODES_AT_ONCE: u32 = 50;

/// Observes a cluster again and again.
pub(crate) struct Observer {
    masters: usize,
    client: Client,
    /// A way to each API server by itself.
    servers: BTreeMap<SocketAddr, Client>,
    leases: Leases,
    /// Node by host name, where they differ.
    hosts: BTreeMap<String, String>,
}

impl Observer {
    /// By the service account of the pod that this runs in.
    pub(crate) fn in_cluster(masters: usize, hosts: &[(String, String)]) -> Result<Self, OperatorError> {
        let client = client(None)?;
        let hosts = hosts.iter().cloned().collect();
        Ok(Self { masters, client, servers: BTreeMap::new(), leases: Leases::default(), hosts })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// What there is to see now.
    pub(crate) async fn observe(&mut self) -> Result<Seen, OperatorError> {
        let asked = ApiError::of("ask for the API server's version");
        let version = self.client.apiserver_version().await.map_err(asked)?.git_version;
        let (addresses, port) = self.service().await?;
        let mut nodes = Vec::new();
        let mut known = Vec::new();
        for node in self.nodes().await?.iter().filter(|node| !has_label(node, BOOTSTRAP)) {
            let ip = internal_ip(node);
            known.extend(ip.filter(|_| has_label(node, CONTROL_PLANE)));
            nodes.push((seen_node(node), ip));
        }
        let answers = self.ask(nodes.iter().map(|(node, ip)| ip.filter(|_| node.api.is_some())).collect(), port);
        let answers = answers.await?;
        let nodes = nodes.into_iter().zip(answers).map(|((node, _), api)| Node { api: api.or(node.api), ..node });
        Ok(Seen {
            masters: self.masters,
            version: plain_version(&version),
            is_complete: self.is_complete().await?,
            nodes: nodes.collect(),
            strangers: addresses.into_iter().filter(|ip| !known.contains(ip)).map(|ip| ip.to_string()).collect(),
            controller_manager: self.leader(CONTROLLER_MANAGER).await?,
            scheduler: self.leader(SCHEDULER).await?,
            dns: self.dns().await?,
        })
    }

    async fn nodes(&self) -> Result<Vec<ApiNode>, ApiError> {
        let api: KubeApi<ApiNode> = KubeApi::all(self.client.clone());
        let mut all = Vec::new();
        let mut page = ListParams::default().limit(NODES_AT_ONCE);
        loop {
            let found = api.list(&page).await.map_err(ApiError::of("list the Nodes"))?;
            let next = found.metadata.continue_;
            all.extend(found.items);
            match next.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(all),
            }
        }
    }

    /// Where the Service `kubernetes` leads to.
    async fn service(&self) -> Result<(Vec<IpAddr>, u16), ApiError> {
        let api: KubeApi<EndpointSlice> = KubeApi::namespaced(self.client.clone(), "default");
        let slice = api.get("kubernetes").await.map_err(ApiError::of("read EndpointSlice default/kubernetes"))?;
        let port = slice.ports.into_iter().flatten().find_map(|port| port.port).unwrap_or_default();
        let addresses = slice.endpoints.into_iter().flatten().flat_map(|endpoint| endpoint.addresses);
        Ok((addresses.filter_map(|ip| ip.parse().ok()).collect(), u16::try_from(port).unwrap_or_default()))
    }

    async fn is_complete(&self) -> Result<bool, ApiError> {
        let api: KubeApi<ConfigMap> = KubeApi::namespaced(self.client.clone(), NAMESPACE);
        let found = api.get_opt("bootstrap").await.map_err(ApiError::of("read ConfigMap kube-system/bootstrap"))?;
        let status = found.and_then(|map| map.data).and_then(|data| data.get("status").cloned());
        Ok(status.as_deref() == Some("complete"))
    }

    async fn leader(&mut self, name: &'static str) -> Result<Leader, ApiError> {
        let api: KubeApi<Lease> = KubeApi::namespaced(self.client.clone(), NAMESPACE);
        let lease = api.get_opt(name).await.map_err(ApiError::of(format!("read Lease kube-system/{name}")))?;
        let node = |host: String| self.hosts.get(&host).cloned().unwrap_or(host);
        Ok(match self.leases.leader(name, lease.as_ref(), Instant::now()) {
            Leader::Leads(host) => Leader::Leads(node(host)),
            Leader::Lost(host) => Leader::Lost(node(host)),
            Leader::None => Leader::None,
        })
    }

    async fn dns(&self) -> Result<Option<Replicas>, ApiError> {
        let api: KubeApi<Deployment> = KubeApi::namespaced(self.client.clone(), NAMESPACE);
        let found = api.get_opt("coredns").await.map_err(ApiError::of("read Deployment kube-system/coredns"))?;
        Ok(found.map(|found| {
            let count = |number: Option<i32>| usize::try_from(number.unwrap_or_default()).unwrap_or_default();
            let wanted = count(found.spec.and_then(|spec| spec.replicas).or(Some(1)));
            Replicas { ready: count(found.status.and_then(|status| status.ready_replicas)), wanted }
        }))
    }

    /// Asks all of these API servers at once, in their order.
    async fn ask(&mut self, servers: Vec<Option<IpAddr>>, port: u16) -> Result<Vec<Option<Api>>, OperatorError> {
        let mut asking = Vec::new();
        for ip in &servers {
            let server = match ip.map(|ip| SocketAddr::new(ip, port)) {
                Some(server) if !self.servers.contains_key(&server) => {
                    Some(self.servers.entry(server).or_insert(client(Some(server))?).clone())
                }
                Some(server) => self.servers.get(&server).cloned(),
                None => None,
            };
            asking.push(async move {
                match server {
                    Some(client) => Some(ask(client).await),
                    None => None,
                }
            });
        }
        Ok(join_all(asking).await)
    }
}

/// A client of the service account: by the cluster's Service, or to this server. The library reads its token again before it ends.
fn client(server: Option<SocketAddr>) -> Result<Client, OperatorError> {
    let unusable = |error: &dyn std::error::Error| OperatorError::NoAccount(explain::chain(error));
    let mut config = Config::incluster().map_err(|error| unusable(&error))?;
    if let Some(server) = server {
        config.cluster_url =
            format!("https://{server}").parse().map_err(|error: http::uri::InvalidUri| unusable(&error))?;
    }
    config.connect_timeout = Some(ANSWER);
    config.read_timeout = Some(ANSWER * 3);
    // It is asked again in a moment anyway.
    config.default_retry = false;
    config.proxy_url = None;
    Client::try_from(config).map_err(|error| unusable(&error))
}

async fn ask(client: Client) -> Api {
    let Ok(request) = Request::get("/readyz?verbose").body(Vec::new()) else { return Api::Silent };
    match tokio::time::timeout(ANSWER, client.request_text(request)).await {
        Ok(Ok(_)) => Api::Ready,
        Ok(Err(kube::Error::Api(status))) => Api::NotReady(failing(&status.message)),
        Ok(Err(_)) | Err(_) => Api::Silent,
    }
}

/// The names of the checks that fail, each of which is a line such as `[-]etcd failed: reason withheld`.
fn failing(body: &str) -> Vec<String> {
    let checks = body.lines().filter_map(|line| line.strip_prefix("[-]")?.split_whitespace().next());
    checks.map(|check| explain::plain(check).into_owned()).collect()
}

/// A Node, without what its API server answers: a master's counts as silent until it was asked.
fn seen_node(node: &ApiNode) -> Node {
    let status = node.status.as_ref();
    let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let readiness = Readiness::of(conditions);
    let why = readiness.why().unwrap_or("not Ready");
    let not_ready = (!readiness.is_ready()).then(|| explain::plain(why).into_owned());
    let unavailable = conditions.iter().find(|one| one.type_ == "NetworkUnavailable" && one.status == "True");
    let unavailable = unavailable.map(|one| one.message.clone().unwrap_or_else(|| "not available".to_owned()));
    // The kubelet's message where the container runtime has no network plugin.
    let unready = not_ready.clone().filter(|why| why.contains("NetworkReady=false") || why.contains("network plugin"));
    Node {
        name: node.metadata.name.clone().unwrap_or_default(),
        api: has_label(node, CONTROL_PLANE).then_some(Api::Silent),
        no_network: unavailable.map(|why| explain::plain(&why).into_owned()).or(unready),
        not_ready,
        version: plain_version(
            status.and_then(|status| status.node_info.as_ref()).map_or("", |info| info.kubelet_version.as_str()),
        ),
    }
}

fn has_label(node: &ApiNode, label: &str) -> bool {
    node.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(label))
}

fn internal_ip(node: &ApiNode) -> Option<IpAddr> {
    let addresses = node.status.as_ref()?.addresses.as_deref()?;
    addresses.iter().find(|address| address.type_ == "InternalIP")?.address.parse().ok()
}

fn plain_version(version: &str) -> String {
    explain::plain(version.strip_prefix('v').unwrap_or(version)).into_owned()
}

/// Leases, and when they were last seen to change. Times in them are other machines'.
#[derive(Default)]
struct Leases {
    changed: BTreeMap<&'static str, (String, Instant)>,
}

impl Leases {
    fn leader(&mut self, name: &'static str, lease: Option<&Lease>, now: Instant) -> Leader {
        let spec = lease.and_then(|lease| lease.spec.as_ref());
        let holder = spec.and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default();
        if holder.is_empty() {
            self.changed.remove(name);
            return Leader::None;
        }
        let renewed =
            spec.and_then(|spec| spec.renew_time.as_ref()).map_or_else(String::new, |time| time.0.to_string());
        let mark = format!("{holder} {renewed}");
        // `master-01_9d2c…`: the machine, and a number of this process.
        let machine = explain::plain(holder.split('_').next().unwrap_or(holder)).into_owned();
        match self.changed.get(name) {
            Some((before, when)) if *before == mark => {
                if now.duration_since(*when) > LOST {
                    Leader::Lost(machine)
                } else {
                    Leader::Leads(machine)
                }
            }
            _ => {
                self.changed.insert(name, (mark, now));
                Leader::Leads(machine)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(labels: &Value, conditions: &Value) -> ApiNode {
        let info = json!({ "architecture": "", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
                           "kubeProxyVersion": "", "kubeletVersion": "v1.36.3", "machineID": "", "operatingSystem": "",
                           "osImage": "", "systemUUID": "" });
        let addresses =
            json!([{ "type": "Hostname", "address": "n1" }, { "type": "InternalIP", "address": "10.0.0.11" }]);
        let status = json!({ "conditions": conditions, "nodeInfo": info, "addresses": addresses });
        serde_json::from_value(json!({ "metadata": { "name": "n1", "labels": labels }, "status": status })).unwrap()
    }

    #[test]
    fn nodes_are_read() {
        let ready = json!([{ "type": "Ready", "status": "True" }]);
        let fine = Node { name: "n1".into(), api: None, not_ready: None, no_network: None, version: "1.36.3".into() };
        let silent = "Kubelet stopped posting node status.";
        let no_cni = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady";
        for (labels, conditions, expected) in [
            (json!({}), ready.clone(), fine.clone()),
            (json!({ CONTROL_PLANE: "" }), ready, Node { api: Some(Api::Silent), ..fine.clone() }),
            (
                json!({}),
                json!([{ "type": "Ready", "status": "Unknown", "message": silent }]),
                Node { not_ready: Some(silent.into()), ..fine.clone() },
            ),
            (
                json!({}),
                json!([{ "type": "Ready", "status": "False", "message": no_cni }]),
                Node { not_ready: Some(no_cni.into()), no_network: Some(no_cni.into()), ..fine.clone() },
            ),
            (
                json!({}),
                json!([{ "type": "Ready", "status": "True" },
                       { "type": "NetworkUnavailable", "status": "True", "message": "no route" }]),
                Node { no_network: Some("no route".into()), ..fine.clone() },
            ),
            (json!({}), json!([]), Node { not_ready: Some("not Ready".into()), ..fine }),
        ] {
            let node = node(&labels, &conditions);
            assert_eq!((seen_node(&node), internal_ip(&node)), (expected, "10.0.0.11".parse().ok()), "{conditions}");
        }
    }

    #[test]
    fn a_lease_counts_while_it_changes() {
        let lease = |holder: &str, second: u32| -> Option<Lease> {
            let renewed = format!("2026-11-18T12:00:{second:02}.000000Z");
            serde_json::from_value(json!({ "spec": { "holderIdentity": holder, "renewTime": renewed } })).ok()
        };
        let (begin, mut leases) = (Instant::now(), Leases::default());
        let leads = || Leader::Leads("m1".to_owned());
        for (after, lease, expected) in [
            (0, None, Leader::None),
            (0, lease("m1_a", 0), leads()),
            (20, lease("m1_a", 0), leads()),
            (30, lease("m1_a", 0), Leader::Lost("m1".to_owned())),
            (31, lease("m1_a", 31), leads()),
            (60, lease("m1_b", 31), leads()),
            (61, lease("", 31), Leader::None),
        ] {
            assert_eq!(
                leases.leader(SCHEDULER, lease.as_ref(), begin + Duration::from_secs(after)),
                expected,
                "{after}"
            );
        }
    }

    #[test]
    fn failing_checks_are_named() {
        let body = "[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\nreadyz check failed\n";
        assert_eq!(failing(body), ["etcd"]);
        assert!(failing("Unauthorized").is_empty());
    }
}
