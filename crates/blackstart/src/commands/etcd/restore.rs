//! `blackstart etcd restore`: one member from a snapshot, in the place of what was there.

use std::path::Path;

use backup::{
    BackupError,
    restore::{Activated, SoleMember, Staging, check_snapshot},
};
use join::Admissions;
use nodekit::systemd;
use serde_json::json;
use spec::{Node, Role, ValidatedCluster};

use crate::{
    Failure, codes,
    context::{Context, Ended, block_on},
    output::{confirm, note},
    progress::busy,
};

/// What must not run while its data is exchanged: the second would go on answering from its memory.
const HOLDERS: [&str; 2] = ["etcd", "kube-apiserver"];

pub(super) fn run(context: &Context, file: &Path, name: Option<&str>, yes: bool) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, name)?;
    if !node.has(Role::Master) {
        return Err(Failure::usage(codes::NO_ETCD, format!("node `{}` is not a master", node.name)).into());
    }
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    busy(context.out, "checking the snapshot", || check_snapshot(&file))?;
    refuse_if_running(context)?;
    if !yes {
        note(&format!("etcd on {} becomes a cluster of its own, with what is in {}.\n", node.name, file.display()));
        warn_of_others(&cluster, node);
    }
    confirm(yes, "Go on?")?;
    let _lock = engine::lock_machine(&context.host, &context.layout.state_dir, "etcd restore")?;
    let activated = restore(context, &cluster, node, |_| Ok(file.clone()))?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "restored": node.name, "aside": activated.aside }))?);
    }
    Ok(context.out.text(&format!("{}etcd is ready to start: run `blackstart node up`\n", reported(&activated)))?)
}

/// Makes etcd's data from a snapshot that is had when there is a place for it, and puts it in the place of the old.
pub(in crate::commands) fn restore(
    context: &Context,
    cluster: &ValidatedCluster,
    node: &Node,
    snapshot: impl FnOnce(&Staging<'_>) -> Result<std::path::PathBuf, Ended>,
) -> Result<Activated, Ended> {
    let machine = machine(context)?;
    let member = SoleMember { cluster: cluster.name(), name: &node.name, ip: node.ip, machine: &machine };
    let staging = staged(context, &member, snapshot)?;
    arm_others(context, cluster, node)?;
    Ok(staging.activate(&member, context.host.clock.now())?)
}

/// The data may say that the other masters have the cluster's keys, and they are to come with empty disks: their names are
/// armed again, in this master's file, from which the cluster will learn it.
pub(in crate::commands) fn arm_others(
    context: &Context,
    cluster: &ValidatedCluster,
    node: &Node,
) -> Result<(), Failure> {
    let (disk, state_dir, now) = (&*context.host.disk, &context.layout.state_dir, context.host.clock.now());
    let mut all = Admissions::of_file(disk, state_dir)??;
    for other in cluster.masters().filter(|master| master.name != node.name) {
        all.add(&other.name, &all.of(&other.name).rearmed(now));
    }
    host::create_dir_all(disk, state_dir, 0o755)?;
    Ok(all.to_file(state_dir).apply(disk)?)
}

/// The first half: the data is made, and nothing is changed yet.
pub(in crate::commands) fn staged<'a>(
    context: &'a Context,
    member: &SoleMember<'_>,
    snapshot: impl FnOnce(&Staging<'_>) -> Result<std::path::PathBuf, Ended>,
) -> Result<Staging<'a>, Ended> {
    let staging = Staging::new(&context.host, &context.real_path(Path::new("/")))?;
    let snapshot = snapshot(&staging)?;
    busy(context.out, "making etcd's data", || block_on(staging.fill(&snapshot, member)))??;
    Ok(staging)
}

/// What this machine is identified by.
pub(in crate::commands) fn machine(context: &Context) -> Result<String, Failure> {
    let id = context.host.disk.read(Path::new("/etc/machine-id"))?;
    Ok(join::machine_id(&String::from_utf8_lossy(&id)))
}

/// Where the old data is.
pub(in crate::commands) fn reported(activated: &Activated) -> String {
    let aside = activated.aside.as_ref();
    aside.map_or_else(String::new, |path| format!("what was there before is in {}\n", path.display()))
}

pub(in crate::commands) fn refuse_if_running(context: &Context) -> Result<(), Ended> {
    if !context.host.is_live {
        return Ok(());
    }
    let states = block_on(async {
        let [etcd, api] = HOLDERS.map(|unit| systemd::check(&context.host, unit));
        tokio::try_join!(etcd, api)
    })?;
    let (etcd, api) = states?;
    let running: Vec<&'static str> =
        HOLDERS.into_iter().zip([etcd, api]).filter(|(_, state)| state.is_up()).map(|(unit, _)| unit).collect();
    if running.is_empty() { Ok(()) } else { Err(BackupError::Running(running).into()) }
}

/// Other masters would go on with what they have.
pub(in crate::commands) fn warn_of_others(cluster: &ValidatedCluster, node: &Node) {
    let others: Vec<&str> =
        cluster.masters().filter(|master| master.name != node.name).map(|master| master.name.as_str()).collect();
    if !others.is_empty() {
        note(&format!("It must be the only one: reset {} before they start again.\n", others.join(" and ")));
    }
}
