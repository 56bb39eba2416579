//! Durable changes against a disk that keeps only what it promised: the power goes at every operation, and everything
//! that may be found afterwards is looked at. Then the same again after a kill at every operation, because a killed
//! process leaves changes that are seen but not yet durable.

#![expect(clippy::unwrap_used, reason = "a failing unwrap in a test is the failure we want to see")]

use std::path::Path;

use host::{
    Disk, HostError, Kind, Meta, create_dir_all, disk::model::ModelDisk, remove_dir_if_empty, remove_file,
    set_dir_mode, write_atomic,
};

const FILE: &str = "/etc/app.conf";
const OLD: &[u8] = b"the old content";
const NEW: &[u8] = b"new content, which is longer than the old one";

/// What is done to the disk, in small operations.
type Act = fn(&dyn Disk) -> Result<(), HostError>;
/// Says what is wrong with a disk after the power cut; the flag is whether the act had returned with success.
type Evaluate = fn(&ModelDisk, bool) -> Option<String>;

/// A disk with a file, a directory to remove and one to change, all of them durable.
fn disk() -> ModelDisk {
    let disk = ModelDisk::default();
    create_dir_all(&disk, Path::new("/etc/empty"), 0o755).unwrap();
    write_atomic(&disk, Path::new(FILE), OLD, 0o644).unwrap();
    disk
}

/// Every power cut, on the given disk and on what a kill at each operation makes of it: outcomes and violations.
fn violations(before: &ModelDisk, act: Act, evaluate: Evaluate) -> (usize, Vec<String>) {
    let mut outcomes = 0;
    let mut violations = Vec::new();
    let mut start = before.restart();
    for operations in 0.. {
        outcomes += start
            .every_power_cut(|disk| act(disk).is_ok(), |after, returned| violations.extend(evaluate(&after, returned)));
        let killed = before.restart();
        killed.cut_after(operations);
        if act(&killed).is_ok() {
            break;
        }
        start = killed.restart();
    }
    (outcomes, violations)
}

fn old_or_new(after: &ModelDisk, returned: bool) -> Option<String> {
    let content = after.read_optional(Path::new(FILE)).unwrap();
    match content.as_deref() {
        Some(NEW) => None,
        Some(OLD) if !returned => None,
        other => Some(format!("returned: {returned}, found: {:?}", other.map(String::from_utf8_lossy))),
    }
}

fn directories_with_their_mode(after: &ModelDisk, returned: bool) -> Option<String> {
    for (dir, expected) in [("/etc/a", 0o755), ("/etc/a/b", 0o755), ("/etc/a/b/c", 0o750)] {
        match after.meta(Path::new(dir)).unwrap() {
            Some(Meta { kind: Kind::Directory, mode, .. }) if mode == expected => {}
            None if !returned => {}
            other => return Some(format!("returned: {returned}, {dir} is {other:?}")),
        }
    }
    None
}

fn file_is_gone(after: &ModelDisk, returned: bool) -> Option<String> {
    match after.read_optional(Path::new(FILE)).unwrap() {
        None => None,
        Some(content) if !returned && content == OLD => None,
        Some(content) => Some(format!("returned: {returned}, found: {}", String::from_utf8_lossy(&content))),
    }
}

fn directory_is_gone(after: &ModelDisk, returned: bool) -> Option<String> {
    let there = after.exists(Path::new("/etc/empty")).unwrap();
    (there && returned).then(|| "the removed directory is back".to_owned())
}

fn mode_is_set(after: &ModelDisk, returned: bool) -> Option<String> {
    match after.meta(Path::new("/etc/empty")).unwrap().map(|meta| meta.mode) {
        Some(0o700) => None,
        Some(0o755) if !returned => None,
        other => Some(format!("returned: {returned}, mode {other:?}")),
    }
}

#[test]
fn durable_changes_survive_every_power_cut() {
    let cases: [(&str, Act, Evaluate, usize); 5] = [
        ("write", |disk| write_atomic(disk, Path::new(FILE), NEW, 0o600), old_or_new, 100),
        ("create", |disk| create_dir_all(disk, Path::new("/etc/a/b/c"), 0o750), directories_with_their_mode, 80),
        ("remove", |disk| remove_file(disk, Path::new(FILE)), file_is_gone, 30),
        ("remove directory", |disk| remove_dir_if_empty(disk, Path::new("/etc/empty")), directory_is_gone, 30),
        ("set mode", |disk| set_dir_mode(disk, Path::new("/etc/empty"), 0o700), mode_is_set, 10),
    ];
    for (name, act, evaluate, at_least) in cases {
        let (outcomes, violations) = violations(&disk(), act, evaluate);
        assert_eq!(violations, [""; 0], "{name}");
        assert!(outcomes >= at_least, "{name}: only {outcomes} outcomes: is the model still losing anything?");
    }
}

#[test]
fn a_first_write_is_whole_or_absent() {
    let disk = ModelDisk::default();
    disk.create_dir(Path::new("/etc"), 0o755).unwrap();
    disk.sync_dir(Path::new("/")).unwrap();
    let whole_or_absent: Evaluate = |after, returned| match after.read_optional(Path::new(FILE)).unwrap().as_deref() {
        Some(NEW) => None,
        None if !returned => None,
        other => Some(format!("returned: {returned}, found: {other:?}")),
    };
    let (outcomes, violations) =
        violations(&disk, |disk| write_atomic(disk, Path::new(FILE), NEW, 0o644), whole_or_absent);
    assert_eq!(violations, [""; 0]);
    assert!(outcomes >= 50, "only {outcomes} outcomes");
}

/// Writers with one mistake each. If one of them gets through, the proofs above prove nothing.
#[test]
fn the_model_catches_wrong_writers() {
    const FRESH: &str = "/etc/.fresh";
    let wrong: [(&str, Act); 5] = [
        ("file not synced", |disk| {
            disk.create(Path::new(FRESH), NEW, 0o644)?;
            disk.rename(Path::new(FRESH), Path::new(FILE))?;
            disk.sync_dir(Path::new("/etc"))
        }),
        ("directory not synced", |disk| {
            disk.create(Path::new(FRESH), NEW, 0o644)?;
            disk.sync_file(Path::new(FRESH))?;
            disk.rename(Path::new(FRESH), Path::new(FILE))
        }),
        ("renamed before the sync", |disk| {
            disk.create(Path::new(FRESH), NEW, 0o644)?;
            disk.rename(Path::new(FRESH), Path::new(FILE))?;
            disk.sync_file(Path::new(FILE))?;
            disk.sync_dir(Path::new("/etc"))
        }),
        ("written in place", |disk| {
            disk.remove_file(Path::new(FILE))?;
            disk.create(Path::new(FILE), NEW, 0o644)?;
            disk.sync_file(Path::new(FILE))?;
            disk.sync_dir(Path::new("/etc"))
        }),
        ("what is seen is taken for durable", |disk| {
            if disk.read(Path::new(FILE))? == NEW {
                return Ok(());
            }
            write_atomic(disk, Path::new(FILE), NEW, 0o644)
        }),
    ];
    for (mistake, act) in wrong {
        let (_, violations) = violations(&disk(), act, old_or_new);
        assert!(!violations.is_empty(), "not caught: {mistake}");
    }
}

#[test]
fn a_full_disk_keeps_the_old_content_and_gets_its_space_back() {
    use explain::Explain;
    let before = disk();
    let names = before.list(Path::new("/etc")).unwrap();
    for operations in 0..10 {
        let disk = before.restart();
        disk.fill_after(operations);
        let written = write_atomic(&disk, Path::new(FILE), NEW, 0o644);
        let content = disk.read(Path::new(FILE)).unwrap();
        match written {
            Ok(()) => assert_eq!(content, NEW),
            Err(error) => {
                assert_eq!(error.code(), host::codes::DISK_FULL);
                assert_eq!(error.to_string(), format!("cannot write {FILE}"));
                assert_eq!(content, OLD);
            }
        }
        assert_eq!(disk.list(Path::new("/etc")).unwrap(), names, "something was left behind");
    }
    before.fill(true);
    assert!(write_atomic(&before, Path::new(FILE), NEW, 0o644).is_err(), "a full disk takes nothing");
}
