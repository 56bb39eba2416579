//! `blackstart backup create`.

use std::path::{Path, PathBuf};

use backup::{Made, Progress, Source, store};
use etcd::Access;
use indicatif::HumanBytes;
use serde_json::json;

use super::key;
use crate::{
    cli::KeyOptions,
    commands::{etcd::any_member, meter::Meter},
    context::{Context, Ended, block_on_until_signal},
};

pub(super) fn run(context: &Context, file: Option<&Path>, options: &KeyOptions) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, None)?;
    let layout = &context.layout;
    let access = Access::read(&*context.host.disk, &layout.kubernetes_dir)?;
    let path = destination(file, &store::file_name(cluster.name(), &node.name, context.host.clock.now()));
    if path.symlink_metadata().is_ok() {
        return Err(backup::BackupError::Taken(path).into()); // before anybody has typed a passphrase
    }
    let key = key::locking(options)?;
    let meter = Meter::new(context.out, "taking a snapshot of etcd");
    let made = block_on_until_signal(async {
        let (member, _) = any_member(&access, &cluster, node).await?;
        let source = Source {
            host: &context.host,
            config_dir: &layout.config_dir,
            kubernetes_dir: &layout.kubernetes_dir,
            etcd: &member,
            cluster: cluster.name(),
            node: &node.name,
        };
        let progress = |progress| match progress {
            Progress::Snapshot { done, total } => meter.show(done, total),
            Progress::Verifying => meter.say("reading the backup back"),
        };
        Ok(backup::create(&source, &key, &path, &progress).await?)
    })?;
    drop(meter);
    reported(context, &made)
}

fn reported(context: &Context, Made { path, size, manifest }: &Made) -> Result<(), Ended> {
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "file": path, "bytes": size, "manifest": manifest }))?);
    }
    let (size, files) = (HumanBytes(*size), explain::counted(manifest.files.len(), "file"));
    let revision = manifest.etcd_revision;
    Ok(context.out.text(&format!(
        "{}: {size}, {files}, etcd's revision {revision} or later; read back and whole\n",
        path.display()
    ))?)
}

/// A directory gets a file of the usual name.
fn destination(file: Option<&Path>, name: &str) -> PathBuf {
    let path = match file {
        None => PathBuf::from(name),
        Some(dir) if dir.is_dir() => dir.join(name),
        Some(path) => path.to_path_buf(),
    };
    // Without a current directory the write says what is wrong.
    std::path::absolute(&path).unwrap_or(path)
}
