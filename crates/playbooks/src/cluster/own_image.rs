//! The image of this very program is known to containerd: the pods that prepare nodes run it, and no registry has it.
//!
//! It is made of the program that is installed. A label says of which one, by its size and time, so that an upgrade is noticed by
//! looking; it comes last, when nothing is left of the archive, and what was interrupted is done again. Another label keeps
//! the kubelet from removing the image when disks are full. A program that is not static makes no image.

use std::{fs, path::Path, time::UNIX_EPOCH};

use engine::{About, Act, Notes, Planned, Step, StepError, Undo};
use host::Host;

use super::{
    ids,
    images::{Imported, ctr},
    program::TARGET,
};
use crate::program_image;
use nodekit::cleanup::tree;

/// Of which program the image is.
const MADE_OF: &str = "blackstart.io/program";
/// What containerd and the kubelet leave where it is.
const PINNED: &str = "io.cri-containerd.pinned=pinned";

/// Where the archive is while it is imported: where containerd needs the same room anyway. The state directory may be small, and
/// others must be able to write there.
const SCRATCH: &str = "/var/lib/containerd/blackstart-image";

/// Makes and imports the image.
pub(super) struct OwnImage;

/// What was found.
pub(super) struct Seen {
    /// The label of the program whose image is missing.
    missing: Option<String>,
}

impl Step for OwnImage {
    type Seen = Seen;
    type Undo = OwnImported;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(
            ids::OWN_IMAGE,
            "Import the image of this program",
            "pods that prepare nodes run it without any registry",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let Some(label) = label(Path::new(TARGET)) else { return Ok(Seen { missing: None }) };
        let filter = format!("name=={}", program_image::name());
        let listed = ctr(host, &["images", "list", &filter]).await.map_err(StepError::retryable)?;
        // Reading all of the program is left to where it has to be done.
        let is_missing = !is_whole(&listed, &label) && bundle::ensure_static(Path::new(TARGET)).is_ok();
        Ok(Seen { missing: is_missing.then_some(label) })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let name = program_image::name();
        let import = |_: &String| Planned::act(name.clone(), format!("make and import {name}"));
        Ok(seen.missing.iter().map(import).collect())
    }

    async fn act(&self, Act { key: name, .. }: &Act, host: &Host) -> Result<(), StepError> {
        let Some(label) = label(Path::new(TARGET)) else { return Ok(()) };
        let imported = import(host, name).await;
        // Whatever became of it: it is large.
        tree::remove(&*host.disk, Path::new(SCRATCH))?;
        imported?;
        ctr(host, &["images", "label", name, PINNED, &label]).await.map(drop)
    }
}

async fn import(host: &Host, name: &str) -> Result<(), StepError> {
    let scratch = Path::new(SCRATCH);
    tree::remove(&*host.disk, scratch)?;
    host.disk.create_dir(scratch, 0o700)?;
    let archive = scratch.join("image.tar");
    let to = archive.clone();
    let made = tokio::task::spawn_blocking(move || program_image::write(Path::new(TARGET), &to)).await;
    let cut_off = |error| StepError::new(bundle::codes::STOPPED, format!("making {name} was cut off: {error}"));
    made.map_err(cut_off)?.map_err(|error| StepError::from_explained(&error))?;
    ctr(host, &["images", "import", "--local", &archive.to_string_lossy()]).await.map(drop)
}

/// How it is undone: also what a run that was killed has left goes.
pub(super) struct OwnImported;

impl Undo for OwnImported {
    fn shows_act(&self, key: &str) -> Option<String> {
        Imported.shows_act(key)
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        tree::remove(&*host.disk, Path::new(SCRATCH))?;
        Ok(Notes::new())
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        if host.is_live { Imported.act(key, host).await } else { Ok(()) }
    }
}

/// What distinguishes one program from another; `None` where none is installed.
fn label(program: &Path) -> Option<String> {
    let about = fs::metadata(program).ok()?;
    let written = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{MADE_OF}={}-{}", about.len(), written.as_nanos()))
}

/// Whether what `ctr` lists has both labels.
fn is_whole(listed: &str, label: &str) -> bool {
    let has = |line: &str, wanted: &str| line.split([',', ' ']).any(|word| word.trim() == wanted);
    listed.lines().any(|line| has(line, label) && has(line, PINNED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_whole_with_both_labels() {
        let header = "REF TYPE DIGEST SIZE PLATFORMS LABELS\n";
        let row = "blackstart.local/blackstart:0.1.0 application/vnd.oci.image.manifest.v1+json sha256:1 28.0 MiB linux/amd64 ";
        let label = "blackstart.io/program=5-7";
        for (labels, expected) in [
            ("blackstart.io/program=5-7,io.cri-containerd.image=managed,io.cri-containerd.pinned=pinned \n", true),
            ("blackstart.io/program=5-77,io.cri-containerd.pinned=pinned \n", false),
            ("blackstart.io/program=5-7 \n", false),
            ("-\n", false),
        ] {
            assert_eq!(is_whole(&format!("{header}{row}{labels}"), label), expected, "{labels}");
        }
        assert!(!is_whole(header, label));
    }

    #[test]
    fn a_program_that_was_replaced_has_another_label() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        assert_eq!(label(&program), None);
        fs::write(&program, "content").unwrap();
        let first = label(&program).unwrap();
        assert_eq!(label(&program).as_ref(), Some(&first));
        let later = fs::metadata(&program).unwrap().modified().unwrap() + std::time::Duration::from_secs(1);
        fs::File::options().append(true).open(&program).unwrap().set_modified(later).unwrap();
        assert_ne!(label(&program), Some(first));
    }
}
