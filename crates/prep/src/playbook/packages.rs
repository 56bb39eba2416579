//! The packages that a preparation needs, from the distribution or from a directory.
//!
//! Packages that are there stay, whatever their version, and nothing is asked of a mirror for them.
//!
//! The acts write the note of what came by us themselves: it has to be on the disk before the package manager starts, and
//! again when it has ended, with what only that has shown.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use engine::{About, Act, Notes, Planned, Step, StepError, Undo};
use host::{Disk, Host};
use nodekit::package_manager::{Installed as Found, Manager};

use super::{
    Task, ids,
    note::{self, PackageNote},
};
use crate::codes;

const REPAIR: &str = "repair";
const INSTALL: &str = "install";
const RECORD: &str = "note";

const NOTE: &str = "packages.json";
const WORK: &str = "offline";

/// Names of packages; each family of distributions has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) apt: &'static [&'static str],
    pub(super) dnf: &'static [&'static str],
}

impl Wanted {
    /// On this machine.
    pub(super) const fn with(self, manager: Manager) -> &'static [&'static str] {
        match manager {
            Manager::Apt => self.apt,
            Manager::Dnf => self.dnf,
        }
    }
}

/// The packages are installed.
pub(super) struct Packages {
    wanted: Wanted,
    dir: Option<PathBuf>,
    state_dir: PathBuf,
}

/// What was found.
pub(super) struct Seen {
    missing: Vec<&'static str>,
    unfinished: Vec<String>,
    /// An installation was killed before what it installed was noted.
    is_unrecorded: bool,
}

impl Packages {
    pub(super) fn new(task: &Task) -> Self {
        Self { wanted: task.wanted(), dir: task.packages.clone(), state_dir: task.state_dir() }
    }

    fn manager(host: &Host) -> Result<Manager, StepError> {
        let none = || StepError::new(codes::NO_PACKAGE_MANAGER, "this machine has neither apt nor dnf");
        Manager::find(&*host.disk)?.ok_or_else(none)
    }

    fn note(&self) -> PathBuf {
        self.state_dir.join(NOTE)
    }

    fn read_note(&self, host: &Host) -> Result<PackageNote, StepError> {
        Ok(note::read(&*host.disk, &self.note())?.unwrap_or_default())
    }

    /// What is not there. What was interrupted counts as such where the list of packages does not show it.
    fn missing(&self, manager: Manager, found: &Found, note: &PackageNote) -> Vec<&'static str> {
        let is_there = |name: &str| {
            let is_finished = manager.lists_only_finished() || !note.is_under_way(name);
            found.versions.contains_key(name) && is_finished
        };
        self.wanted.with(manager).iter().copied().filter(|name| !is_there(name)).collect()
    }

    async fn install(&self, host: &Host) -> Result<(), StepError> {
        let manager = Self::manager(host)?;
        let found = manager.installed(host).await?;
        let mut note = self.read_note(host)?;
        let missing = self.missing(manager, &found, &note);
        if missing.is_empty() {
            // What was unfinished has been finished by the change before this one.
            return self.record(host).await;
        }
        note.begin(&missing, found.names());
        note::write(&*host.disk, &self.note(), &note)?;
        let unfinished = missing.iter().filter(|name| found.versions.contains_key(**name));
        let unfinished: Vec<String> = unfinished.map(|name| (*name).to_owned()).collect();
        if !unfinished.is_empty() {
            manager.forget(host, &unfinished, &note.before.unwrap_or_default()).await?;
        }
        let installed = manager.install(host, &missing, self.dir.as_deref(), &self.state_dir.join(WORK)).await;
        if installed.is_err() {
            let there = manager.installed(host).await?.versions;
            if missing.iter().any(|name| there.contains_key(*name)) {
                // It has come, and may not be finished: for the next try it is still under way.
                return installed;
            }
        }
        // Also where it failed: what others install before the next try is not ours.
        installed.and(self.record(host).await)
    }

    async fn record(&self, host: &Host) -> Result<(), StepError> {
        let there = Self::manager(host)?.installed(host).await?.names();
        let mut note = self.read_note(host)?;
        note.finish(&there);
        note::write(&*host.disk, &self.note(), &note)
    }
}

impl Step for Packages {
    type Seen = Seen;
    type Undo = Installed;

    fn about(&self) -> About {
        About::new(ids::PACKAGES, "Install the packages", "the programs are the distribution's own")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let manager = Self::manager(host)?;
        let found = manager.installed(host).await?;
        let note = self.read_note(host)?;
        let missing = self.missing(manager, &found, &note);
        let unfinished = if missing.is_empty() { Vec::new() } else { found.unfinished };
        Ok(Seen { missing, unfinished, is_unrecorded: note.before.is_some() })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let mut changes = Vec::new();
        let mut act = |key: &str, what: String| changes.push(Planned::act(key, what));
        if !seen.unfinished.is_empty() {
            act(REPAIR, format!("finish what an interrupted dpkg has left: {}", seen.unfinished.join(", ")));
        }
        if !seen.missing.is_empty() {
            let from = self.dir.as_ref().map(|dir| format!(" from {}", dir.display())).unwrap_or_default();
            act(INSTALL, format!("install packages {}{from}", seen.missing.join(", ")));
        } else if seen.is_unrecorded {
            act(RECORD, "note which packages an interrupted run has installed".to_owned());
        }
        Ok(changes)
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        match key.as_str() {
            REPAIR => Self::manager(host)?.repair(host, self.dir.as_deref(), &self.state_dir.join(WORK)).await,
            RECORD => self.record(host).await,
            _ => self.install(host).await,
        }
    }
}

/// Packages that have come by us, as the note has them.
#[derive(Debug, Default)]
pub(super) struct Installed {
    note: PackageNote,
    path: PathBuf,
    /// Reported when they go.
    remark: Option<&'static str>,
}

impl Installed {
    pub(super) fn read(disk: &dyn Disk, state_dir: &Path) -> Result<Self, StepError> {
        let path = state_dir.join(NOTE);
        Ok(Self { note: note::read(disk, &path)?.unwrap_or_default(), path, remark: None })
    }

    #[must_use]
    pub(super) fn saying(mut self, remark: &'static str) -> Self {
        self.remark = Some(remark);
        self
    }
}

impl Undo for Installed {
    fn shows(&self) -> Vec<String> {
        let asked: Vec<&str> = self.note.asked.iter().map(String::as_str).collect();
        let others = self.note.added.difference(&self.note.asked).count();
        match (asked.is_empty(), others) {
            (true, _) => Vec::new(),
            (false, 0) => vec![format!("remove packages {}", asked.join(", "))],
            (false, count) => {
                let others = explain::counted(count, "package");
                vec![format!(
                    "remove packages {}, and of {others} that came with them those no longer needed",
                    asked.join(", ")
                )]
            }
        }
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        let Some(manager) = Manager::find(&*host.disk)?.filter(|_| !self.note.asked.is_empty()) else {
            return Ok(Notes::new());
        };
        let asked: Vec<String> = self.note.asked.iter().cloned().collect();
        if let Some(before) = &self.note.before {
            manager.disown(host, &asked, before).await?;
        }
        let ours: BTreeSet<String> = self.note.added.union(&self.note.asked).cloned().collect();
        let mut notes = manager.remove(host, &asked, &ours).await?;
        notes.extend(self.remark.map(str::to_owned));
        Ok(notes)
    }

    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }

    async fn after(&self, host: &Host) -> Result<(), StepError> {
        Ok(host::remove_file(&*host.disk, &self.path)?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use explain::Explain;

    use super::{
        super::{Goal, testing::Machine},
        *,
    };

    const BASH: &str = "Package: bash\nStatus: install ok installed\nVersion: 5\n\n";
    const ISCSI: &str = "Package: open-iscsi\nStatus: install ok installed\nVersion: 2.1.8-1\n\n";
    const HALF: &str = "Package: open-iscsi\nStatus: install reinstreq half-installed\nVersion: 2.1.8-1\n\n";
    const OTHER: &str = "Package: vim\nStatus: install ok half-configured\nVersion: 9\n\n";

    fn step(dir: Option<&str>) -> Packages {
        Packages::new(&Task { packages: dir.map(PathBuf::from), goal: Goal::Iscsi { with_nfs: false } })
    }

    #[tokio::test]
    async fn what_is_done_depends_on_what_is_there() {
        let mut reported = String::new();
        let before = r#"{"asked": ["open-iscsi"], "added": [], "before": ["bash"]}"#;
        for (case, status, note, dir) in [
            ("an empty machine", BASH.to_owned(), None, None),
            ("without a mirror", BASH.to_owned(), None, Some("/mnt/debs")),
            ("all there", format!("{BASH}{ISCSI}"), None, None),
            ("all there, and something else unfinished", format!("{BASH}{ISCSI}{OTHER}"), None, None),
            ("killed while it unpacked", format!("{BASH}{HALF}"), Some(before), None),
            ("killed after the last package", format!("{BASH}{ISCSI}"), Some(before), None),
        ] {
            let machine = Machine::default().apt(&status);
            if let Some(note) = note {
                machine.write("/var/lib/node-bootstrap/iscsi/packages.json", note);
            }
            reported += &format!("{case}:\n{}", machine.planned(&step(dir)).await);
        }
        insta::assert_snapshot!(reported);
    }

    #[tokio::test]
    async fn what_came_is_noted_and_goes_again() {
        let machine = Machine::default().apt(BASH);
        let status = machine.path("/var/lib/dpkg/status");
        let machine = machine.answering(move |command| {
            if command.contains("install --yes") {
                let lib = ISCSI.replace("open-iscsi", "libisns0");
                std::fs::write(&status, format!("{BASH}{ISCSI}{lib}")).unwrap();
            }
            Ok(String::new())
        });
        let host = machine.host();
        let step = step(None);
        let changes = step.plan(&step.observe(&host).await.unwrap()).unwrap();
        for change in &changes {
            step.apply(change, &host).await.unwrap();
        }
        assert!(step.plan(&step.observe(&host).await.unwrap()).unwrap().is_empty());
        let taken = Installed::read(&*host.disk, Path::new("/var/lib/node-bootstrap/iscsi")).unwrap();
        insta::assert_debug_snapshot!((&taken.note, taken.shows()));
        taken.before(&host).await.unwrap();
        taken.after(&host).await.unwrap();
        assert!(
            machine.asked().iter().any(|command| command.ends_with("remove --yes open-iscsi")),
            "{:?}",
            machine.asked()
        );
        assert_eq!(step.read_note(&host).unwrap(), PackageNote::default());
    }

    /// rpm lists a package before its scripts have run: that it is listed is no proof after an interruption.
    #[tokio::test]
    async fn what_dnf_was_killed_at_is_done_again() {
        let machine = Machine::default();
        machine.write("/usr/bin/dnf", "");
        machine.write("/rpmdb", "bash 1\n");
        let (list, tries) = (machine.path("/rpmdb"), AtomicU32::new(0));
        let machine = machine.answering(move |command| {
            let listed = std::fs::read_to_string(&list).unwrap();
            if command.starts_with("rpm --query") {
                return Ok(listed);
            }
            if command.starts_with("rpm --erase") {
                std::fs::write(&list, "bash 1\nisns-utils-libs 2\n").unwrap();
            } else if command.contains(" install ") {
                std::fs::write(&list, "bash 1\niscsi-initiator-utils 2\nisns-utils-libs 2\n").unwrap();
                if tries.fetch_add(1, Ordering::Relaxed) == 0 {
                    return Err("signal: 9 (SIGKILL)|it has no output".to_owned());
                }
            }
            Ok(String::new())
        });
        let (host, step) = (machine.host(), step(None));
        let changes = step.plan(&step.observe(&host).await.unwrap()).unwrap();
        let error = step.apply(&changes[0], &host).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        machine.apply(&step).await;
        assert!(machine.asked().iter().any(|command| command.ends_with("--notriggers iscsi-initiator-utils")));
        assert_eq!(machine.planned(&step).await, "  nothing\n");
        let note = step.read_note(&host).unwrap();
        assert_eq!((note.added.len(), note.before), (2, None));
    }

    #[tokio::test]
    async fn a_machine_without_a_package_manager() {
        let machine = Machine::default();
        let error = step(None).observe(&machine.host()).await.err().unwrap();
        assert_eq!(error.code(), codes::NO_PACKAGE_MANAGER);
    }
}
