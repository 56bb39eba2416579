//! Ceph's programs, from the distribution.
//!
//! Only what the node's roles need is installed. Packages that are there stay, whatever their version: an upgrade of Ceph
//! has an order over all nodes and is no business of a node that starts.

use std::path::{Path, PathBuf};

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::{Change, Disk, Host, HostError, Kind};
use spec::{Ceph, Node, Role};

use super::ids;
use nodekit::apt;

/// Services that come with Ceph's packages, start by themselves and are of no use to a node that does not configure them:
/// one holds up every boot until the network is complete, the other fails where there is no such hardware. Each with the
/// file that shows whether it is configured.
const UNWANTED: &[(&str, &str)] =
    &[("rbdmap.service", "/etc/ceph/rbdmap"), ("nvmf-autoconnect.service", "/etc/nvme/discovery.conf")];

/// All packages of Ceph that any node needs.
pub const PACKAGES: &[&str] = &[COMMON, MON, MGR, DASHBOARD, OSD];

const COMMON: &str = "ceph-common";
const MON: &str = "ceph-mon";
const MGR: &str = "ceph-mgr";
const DASHBOARD: &str = "ceph-mgr-dashboard";
const OSD: &str = "ceph-osd";

const REPAIR: &str = "repair";
const INSTALL: &str = "install";

/// The packages of a node's roles are installed.
pub(crate) struct Packages {
    wanted: Vec<&'static str>,
}

/// What was found.
pub(crate) struct Seen {
    missing: Vec<&'static str>,
    unfinished: Vec<String>,
    masks: Vec<Change>,
}

/// The packages that a node's roles need.
fn packages(ceph: &Ceph, node: &Node) -> Vec<&'static str> {
    let mut names = vec![COMMON];
    names.extend(node.has(Role::CephMon).then_some(MON));
    if node.has(Role::CephMgr) {
        names.push(MGR);
        names.extend(ceph.dashboard.then_some(DASHBOARD));
    }
    names.extend(node.has(Role::CephOsd).then_some(OSD));
    names
}

/// Where a unit is masked.
pub fn unwanted_units() -> impl Iterator<Item = PathBuf> {
    UNWANTED.iter().map(|(unit, _)| mask(unit))
}

fn mask(unit: &str) -> PathBuf {
    Path::new("/etc/systemd/system").join(unit)
}

impl Packages {
    /// For a node with a role in Ceph.
    pub(crate) fn new(ceph: &Ceph, node: &Node) -> Self {
        Self { wanted: packages(ceph, node) }
    }
}

impl Step for Packages {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::PACKAGES, "Install Ceph", "monitors, managers and OSDs are the distribution's own programs")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let Some(packages) = apt::Packages::read(&*host.disk)? else {
            return Err(StepError::new(
                nodekit::codes::NO_APT,
                "this machine has no dpkg, so Ceph cannot be installed",
            ));
        };
        let missing: Vec<&str> = self.wanted.iter().copied().filter(|name| packages.version(name).is_none()).collect();
        let unfinished = if missing.is_empty() { Vec::new() } else { packages.unfinished };
        Ok(Seen { missing, unfinished, masks: masks(&*host.disk)? })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        // Masked before they are installed, they never start.
        let mut changes = Planned::files(&seen.masks);
        if !seen.unfinished.is_empty() {
            let what = format!("finish what an interrupted dpkg has left: {}", seen.unfinished.join(", "));
            changes.push(Planned::act(REPAIR, what));
        }
        if !seen.missing.is_empty() {
            let what = format!("install packages {}", seen.missing.join(", "));
            changes.push(Planned::act(INSTALL, what));
        }
        Ok(changes)
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        if key == REPAIR {
            return apt::repair(host).await;
        }
        apt::install(host, &self.wanted).await?;
        let packages = apt::Packages::read(&*host.disk)?.unwrap_or_default();
        if let Some(version) = packages.version(COMMON) {
            host.doing(format!("Ceph {version} is installed"));
        }
        Ok(())
    }
}

/// The links that keep unwanted services from starting. What an administrator has configured, or replaced by another unit,
/// is wanted.
fn masks(disk: &dyn Disk) -> Result<Vec<Change>, HostError> {
    let mut wanted = Vec::new();
    for (unit, configuration) in UNWANTED {
        let text = disk.read_optional(Path::new(configuration))?.unwrap_or_default();
        let is_own = disk.meta(&mask(unit))?.is_some_and(|meta| meta.kind != Kind::Link);
        if !is_own && !says_something(&String::from_utf8_lossy(&text)) {
            wanted.push(Change::Link { path: mask(unit), target: "/dev/null".into() });
        }
    }
    Change::missing(wanted, disk)
}

/// Whether a file has more than comments.
fn says_something(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use explain::Explain;
    use spec::ValidatedCluster;

    use super::*;

    fn cluster(settings: &str) -> ValidatedCluster {
        let text = format!(
            "cluster: {{name: a, ceph: {{{settings}}}}}\nnodes:\n\
             - {{name: all, ip: 10.0.0.1, roles: [master, ceph-mon, ceph-mgr, ceph-osd], ceph: {{osds: [{{device: /dev/b}}]}}}}\n\
             - {{name: mon, ip: 10.0.0.2, roles: [worker, ceph-mon]}}\n\
             - {{name: osd, ip: 10.0.0.3, roles: [worker, ceph-osd], ceph: {{osds: [{{device: /dev/b}}]}}}}\n"
        )
        .replace("name: a,", "name: a, networking: {gateway: none},");
        let checked = spec::check_text(&text);
        checked.cluster.unwrap_or_else(|| panic!("{:?}", checked.problems))
    }

    #[test]
    fn a_node_gets_what_its_roles_need() {
        for (settings, node, expected) in [
            ("", "all", PACKAGES),
            ("dashboard: false", "all", &["ceph-common", "ceph-mon", "ceph-mgr", "ceph-osd"]),
            ("", "mon", &["ceph-common", "ceph-mon"]),
            ("", "osd", &["ceph-common", "ceph-osd"]),
        ] {
            let cluster = cluster(settings);
            assert_eq!(packages(cluster.ceph().unwrap(), cluster.node(node).unwrap()), expected, "{node} {settings}");
        }
    }

    /// A machine whose dpkg status is this, with a file of its own.
    async fn planned(status: Option<&str>, file: Option<(&str, &str)>) -> Result<Vec<String>, StepError> {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        if let Some(text) = status {
            write("var/lib/dpkg/status", text);
        }
        if let Some((path, text)) = file {
            write(path, text);
        }
        let host = Host { is_live: true, ..Host::rooted(root.path()) };
        let cluster = cluster("");
        let step = Packages::new(cluster.ceph().unwrap(), cluster.node("mon").unwrap());
        let seen = step.observe(&host).await?;
        Ok(step.plan(&seen)?.iter().map(ToString::to_string).collect())
    }

    #[tokio::test]
    async fn what_is_done_depends_on_what_is_there() {
        const COMMON: &str = "Package: ceph-common\nStatus: install ok installed\nVersion: 16\n\n";
        const MON: &str = "Package: ceph-mon\nStatus: install ok installed\nVersion: 16\n\n";
        const HALF: &str = "Package: ceph-mon\nStatus: install ok half-configured\nVersion: 16\n\n";
        const OTHER: &str = "Package: vim\nStatus: install ok half-configured\nVersion: 9\n\n";
        let mut reported = String::new();
        for (case, status, file) in [
            ("an empty machine", String::new(), None),
            ("one package", COMMON.to_owned(), None),
            ("an interrupted installation", format!("{COMMON}{HALF}"), None),
            ("all there, and something else unfinished", format!("{COMMON}{MON}{OTHER}"), None),
            (
                "devices that are mapped",
                format!("{COMMON}{MON}"),
                Some(("etc/ceph/rbdmap", "# names\npool/image id=x\n")),
            ),
            (
                "a unit of the user's own",
                format!("{COMMON}{MON}"),
                Some(("etc/systemd/system/rbdmap.service", "[Unit]\n")),
            ),
        ] {
            reported += &format!("{case}:\n  {}\n", planned(Some(&status), file).await.unwrap().join("\n  "));
        }
        insta::assert_snapshot!(reported);
        assert_eq!(planned(None, None).await.unwrap_err().code(), nodekit::codes::NO_APT);
    }
}
