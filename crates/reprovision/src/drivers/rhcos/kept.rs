//! What the machine was like before: which deployment it had booted, and every file that the machine-config-daemon may touch.
//!
//! The daemon writes into `/etc` of the deployment that runs, which is the old one. So going back to that deployment is not
//! enough: its files have to be put back too. Kept are the files of the new and of the previous `MachineConfig`, all units, and
//! the daemon's own notes. Owners are not kept: what it writes for somebody else than root is named in the remarks.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use engine::StepError;
use host::{Change, Content, Disk, Host, HostError, Kind, create_dir_all, write_atomic};
use nodekit::cleanup::tree::remove;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    machine_config::MachineConfig,
    node,
    rpm_ostree::{DeploymentId, Status},
    stored::{Target, sha256},
};
use crate::{codes::NOTHING_KEPT, paths};

/// What the daemon writes for its one user.
const KEYS: [&str; 2] = ["/home/core/.ssh/authorized_keys.d/ignition", "/home/core/.ssh/authorized_keys"];
/// Where it keeps the names of network devices, in files of nmstate.
const NICS: &str = "/etc/systemd/network";
/// Our own units are not the daemon's.
const OURS: &str = "blackstart-reprovision";

/// What was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Kept {
    /// For which run.
    pub(super) run: String,
    /// What was booted.
    pub(super) deployment: DeploymentId,
    /// Sum of the previous currentconfig.
    pub(super) config: Option<String>,
    entries: Vec<Entry>,
    /// Units of the new config.
    units: Vec<String>,
    /// What cannot be put back.
    pub(super) remarks: Vec<String>,
}

/// A path as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    path: PathBuf,
    was: Was,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Was {
    Absent,
    Link(PathBuf),
    File { mode: u32, copy: String },
}

/// That the machine-config-daemon was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Started {
    pub(super) run: String,
    pub(super) boot_id: String,
}

/// What was put back, and what was removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Restored {
    pub(super) there: Vec<PathBuf>,
    pub(super) gone: Vec<PathBuf>,
}

fn note() -> PathBuf {
    paths::kept().join("before.json")
}

pub(super) fn started() -> PathBuf {
    paths::kept().join("mcd.json")
}

fn copies() -> PathBuf {
    paths::kept().join("files")
}

/// The `MachineConfig` that the node had.
fn previous() -> PathBuf {
    paths::kept().join("previous.json")
}

/// Reads what was kept, for whatever run.
pub(super) fn read(disk: &dyn Disk) -> Result<Option<Kept>, StepError> {
    parse(disk, &note())
}

/// Reads what was kept for this run, which must be there.
pub(super) fn of_run(disk: &dyn Disk, run: &str) -> Result<Kept, StepError> {
    let none = || StepError::new(NOTHING_KEPT, format!("{} is not of this run, or not there", note().display()));
    read(disk)?.filter(|kept| kept.run == run).ok_or_else(none)
}

/// Whether the daemon was started, and in which boot.
pub(super) fn read_started(disk: &dyn Disk) -> Result<Option<Started>, StepError> {
    parse(disk, &started())
}

/// Notes that the daemon is about to be started.
pub(super) fn start(disk: &dyn Disk, run: &str) -> Result<(), StepError> {
    let note = Started { run: run.to_owned(), boot_id: node::boot_id(disk)? };
    write(disk, &started(), &note)
}

/// The `MachineConfig` that the node had, if it had one.
pub(super) fn previous_config(disk: &dyn Disk) -> Result<Option<MachineConfig>, StepError> {
    let Some(bytes) = disk.read_optional(&previous())? else { return Ok(None) };
    let bad = |why| StepError::new(NOTHING_KEPT, format!("{}: {why}", previous().display()));
    MachineConfig::parse(&bytes).map(Some).map_err(bad)
}

fn parse<T: DeserializeOwned>(disk: &dyn Disk, path: &Path) -> Result<Option<T>, StepError> {
    let Some(bytes) = disk.read_optional(path)? else { return Ok(None) };
    let bad = |error| StepError::new(NOTHING_KEPT, format!("cannot parse {}: {error}", path.display()));
    serde_json::from_slice(&bytes).map(Some).map_err(bad)
}

fn write(disk: &dyn Disk, path: &Path, note: &impl Serialize) -> Result<(), StepError> {
    let bad = |error| StepError::new(NOTHING_KEPT, format!("{} cannot be made: {error}", path.display()));
    let text = serde_json::to_vec_pretty(note).map_err(bad)?;
    Ok(write_atomic(disk, path, &text, 0o600)?)
}

/// Keeps the machine as it is. The note comes last: without it nothing counts, and all of it is done again.
pub(super) async fn keep(host: &Host, run: &str, target: &Target) -> Result<(), StepError> {
    let disk = &*host.disk;
    let deployment = Status::read(host).await?.booted()?.id.clone();
    remove(disk, &paths::kept())?;
    create_dir_all(disk, Path::new(paths::STATE_DIR), 0o700)?;
    for dir in [paths::kept(), copies()] {
        create_dir_all(disk, &dir, 0o700)?;
    }
    let old = node::previous(disk)?;
    if let Some(old) = &old {
        write_atomic(disk, &previous(), old.raw().to_string().as_bytes(), 0o600)?;
    }
    let mut entries = Vec::new();
    for path in touched(disk, &target.config, old.as_ref())? {
        if let Some(was) = look(disk, &path, entries.len())? {
            entries.push(Entry { path, was });
        }
    }
    let config = disk.read_optional(Path::new(node::CURRENT))?.map(|bytes| sha256(&bytes));
    let units = target.config.unit_names().map(str::to_owned).collect();
    let remarks = remarks(&target.config, old.as_ref());
    write(disk, &note(), &Kept { run: run.to_owned(), deployment, config, entries, units, remarks })
}

/// Every path that may change.
fn touched(disk: &dyn Disk, new: &MachineConfig, old: Option<&MachineConfig>) -> Result<BTreeSet<PathBuf>, HostError> {
    let mut paths: BTreeSet<PathBuf> = KEYS.iter().map(PathBuf::from).collect();
    for config in [Some(new), old].into_iter().flatten() {
        paths.extend(config.paths().filter(|path| path.starts_with('/')).map(PathBuf::from));
        paths.extend(node::unit_files(config));
    }
    for dir in [node::UNITS, node::MCD, NICS] {
        paths.extend(node::tree(disk, Path::new(dir))?);
    }
    paths.retain(|path| !is_ours(path));
    Ok(paths)
}

fn is_ours(path: &Path) -> bool {
    path.starts_with(paths::STATE_DIR)
        || path.components().any(|part| part.as_os_str().to_string_lossy().starts_with(OURS))
}

fn look(disk: &dyn Disk, path: &Path, number: usize) -> Result<Option<Was>, HostError> {
    let Some(meta) = disk.meta(path)? else { return Ok(Some(Was::Absent)) };
    match meta.kind {
        Kind::File => {
            let copy = format!("{number:05}");
            write_atomic(disk, &copies().join(&copy), &disk.read(path)?, 0o600)?;
            Ok(Some(Was::File { mode: meta.mode, copy }))
        }
        Kind::Link => Ok(disk.read_link(path)?.map(Was::Link)),
        Kind::Directory | Kind::Other => Ok(None),
    }
}

fn remarks(new: &MachineConfig, old: Option<&MachineConfig>) -> Vec<String> {
    let mut remarks = Vec::new();
    let has_owner = |file: &&Value| ["user", "group"].iter().any(|field| file.get(field).is_some_and(|v| !v.is_null()));
    let owned = old.into_iter().flat_map(MachineConfig::files).filter(has_owner);
    let owned: Vec<&str> = owned.filter_map(|file| file.get("path")?.as_str()).collect();
    if !owned.is_empty() {
        remarks.push(format!("now of root, and were somebody else's: {}", owned.join(", ")));
    }
    let users = super::machine_config::list(&new.spec().config, "/passwd/users");
    if users.iter().any(|user| user.get("passwordHash").is_some_and(|hash| !hash.is_null())) {
        remarks.push("the password of core is the one of the new config".to_owned());
    }
    remarks
}

impl Kept {
    /// Puts everything back as it was, and removes what has come to it by the daemon.
    pub(super) fn restore(&self, disk: &dyn Disk) -> Result<Restored, StepError> {
        let mut restored = Restored::default();
        for Entry { path, was } in &self.entries {
            let change = match was {
                Was::Absent => Change::Remove { path: path.clone() },
                Was::Link(target) => Change::Link { path: path.clone(), target: target.clone() },
                Was::File { mode, copy } => {
                    let content = Content::Secret(disk.read(&copies().join(copy))?);
                    Change::File { path: path.clone(), mode: *mode, content }
                }
            };
            put(disk, &change, was)?;
            let list = if *was == Was::Absent { &mut restored.gone } else { &mut restored.there };
            list.push(path.clone());
        }
        let known: BTreeSet<&Path> = self.entries.iter().map(|entry| entry.path.as_path()).collect();
        for dir in [node::UNITS, node::MCD, NICS] {
            for path in node::tree(disk, Path::new(dir))? {
                let is_new = !known.contains(path.as_path()) && !is_ours(&path);
                let is_the_daemons = match dir {
                    node::UNITS => self.is_of_units(&path),
                    NICS => path.to_string_lossy().contains("nmstate"),
                    _ => true,
                };
                if is_new && is_the_daemons {
                    disk.remove_file(&path)?;
                    restored.gone.push(path);
                }
            }
        }
        Ok(restored)
    }

    /// A link by which a unit of the new config is started, or a drop-in of one.
    fn is_of_units(&self, path: &Path) -> bool {
        let mut parts = path.components().map(|part| part.as_os_str().to_string_lossy());
        parts.any(|part| self.units.iter().any(|unit| *part == **unit || part.strip_suffix(".d") == Some(unit)))
    }
}

/// Also where something of another kind has come in between.
fn put(disk: &dyn Disk, change: &Change, was: &Was) -> Result<(), HostError> {
    let wanted = match was {
        Was::Link(_) => Kind::Link,
        Was::Absent | Was::File { .. } => Kind::File,
    };
    let other = disk.meta(change.path())?.is_some_and(|meta| meta.kind != wanted && meta.kind != Kind::Directory);
    if other {
        disk.remove_file(change.path())?;
    }
    Change::missing(vec![change.clone()], disk)?.iter().try_for_each(|change| change.apply(disk))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::{
            samples::{OLD_OS, Sample},
            testing::Machine,
        },
        *,
    };

    const WANTS: &str = "/etc/systemd/system/multi-user.target.wants";

    #[tokio::test]
    async fn what_the_daemon_changes_is_put_back() {
        let machine = Machine::default();
        let old = Sample { name: "rendered-worker-old".into(), os: OLD_OS.into(), ..Sample::default() };
        machine.write(node::CURRENT, &old.full().to_string());
        machine.write("/etc/crio/crio.conf", "old\n");
        machine.write("/etc/systemd/system/kubelet.service", "old unit");
        machine.link("/etc/systemd/system/masked.service", "/dev/null");
        machine.write("/etc/systemd/system/blackstart-reprovision.service", "ours");
        let new = Sample {
            config: json!({"passwd": {"users": [{"name": "core", "passwordHash": "x"}]}}),
            ..Sample::default()
        };
        let target = Target::parse(&new.served()).unwrap();
        let (host, disk) = (machine.host(), machine.host().disk);
        keep(&host, "uid-1-1", &target).await.unwrap();
        let kept = of_run(&*disk, "uid-1-1").unwrap();
        assert_eq!(kept.deployment.checksum, "old");
        assert_eq!(kept.remarks, ["the password of core is the one of the new config"]);
        assert_eq!(previous_config(&*disk).unwrap().unwrap().name(), "rendered-worker-old");
        assert!(of_run(&*disk, "uid-1-2").is_err());

        machine.write(node::CURRENT, &new.full().to_string());
        machine.write("/etc/crio/crio.conf", "new\n");
        machine.write("/etc/kubernetes/kubeconfig", "a key");
        machine.write("/etc/systemd/network/98-nmstate-eth0.link", "x");
        machine.write("/etc/systemd/network/10-a-person's.link", "x");
        machine.write("/etc/machine-config-daemon/noorig/etc/x.mcdnoorig", "");
        machine.write("/etc/systemd/system/kubelet.service.d/99-new.conf", "x");
        machine.link(&format!("{WANTS}/kubelet.service"), "/etc/systemd/system/kubelet.service");
        machine.write(&format!("{WANTS}/a-person's.service"), "");
        fs_replace_link(&machine, "/etc/systemd/system/masked.service", "no link any more");
        for _ in 0..2 {
            let restored = kept.restore(&*disk).unwrap();
            assert!(restored.gone.contains(&"/etc/kubernetes/kubeconfig".into()));
            let config = machine.read(node::CURRENT).unwrap();
            assert!(config.contains("rendered-worker-old"));
            assert_eq!(machine.read("/etc/crio/crio.conf").unwrap(), "old\n");
            assert_eq!(
                disk.read_link(Path::new("/etc/systemd/system/masked.service")).unwrap(),
                Some("/dev/null".into())
            );
            let mut left = node::tree(&*disk, Path::new("/etc")).unwrap();
            left.retain(|path| !path.ends_with("currentconfig"));
            insta::assert_debug_snapshot!("left", left);
        }
    }

    fn fs_replace_link(machine: &Machine, path: &str, text: &str) {
        std::fs::remove_file(machine.path(path)).unwrap();
        machine.write(path, text);
    }

    #[test]
    fn owners_that_are_lost_are_named() {
        let owned = json!({"storage": {"files": [
            {"path": "/etc/a", "user": {"name": "core"}}, {"path": "/etc/b", "user": null}, {"path": "/etc/c", "group": {"id": 5}}
        ]}});
        let config = |config| MachineConfig::from_value(Sample { config, ..Sample::default() }.full()).unwrap();
        let (new, old) = (config(json!({})), config(owned));
        assert_eq!(remarks(&new, Some(&old)), ["now of root, and were somebody else's: /etc/a, /etc/c"]);
        assert_eq!(remarks(&new, None), [""; 0]);
    }
}
