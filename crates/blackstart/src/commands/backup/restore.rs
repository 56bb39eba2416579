//! `blackstart backup restore`: this machine becomes a master of the cluster in a backup.
//!
//! ```text
//! verify ─► which master is this? ─► anything in the way? ─► agreed to ─► etcd's data beside the old ─► files ─► exchange
//! ```

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use backup::{
    BackupError, Key, Locked, Verified,
    restore::{self, Plan, SoleMember, Staging},
};
use host::HostError;
use serde_json::json;
use spec::{Node, Role, ValidatedCluster};

use super::{key, verify};
use crate::{
    cli::KeyOptions,
    commands::etcd::restore as of_etcd,
    context::{Context, Ended},
    output::{confirm, note},
    progress::busy,
};

/// How to go about it.
pub(super) struct How<'a> {
    pub(super) node: Option<&'a str>,
    pub(super) force: bool,
    pub(super) yes: bool,
}

pub(super) fn run(context: &Context, file: &Path, options: &KeyOptions, how: &How<'_>) -> Result<(), Ended> {
    let layout = &context.layout;
    let locked = Locked::open(file)?;
    let key = key::opening(context, options, &locked)?;
    let verified = busy(context.out, "reading the backup", || locked.verify(&key))?;
    let cluster = restore::cluster(&verified.contents)?;
    let node = this_master(context, &cluster, how.node)?;
    let disk = &*context.host.disk;
    let now = context.host.clock.now();
    let plan = Plan::new(&verified.contents, &node.name, now, disk, &layout.config_dir, &layout.kubernetes_dir)?;
    if !how.force && !plan.different.is_empty() {
        return Err(BackupError::Different(plan.different).into());
    }
    of_etcd::refuse_if_running(context)?;
    if !how.yes {
        note(&question(&verified, node, &plan));
        of_etcd::warn_of_others(&cluster, node);
    }
    confirm(how.yes, "Restore it on this machine?")?;

    let _lock = engine::lock_machine(&context.host, &layout.state_dir, "backup restore")?;
    let machine = of_etcd::machine(context)?;
    let member = SoleMember { cluster: cluster.name(), name: &node.name, ip: node.ip, machine: &machine };
    let staging = of_etcd::staged(context, &member, |staging| unpacked(context, file, &key, staging))?;
    plan.apply(disk)?;
    of_etcd::arm_others(context, &cluster, node)?;
    let activated = staging.activate(&member, context.host.clock.now())?;
    if context.out.is_json() {
        let result = json!({ "restored": node.name, "manifest": verified.manifest, "written": plan.write.len(),
                             "aside": activated.aside });
        return Ok(context.out.json(&result)?);
    }
    Ok(context.out.text(&format!(
        "{}{} is ready to start as {} with what there was at {}: run `blackstart node up`\n",
        of_etcd::reported(&activated),
        node.name,
        cluster.name(),
        verified.manifest.made.strftime("%Y-%m-%d %H:%M:%S UTC"),
    ))?)
}

/// The master of the backup's cluster that this machine is.
fn this_master<'a>(context: &Context, cluster: &'a ValidatedCluster, name: Option<&str>) -> Result<&'a Node, Ended> {
    let node = context.node(cluster, name)?;
    if !node.has(Role::Master) {
        return Err(BackupError::WrongNode(format!("{} is not a master of {}", node.name, cluster.name())).into());
    }
    Ok(node)
}

fn question(verified: &Verified, node: &Node, plan: &Plan) -> String {
    let mut text = verify::shown(&verified.manifest);
    text += &format!("This machine becomes {}: {} to write", node.name, explain::counted(plan.write.len(), "file"));
    if plan.same > 0 {
        text += &format!(", {} already there", plan.same);
    }
    text += ", and etcd with one member.\n";
    for path in &plan.different {
        text += &format!("  replaces {}\n", path.display());
    }
    text
}

/// The snapshot, out of the backup and beside etcd's data.
fn unpacked(context: &Context, file: &Path, key: &Key, staging: &Staging<'_>) -> Result<PathBuf, Ended> {
    let path = staging.snapshot();
    let unpack = || {
        let failed = |source| HostError { doing: "write", path: path.clone(), source };
        let mut to = File::create_new(&path).map_err(failed)?;
        Locked::open(file)?.unpack(key, &mut to)?;
        Ok::<_, BackupError>(())
    };
    busy(context.out, "unpacking etcd's snapshot", unpack)?;
    Ok(path)
}
