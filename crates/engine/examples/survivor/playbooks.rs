//! The playbooks of the survivor: a machine with everything a step can do, and two that take their time.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use engine::{About, Act, FilesOnly, Planned, Playbook, PlaybookError, Step, StepError, StepId, Undo, Undos, Verdict};
use host::{Change, Content, Host, codes};

/// The playbook of that name.
pub(crate) fn named(name: &str, root: &Path) -> Result<Playbook, PlaybookError> {
    match name {
        "many" => many(),
        "held" => held(),
        _ => machine(root),
    }
}

/// How the playbook of that name is undone.
pub(crate) fn undos(name: &'static str, root: &Path) -> Undos {
    let journal = || Journal(root.with_extension("effects"));
    Undos::new(name).step(StepId::new("enable"), journal()).step(StepId::new("start"), journal())
}

fn ids(names: &[&'static str]) -> Vec<StepId> {
    names.iter().copied().map(StepId::new).collect()
}

/// Directories, files of all kinds, a mode, a removal, effects outside the disk, a wait; two branches and a join.
fn machine(root: &Path) -> Result<Playbook, PlaybookError> {
    let effects = root.with_extension("effects");
    let undos = undos("machine", root);
    Playbook::undone_by(&undos)
        .step(Files::new("directories", [dir("/etc/app", 0o755), dir("/etc/app/keys", 0o700)]), &[])
        .step(Files::new("identity", [plain("/etc/app/identity", 0o644)]), &ids(&["directories"]))
        .step(Files::new("settings", [plain("/etc/app.conf", 0o644)]), &[])
        .step(Files::new("keys", ["ca", "server", "client"].map(key)), &ids(&["directories"]))
        .step(Files::new("certificates", ["ca", "server", "client"].map(certificate)), &ids(&["keys"]))
        .step(Files::new("clean-up", [Change::Remove { path: "/etc/legacy.conf".into() }]), &ids(&["settings"]))
        .step(Files::new("data", [dir("/srv/data", 0o750)]), &[])
        .step(Files::new("programs", [copy("/opt/v2/bin/app"), link("/opt/current", "v2")]), &ids(&["data"]))
        .step(Files::new("units", ["one", "two"].map(unit)), &ids(&["identity", "settings"]))
        .step(Effect::new("enable", 0, &effects), &ids(&["units"]))
        .step(Effect::new("start", 4, &effects), &ids(&["enable", "certificates"]))
        .step(Files::new("policy", [plain("/etc/policy/deep/down/rules", 0o600)]), &ids(&["data"]))
        .step(Files::new("motd", [plain("/etc/motd", 0o644), plain("/etc/issue", 0o644)]), &ids(&["policy"]))
        .step(
            Files::new("ready", [plain("/var/lib/app/ready", 0o644)]),
            &ids(&["start", "motd", "clean-up", "programs"]),
        )
        .build()
}

/// One step with many changes, slow enough to be stopped between two of them.
fn many() -> Result<Playbook, PlaybookError> {
    let wanted = (0..40).map(|number| plain(&format!("/etc/many/{number:02}"), 0o644));
    let slow = Files { pause: Duration::from_millis(5), ..Files::new("many", wanted) };
    let last = Files::new("last", [plain("/etc/last", 0o644)]);
    Playbook::never_undone("many").step(slow, &[]).step(last, &ids(&["many"])).build()
}

/// One step that waits until `/go` is there.
fn held() -> Result<Playbook, PlaybookError> {
    let waiting = Files { until: Some("/go".into()), ..Files::new("held", [plain("/etc/held", 0o644)]) };
    Playbook::never_undone("held").step(waiting, &[]).build()
}

fn dir(path: &str, mode: u32) -> Change {
    Change::Directory { path: path.into(), mode }
}

fn plain(path: &str, mode: u32) -> Change {
    Change::File { path: path.into(), mode, content: Content::Plain(format!("this is {path}\n").into_bytes()) }
}

fn copy(path: &str) -> Change {
    Change::Copy { path: path.into(), mode: 0o755, from: concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into() }
}

fn link(path: &str, target: &str) -> Change {
    Change::Link { path: path.into(), target: target.into() }
}

fn key(name: &str) -> Change {
    let path = PathBuf::from(format!("/etc/app/keys/{name}.key"));
    Change::File { path, mode: 0o600, content: Content::Secret(format!("secret of {name}\n").into_bytes()) }
}

fn certificate(name: &str) -> Change {
    plain(&format!("/etc/app/{name}.crt"), 0o644)
}

fn unit(name: &str) -> Change {
    plain(&format!("/etc/units/{name}.service"), 0o644)
}

/// Files and directories, with a pause before each change or something to wait for at the end.
struct Files {
    about: About,
    wanted: Vec<Change>,
    pause: Duration,
    until: Option<PathBuf>,
}

impl Files {
    fn new(id: &'static str, wanted: impl IntoIterator<Item = Change>) -> Self {
        let about = About::new(StepId::new(id), id, "to be killed");
        Self { about, wanted: wanted.into_iter().collect(), pause: Duration::ZERO, until: None }
    }
}

struct FilesSeen {
    missing: Vec<Change>,
    waiting_for: Option<PathBuf>,
}

impl Step for Files {
    type Seen = FilesSeen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<FilesSeen, StepError> {
        let missing = Change::missing(self.wanted.clone(), &*host.disk)?;
        let waiting_for = match &self.until {
            Some(path) if !host.disk.exists(path)? => Some(path.clone()),
            _ => None,
        };
        Ok(FilesSeen { missing, waiting_for })
    }

    fn plan(&self, seen: &FilesSeen) -> Result<Vec<Change>, StepError> {
        Ok(seen.missing.clone())
    }

    fn verify(&self, seen: &FilesSeen) -> Verdict {
        match &seen.waiting_for {
            Some(path) => Verdict::Waiting { what: path.display().to_string(), progress: String::new() },
            None => Verdict::Met,
        }
    }

    async fn apply(&self, planned: &Planned, host: &Host) -> Result<(), StepError> {
        tokio::time::sleep(self.pause).await;
        match planned {
            Planned::File(change) => Ok(change.apply(&*host.disk)?),
            _ => Ok(()),
        }
    }
}

/// Something outside the disk: a line in a journal that only grows, so that every application can be counted.
struct Effect {
    about: About,
    key: &'static str,
    /// How many checks it takes until the effect is believed.
    waits: u32,
    checks: AtomicU32,
    journal: Journal,
}

struct EffectSeen {
    applied: bool,
    checks: u32,
}

impl Effect {
    fn new(key: &'static str, waits: u32, journal: &Path) -> Self {
        let about = About::new(StepId::new(key), key, "to be counted");
        Self { about, key, waits, checks: AtomicU32::new(0), journal: Journal(journal.to_path_buf()) }
    }
}

/// Where effects are noted.
struct Journal(PathBuf);

impl Journal {
    /// The last line on this effect says whether it is in force.
    fn is_applied(&self, effect: &str) -> Result<bool, StepError> {
        let text = match fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other.map_err(|error| StepError::new(codes::READ, error.to_string()))?,
        };
        let last = text.lines().filter_map(|line| line.split_once(' ')).rfind(|(_, key)| *key == effect);
        Ok(last.is_some_and(|(verb, _)| verb == "apply"))
    }

    fn append(&self, verb: &str, effect: &str) -> Result<(), StepError> {
        let open = OpenOptions::new().append(true).create(true).open(&self.0);
        open.and_then(|mut file| file.write_all(format!("{verb} {effect}\n").as_bytes()))
            .map_err(|error| StepError::new(codes::WRITE, error.to_string()))
    }
}

impl Step for Effect {
    type Seen = EffectSeen;
    type Undo = Journal;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<EffectSeen, StepError> {
        // An operation on the disk, so that there is a point to be killed at between effect and verification.
        host.disk.exists(Path::new("/etc/units"))?;
        let checks = self.checks.fetch_add(1, Ordering::Relaxed);
        Ok(EffectSeen { applied: self.journal.is_applied(self.key)?, checks })
    }

    fn plan(&self, seen: &EffectSeen) -> Result<Vec<Planned>, StepError> {
        let act = Planned::act(self.key, format!("note {} in the journal", self.key));
        Ok(if seen.applied { Vec::new() } else { vec![act] })
    }

    fn verify(&self, seen: &EffectSeen) -> Verdict {
        if seen.checks < self.waits {
            Verdict::Waiting { what: format!("{} to converge", self.key), progress: seen.checks.to_string() }
        } else {
            Verdict::Met
        }
    }

    async fn act(&self, _act: &Act, _host: &Host) -> Result<(), StepError> {
        self.journal.append("apply", self.key)
    }
}

impl Undo for Journal {
    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        host.disk.exists(Path::new("/etc/units"))?;
        if self.is_applied(key)? { self.append("undo", key) } else { Ok(()) }
    }
}
