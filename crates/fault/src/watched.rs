//! The door to the machine, watched for the first thing that a change does.

use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    task::Poll,
};

use futures::poll;
use host::{Cmd, HostError, Meta, Running, disk::LockGuard};

use super::Fault;

/// A disk; writes are reported after the write and before the sync.
pub(super) struct Disk {
    pub(super) inner: Arc<dyn host::Disk>,
    pub(super) fault: Arc<Fault>,
}

impl Disk {
    fn writing(&self, what: &str, path: &Path, done: Result<(), HostError>) -> Result<(), HostError> {
        done?;
        self.fault.touched(&format!("{what} {}", path.display()));
        Ok(())
    }
}

impl host::Disk for Disk {
    fn read(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        self.inner.read(path)
    }

    fn meta(&self, path: &Path) -> Result<Option<Meta>, HostError> {
        self.inner.meta(path)
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, HostError> {
        self.inner.list(dir)
    }

    fn create(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), HostError> {
        self.writing("created", path, self.inner.create(path, content, mode))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, HostError> {
        self.inner.open(path)
    }

    fn import(&self, path: &Path, from: &Path, mode: u32) -> Result<(), HostError> {
        self.writing("imported", path, self.inner.import(path, from, mode))
    }

    fn symlink(&self, path: &Path, target: &Path) -> Result<(), HostError> {
        self.writing("linked", path, self.inner.symlink(path, target))
    }

    fn read_link(&self, path: &Path) -> Result<Option<PathBuf>, HostError> {
        self.inner.read_link(path)
    }

    fn sync_file(&self, path: &Path) -> Result<(), HostError> {
        self.inner.sync_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), HostError> {
        self.inner.sync_dir(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        self.writing("renamed", to, self.inner.rename(from, to))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        self.writing("linked", to, self.inner.hard_link(from, to))
    }

    fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        self.writing("removed", path, self.inner.remove_file(path))
    }

    fn create_dir(&self, dir: &Path, mode: u32) -> Result<(), HostError> {
        self.writing("created", dir, self.inner.create_dir(dir, mode))
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), HostError> {
        self.writing("removed", dir, self.inner.remove_dir(dir))
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), HostError> {
        self.writing("changed the mode of", path, self.inner.set_mode(path, mode))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, HostError> {
        self.inner.try_lock(path)
    }
}

/// Commands; those that change something are reported once started and before they have ended.
pub(super) struct Commands {
    pub(super) inner: Arc<dyn host::Commands>,
    pub(super) fault: Arc<Fault>,
}

impl host::Commands for Commands {
    fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
        Box::pin(async move {
            let mut running = self.inner.run(command);
            let text = command.to_string();
            if only_checks(&text) {
                self.fault.checks.fetch_add(1, Ordering::SeqCst);
                let seen = running.await;
                self.fault.checks.fetch_sub(1, Ordering::SeqCst);
                return seen;
            }
            match poll!(&mut running) {
                Poll::Ready(ended) => ended,
                Poll::Pending => {
                    self.fault.touched(&format!("`{text}` is running"));
                    running.await
                }
            }
        })
    }
}

/// Steps look before they act, by the same commands.
fn only_checks(command: &str) -> bool {
    const CHECKS: &[&str] =
        &["systemctl show ", "journalctl ", "ip -j ", "nmcli -g ", "busctl --json=short get-property ", "ping "];
    CHECKS.iter().any(|check| command.starts_with(check)) || command.contains(" list ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_distinguished_from_changes() {
        for (command, expected) in [
            ("systemctl show --property=ActiveState etcd.service", true),
            ("systemctl start --no-block etcd.service", false),
            ("ctr --namespace k8s.io images list --quiet", true),
            ("ctr --namespace k8s.io images import --local /x.tar", false),
            ("hostnamectl set-hostname master-01", false),
        ] {
            assert_eq!(only_checks(command), expected, "{command}");
        }
    }
}
