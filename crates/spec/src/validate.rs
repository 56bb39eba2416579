//! The whole check: texts in, every problem and (without an error) the cluster out.

mod ceph;

use std::{collections::HashSet, path::Path as FsPath, time::Duration};

use serde::Serialize;

use crate::{
    checks,
    cluster::{Api, Bootstrap, Hardware, InterfaceChoice, Kms, NetworkAddOn, Networking, Node, Role, ValidatedCluster},
    draft::{Draft, DraftNode, NodeFileFacts},
    file::{ClusterFile, ClusterSection, KmsSection, NetworkingSection, NodeFile},
    location::{FileId, Location},
    path::Path,
    problem::{Problem, Severity},
    problems::{Finding, Problems},
    read::Read,
    source::{SourceFile, Sources},
    values::{AddOnKind, DEFAULT_VERSION},
    yaml,
};

const DEFAULT_API_PORT: u16 = 6443;
const DEFAULT_DOMAIN: &str = "cluster.local";
const DEFAULT_KMS_TIMEOUT: Duration = Duration::from_secs(3);

/// What a check found.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// All problems, sorted by file, line and column.
    pub problems: Vec<Problem>,
    /// The cluster; `None` if one of the problems is an error.
    #[serde(skip)]
    pub cluster: Option<ValidatedCluster>,
}

impl Checked {
    /// The number of problems that must be corrected.
    pub fn errors(&self) -> usize {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error).count()
    }

    /// The number of problems that need not be corrected.
    pub fn warnings(&self) -> usize {
        self.problems.len() - self.errors()
    }
}

/// Checks `cluster.yaml` and `nodes/*.yaml` of a directory.
pub fn check_dir(dir: &FsPath) -> Checked {
    check(&Sources::read(dir))
}

/// Checks the text of a `cluster.yaml` that has no node files.
pub fn check_text(cluster_yaml: &str) -> Checked {
    check(&Sources::cluster(cluster_yaml))
}

/// Checks texts that have been read already.
pub fn check(sources: &Sources) -> Checked {
    let mut problems = Problems::of(sources);
    let mut files = sources.files();
    let cluster_file: Option<ClusterFile> = files.next().and_then(|(id, source)| read(id, source, &mut problems));
    let node_files: Vec<NodeFileFacts<'_>> = files
        .filter_map(|(file, source)| {
            let NodeFile { node } = read(file, source, &mut problems)?;
            Some(NodeFileFacts { file_name: &source.name, facts: node? })
        })
        .collect();

    let mut cluster = None;
    if let Some(ClusterFile { cluster: Some(section), nodes: Some(nodes) }) = &cluster_file {
        let draft = Draft::new(section, nodes, &node_files);
        checks::run(&draft, &mut problems);
        if problems.errors() == 0 {
            cluster = build(&draft);
        }
    }
    Checked { problems: problems.finish(), cluster }
}

fn read<T: Read>(file: FileId, source: &SourceFile, problems: &mut Problems<'_>) -> Option<T> {
    match &source.text {
        Ok(text) => {
            let root = yaml::parse(file, text, problems)?;
            T::read(&root, &Path::root(), problems)
        }
        Err(why) => {
            problems.push(Finding::explained(why.clone(), Location::whole(file)));
            None
        }
    }
}

/// The cluster from a draft without errors; every required value is there then.
fn build(draft: &Draft<'_>) -> Option<ValidatedCluster> {
    let ClusterSection { name, kubernetes_version, networking, api, bootstrap, encryption, ceph: _, location: _ } =
        draft.cluster;
    let mut nodes: Vec<Node> = draft.nodes.iter().map(build_node).collect::<Option<_>>()?;
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    let bootstrap_node = nodes.iter().position(|node| node.has(Role::Bootstrap)).map(|index| nodes.remove(index));
    let token = bootstrap.as_ref().and_then(|section| section.token.as_ref());
    let ttl = bootstrap.as_ref().and_then(|section| section.secret_ttl.as_ref());
    let unlisted = bootstrap.as_ref().and_then(|section| section.unlisted_nodes.as_ref());
    Some(ValidatedCluster {
        name: name.as_ref()?.0.clone(),
        kubernetes_version: kubernetes_version.as_ref().map_or(DEFAULT_VERSION, |version| version.value),
        networking: build_networking(draft, networking.as_ref())?,
        api: Api {
            port: api.as_ref().and_then(|api| api.port.as_ref()).map_or(DEFAULT_API_PORT, |port| port.0),
            endpoint: api.as_ref().and_then(|api| api.endpoint.as_deref()).cloned(),
            extra_sans: api
                .iter()
                .filter_map(|api| api.extra_sans.as_ref())
                .flat_map(|sans| &sans.items)
                .map(|san| san.value.clone())
                .collect(),
        },
        bootstrap: Bootstrap {
            token: token.map(|token| token.value.clone()),
            unlisted_nodes: unlisted.map(|choice| choice.value).unwrap_or_default(),
            secret_ttl: ttl.map(|ttl| ttl.value).unwrap_or_default(),
        },
        kms: match encryption.as_ref().and_then(|section| section.kms.as_ref()) {
            Some(kms) => Some(build_kms(kms)?),
            None => None,
        },
        ceph: ceph::cluster(draft),
        nodes,
        bootstrap_node,
    })
}

fn build_kms(section: &KmsSection) -> Option<Kms> {
    Some(Kms {
        name: section.name.as_ref()?.0.clone(),
        socket: section.endpoint.as_ref()?.0.clone(),
        timeout: section.timeout.as_ref().map_or(DEFAULT_KMS_TIMEOUT, |timeout| timeout.0),
    })
}

fn build_networking(draft: &Draft<'_>, section: Option<&NetworkingSection>) -> Option<Networking> {
    let networks = &draft.networks;
    let manifest = section.and_then(|section| section.manifest.as_ref());
    Some(Networking {
        pod_cidr: networks.pod?.value,
        pod_prefix_per_node: networks.pod_prefix_per_node?.value,
        service_cidr: networks.service?.value,
        node_cidr: networks.node?.value,
        gateway: networks.gateway.map(|gateway| gateway.value),
        dns: networks.dns.clone(),
        domain: section
            .and_then(|section| section.domain.as_ref())
            .map_or_else(|| DEFAULT_DOMAIN.to_owned(), |domain| domain.0.clone()),
        interface: section.and_then(|section| section.interface.as_deref()).cloned().unwrap_or(InterfaceChoice::ByMac),
        add_on: match section.and_then(|section| section.add_on.as_deref()).unwrap_or(&AddOnKind::Basic) {
            AddOnKind::Basic => NetworkAddOn::Basic,
            AddOnKind::Manifest => NetworkAddOn::Manifest(manifest?.0.clone()),
            AddOnKind::None => NetworkAddOn::None,
        },
    })
}

fn build_node(node: &DraftNode<'_>) -> Option<Node> {
    // The same card may be listed in both files.
    let mut seen = HashSet::new();
    let mac_addresses = node.macs().map(|mac| mac.value).filter(|mac| seen.insert(*mac)).collect();
    Some(Node {
        name: node.name()?.0.clone(),
        hostname: node.hostname()?.0.clone(),
        ip: node.listed.ip.as_ref()?.value,
        roles: node.roles(),
        hardware: Hardware {
            mac_addresses,
            dmi_uuid: node.dmi_uuid().map(|uuid| uuid.0.clone()),
            dmi_serial: node.dmi_serial().map(|serial| serial.0.clone()),
        },
        osds: node.osds().map(ceph::osd).collect::<Option<_>>()?,
    })
}
