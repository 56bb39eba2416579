//! `blackstart etcd snapshot`: everything in etcd, in a file whose sum was checked.

use std::{io::Write, path::Path};

use backup::{BackupError, FreshFile};
use etcd::{Checksum, codes};
use host::HostError;
use indicatif::HumanBytes;
use serde_json::json;

use super::{access, any_member};
use crate::{
    Failure,
    commands::meter::Meter,
    context::{Context, Ended, block_on_until_signal},
};

pub(super) fn run(context: &Context, file: &Path) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, None)?;
    let access = access(context)?;
    let mut fresh = FreshFile::create(file).map_err(|error| match error {
        BackupError::Taken(path) => Failure::new(codes::CANNOT_WRITE, format!("{} exists", path.display()))
            .with_hint("choose another path, or move what is there: nothing is overwritten"),
        other => other.into(),
    })?;
    let meter = Meter::new(context.out, "taking a snapshot of etcd");
    let (size, revision) = block_on_until_signal(async {
        let (member, status) = any_member(&access, &cluster, node).await?;
        let mut snapshot = member.snapshot().await?;
        let (mut sum, mut done) = (Checksum::default(), 0);
        while let Some(piece) = snapshot.piece().await? {
            sum.update(&piece);
            let written = fresh.write_all(&piece);
            written.map_err(|source| HostError { doing: "write", path: file.to_path_buf(), source })?;
            done += piece.len() as u64;
            meter.show(done, snapshot.size());
        }
        let whole = sum.finish();
        let size = whole.map_err(|source| BackupError::Snapshot { path: file.to_path_buf(), source })?;
        Ok((size, status.revision()))
    })?;
    fresh.finish()?;
    drop(meter);
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "file": file, "bytes": size, "revision": revision }))?);
    }
    let size = HumanBytes(size);
    Ok(context.out.text(&format!("{}: {size}, revision {revision} or later; its sum fits\n", file.display()))?)
}
