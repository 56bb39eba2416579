//! Damaged bundles: each kind of damage has its code, names the file, and all are found at once.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use bundle::{Wanted, verify};

use crate::support::{builder, publisher::Publisher, reported};

fn bundle_in(dir: &Path, cache: &Path) -> PathBuf {
    let (builder, _) = builder(cache, &Publisher::start());
    let out = dir.join("bundle");
    builder.build(&out, &Wanted::default().only(&["runc", "etcd", "pause"]).unwrap()).unwrap();
    out
}

fn edit_manifest(bundle: &Path, from: &str, to: &str) {
    let path = bundle.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(&path, text.replace(from, to)).unwrap();
}

#[test]
fn each_damage_is_reported() {
    type Damage = (&'static str, fn(&Path));
    let damages: &[Damage] = &[
        ("flipped byte", |dir| {
            let path = dir.join("bin/runc");
            let mut content = fs::read(&path).unwrap();
            content[5] ^= 1;
            fs::write(path, content).unwrap();
        }),
        ("cut off", |dir| fs::write(dir.join("bin/runc"), "#!").unwrap()),
        ("missing file", |dir| fs::remove_file(dir.join("images/pause.tar")).unwrap()),
        ("extra file", |dir| fs::write(dir.join("bin/evil"), "").unwrap()),
        ("wrong mode", |dir| fs::set_permissions(dir.join("bin/etcd"), fs::Permissions::from_mode(0o4755)).unwrap()),
        ("link to a file", |dir| {
            fs::rename(dir.join("bin/runc"), dir.join("../runc")).unwrap();
            symlink("../../runc", dir.join("bin/runc")).unwrap();
        }),
        ("link to a directory", |dir| {
            fs::rename(dir.join("bin"), dir.join("../bin")).unwrap();
            symlink("../bin", dir.join("bin")).unwrap();
        }),
        ("absolute path", |dir| edit_manifest(dir, "\"bin/runc\"", "\"/bin/sh\"")),
        ("path with ..", |dir| edit_manifest(dir, "\"bin/runc\"", "\"bin/../../cache/locks/runc\"")),
        ("path named twice", |dir| edit_manifest(dir, "\"bin/etcdctl\"", "\"bin/etcd\"")),
        ("newer format", |dir| edit_manifest(dir, "\"format\": 1", "\"format\": 7")),
        ("garbled manifest", |dir| fs::write(dir.join("manifest.json"), "{\"format\": 1").unwrap()),
        ("no manifest", |dir| fs::remove_file(dir.join("manifest.json")).unwrap()),
        ("manifest is a link", |dir| {
            fs::rename(dir.join("manifest.json"), dir.join("../manifest.json")).unwrap();
            symlink("../manifest.json", dir.join("manifest.json")).unwrap();
        }),
        ("several at once", |dir| {
            fs::write(dir.join("bin/runc"), "").unwrap();
            fs::remove_file(dir.join("bin/etcdutl")).unwrap();
            fs::write(dir.join("notes.txt"), "").unwrap();
        }),
    ];
    let cache = tempfile::tempdir().unwrap();
    let mut page = Vec::new();
    for (name, damage) in damages {
        let dir = tempfile::tempdir().unwrap();
        let bundle = bundle_in(dir.path(), cache.path());
        verify(&bundle).unwrap();
        damage(&bundle);
        let error = verify(&bundle).unwrap_err();
        page.push(format!("== {name}\n{}", reported(&error).join("\n")));
    }
    insta::assert_snapshot!(page.join("\n"));
}
