//! The payload on the node: fetched once, kept as it came, unpacked.
//!
//! ```text
//! payload/            0700
//!   raw               what the bootstrap API sent
//!   payload.json      for which run, its sum, what it is: written once `raw` is whole, and from then on nothing is fetched
//!   files/            what it unpacks to; a script alone is `bootstrap.sh` in it. Complete, or not there
//!     bootstrap.sh    is run twice, with BOOTSTRAP_STAGE=1 and, after the reboot, 2; or else
//!     playbook.yml    by ansible-playbook, in the same way
//!     files           optional: the files that it changes, an absolute path a line; kept for the way back
//!     version         optional: what it makes of the node, for people
//!     no-reboot       optional: there is no reboot between the stages; a script may create it in stage 1
//! ```

use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
};

use engine::StepError;
use host::{Disk, Host, Kind, create_dir_all, write_atomic};
use jiff::Timestamp;
use nodekit::cleanup::tree;
use serde::{Deserialize, Serialize};

use super::{api, record, unpack::unpack};
use crate::{Run, codes, paths};

/// The most files that a payload may declare.
const DECLARED: usize = 1_000;
/// Where no file is that could be put back.
const NOT_FILES: [&str; 4] = ["/dev", "/proc", "/run", "/sys"];

/// What is known of the payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Payload {
    /// For which run it was fetched.
    pub(super) run: String,
    /// Of `raw`, in hex.
    pub(super) sha256: String,
    /// What `raw` is.
    pub(super) kind: Form,
    /// When it was fetched, by this node's clock.
    pub(super) fetched: Timestamp,
    /// And by the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) server_time: Option<Timestamp>,
}

/// What a payload is, decided by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    /// A bash script.
    Script,
    /// An archive.
    Tar,
    /// The same, packed.
    TarGz,
}

impl Form {
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Self::TarGz),
            [b'#', b'!', ..] => Some(Self::Script),
            _ => (bytes.get(257..262) == Some(b"ustar".as_slice())).then_some(Self::Tar),
        }
    }
}

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// `bootstrap.sh`.
    Script,
    /// `playbook.yml`.
    Playbook,
}

impl Entry {
    /// Its file.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Script => "bootstrap.sh",
            Self::Playbook => "playbook.yml",
        }
    }

    /// How it is run, in the directory where it is.
    pub(super) fn command(self) -> Vec<&'static str> {
        match self {
            Self::Script => vec!["/bin/bash", "bootstrap.sh"],
            Self::Playbook => vec!["ansible-playbook", "-i", "localhost,", "-c", "local", "playbook.yml"],
        }
    }
}

/// Where what was unpacked is.
pub(super) fn files() -> PathBuf {
    paths::payload().join("files")
}

fn raw() -> PathBuf {
    paths::payload().join("raw")
}

fn note() -> PathBuf {
    paths::payload().join("payload.json")
}

/// Fetches and unpacks the payload of a run; what of it is done already is left as it is.
pub(super) async fn fetch(run: &Run, host: &Host) -> Result<(), StepError> {
    let disk = &*host.disk;
    let known = record::read::<Payload>(disk, &note())?.filter(|payload| payload.run == run.order.run);
    if known.is_none() {
        host.doing("fetching the payload from the bootstrap API");
        let fetched = api::payload(&run.secret).await?;
        keep(run, host, fetched)?;
    }
    unpacked(run, disk)
}

/// Keeps what was fetched, in place of what another run has left.
fn keep(run: &Run, host: &Host, fetched: api::Fetched) -> Result<(), StepError> {
    let disk = &*host.disk;
    let unknown = || {
        let message = "the payload is no tar archive, no gzip and no script: it does not begin like one of them";
        StepError::new(codes::PAYLOAD_UNKNOWN, message)
    };
    let kind = Form::of(&fetched.bytes).ok_or_else(unknown)?;
    tree::remove(disk, &paths::payload())?;
    create_dir_all(disk, Path::new(paths::STATE_DIR), 0o700)?;
    create_dir_all(disk, &paths::payload(), 0o700)?;
    write_atomic(disk, &raw(), &fetched.bytes, 0o600)?;
    let payload = Payload {
        run: run.order.run.clone(),
        sha256: fetched.sha256,
        kind,
        fetched: host.clock.now(),
        server_time: fetched.server_time,
    };
    record::write(disk, &note(), &payload)
}

/// Unpacks what is kept, unless that is done.
fn unpacked(run: &Run, disk: &dyn Disk) -> Result<(), StepError> {
    if disk.exists(&files())? {
        return Ok(());
    }
    let (payload, bytes) = whole(run, disk)?;
    let fresh = paths::payload().join("files.new");
    tree::remove(disk, &fresh)?;
    match payload.kind {
        Form::Script => {
            create_dir_all(disk, &fresh, 0o700)?;
            write_atomic(disk, &fresh.join(Entry::Script.name()), &bytes, 0o700)?;
        }
        Form::Tar | Form::TarGz => unpack(&bytes, payload.kind == Form::TarGz, disk, &fresh)?,
    }
    disk.rename(&fresh, &files())?;
    Ok(disk.sync_dir(&paths::payload())?)
}

/// What is known of the run's payload.
pub(super) fn of(run: &Run, disk: &dyn Disk) -> Result<Payload, StepError> {
    let lost = |why: &str| StepError::new(codes::PAYLOAD_LOST, format!("{} {why}", paths::payload().display()));
    let payload = record::read::<Payload>(disk, &note())?.ok_or_else(|| lost("has no payload that was fetched"))?;
    if payload.run == run.order.run { Ok(payload) } else { Err(lost("has the payload of another run")) }
}

/// The same with its bytes, if they are those that came.
pub(super) fn whole(run: &Run, disk: &dyn Disk) -> Result<(Payload, Vec<u8>), StepError> {
    let payload = of(run, disk)?;
    let bytes = disk.read(&raw())?;
    let sum = api::sum(&bytes);
    if sum == payload.sha256 {
        return Ok((payload, bytes));
    }
    let message = format!("{} has the SHA-256 {sum}, and what was fetched had {}", raw().display(), payload.sha256);
    Err(StepError::new(codes::PAYLOAD_LOST, message))
}

/// What of it is run.
pub(super) fn entry(disk: &dyn Disk) -> Result<Entry, StepError> {
    for entry in [Entry::Script, Entry::Playbook] {
        if disk.meta(&files().join(entry.name()))?.is_some_and(|meta| matches!(meta.kind, Kind::File | Kind::Link)) {
            return Ok(entry);
        }
    }
    let names = if disk.exists(&files())? { disk.list(&files())? } else { Vec::new() };
    let shown: Vec<&str> = names.iter().take(8).map(String::as_str).collect();
    let has = if shown.is_empty() { "nothing".to_owned() } else { explain::plain(&shown.join(", ")).into_owned() };
    let message = format!("the payload has neither `bootstrap.sh` nor `playbook.yml` at its top: it has {has}");
    Err(StepError::new(codes::PAYLOAD_UNKNOWN, message))
}

/// What it says that it makes of the node, for people.
pub(super) fn version(disk: &dyn Disk) -> Result<Option<String>, StepError> {
    let Some(bytes) = disk.read_optional(&files().join("version"))? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next().unwrap_or_default().trim();
    let shown: String = explain::plain(line).trim().chars().take(64).collect();
    Ok(Some(shown).filter(|line| !line.is_empty()))
}

/// Whether it asks for no reboot between the stages.
pub(super) fn says_no_reboot(disk: &dyn Disk) -> Result<bool, StepError> {
    Ok(disk.exists(&files().join("no-reboot"))?)
}

/// The files that it says it changes.
pub(super) fn declared(disk: &dyn Disk) -> Result<BTreeSet<PathBuf>, StepError> {
    let text = disk.read_optional(&files().join("files"))?.unwrap_or_default();
    parse(&String::from_utf8_lossy(&text))
}

fn parse(list: &str) -> Result<BTreeSet<PathBuf>, StepError> {
    let refused = |what: &str| StepError::new(codes::FILES_LIST, format!("the payload's list `files` {what}"));
    let mut declared = BTreeSet::new();
    for line in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let path = Path::new(line);
        let is_plain = path.components().skip(1).all(|part| matches!(part, Component::Normal(_)));
        let is_out = path.parent().is_none()
            || path.starts_with(paths::STATE_DIR)
            || NOT_FILES.iter().any(|dir| path.starts_with(dir));
        if !path.is_absolute() || !is_plain || is_out || line.ends_with('/') {
            return Err(refused(&format!("has `{}`", explain::plain(line))));
        }
        declared.insert(path.to_path_buf());
        if declared.len() > DECLARED {
            return Err(refused(&format!("has more than {DECLARED} lines")));
        }
    }
    Ok(declared)
}

/// Removes the file with the token, if there is one.
pub(super) fn forget_token(disk: &dyn Disk) -> Result<(), StepError> {
    Ok(host::remove_file(disk, &token())?)
}

/// Where the token is while a stage runs: in memory only, so that nothing of it is left by a power loss.
pub(super) fn token() -> PathBuf {
    Path::new("/run/blackstart-reprovision").join("bootstrap-token")
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            testing::{Machine, failed, run},
            unpack::tests::{archive, packed},
        },
        *,
    };

    const DIR: &str = "/var/lib/blackstart-reprovision/payload";

    fn fetched(bytes: &[u8]) -> api::Fetched {
        api::Fetched { bytes: bytes.to_vec(), sha256: api::sum(bytes), server_time: None }
    }

    #[tokio::test]
    async fn what_came_is_kept_and_never_fetched_again() {
        let plain = archive(&[(tar::EntryType::Regular, "bootstrap.sh", "#!/bin/bash\n")]);
        for (bytes, kind) in
            [(plain.clone(), Form::Tar), (packed(&plain), Form::TarGz), (b"#!/bin/bash\n".to_vec(), Form::Script)]
        {
            let machine = Machine::default();
            machine.write(&format!("{DIR}/files/of-another-run"), "");
            let (run, host) = (run("a"), machine.host());
            keep(&run, &host, fetched(&bytes)).unwrap();
            // Power is lost in the middle of it: what is half there is not used.
            machine.write(&format!("{DIR}/files.new/half"), "");
            // The server cannot be reached: had it been asked, this would fail.
            fetch(&run, &host).await.unwrap();
            fetch(&run, &host).await.unwrap();
            assert_eq!(whole(&run, &*host.disk).unwrap().0.kind, kind);
            assert_eq!(machine.read(&format!("{DIR}/files/bootstrap.sh")).unwrap(), "#!/bin/bash\n");
            assert_eq!(host.disk.list(&files()).unwrap(), ["bootstrap.sh"]);
            assert_eq!(entry(&*host.disk).unwrap(), Entry::Script);
        }
        let error = keep(&run("a"), &Machine::default().host(), fetched(b"<html>")).unwrap_err();
        assert!(failed(&error).starts_with("BS-IPB-067"), "{error}");
    }

    #[test]
    fn what_is_not_there_or_was_changed_is_lost() {
        let machine = Machine::default();
        let disk = &*machine.host().disk;
        let mut reported = String::new();
        let mut refuse = |run: &Run| reported += &format!("{}\n", failed(&whole(run, disk).unwrap_err()));
        refuse(&run("a"));
        keep(&run("a"), &machine.host(), fetched(b"#!/bin/bash\n")).unwrap();
        refuse(&run("b"));
        machine.write(&format!("{DIR}/raw"), "#!/bin/sh\n");
        refuse(&run("a"));
        insta::assert_snapshot!(reported);
    }

    #[test]
    fn what_is_at_its_top_says_what_is_done() {
        let machine = Machine::default();
        let disk = &*machine.host().disk;
        assert!(failed(&entry(disk).unwrap_err()).ends_with("it has nothing"));
        machine.write(&format!("{DIR}/files/site/bootstrap.sh"), "");
        assert!(failed(&entry(disk).unwrap_err()).ends_with("it has site"));
        machine.write(&format!("{DIR}/files/playbook.yml"), "");
        assert_eq!(entry(disk).unwrap(), Entry::Playbook);
        machine.write(&format!("{DIR}/files/bootstrap.sh"), "");
        assert_eq!(entry(disk).unwrap(), Entry::Script);
        assert_eq!((version(disk).unwrap(), says_no_reboot(disk).unwrap()), (None, false));
        machine.write(&format!("{DIR}/files/version"), " 4.17.3\u{7} \nmore\n");
        machine.write(&format!("{DIR}/files/no-reboot"), "");
        assert_eq!((version(disk).unwrap().as_deref(), says_no_reboot(disk).unwrap()), (Some("4.17.3"), true));
    }

    #[test]
    fn only_files_can_be_declared() {
        let list = "# of stage 1\n/etc/sysctl.d/90-cis.conf\n\n /etc/ssh/sshd_config \n/etc/ssh/sshd_config\n";
        assert_eq!(parse(list).unwrap().len(), 2);
        let many: String = (0..=DECLARED).map(|number| format!("/etc/{number}\n")).collect();
        for bad in [
            "etc/x",
            "/",
            "/etc/",
            "/etc/../x",
            "/proc/sys/x",
            "/dev/sda",
            "/var/lib/blackstart-reprovision/secret.json",
            &many,
        ] {
            assert!(failed(&parse(bad).unwrap_err()).starts_with("BS-IPB-077"), "{bad}");
        }
    }
}
