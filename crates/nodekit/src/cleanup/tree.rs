//! Directories that belong to one service alone.
//!
//! Whether one does is found out before the service first runs, by the step that installs its unit: a directory that was
//! not there, or had nothing in it, is the service's from then on. One that held something stays, whatever comes of it.

use std::path::{Path, PathBuf};

use engine::StepError;
use host::{Disk, Host, HostError, Kind};

use super::mounts;

const ALL: &str = "all of ";
const CONTENT: &str = "what is in ";

/// A directory that is ours, in the form in which the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// Where.
    pub path: PathBuf,
    /// It was there before us with these permission bits, and stays when all is gone that came into it.
    mode: Option<u32>,
}

impl Own {
    /// Looks whether a directory is free to be a service's own; `None` where another program has something in it.
    pub fn claim(disk: &dyn Disk, path: &Path) -> Result<Option<Self>, HostError> {
        let own = |mode| Some(Self { path: path.to_path_buf(), mode });
        Ok(match disk.meta(path)? {
            None => own(None),
            Some(meta) if meta.kind == Kind::Directory && disk.list(path)?.is_empty() => own(Some(meta.mode)),
            Some(_) => None,
        })
    }

    /// A directory below one of ours.
    pub fn below(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), mode: None }
    }

    /// The key of the change in the ledger: `all of /var/lib/etcd`, `what is in /var/lib/etcd (0700)`.
    pub fn key(&self) -> String {
        let path = self.path.display();
        self.mode.map_or_else(|| format!("{ALL}{path}"), |mode| format!("{CONTENT}{path} ({mode:04o})"))
    }

    /// From the key.
    pub fn from_key(key: &str) -> Option<Self> {
        if let Some(path) = key.strip_prefix(ALL) {
            return Some(Self::below(path));
        }
        let (path, mode) = key.strip_prefix(CONTENT)?.strip_suffix(')')?.rsplit_once(" (")?;
        Some(Self { path: path.into(), mode: Some(u32::from_str_radix(mode, 8).ok()?) })
    }

    /// Removes it, with everything that is mounted below it, but not what lies in one of these.
    pub async fn remove(&self, host: &Host, except: &[&Path]) -> Result<(), StepError> {
        if host.is_live {
            mounts::unmount_below(host, &self.path).await?;
        }
        let disk = &*host.disk;
        remove_content(disk, &self.path, except)?;
        match (self.mode, disk.meta(&self.path)?) {
            (Some(mode), Some(meta)) if meta.kind == Kind::Directory && meta.mode != mode => {
                host::set_dir_mode(disk, &self.path, mode)?;
            }
            (None, Some(_)) if !(host.is_live && mounts::is_mount_point(host, &self.path)?) => {
                host::remove_dir_if_empty(disk, &self.path)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Removes a file, or a directory with everything in it.
pub fn remove(disk: &dyn Disk, path: &Path) -> Result<(), HostError> {
    match disk.meta(path)? {
        Some(meta) if meta.kind == Kind::Directory => {
            remove_content(disk, path, &[])?;
            host::remove_dir_if_empty(disk, path)
        }
        Some(_) => host::remove_file(disk, path),
        None => Ok(()),
    }
}

/// Empties a directory. Links are removed and never followed.
fn remove_content(disk: &dyn Disk, dir: &Path, except: &[&Path]) -> Result<(), HostError> {
    if disk.meta(dir)?.is_none_or(|meta| meta.kind != Kind::Directory) {
        return Ok(());
    }
    for name in disk.list(dir)? {
        let path = dir.join(name);
        if except.contains(&&*path) {
            continue;
        }
        match disk.meta(&path)? {
            Some(meta) if meta.kind == Kind::Directory => {
                remove_content(disk, &path, except)?;
                if disk.list(&path)?.is_empty() {
                    disk.remove_dir(&path)?;
                }
            }
            Some(_) => disk.remove_file(&path)?,
            None => {} // it went by itself
        }
    }
    disk.sync_dir(dir)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn only_a_directory_where_nothing_is_can_be_claimed() {
        let root = tempfile::tempdir().unwrap();
        let host = Host::rooted(root.path());
        fs::create_dir(root.path().join("empty")).unwrap();
        fs::create_dir_all(root.path().join("used/by/others")).unwrap();
        symlink("empty", root.path().join("link")).unwrap();
        for (path, expected) in [
            ("/none", Some("all of /none")),
            ("/empty", Some("what is in /empty (0755)")),
            ("/used", None),
            ("/link", None),
        ] {
            let own = Own::claim(&*host.disk, Path::new(path)).unwrap();
            assert_eq!(own.as_ref().map(Own::key).as_deref(), expected, "{path}");
            if let Some(own) = own {
                assert_eq!(Own::from_key(&own.key()), Some(own));
            }
        }
        assert_eq!(Own::from_key("reload"), None);
    }

    #[tokio::test]
    async fn everything_goes_but_what_is_to_stay_and_what_links_lead_to() {
        let root = tempfile::tempdir().unwrap();
        let host = Host::rooted(root.path());
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("home/deep/er")).unwrap();
        fs::create_dir_all(at("home/pki")).unwrap();
        fs::create_dir(at("outside")).unwrap();
        for file in ["home/deep/er/file", "home/pki/key", "outside/file"] {
            fs::write(at(file), "").unwrap();
        }
        symlink("../outside", at("home/link")).unwrap();
        let own = Own::below("/home");
        own.remove(&host, &[Path::new("/home/pki")]).await.unwrap();
        let left: Vec<_> = fs::read_dir(at("home")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["pki"]);
        assert!(at("home/pki/key").exists() && at("outside/file").exists());
        for _ in 0..2 {
            own.remove(&host, &[]).await.unwrap();
            assert!(!at("home").exists());
        }
        let was_there = Own { path: "/outside".into(), mode: Some(0o711) };
        was_there.remove(&host, &[]).await.unwrap();
        assert!(fs::read_dir(at("outside")).unwrap().next().is_none());
        assert_eq!(host.disk.meta(Path::new("/outside")).unwrap().unwrap().mode, 0o711, "as it was");
    }
}
