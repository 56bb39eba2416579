//! What dpkg has written down: which packages are there, and whether it was interrupted.

use std::{collections::BTreeMap, path::Path};

use host::{Disk, HostError};

/// dpkg's list of packages.
const STATUS: &str = "/var/lib/dpkg/status";
/// What dpkg has noted and not yet brought into its list; left behind where it was killed.
const UPDATES: &str = "/var/lib/dpkg/updates";

/// The packages of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packages {
    versions: BTreeMap<String, String>,
    /// What was begun and not finished.
    pub unfinished: Vec<String>,
    /// Those of them of which only some files may be there: they have to be unpacked again.
    pub damaged: Vec<String>,
}

impl Packages {
    /// Reads dpkg's list; `None` where there is no dpkg.
    pub fn read(disk: &dyn Disk) -> Result<Option<Self>, HostError> {
        let Some(status) = disk.read_optional(Path::new(STATUS))? else { return Ok(None) };
        let mut packages = Self::parse(&String::from_utf8_lossy(&status));
        let updates = Path::new(UPDATES);
        let noted = if disk.exists(updates)? { disk.list(updates)? } else { Vec::new() };
        let is_note = |name: &&String| name.bytes().all(|byte| byte.is_ascii_digit());
        packages.unfinished.extend(noted.iter().filter(is_note).map(|name| format!("note {name} of dpkg")));
        Ok(Some(packages))
    }

    fn parse(status: &str) -> Self {
        let mut packages = Self::default();
        for paragraph in status.split("\n\n") {
            let field = |name: &str| paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            let (Some(name), Some(state)) = (field("Package"), field("Status")) else { continue };
            match state.split_whitespace().collect::<Vec<_>>()[..] {
                [_, "ok", "installed"] => {
                    packages.versions.insert(name.to_owned(), field("Version").unwrap_or_default().to_owned());
                }
                [_, "ok", "not-installed" | "config-files"] => {}
                [_, flag, ..] => {
                    packages.unfinished.push(name.to_owned());
                    if flag == "reinstreq" {
                        packages.damaged.push(name.to_owned());
                    }
                }
                _ => packages.unfinished.push(name.to_owned()),
            }
        }
        packages
    }

    /// All packages that are installed and set up, with their versions.
    pub fn into_versions(self) -> BTreeMap<String, String> {
        self.versions
    }

    /// The version of a package that is installed and set up.
    pub fn version(&self, name: &str) -> Option<&str> {
        self.versions.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use host::RealDisk;

    use super::*;

    const LIST: &str = "Package: ceph-mon\nStatus: install ok installed\nVersion: 16.2.15+ds-0+deb12u1\nDescription: a\n b\n\n\
                        Package: ceph-osd\nStatus: install ok unpacked\nVersion: 16.2.15\n\n\
                        Package: ceph-mgr\nStatus: install reinstreq half-installed\n\n\
                        Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n\n\
                        Package: half\nStatus: install ok half-configured\nVersion: 1\n";

    #[test]
    fn only_what_is_set_up_counts() {
        let packages = Packages::parse(LIST);
        assert_eq!(packages.version("ceph-mon"), Some("16.2.15+ds-0+deb12u1"));
        for name in ["ceph-osd", "ceph-mgr", "gone", "half", "other"] {
            assert_eq!(packages.version(name), None, "{name}");
        }
        assert_eq!(packages.unfinished, ["ceph-osd", "ceph-mgr", "half"]);
        assert_eq!(packages.damaged, ["ceph-mgr"]);
    }

    #[test]
    fn notes_that_were_never_brought_in_show_an_interruption() {
        let root = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(root.path());
        assert_eq!(Packages::read(&disk).unwrap(), None);

        let dpkg = root.path().join("var/lib/dpkg");
        fs::create_dir_all(dpkg.join("updates")).unwrap();
        fs::write(dpkg.join("status"), LIST.split("\n\n").next().unwrap()).unwrap();
        fs::write(dpkg.join("updates/tmp.i"), "").unwrap();
        assert_eq!(Packages::read(&disk).unwrap().unwrap().unfinished, Vec::<String>::new());

        fs::write(dpkg.join("updates/0003"), "").unwrap();
        assert_eq!(Packages::read(&disk).unwrap().unwrap().unfinished, ["note 0003 of dpkg"]);
    }
}
