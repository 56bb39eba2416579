//! Components from what the user gives.

use std::{fs, path::Path};

use bundle::{Builder, Sources, Wanted, codes, pack, table};
use explain::Explain;

use crate::support::{builder, publisher::Publisher, script, write_program};

fn only_given(builder: &Builder, path: &Path) -> Builder {
    let sources = Sources { given: Some(path.to_path_buf()), release: None, go_modules: false };
    Builder { sources, ..builder.clone() }
}

#[test]
fn a_bundle_and_a_packed_bundle_give_the_same_bundle() {
    let dir = tempfile::tempdir().unwrap();
    let (builder, _) = builder(&dir.path().join("cache"), &Publisher::start());
    let original = dir.path().join("original");
    let first = builder.build(&original, &Wanted::default()).unwrap();
    let packed = dir.path().join("original.tar.zst");
    pack(&original, &packed).unwrap();
    for given in [&original, &packed] {
        let offline = Builder { cache: bundle::Cache::at(dir.path().join("fresh")), ..only_given(&builder, given) };
        let again = offline.build(&dir.path().join("again"), &Wanted::default()).unwrap();
        let files = |manifest: &bundle::Manifest| manifest.files().cloned().collect::<Vec<_>>();
        assert_eq!(files(&again), files(&first));
        assert!(again.components.iter().all(|entry| entry.source == bundle::SourceKind::Given));
        assert_eq!(again.image("pause"), first.image("pause"));
    }
}

#[test]
fn loose_programs_are_found_in_directories_and_archives() {
    let dir = tempfile::tempdir().unwrap();
    let loose = dir.path().join("loose");
    for component in table::COMPONENTS.iter().filter(|component| ["etcd", "cni-plugins"].contains(&component.name)) {
        for (index, program) in component.programs.iter().enumerate() {
            let dir = ["", "bin", "cni"][index % 3];
            write_program(&loose.join(dir).join(program.name), &script(&format!("v{}", component.version)));
        }
    }
    let archive = dir.path().join("loose.tar");
    let mut tar = tar::Builder::new(fs::File::create(&archive).unwrap());
    tar.append_dir_all("some/where", &loose).unwrap();
    tar.finish().unwrap();

    let (builder, _) = builder(&dir.path().join("cache"), &Publisher::start());
    let wanted = Wanted::default().only(&["etcd", "cni-plugins"]).unwrap();
    let mut made = Vec::new();
    for given in [&loose, &archive] {
        made.push(only_given(&builder, given).build(&dir.path().join("bundle"), &wanted).unwrap());
    }
    assert_eq!(made[0], made[1]);
    assert_eq!(made[0].files().count(), 8);

    let error = only_given(&builder, &loose).build(&dir.path().join("bundle"), &Wanted::default()).unwrap_err();
    assert_eq!(error.code(), codes::NO_SOURCE);
    assert!(error.to_string().contains("there is no `kube-apiserver` in it"), "{error}");
}

#[test]
fn what_is_given_comes_first_and_the_rest_is_fetched() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = Publisher::start();
    let (builder, _) = builder(&dir.path().join("cache"), &publisher);
    let version = bundle::Component::named("runc").unwrap().version;
    write_program(&dir.path().join("mine/runc"), &script(&format!("my own runc {version}")));
    let sources = Sources { given: Some(dir.path().join("mine")), ..builder.sources.clone() };
    let builder = Builder { sources, ..builder };
    let manifest = builder.build(&dir.path().join("bundle"), &Wanted::default()).unwrap();
    let of = |name| manifest.component(name).unwrap().source;
    assert_eq!((of("runc"), of("etcd")), (bundle::SourceKind::Given, bundle::SourceKind::Release));
}

#[test]
fn a_given_program_of_another_version_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (builder, _) = builder(&dir.path().join("cache"), &Publisher::start());
    write_program(&dir.path().join("mine/runc"), &script("runc version 1.0.0"));
    let wanted = Wanted::default().only(&["runc"]).unwrap();
    let error = only_given(&builder, &dir.path().join("mine")).build(&dir.path().join("out"), &wanted).unwrap_err();
    assert_eq!(error.code(), codes::VERSION, "{error}");
}

#[test]
fn a_damaged_bundle_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let (builder, _) = builder(&dir.path().join("cache"), &Publisher::start());
    let original = dir.path().join("original");
    let wanted = Wanted::default().only(&["runc"]).unwrap();
    builder.build(&original, &wanted).unwrap();
    fs::write(original.join("bin/runc"), "something else").unwrap();
    let error = only_given(&builder, &original).build(&dir.path().join("out"), &wanted).unwrap_err();
    assert_eq!(error.code(), codes::CHANGED, "{error}");
}
