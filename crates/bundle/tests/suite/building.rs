//! Whole bundles, downloaded from a publisher of ours.

use std::{fs, path::Path, thread, time::Instant};

use bundle::{Builder, BundleError, MANIFEST, Manifest, Own, Sources, Wanted, codes, verify};
use explain::Explain;

use crate::support::{builder, publisher::Publisher, reported, static_program, tree};

#[test]
fn a_bundle_holds_every_program_and_image() {
    let dir = tempfile::tempdir().unwrap();
    let (builder, _) = builder(&dir.path().join("cache"), &Publisher::start());
    let own = Own { program: static_program(dir.path(), "own", "hello"), version: "9.9.9".to_owned() };
    let wanted = Wanted { own: Some(own), ..Wanted::default() };
    let manifest = builder.build(&dir.path().join("bundle"), &wanted).unwrap();
    assert_eq!(verify(&dir.path().join("bundle")).unwrap(), manifest);
    let lines: Vec<_> = manifest
        .components
        .iter()
        .flat_map(|entry| {
            let image = entry.image.clone().unwrap_or_default().replace(&entry.version, "VERSION");
            entry.files.iter().map(move |file| format!("{:<40} {:04o} {image}", file.path, file.mode).trim().to_owned())
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn an_async_program_can_build_too() {
    let dir = tempfile::tempdir().unwrap();
    let (builder, _) = builder(&dir.path().join("cache"), &Publisher::start());
    let out = dir.path().join("bundle");
    let wanted = Wanted::default().only(&["runc"]).unwrap();
    let manifest = tokio::task::spawn_blocking(move || builder.build(&out, &wanted)).await.unwrap().unwrap();
    assert_eq!(manifest.files().count(), 1);
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    let publisher = Publisher::start();
    let made = [(); 2].map(|()| {
        let dir = tempfile::tempdir().unwrap();
        let (builder, _) = builder(&dir.path().join("cache"), &publisher);
        builder.build(&dir.path().join("bundle"), &Wanted::default()).unwrap();
        tree(&dir.path().join("bundle"))
    });
    assert!(made[0] == made[1]);
}

#[test]
fn the_second_build_asks_no_source() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = Publisher::start();
    let (builder, reported) = builder(&dir.path().join("cache"), &publisher);
    let first = builder.build(&dir.path().join("one"), &Wanted::default()).unwrap();
    let requests = publisher.requests();
    reported.lock().unwrap().clear();
    assert_eq!(builder.build(&dir.path().join("two"), &Wanted::default()).unwrap(), first);
    assert_eq!(publisher.requests(), requests);
    let reported = reported.lock().unwrap();
    assert_eq!(reported.len(), Wanted::default().components.len());
    assert!(reported.iter().all(|line| line.ends_with("Cached(Release)")), "{reported:?}");
}

#[test]
fn two_builds_at_once_share_what_they_fetch() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = Publisher::start();
    let single = {
        let (builder, _) = builder(&dir.path().join("alone"), &publisher);
        builder.build(&dir.path().join("single"), &Wanted::default()).unwrap()
    };
    let requests = publisher.requests();
    thread::scope(|scope| {
        let both = ["one", "two"].map(|name| {
            let (builder, _) = builder(&dir.path().join("cache"), &publisher);
            let out = dir.path().join(name);
            scope.spawn(move || builder.build(&out, &Wanted::default()).unwrap())
        });
        for build in both {
            assert_eq!(build.join().unwrap(), single);
        }
    });
    assert_eq!(publisher.requests(), requests * 2, "each component was fetched once");
}

#[test]
fn a_wrong_download_ends_the_build() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = Publisher::start();
    publisher.change("/kubelet", |content| content.push(b'\n'));
    let (builder, _) = builder(&dir.path().join("cache"), &publisher);
    let builder = Builder { sources: Sources { go_modules: true, ..builder.sources.clone() }, ..builder };
    let error = builder.build(&dir.path().join("bundle"), &Wanted::default().only(&["kubelet"]).unwrap()).unwrap_err();
    assert_eq!(error.code(), codes::CHECKSUM, "it does not turn to another source: {error}");
    assert!(!dir.path().join("bundle").exists());
}

#[test]
fn another_version_ends_the_build() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = Publisher::start();
    let wrong =
        crate::support::script(&format!("Kubernetes v{}0", bundle::Component::named("kubelet").unwrap().version));
    let sum = format!("{}\n", bundle::Sum::of(&wrong));
    publisher.change("/kubelet", |content| *content = wrong);
    publisher.change("/kubelet.sha256", |content| *content = sum.into_bytes());
    let (builder, _) = builder(&dir.path().join("cache"), &publisher);
    let error = builder.build(&dir.path().join("bundle"), &Wanted::default().only(&["kubelet"]).unwrap()).unwrap_err();
    assert_eq!(error.code(), codes::VERSION, "{error}");
}

#[test]
fn what_is_not_offered_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = Publisher::start();
    publisher.withdraw("SHA256SUMS");
    let (builder, _) = builder(&dir.path().join("cache"), &publisher);
    let error = builder.build(&dir.path().join("bundle"), &Wanted::default()).unwrap_err();
    assert_eq!(error.code(), codes::NO_SOURCE);
    assert!(error.to_string().contains("SHA256SUMS") && error.to_string().contains("404"), "{error}");
    // What could be fetched is kept: only the missing one is asked for again.
    let before = publisher.requests();
    builder.build(&dir.path().join("bundle"), &Wanted::default()).unwrap_err();
    assert_eq!(publisher.requests(), before + 1);
}

#[test]
fn a_silent_host_is_asked_once_and_costs_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let (mut builder, reported) = builder(&dir.path().join("cache"), &Publisher::start());
    // Taken and let go again: no process listens there now.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    builder.sources.release = Some(bundle::Mirror { address: Some(format!("http://{closed}")) });
    let started = Instant::now();
    let error = builder.build(&dir.path().join("bundle"), &Wanted::default()).unwrap_err();
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    assert_eq!(error.code(), codes::NO_SOURCE);
    assert!(error.to_string().contains("onnection refused"), "{error}");
    assert!(reported.lock().unwrap().iter().any(|line| line.contains("PassedOver(Release")));
}

#[test]
fn a_dynamic_program_of_our_own_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = Publisher::start();
    let (builder, _) = builder(&dir.path().join("cache"), &publisher);
    let own = Own { program: "/bin/sh".into(), version: "1".to_owned() };
    let wanted = Wanted { own: Some(own), ..Wanted::default().only(&["runc"]).unwrap() };
    let error = builder.build(&dir.path().join("bundle"), &wanted).unwrap_err();
    assert_eq!(error.code(), codes::NOT_STATIC, "{error}");
    assert_eq!(publisher.requests(), 0, "found out before the work starts");
    assert_eq!(leftovers(dir.path()), Vec::<String>::new());
}

#[test]
fn an_older_bundle_is_replaced_but_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    let (builder, _) = builder(&dir.path().join("cache"), &Publisher::start());
    let out = dir.path().join("bundle");
    builder.build(&out, &Wanted::default().only(&["runc"]).unwrap()).unwrap();
    let wanted = Wanted::default().only(&["etcd"]).unwrap();
    let manifest = builder.build(&out, &wanted).unwrap();
    assert_eq!(verify(&out).unwrap(), manifest);

    let precious = dir.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("thesis"), "years of work").unwrap();
    for target in [&precious, &precious.join("thesis")] {
        let error = builder.build(target, &wanted).unwrap_err();
        assert_eq!(error.code(), codes::TARGET, "{error}");
    }
    assert_eq!(fs::read_to_string(precious.join("thesis")).unwrap(), "years of work");
    assert_eq!(leftovers(dir.path()), Vec::<String>::new());
}

#[test]
fn a_stop_ends_the_build_and_the_next_one_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = Publisher::start();
    let (builder, _) = builder(&dir.path().join("cache"), &publisher);
    builder.stop.stop();
    let error = builder.build(&dir.path().join("bundle"), &Wanted::default()).unwrap_err();
    assert!(matches!(error, BundleError::Stopped), "{:?}", reported(&error));
    let builder = Builder { stop: bundle::Stop::default(), ..builder };
    builder.build(&dir.path().join("bundle"), &Wanted::default()).unwrap();
    assert!(Manifest::read(&dir.path().join("bundle")).is_ok());
    assert!(dir.path().join("bundle").join(MANIFEST).is_file());
}

fn leftovers(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with('.')).collect()
}
