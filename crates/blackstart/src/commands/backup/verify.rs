//! `blackstart backup verify`: opens a backup and looks at every byte.

use std::path::Path;

use backup::{Locked, Manifest};
use indicatif::HumanBytes;
use serde_json::json;

use super::key;
use crate::{
    cli::KeyOptions,
    context::{Context, Ended},
    progress::busy,
};

pub(super) fn run(context: &Context, file: &Path, options: &KeyOptions) -> Result<(), Ended> {
    let locked = Locked::open(file)?;
    let key = key::opening(context, options, &locked)?;
    let verified = busy(context.out, "reading the backup", || locked.verify(&key))?;
    if context.out.is_json() {
        return Ok(context.out.json(&json!({ "whole": true, "manifest": verified.manifest }))?);
    }
    Ok(context.out.text(&format!("{} is whole\n{}", file.display(), shown(&verified.manifest)))?)
}

/// What a person wants to know of a backup.
pub(super) fn shown(manifest: &Manifest) -> String {
    let size: u64 = manifest.files.iter().map(|file| file.size).sum();
    format!(
        "  cluster  {}\n  made     {} on {}, by blackstart {}\n  etcd     {}, revision {} or later\n  holds    {}, {}\n",
        manifest.cluster,
        manifest.made.strftime("%Y-%m-%d %H:%M:%S UTC"),
        manifest.node,
        manifest.program,
        manifest.etcd_version,
        manifest.etcd_revision,
        explain::counted(manifest.files.len(), "file"),
        HumanBytes(size),
    )
}

#[cfg(test)]
mod tests {
    use backup::FileEntry;
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn what_people_see() {
        insta::assert_snapshot!(shown(&Manifest {
            version: 1,
            program: "0.1.0".into(),
            cluster: "home".into(),
            node: "master-01".into(),
            made: Timestamp::UNIX_EPOCH,
            etcd_version: "3.7.3".into(),
            etcd_revision: 4711,
            files: vec![FileEntry { name: "etcd/snapshot.db".into(), size: 3_000_000, sha256: "00".into() }],
        }));
    }
}
