//! Looks at everything. Nothing here fails as a whole, and nothing takes long.

use std::path::Path;

use ::host::Facts as Hardware;
use explain::chain;
use jiff::Timestamp;
use nix::sys::statvfs::{FsFlags, statvfs};
use nodekit::{
    identity,
    run_record::{Purpose, RunRecord, RunSummary},
};
use playbooks::cluster::{Tenure, tenure};
use spec::{BootstrapRole, ValidatedCluster};

use super::{
    api,
    facts::{Certificate, Facts, Identity, Seen},
    units,
};
use crate::context::Context;

/// The certificates that the kubelet keeps for itself.
const KUBELET: [(&str, &str); 2] = [
    ("kubelet-client", "/var/lib/kubelet/pki/kubelet-client-current.pem"),
    ("kubelet-server", "/var/lib/kubelet/pki/kubelet-server-current.pem"),
];

pub(super) async fn facts(context: &Context, name: Option<&str>) -> Facts {
    let now = context.host.clock.now();
    let identity = identity(context, name);
    let (units, api) = tokio::join!(
        units::check(&context.host, identity.role, now),
        api::ask(&context.host, &context.layout.kubernetes_dir)
    );
    Facts {
        now,
        boot_id: nodekit::boot_id(&*context.host.disk).unwrap_or_default(),
        joined_at: noted(context, &context.layout.state_dir.join("cluster-joined")).and_then(|text| text.parse().ok()),
        run: run(context),
        disk: disk(context),
        certificates: certificates(context, now),
        is_retired: tenure(&*context.host.disk, &context.layout).is_ok_and(|tenure| tenure == Tenure::Retired),
        identity,
        units,
        api,
    }
}

/// From the configuration where it is whole, else from what earlier runs noted.
fn identity(context: &Context, name: Option<&str>) -> Identity {
    let dir = context.config_source(None);
    let checked = spec::check_dir(&dir);
    let failure = match &checked.cluster {
        Some(cluster) => match known(context, cluster, name) {
            Ok(identity) => return identity,
            Err(failure) => failure,
        },
        None => unusable(&dir.join("cluster.yaml")),
    };
    let noted_role = noted(context, &context.layout.state_dir.join("node-role"));
    Identity {
        node: name.map(str::to_owned).or_else(|| noted(context, &context.layout.config_dir.join("node-identity"))),
        role: noted_role.as_deref().and_then(role),
        cluster: checked.cluster.as_ref().map(|cluster| cluster.name().to_owned()),
        nodes: checked.cluster.as_ref().map(names).unwrap_or_default(),
        failure: Some(failure),
    }
}

/// Why there is no cluster to read from this file.
fn unusable(file: &Path) -> String {
    match file.try_exists() {
        Ok(true) => format!("{} has errors; `blackstart check` shows them", file.display()),
        Ok(false) => format!("there is no {}", file.display()),
        Err(error) => format!("cannot check {}: {error}", file.display()),
    }
}

fn known(context: &Context, cluster: &ValidatedCluster, name: Option<&str>) -> Result<Identity, String> {
    let noted = noted(context, &context.layout.config_dir.join("node-identity"));
    let node = if let Some(name) = name.map(str::to_owned).or(noted) {
        identity::by_name(cluster, &name)
    } else {
        let hardware = Hardware::read(&*context.host.disk).map_err(|error| chain(&error))?;
        identity::by_hardware(cluster, &hardware)
    };
    let node = node.map_err(|error| chain(&error))?;
    Ok(Identity {
        node: Some(node.name.clone()),
        role: Some(cluster.bootstrap_role(node)),
        cluster: Some(cluster.name().to_owned()),
        nodes: names(cluster),
        failure: None,
    })
}

fn names(cluster: &ValidatedCluster) -> Vec<String> {
    cluster.nodes().iter().map(|node| node.name.clone()).collect()
}

fn role(word: &str) -> Option<BootstrapRole> {
    let all =
        [BootstrapRole::MasterFirst, BootstrapRole::MasterAdditional, BootstrapRole::Worker, BootstrapRole::Bootstrap];
    all.into_iter().find(|role| role.to_string() == word)
}

/// A small file of one line.
fn noted(context: &Context, path: &Path) -> Option<String> {
    let text = context.host.disk.read(path).ok()?;
    Some(String::from_utf8_lossy(&text).trim().to_owned()).filter(|text| !text.is_empty())
}

/// The newest run that was to make this machine a node, or no node any more.
fn run(context: &Context) -> Seen<Option<RunSummary>> {
    let disk = &*context.host.disk;
    let latest = |purpose| RunRecord::latest_for(purpose, disk, &context.layout.state_dir);
    let runs = [latest(Purpose::Up), latest(Purpose::Reset)];
    let runs: Vec<Option<RunRecord>> = runs.into_iter().collect::<Result<_, _>>().map_err(|error| chain(&error))?;
    let newest = runs.into_iter().flatten().max_by_key(|record| record.started);
    Ok(newest.map(|record| RunSummary::seen_by(&record, disk)))
}

/// Whether the node can write down how far it is.
fn disk(context: &Context) -> Option<String> {
    let dir = context.real_path(&context.layout.state_dir);
    let there = dir.ancestors().find(|dir| dir.is_dir())?;
    let found = statvfs(there).ok()?;
    let dir = dir.display();
    if found.flags().contains(FsFlags::ST_RDONLY) {
        return Some(format!("the file system of {dir} is read-only, so runs cannot write down how far they are"));
    }
    let is_full = found.blocks_available() == 0 || (found.files() > 0 && found.files_available() == 0);
    is_full.then(|| format!("the file system of {dir} is full, so runs cannot write down how far they are"))
}

fn certificates(context: &Context, now: Timestamp) -> Seen<Vec<Certificate>> {
    let (disk, dir) = (&*context.host.disk, &context.layout.kubernetes_dir);
    let existing = pki::Existing::read(disk, dir).map_err(|error| chain(&error))?;
    let table = pki::inventory(&existing, now).into_iter().filter_map(|entry| Some((entry.name, entry.certificate?)));
    let mut all: Vec<(&str, pki::Facts)> = table.collect();
    for (name, path) in KUBELET {
        if let Some(text) = disk.read_optional(Path::new(path)).map_err(|error| chain(&error))? {
            all.extend(pki::Facts::read(&text, now).map(|facts| (name, facts)));
        }
    }
    let certificate = |(name, facts): (&str, pki::Facts)| Certificate {
        name: name.to_owned(),
        not_after: facts.not_after,
        days_left: facts.days_left,
        urgency: facts.urgency,
    };
    Ok(all.into_iter().map(certificate).collect())
}
