//! What is written can be read by whom it is for, and nothing broken is taken for whole.

use std::fs;

use aws_lc_rs::digest::digest;
use explain::Explain;
use jiff::Timestamp;
use secrecy::ExposeSecret;

use super::*;
use crate::{codes, contents, write::Writer};

fn snapshot(pages: usize) -> Vec<u8> {
    let data: Vec<u8> = (0..=255).cycle().take(pages * 4096).collect();
    [data.as_slice(), digest(&SHA256, &data).as_ref()].concat()
}

fn identity() -> Key {
    Key::parse(Key::generate().expose_secret()).unwrap()
}

/// A backup of a model machine, with this snapshot.
fn written(key: &Key, snapshot: &[u8]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), key, Timestamp::UNIX_EPOCH).unwrap();
    let contents = contents::tests::read(&contents::tests::master()).unwrap();
    for (name, bytes) in &contents.files {
        writer.file(name, bytes).unwrap();
    }
    writer.file(SNAPSHOT, snapshot).unwrap();
    let manifest = |files| Manifest {
        version: manifest::VERSION,
        program: "0.1.0".into(),
        cluster: "home".into(),
        node: "master-01".into(),
        made: Timestamp::UNIX_EPOCH,
        etcd_version: "3.7.3".into(),
        etcd_revision: 7,
        files,
    };
    writer.finish(manifest).unwrap().0
}

/// What reading these bytes comes to.
fn read(bytes: &[u8], key: &Key) -> Result<(Verified, Vec<u8>), BackupError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.age");
    fs::write(&path, bytes).unwrap();
    let mut snapshot = Vec::new();
    let verified = Locked::open(&path)?.unpack(key, &mut snapshot)?;
    Ok((verified, snapshot))
}

fn code(bytes: &[u8], key: &Key) -> &'static str {
    read(bytes, key).err().map_or("fine", |error| error.code().id)
}

#[test]
fn what_is_written_is_read_back() {
    let key = identity();
    for pages in [1, 16, 100] {
        let (verified, seen) = read(&written(&key, &snapshot(pages)), &key).unwrap();
        assert!(
            seen == snapshot(pages) && verified.contents == contents::tests::read(&contents::tests::master()).unwrap()
        );
        assert_eq!((verified.manifest.cluster.as_str(), verified.manifest.etcd_revision), ("home", 7));
    }
}

#[test]
fn a_passphrase_opens_what_it_closed() {
    let [right, wrong] = ["correct horse battery", "correct horse staple"].map(|text| Key::passphrase(&text.into()));
    let bytes = written(&right, &snapshot(1));
    assert_eq!(code(&bytes, &right), "fine");
    assert_eq!(code(&bytes, &wrong), codes::WRONG_KEY.id);
    assert_eq!(code(&bytes, &identity()), codes::WRONG_KEY.id);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(!text.contains("cluster.yaml") && !text.contains("master-01"), "nothing is to be seen from outside");
}

#[test]
fn every_kind_of_damage_is_reported() {
    let key = identity();
    let whole = written(&key, &snapshot(100));
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    // The header ends with its sum, whose first character is exchanged.
    let sum = whole.windows(4).position(|four| four == b"--- ").unwrap() + 4;
    let mut header = whole.clone();
    header[sum] = if header[sum] == b'A' { b'B' } else { b'A' };
    let middle = whole.len() / 2;
    for (what, bytes, expected) in [
        ("nothing at all", Vec::new(), codes::NOT_A_BACKUP),
        ("some other file", b"hello, world".to_vec(), codes::NOT_A_BACKUP),
        ("a byte in the middle", flipped(middle), codes::DAMAGED),
        ("the header's sum", header, codes::DAMAGED),
        ("a byte that no header has", flipped(22), codes::DAMAGED),
        ("half of the header", whole[..50].to_vec(), codes::TRUNCATED),
        ("the last byte", flipped(whole.len() - 1), codes::TRUNCATED),
        ("half of it", whole[..middle].to_vec(), codes::TRUNCATED),
        ("all but the last byte", whole[..whole.len() - 1].to_vec(), codes::TRUNCATED),
        ("something behind its end", [&whole[..], b"more"].concat(), codes::TRUNCATED),
        ("a snapshot that was broken before", written(&key, &snapshot(2)[512..]), etcd::codes::BAD_SNAPSHOT),
    ] {
        assert_eq!(code(&bytes, &key), expected.id, "{what}");
    }
    assert_eq!(code(&whole, &identity()), codes::WRONG_KEY.id);
}

#[test]
fn no_cut_and_no_flip_goes_unnoticed() {
    let key = identity();
    let whole = written(&key, &snapshot(16));
    for at in (0..whole.len()).step_by(997) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x40;
        assert_ne!(code(&flipped, &key), "fine", "flipped at {at}");
        assert_ne!(code(&whole[..at], &key), "fine", "cut at {at}");
    }
}

#[test]
fn names_that_belong_nowhere_are_refused() {
    let key = identity();
    for name in ["config/../../etc/passwd", "elsewhere/x"] {
        let mut writer = Writer::new(Vec::new(), &key, Timestamp::UNIX_EPOCH).unwrap();
        // The library refuses to write such a name, so it is put in by hand.
        let Ok(()) = writer.file(name, b"x") else { continue };
        let manifest = |files| Manifest {
            version: manifest::VERSION,
            program: String::new(),
            cluster: String::new(),
            node: String::new(),
            made: Timestamp::UNIX_EPOCH,
            etcd_version: String::new(),
            etcd_revision: 0,
            files,
        };
        assert_eq!(code(&writer.finish(manifest).unwrap().0, &key), codes::DAMAGED.id, "{name}");
    }
}
