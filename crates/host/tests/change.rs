//! Changes on a real directory: what counts as done, what is refused, what is left alone.

#![expect(clippy::unwrap_used, reason = "a failing unwrap in a test is the failure we want to see")]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use explain::Explain;
use host::{Change, Content, Disk, RealDisk, codes};

fn file(path: &str, content: &str) -> Change {
    Change::File { path: path.into(), mode: 0o640, content: Content::Plain(content.into()) }
}

fn directory(path: &str, mode: u32) -> Change {
    Change::Directory { path: path.into(), mode }
}

fn remove(path: &str) -> Change {
    Change::Remove { path: path.into() }
}

/// A root with one of everything that may stand at a path.
fn root() -> (tempfile::TempDir, RealDisk) {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::write(at("file"), "old").unwrap();
    fs::set_permissions(at("file"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(at("dir")).unwrap();
    fs::set_permissions(at("dir"), fs::Permissions::from_mode(0o755)).unwrap();
    for (target, link) in [("file", "link"), ("dir", "dirlink"), ("nothing", "broken")] {
        std::os::unix::fs::symlink(at(target), at(link)).unwrap();
    }
    let disk = RealDisk::new(root.path());
    (root, disk)
}

#[test]
fn a_change_that_is_applied_is_not_missing_any_more() {
    let cases = [
        file("/new", "text"),
        file("/a/b/new", "text"),
        file("/file", "text"),
        directory("/a/b", 0o700),
        directory("/dir", 0o711),
        directory("/dirlink", 0o700),
        remove("/file"),
        remove("/not/there"),
    ];
    for change in cases {
        let (_root, disk) = root();
        change.apply(&disk).unwrap();
        assert_eq!(Change::missing(vec![change.clone()], &disk).unwrap(), [], "{change}");
        change.apply(&disk).unwrap();
    }
}

#[test]
fn what_does_not_fit_is_missing() {
    for (change, missing) in [
        (file("/new", "text"), true),
        (file("/file", "old"), true), // same content, other mode
        (file("/link", "old"), true),
        (directory("/dir", 0o755), false),
        (directory("/dir", 0o700), true),
        (directory("/file", 0o755), true), // a file with that very mode
        (directory("/dirlink", 0o700), false),
        (directory("/broken", 0o777), true),
        (remove("/file"), true),
        (remove("/not/there"), false),
    ] {
        let (_root, disk) = root();
        assert_eq!(Change::missing(vec![change.clone()], &disk).unwrap().len() == 1, missing, "{change}");
    }
}

#[test]
fn what_was_put_there_on_purpose_is_not_replaced() {
    for (change, code) in [
        (file("/link", "text"), codes::NOT_A_FILE),
        (file("/broken", "text"), codes::NOT_A_FILE),
        (file("/dir", "text"), codes::NOT_A_FILE),
        (file("/file/below", "text"), codes::NOT_A_DIRECTORY),
        (remove("/link"), codes::NOT_A_FILE),
        (remove("/dir"), codes::NOT_A_FILE),
        (directory("/file", 0o755), codes::NOT_A_DIRECTORY),
        (directory("/link", 0o755), codes::NOT_A_DIRECTORY),
        (directory("/broken", 0o755), codes::READ),
    ] {
        let (root, disk) = root();
        let error = change.apply(&disk).unwrap_err();
        assert_eq!(error.code(), code, "{change}: {error}");
        assert_eq!(fs::read_to_string(root.path().join("file")).unwrap(), "old", "{change}");
        assert_eq!(fs::read_link(root.path().join("link")).unwrap(), root.path().join("file"), "{change}");
    }
}

#[test]
fn what_a_crash_left_beside_a_file_is_cleaned_up() {
    let leftover = Path::new("/.new.blackstart-new");
    for change in [file("/new", "text"), remove("/new")] {
        let (_root, disk) = root();
        change.apply(&disk).unwrap();
        disk.create(leftover, b"torn", 0o600).unwrap();
        assert_eq!(Change::missing(vec![change.clone()], &disk).unwrap().len(), 1, "{change}");
        change.apply(&disk).unwrap();
        assert!(!disk.exists(leftover).unwrap(), "{change}");
    }
}

#[test]
fn modes_are_those_asked_for_whatever_the_umask() {
    let (root, disk) = root();
    let wide = Change::File { path: "/wide".into(), mode: 0o666, content: Content::Plain(Vec::new()) };
    for change in [&wide, &directory("/open/to/all", 0o777)] {
        change.apply(&disk).unwrap();
    }
    for (name, mode) in [("wide", 0o666), ("open", 0o755), ("open/to", 0o755), ("open/to/all", 0o777)] {
        assert_eq!(fs::metadata(root.path().join(name)).unwrap().permissions().mode() & 0o7777, mode, "{name}");
    }
}

#[test]
fn a_secret_is_never_shown() {
    let secret = Change::File { path: "/key".into(), mode: 0o600, content: Content::Secret(b"hunter2".to_vec()) };
    assert_eq!(secret.to_string(), "write /key (0600, 7 bytes, secret)");
    assert!(!format!("{secret:?}").contains("hunter2"));
    assert_eq!(file("/plain", "text").to_string(), "write /plain (0640, 4 bytes)");
    assert!(format!("{:?}", file("/plain", "text")).contains("text"));
}
