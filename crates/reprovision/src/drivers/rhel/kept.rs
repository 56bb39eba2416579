//! The files that the payload says it changes, as they were: copied before stage 1, put back on the way back.
//!
//! `cp --archive` takes owner, mode, times, `SELinux` context and extended attributes along, and a link as a link. What was not there is
//! noted as such, and removed on the way back. The index is written last: without one nothing counts as kept, and nothing was changed.

use std::path::{Path, PathBuf};

use engine::{About, Act, Notes, Planned, Step, StepError, Undo};
use host::{Cmd, Disk, Host, Kind, create_dir_all, remove_file};
use nodekit::cleanup::tree;
use serde::{Deserialize, Serialize};

use super::{ids, payload, record};
use crate::{Run, codes, paths};

/// What is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    /// For which run.
    run: String,
    /// All that was declared.
    files: Vec<KeptFile>,
}

/// A file that was declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptFile {
    path: PathBuf,
    /// The name of its copy; none where there was no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    copy: Option<String>,
}

fn index() -> PathBuf {
    paths::kept().join("index.json")
}

/// What is kept, if anything is.
pub(super) fn read(disk: &dyn Disk) -> Result<Index, StepError> {
    Ok(record::read(disk, &index())?.unwrap_or_default())
}

/// The files are kept.
pub(super) struct Kept {
    pub(super) run: Run,
}

impl Step for Kept {
    /// How many are to be kept; none once they are.
    type Seen = Option<usize>;
    type Undo = PutBack;

    fn about(&self) -> About {
        About::new(ids::KEPT, "Keep the files that will change", "the way back needs them as they were")
    }

    async fn observe(&self, host: &Host) -> Result<Option<usize>, StepError> {
        let is_done = read(&*host.disk)?.run == self.run.order.run;
        Ok(if is_done { None } else { Some(payload::declared(&*host.disk)?.len()) })
    }

    fn plan(&self, to_keep: &Option<usize>) -> Result<Vec<Planned>, StepError> {
        // Also where there are none: a list that comes with stage 1 is about files that have been changed already.
        let act =
            |count| Planned::act("keep", format!("keep {} that the payload declares", explain::counted(count, "file")));
        Ok(to_keep.map(act).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let disk = &*host.disk;
        let dir = paths::kept();
        remove_file(disk, &index())?;
        tree::remove(disk, &dir)?;
        create_dir_all(disk, &dir, 0o700)?;
        let mut kept = Index { run: self.run.order.run.clone(), files: Vec::new() };
        for (number, path) in payload::declared(disk)?.into_iter().enumerate() {
            let copy = is_there(disk, &path)?.then(|| number.to_string());
            if let Some(copy) = &copy {
                duplicate(host, &path, &dir.join(copy)).await?;
            }
            kept.files.push(KeptFile { path, copy });
        }
        disk.sync_dir(&dir)?;
        record::write(disk, &index(), &kept)
    }
}

/// Whether there is a file or a link; anything else could not be put back.
pub(super) fn is_there(disk: &dyn Disk, path: &Path) -> Result<bool, StepError> {
    match disk.meta(path)?.map(|meta| meta.kind) {
        None => Ok(false),
        Some(Kind::File | Kind::Link) => Ok(true),
        Some(Kind::Directory | Kind::Other) => {
            let message = format!("the payload's list `files` has {}, which is no file on this node", path.display());
            Err(StepError::new(codes::FILES_LIST, message))
        }
    }
}

/// Copies a file or a link with all that it has, durably.
async fn duplicate(host: &Host, from: &Path, to: &Path) -> Result<(), StepError> {
    let options = ["--archive", "--no-dereference", "--no-target-directory", "--remove-destination", "--"];
    host.commands.run(&Cmd::new("cp").args(options).args([from, to])).await?;
    if host.disk.meta(to)?.is_some_and(|meta| meta.kind == Kind::File) {
        host.disk.sync_file(to)?;
    }
    Ok(())
}

/// How it is undone: each file is as it was.
pub(super) struct PutBack {
    pub(super) count: usize,
}

impl PutBack {
    pub(super) fn of(disk: &dyn Disk) -> Result<Self, StepError> {
        Ok(Self { count: read(disk)?.files.len() })
    }
}

impl Undo for PutBack {
    fn shows_act(&self, _key: &str) -> Option<String> {
        Some(format!("put back {} that the payload declared", explain::counted(self.count, "file")))
    }

    async fn before(&self, _host: &Host) -> Result<Notes, StepError> {
        let note = "files that the payload changed without declaring them in its list `files` stay as they are: \
                    `rpm --verify --all` shows those of packages";
        Ok(vec![note.to_owned()])
    }

    async fn act(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        for KeptFile { path, copy } in read(&*host.disk)?.files {
            match copy {
                Some(copy) => put_back(host, &paths::kept().join(copy), &path).await?,
                // Where a directory has come in its place, it is not ours to remove.
                None if is_there(&*host.disk, &path).unwrap_or(false) => remove_file(&*host.disk, &path)?,
                None => {}
            }
        }
        Ok(())
    }

    async fn after(&self, host: &Host) -> Result<(), StepError> {
        remove_file(&*host.disk, &index())?;
        Ok(tree::remove(&*host.disk, &paths::kept())?)
    }
}

/// Puts a copy back in one step: the file is the new one or the old one at every instant.
async fn put_back(host: &Host, copy: &Path, path: &Path) -> Result<(), StepError> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".blackstart-old");
    let fresh = PathBuf::from(fresh);
    let above = path.parent().unwrap_or(Path::new("/"));
    create_dir_all(&*host.disk, above, 0o755)?;
    duplicate(host, copy, &fresh).await?;
    let options = ["--force", "--no-target-directory", "--"];
    host.commands.run(&Cmd::new("mv").args(options).args([&fresh, path])).await?;
    Ok(host.disk.sync_dir(above)?)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
    };

    use super::{
        super::testing::{Machine, failed, run},
        *,
    };

    const FILES: &str = "/var/lib/blackstart-reprovision/payload/files/files";

    #[tokio::test]
    async fn files_are_as_they_were_however_often_it_is_done() {
        let machine = Machine::default();
        machine.write(FILES, "/etc/issue\n/etc/cis/new.conf\n/etc/localtime\n/etc/gone\n");
        machine.write("/etc/issue", "before\n");
        machine.write("/etc/gone", "before\n");
        fs::set_permissions(machine.path("/etc/issue"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("/usr/share/zoneinfo/UTC", machine.path("/etc/localtime")).unwrap();
        // Another run has left something.
        machine.write("/var/lib/blackstart-reprovision/kept/index.json", r#"{"run": "z", "files": []}"#);
        machine.write("/var/lib/blackstart-reprovision/kept/0", "of another run");
        let step = Kept { run: run("a") };
        assert_eq!(machine.apply(&step).await.unwrap(), ["keep 4 files that the payload declares"]);
        assert!(machine.apply(&step).await.unwrap().is_empty());

        machine.write("/etc/issue", "after\n");
        fs::set_permissions(machine.path("/etc/issue"), fs::Permissions::from_mode(0o777)).unwrap();
        machine.write("/etc/cis/new.conf", "after\n");
        fs::remove_file(machine.path("/etc/gone")).unwrap();
        fs::remove_file(machine.path("/etc/localtime")).unwrap();
        machine.write("/etc/localtime", "no link any more");

        let host = machine.host();
        let undo = PutBack::of(&*host.disk).unwrap();
        assert_eq!(undo.shows_act("keep").unwrap(), "put back 4 files that the payload declared");
        for _ in 0..2 {
            undo.act("keep", &host).await.unwrap();
            let mode = fs::metadata(machine.path("/etc/issue")).unwrap().permissions().mode() & 0o7777;
            assert_eq!((machine.read("/etc/issue").unwrap().as_str(), mode), ("before\n", 0o640));
            assert_eq!(machine.read("/etc/gone").as_deref(), Some("before\n"));
            assert_eq!(fs::read_link(machine.path("/etc/localtime")).unwrap(), Path::new("/usr/share/zoneinfo/UTC"));
            assert!(!machine.path("/etc/cis/new.conf").exists() && machine.path("/etc/cis").exists());
        }
        for _ in 0..2 {
            undo.after(&host).await.unwrap();
            undo.act("keep", &host).await.unwrap();
            assert!(!machine.path("/var/lib/blackstart-reprovision/kept").exists());
        }
        assert_eq!(host.disk.list(Path::new("/etc")).unwrap(), ["cis", "gone", "issue", "localtime"]);
    }

    #[tokio::test]
    async fn a_directory_is_refused_before_anything_is_kept() {
        let machine = Machine::default();
        machine.write(FILES, "/etc\n");
        machine.write("/etc/issue", "");
        let error = machine.apply(&Kept { run: run("a") }).await.unwrap_err();
        assert_eq!(failed(&error), "BS-IPB-077 the payload's list `files` has /etc, which is no file on this node");
        assert_eq!(read(&*machine.host().disk).unwrap(), Index::default());
    }
}
