//! What installs packages on this machine: apt or dnf.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use engine::StepError;
use host::{Disk, Host, HostError};

use crate::{
    apt::{self, Source},
    dnf,
};

/// What installs packages on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// Debian, Ubuntu and their relatives.
    Apt,
    /// Fedora, RHEL and theirs.
    Dnf,
}

/// What is installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Installed {
    /// Names and versions of what is set up.
    pub versions: BTreeMap<String, String>,
    /// What was begun and not finished.
    pub unfinished: Vec<String>,
}

impl Installed {
    /// All that is there in some way: what was begun by others is not ours when it is finished by us.
    pub fn names(&self) -> BTreeSet<String> {
        self.versions.keys().chain(&self.unfinished).cloned().collect()
    }
}

impl Manager {
    /// Looks for one. Where both are there, the one whose list is kept is meant: dnf is also a package of Debian.
    pub fn find(disk: &dyn Disk) -> Result<Option<Self>, HostError> {
        let there = |path: &str| disk.exists(Path::new(path));
        Ok(if there("/usr/bin/apt-get")? && there("/var/lib/dpkg/status")? {
            Some(Self::Apt)
        } else if there("/usr/bin/dnf")? {
            Some(Self::Dnf)
        } else {
            None
        })
    }

    /// As people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apt => "apt",
            Self::Dnf => "dnf",
        }
    }

    /// How a file of a package ends.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Apt => ".deb",
            Self::Dnf => ".rpm",
        }
    }

    /// What is installed, and what was begun.
    pub async fn installed(self, host: &Host) -> Result<Installed, StepError> {
        match self {
            Self::Apt => {
                let packages = apt::Packages::read(&*host.disk)?.unwrap_or_default();
                let unfinished = packages.unfinished.clone();
                Ok(Installed { versions: packages.into_versions(), unfinished })
            }
            Self::Dnf => Ok(Installed { versions: dnf::installed(host).await?, unfinished: Vec::new() }),
        }
    }

    /// Installs packages: from the machine's own sources, or from a directory; `work` is a place for notes on that.
    pub async fn install(self, host: &Host, names: &[&str], dir: Option<&Path>, work: &Path) -> Result<(), StepError> {
        match (self, dir) {
            (Self::Apt, None) => apt::install(host, names).await,
            (Self::Apt, Some(dir)) => {
                let directory = apt::Directory::open(host, dir, work).await?;
                let installed = apt::install_from(host, names, Source::Directory(&directory)).await;
                installed.and(directory.close(host))
            }
            (Self::Dnf, dir) => dnf::install(host, names, dir).await,
        }
    }

    /// Finishes what was begun and interrupted.
    pub async fn repair(self, host: &Host, dir: Option<&Path>, work: &Path) -> Result<(), StepError> {
        match (self, dir) {
            (Self::Apt, None) => apt::repair(host).await,
            (Self::Apt, Some(dir)) => {
                let directory = apt::Directory::open(host, dir, work).await?;
                let repaired = apt::repair_from(host, Source::Directory(&directory)).await;
                repaired.and(directory.close(host))
            }
            // rpm lists nothing as unfinished.
            (Self::Dnf, _) => Ok(()),
        }
    }

    /// Whether the list of packages has one only when all of it is done. rpm lists a package before its scripts have run.
    pub const fn lists_only_finished(self) -> bool {
        matches!(self, Self::Apt)
    }

    /// Begins again with packages that were listed and not finished.
    pub async fn forget(self, host: &Host, names: &[String], before: &BTreeSet<String>) -> Result<(), StepError> {
        match self {
            Self::Apt => Ok(()),
            Self::Dnf => dnf::forget(host, names, before).await,
        }
    }

    /// Marks for the package manager what has come only with packages whose installation was interrupted, where it does not
    /// know by itself.
    pub async fn disown(self, host: &Host, names: &[String], before: &BTreeSet<String>) -> Result<(), StepError> {
        match self {
            Self::Apt => Ok(()),
            Self::Dnf => dnf::disown(host, names, before).await,
        }
    }

    /// Removes the packages `asked`, and those among `ours` that are not needed without them. Returns what stayed, and why.
    pub async fn remove(
        self,
        host: &Host,
        asked: &[String],
        ours: &BTreeSet<String>,
    ) -> Result<Vec<String>, StepError> {
        match self {
            Self::Apt => apt::remove(host, asked, ours).await,
            Self::Dnf => dnf::remove(host, asked, ours).await,
        }
    }
}
