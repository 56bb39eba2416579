//! What only the previous `MachineConfig` had is gone.
//!
//! The machine-config-daemon was started as at a first boot, from an empty config, so it removes nothing. Here it is done as it
//! does between two configs: what the system itself has at a path comes back, anything else goes; certificates stay. Files that
//! were in no `MachineConfig` are never touched. The ledger has every file that is removed. What has read one of them earlier in this boot
//! has seen it: that is over with the next one.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::{Change, Cmd, Content, Disk, Host, HostError, Kind, remove_file};

use super::super::{
    ids::STALE_FILES,
    kept,
    machine_config::MachineConfig,
    node::{UNITS, unit_files},
    stored::Target,
};
use crate::Run;

/// They have a life of their own, in whatever config they came first.
const CERTIFICATES: [&str; 4] = [
    "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt",
    "/etc/kubernetes/kubelet-ca.crt",
    "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem",
    "/etc/docker/certs.d",
];
const PRESET: &str = "preset ";

/// It is. Links by which stale units were started come back with the files of the way back.
pub(in super::super) struct StaleFiles {
    pub(in super::super) run: Run,
}

/// What is still there of the previous config.
#[derive(Default)]
pub(in super::super) struct Seen {
    files: Vec<Change>,
    /// Units that are gone from the config, and are still started or masked by links.
    units: Vec<String>,
}

impl Step for StaleFiles {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(
            STALE_FILES,
            "Remove what only the previous MachineConfig had",
            "the machine-config-daemon starts from an empty config, and removes nothing",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let disk = &*host.disk;
        let Some(old) = kept::previous_config(disk)? else { return Ok(Seen::default()) };
        let new = Target::read(disk, &self.run)?.config;
        let mut seen = Seen { files: Vec::new(), units: stale_units(disk, &old, &new)? };
        for path in stale(&old, &new) {
            seen.files.extend(change(disk, path)?);
        }
        Ok(seen)
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        // A unit is disabled by what its file says, so that goes first.
        let units = seen.units.iter().map(|unit| {
            Planned::act(format!("{PRESET}{unit}"), format!("start {unit} only where the system itself wants it"))
        });
        Ok(units.chain(Planned::files(&seen.files)).collect())
    }

    async fn act(&self, act: &Act, host: &Host) -> Result<(), StepError> {
        let Some(unit) = act.key.strip_prefix(PRESET) else { return Ok(()) };
        // Not by systemctl: it knows nothing of a unit that has no file.
        for link in links(&*host.disk, unit)? {
            remove_file(&*host.disk, &link)?;
        }
        if host.disk.exists(&Path::new("/usr/lib/systemd/system").join(unit))? {
            host.commands.run(&Cmd::new("systemctl").args(["preset", unit])).await?;
        }
        Ok(())
    }
}

/// The paths that only the old one has.
fn stale(old: &MachineConfig, new: &MachineConfig) -> Vec<PathBuf> {
    let paths = |config: &MachineConfig| -> BTreeSet<PathBuf> {
        let files = config.paths().filter(|path| path.starts_with('/')).map(PathBuf::from);
        files.chain(unit_files(config)).collect()
    };
    let is_certificate = |path: &Path| CERTIFICATES.iter().any(|certificate| path.starts_with(certificate));
    paths(old).difference(&paths(new)).filter(|path| !is_certificate(path)).cloned().collect()
}

/// What to do with one of them: what the system has there, or nothing; none where that is so already.
fn change(disk: &dyn Disk, path: PathBuf) -> Result<Option<Change>, HostError> {
    // Something else than a file was put there by somebody else.
    if disk.meta(&path)?.is_none_or(|meta| meta.kind != Kind::File) {
        return Ok(None);
    }
    let default = path.strip_prefix("/etc").ok().map(|rest| Path::new("/usr/etc").join(rest));
    let default = match default {
        Some(file) => disk.meta(&file)?.filter(|meta| meta.kind == Kind::File).map(|meta| (file, meta.mode)),
        None => None,
    };
    let wanted = match default {
        Some((file, mode)) => Change::File { path, mode, content: Content::Plain(disk.read(&file)?) },
        None => Change::Remove { path },
    };
    Ok(Change::missing(vec![wanted], disk)?.pop())
}

/// Units that only the old one has, and that are still started by a link, or masked by one.
fn stale_units(disk: &dyn Disk, old: &MachineConfig, new: &MachineConfig) -> Result<Vec<String>, HostError> {
    let kept: BTreeSet<&str> = new.unit_names().collect();
    let mut found = Vec::new();
    for unit in old.unit_names().filter(|unit| !kept.contains(unit) && !unit.contains('/')) {
        if !links(disk, unit)?.is_empty() {
            found.push(unit.to_owned());
        }
    }
    Ok(found)
}

/// What starts or masks a unit whose file is where only the daemon writes: links in `TARGET.wants` and `TARGET.requires`, and
/// one to nothing in its own place.
fn links(disk: &dyn Disk, unit: &str) -> Result<Vec<PathBuf>, HostError> {
    let dir = Path::new(UNITS);
    let mut found = Vec::new();
    if !disk.exists(dir)? {
        return Ok(found);
    }
    for name in disk.list(dir)?.iter().filter(|name| is_list(name)) {
        let link = dir.join(name).join(unit);
        if disk.read_link(&link)?.is_some_and(|target| target.starts_with(dir)) {
            found.push(link);
        }
    }
    let mask = dir.join(unit);
    if disk.read_link(&mask)?.is_some_and(|target| target == Path::new("/dev/null")) {
        found.push(mask);
    }
    Ok(found)
}

fn is_list(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "wants" || end == "requires")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::super::{node, samples::Sample, testing::Machine},
        *,
    };

    #[tokio::test]
    async fn only_what_the_old_config_had_goes() {
        let machine = Machine::default();
        let files = [
            "/etc/only-old",
            "/etc/gone-already",
            "/etc/chrony.conf",
            "/etc/docker/certs.d/r/ca.crt",
            "/etc/crio/crio.conf",
            "/usr/local/bin/tool",
            "/etc/a-directory",
        ];
        let mut old = Sample {
            name: "rendered-worker-old".into(),
            files: files.map(|path| (path.to_owned(), "old".to_owned())).to_vec(),
            ..Sample::default()
        }
        .full();
        old["spec"]["config"]["systemd"]["units"].as_array_mut().unwrap().extend([
            json!({"name": "old.service", "enabled": true, "contents": "[Unit]\n", "dropins": [{"name": "x.conf", "contents": "x"}]}),
            json!({"name": "masked.service", "mask": true}),
            json!({"name": "never.service", "enabled": false}),
        ]);
        machine.write(node::CURRENT, &old.to_string());
        machine.fetched(&Sample::default().served());
        machine.apply(&super::super::KeptFiles { run: machine.run() }).await;
        for path in [
            "/etc/only-old",
            "/etc/chrony.conf",
            "/etc/docker/certs.d/r/ca.crt",
            "/usr/local/bin/tool",
            "/etc/a-person's",
            "/etc/a-directory/x",
            "/etc/systemd/system/old.service",
            "/etc/systemd/system/old.service.d/x.conf",
            "/usr/etc/chrony.conf",
            "/usr/lib/systemd/system/masked.service",
            "/etc/systemd/system/kubelet.service",
        ] {
            machine.write(path, path);
        }
        machine.link("/etc/systemd/system/masked.service", "/dev/null");
        machine.link("/etc/systemd/system/multi-user.target.wants/old.service", "/etc/systemd/system/old.service");
        let step = StaleFiles { run: machine.run() };
        let before = machine.planned(&step).await;
        machine.asked();
        machine.apply(&step).await;
        insta::assert_snapshot!(format!(
            "{before}then:\n{}\nleft:\n{}",
            machine.asked().join("\n"),
            machine.planned(&step).await
        ));
        assert!(machine.read("/etc/only-old").is_none());
        assert_eq!(machine.read("/etc/chrony.conf").unwrap(), "/usr/etc/chrony.conf");
        assert!(machine.read("/etc/a-person's").is_some() && machine.read("/etc/docker/certs.d/r/ca.crt").is_some());
    }

    #[tokio::test]
    async fn a_node_without_a_previous_config_has_nothing_stale() {
        let machine = Machine::default();
        machine.fetched(&Sample::default().served());
        machine.apply(&super::super::KeptFiles { run: machine.run() }).await;
        assert_eq!(machine.planned(&StaleFiles { run: machine.run() }).await, "  nothing\n");
    }
}
