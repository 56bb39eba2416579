//! The component of the distribution that holds the drivers is among the sources of packages.
//!
//! Debian keeps the driver in `non-free`, Ubuntu in `multiverse`, and many machines leave those out on purpose. So it is
//! found out before anything is installed, reported by name, and added only where that was asked for: as a file of our
//! own, made from the sources that the machine has, which are not touched.

mod list;

use std::path::{Path, PathBuf};

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Disk, Host, HostError};
use list::Entry;
use nodekit::package_manager::Manager;

use super::{
    super::ids,
    super::{Task, os::Os},
    WANTED,
};
use crate::codes;

const MAIN: &str = "/etc/apt/sources.list";
const PARTS: &str = "/etc/apt/sources.list.d";
const FILE: &str = "/etc/apt/sources.list.d/gpu-bootstrap.sources";

/// The packages can be found.
pub(super) struct PackageSource {
    dir: Option<PathBuf>,
    add: bool,
}

/// What was found.
pub(super) enum Seen {
    /// There is nothing to ask a source for.
    NotNeeded,
    /// All sources, but for our own.
    Sources { os: Os, entries: Vec<Entry>, own: Option<String> },
}

impl PackageSource {
    pub(super) fn new(task: &Task, add: bool) -> Self {
        Self { dir: task.packages.clone(), add }
    }
}

impl Step for PackageSource {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(
            ids::PACKAGE_SOURCE,
            "Find the drivers' packages",
            "distributions keep them apart, as they are not free",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let disk = &*host.disk;
        // What dnf's packages come from is no component, but a third party's repository.
        let Some(manager @ Manager::Apt) = Manager::find(disk)? else { return Ok(Seen::NotNeeded) };
        let versions = manager.installed(host).await?.versions;
        let is_complete = WANTED.with(manager).iter().all(|name| versions.contains_key(*name));
        if is_complete || self.dir.is_some() {
            return Ok(Seen::NotNeeded);
        }
        let own = disk.read_optional(Path::new(FILE))?.map(|text| String::from_utf8_lossy(&text).into_owned());
        Ok(Seen::Sources { os: Os::read(disk)?, entries: sources(disk)?, own })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        let Seen::Sources { os, entries, own } = seen else { return Ok(Vec::new()) };
        // A third party's source may have a component of the same name. Where none is known to be the distribution's own,
        // for example by a suite `stable`, each may be.
        let is_known = entries.iter().any(|entry| entry.is_of(os));
        let enabled =
            |component: &&str| entries.iter().any(|entry| entry.has(component) && (entry.is_of(os) || !is_known));
        let missing: Vec<&str> = components(os).iter().copied().filter(|component| !enabled(component)).collect();
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let (names, package) = (missing.join(" and "), WANTED.apt[0]);
        let lacking = format!("{package} is in {names} of {}, which is not among the sources in /etc/apt", os.pretty);
        if !self.add && own.is_none() {
            return Err(StepError::new(codes::NO_COMPONENT, lacking));
        }
        let text = list::with_components(entries, os, &missing);
        if text.is_empty() {
            let hint = format!("add {names} to the machine's own sources, or give the packages with --packages");
            let message = format!("{lacking}; and none of those is {} itself", os.pretty);
            return Err(StepError::new(codes::NO_COMPONENT, message).with_hint(hint));
        }
        if own.as_deref() == Some(text.as_str()) {
            return Ok(Vec::new());
        }
        Ok(vec![Change::File { path: FILE.into(), mode: 0o644, content: Content::Plain(text.into_bytes()) }])
    }
}

/// The components that hold the packages.
fn components(os: &Os) -> &'static [&'static str] {
    if os.is_like("ubuntu") { &["universe", "multiverse"] } else { &["non-free"] }
}

/// All sources of packages, but for our own.
fn sources(disk: &dyn Disk) -> Result<Vec<Entry>, HostError> {
    let parts = Path::new(PARTS);
    let names = if disk.exists(parts)? { disk.list(parts)? } else { Vec::new() };
    let files = [PathBuf::from(MAIN)].into_iter().chain(names.iter().map(|name| parts.join(name)));
    let mut entries = Vec::new();
    for file in files.filter(|file| file != Path::new(FILE)) {
        let Some(bytes) = disk.read_optional(&file)? else { continue };
        let text = String::from_utf8_lossy(&bytes);
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("list") => entries.extend(list::one_line(&text)),
            Some("sources") => entries.extend(list::paragraphs(&text)),
            _ => {}
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{Goal, testing::Machine},
        *,
    };

    const DEBIAN: &str = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_CODENAME=bookworm\n";
    const UBUNTU: &str = "PRETTY_NAME=\"Ubuntu 24.04 LTS\"\nID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n";
    const LINES: &str = "# from the installer\ndeb http://mirror/debian bookworm main non-free-firmware\n\
                         deb-src http://mirror/debian bookworm main\n\
                         deb [signed-by=/k.gpg arch=amd64,i386] http://mirror/debian-security bookworm-security main\n\
                         deb https://apt.other.example stable main\n";
    const PARAGRAPHS: &str = "Types: deb deb-src\nURIs: http://mirror/ubuntu/\nSuites: noble noble-updates\n\
                              Components: main restricted universe\nSigned-By: /usr/share/keyrings/ubuntu.gpg\n\n\
                              Types: deb\nURIs: http://ppa.example/\nSuites: noble\nComponents: stable\n";

    fn step(add: bool) -> PackageSource {
        let goal = Goal::Gpu { even_without_gpu: false, add_non_free: add };
        PackageSource::new(&Task { packages: None, goal }, add)
    }

    #[tokio::test]
    async fn a_component_that_is_left_out_is_named_and_added_where_asked() {
        let mut reported = String::new();
        for (case, os, file, text, add) in [
            ("Debian without it", DEBIAN, MAIN, LINES, false),
            ("the same, and it may be added", DEBIAN, MAIN, LINES, true),
            ("Debian with it", DEBIAN, MAIN, "deb http://mirror/debian bookworm main non-free\n", false),
            (
                "Debian with it, by itself",
                DEBIAN,
                MAIN,
                "deb http://m bookworm main\ndeb http://m bookworm non-free\n",
                false,
            ),
            ("Debian by another name", DEBIAN, MAIN, "deb http://mirror/debian stable main non-free\n", false),
            (
                "only another source has it",
                DEBIAN,
                MAIN,
                "deb http://m bookworm main\ndeb http://x stable non-free\n",
                false,
            ),
            ("Ubuntu without it", UBUNTU, "/etc/apt/sources.list.d/ubuntu.sources", PARAGRAPHS, true),
            ("third-party sources only", DEBIAN, MAIN, "deb https://apt.other.example stable main\n", true),
            ("no sources at all", DEBIAN, "/etc/apt/other", "", true),
        ] {
            let machine = Machine::default().apt("");
            machine.write("/etc/os-release", os);
            machine.write(file, text);
            let planned = machine.planned(&step(add)).await;
            reported += &format!("{case}:\n{planned}");
            if planned.contains("write ") {
                machine.apply(&step(add)).await;
                reported += &format!("{}\n", machine.read(FILE).unwrap());
                assert_eq!(machine.planned(&step(add)).await, "  nothing\n");
                assert_eq!(
                    machine.planned(&step(false)).await,
                    "  nothing\n",
                    "what was added once is not asked for again"
                );
            }
        }
        insta::assert_snapshot!(reported);
    }
}
