//! The lock on a real file.

use std::{
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use host::{Disk, RealDisk};

#[test]
fn a_lock_is_exclusive_and_its_note_can_be_read() {
    let root = tempfile::tempdir().unwrap();
    let disk = RealDisk::new(root.path());
    let path = Path::new("/lock");
    let guard = disk.try_lock(path).unwrap().unwrap();
    guard.note("a rather long note").unwrap();
    guard.note("short").unwrap();
    assert_eq!(disk.read(path).unwrap(), b"short");
    assert!(disk.try_lock(path).unwrap().is_none(), "it was given twice");
    assert_eq!(disk.read(path).unwrap(), b"short", "a refusal wiped the note");
    drop(guard);
    assert!(disk.try_lock(path).unwrap().is_some(), "it was not given back");
}

#[test]
fn a_lock_is_free_at_once_although_children_are_being_started() {
    let root = tempfile::tempdir().unwrap();
    let disk = RealDisk::new(root.path());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                Command::new("true").status().unwrap();
            }
        });
        let refused = (0..20_000).filter(|_| disk.try_lock(Path::new("/lock")).unwrap().is_none()).count();
        done.store(true, Ordering::Relaxed);
        assert_eq!(refused, 0);
    });
}
