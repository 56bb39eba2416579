//! Packed bundles: the same bytes every time, and nothing hostile or damaged ever reaches the target.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bundle::{Wanted, pack, unpack};

use crate::support::{builder, publisher::Publisher, reported, tree};

fn bundle_in(dir: &Path) -> PathBuf {
    let (builder, _) = builder(&dir.join("cache"), &Publisher::start());
    let out = dir.join("bundle");
    builder.build(&out, &Wanted::default().only(&["runc", "etcd", "pause"]).unwrap()).unwrap();
    out
}

#[test]
fn packing_is_reproducible_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = bundle_in(dir.path());
    let (one, two) = (dir.path().join("one.tar.zst"), dir.path().join("two.tar.zst"));
    pack(&bundle, &one).unwrap();
    let back = dir.path().join("back");
    unpack(&one, &back).unwrap();
    assert!(tree(&back) == tree(&bundle));
    pack(&back, &two).unwrap();
    assert!(fs::read(&one).unwrap() == fs::read(&two).unwrap());
    unpack(&two, &back).expect("an older bundle is replaced");
    assert_eq!(hidden(dir.path()), 0);
}

#[test]
fn a_damaged_bundle_is_not_packed() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = bundle_in(dir.path());
    fs::remove_file(bundle.join("bin/runc")).unwrap();
    let packed = dir.path().join("bundle.tar.zst");
    let error = pack(&bundle, &packed).unwrap_err();
    assert!(reported(&error)[0].starts_with("BS-BUNDLE-004"), "{error}");
    assert!(!packed.exists());
}

#[test]
fn an_archive_cut_anywhere_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let packed = dir.path().join("bundle.tar.zst");
    pack(&bundle_in(dir.path()), &packed).unwrap();
    let whole = fs::read(&packed).unwrap();
    let to = dir.path().join("to");
    for part in 0..20 {
        let length = whole.len() * part / 20;
        fs::write(&packed, &whole[..length]).unwrap();
        let error = unpack(&packed, &to).unwrap_err();
        assert!(reported(&error)[0].starts_with("BS-BUNDLE-009"), "{length}: {error}");
        assert!(!to.exists());
    }
    fs::write(&packed, &whole[..whole.len() - 1]).unwrap();
    assert!(reported(&unpack(&packed, &to).unwrap_err())[0].starts_with("BS-BUNDLE-009"), "the last byte counts");
    assert_eq!(hidden(dir.path()), 0);
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let packed = dir.path().join("bundle.tar.zst");
    pack(&bundle_in(dir.path()), &packed).unwrap();
    let whole = fs::read(&packed).unwrap();
    let to = dir.path().join("to");
    for part in 0..20 {
        let mut content = whole.clone();
        content[whole.len() * part / 20] ^= 0x10;
        fs::write(&packed, content).unwrap();
        unpack(&packed, &to).unwrap_err();
        assert!(!to.exists());
    }
}

/// An archive with one entry of our choice in front of a whole bundle.
fn hostile(bundle: &Path, to: &Path, entry: impl FnOnce(&mut tar::Builder<zstd::Encoder<fs::File>>)) {
    let mut archive = tar::Builder::new(zstd::Encoder::new(fs::File::create(to).unwrap(), 1).unwrap());
    entry(&mut archive);
    archive.mode(tar::HeaderMode::Deterministic);
    for (path, _, _) in tree(bundle) {
        archive.append_path_with_name(bundle.join(&path), &path).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
}

/// A header with any path, which the library would refuse to write.
fn header(path: &str, kind: tar::EntryType, link: &str) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_size(0);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

#[test]
fn nothing_leaves_the_target() {
    use tar::EntryType::{Block, Fifo, Link, Regular, Symlink};
    let dir = tempfile::tempdir().unwrap();
    let bundle = bundle_in(dir.path());
    let (packed, to, canary) = (dir.path().join("b.tar.zst"), dir.path().join("to"), dir.path().join("canary"));
    fs::write(&canary, "alive").unwrap();
    let absolute = canary.to_str().unwrap();
    let mut page = Vec::new();
    for (name, entries) in [
        ("absolute path", vec![header("/tmp/x", Regular, "")]),
        ("path with ..", vec![header("../canary", Regular, "")]),
        ("path with .. inside", vec![header("bin/../../canary", Regular, "")]),
        ("link, then a file through it", vec![header("bin", Symlink, ".."), header("bin/canary", Regular, "")]),
        ("hard link", vec![header("bin/x", Link, absolute), header("bin/x", Regular, "")]),
        ("device", vec![header("bin/x", Block, "")]),
        ("pipe", vec![header("bin/x", Fifo, "")]),
        ("unknown file", vec![header("bin/x", Regular, "")]),
        ("file twice", vec![header("bin/runc", Regular, "")]),
    ] {
        hostile(&bundle, &packed, |archive| {
            for header in &entries {
                archive.append(header, std::io::empty()).unwrap();
            }
        });
        let error = unpack(&packed, &to).unwrap_err();
        page.push(format!("== {name}\n{}", reported(&error).join("\n")));
        assert!(!to.exists());
    }
    assert_eq!(fs::read_to_string(&canary).unwrap(), "alive");
    assert_eq!(hidden(dir.path()), 0);
    insta::assert_snapshot!(page.join("\n"));

    hostile(&bundle, &packed, |_| {});
    unpack(&packed, &to).expect("without the hostile entry it is a bundle");
}

#[test]
fn other_files_are_not_archives() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("to");
    for content in [b"".as_slice(), b"hello", &zstd::encode_all(b"not a tar".as_slice(), 1).unwrap()] {
        let path = dir.path().join("file");
        fs::write(&path, content).unwrap();
        let error = unpack(&path, &to).unwrap_err();
        assert!(
            reported(&error)[0].starts_with("BS-BUNDLE-009") || reported(&error)[0].starts_with("BS-BUNDLE-001"),
            "{error}"
        );
        assert!(!to.exists());
    }
}

fn hidden(dir: &Path) -> usize {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with('.')).count()
}
