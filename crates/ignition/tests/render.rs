//! Configs from fixed inputs, and what a reader by other authors makes of them.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::path::PathBuf;

use host::{Change, Content};
use ignition::{Config, File, Input, Pointer, Record, RenderError, Rendered, Unit, render, validate};
use jiff::Timestamp;
use spec::{Node, ValidatedCluster};

fn cluster() -> ValidatedCluster {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/pivot");
    spec::check_dir(&dir).cluster.unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn input(node: &Node) -> Input<'_> {
    let file = |name: &str, text: &str| Change::File {
        path: PathBuf::from("/etc/cluster-config").join(name),
        mode: 0o600,
        content: Content::Secret(text.into()),
    };
    Input {
        cluster: "pivot",
        node,
        configuration: vec![
            Change::Directory { path: "/etc/cluster-config".into(), mode: 0o700 },
            file("join-secret", "SECRET\n"),
            file("cluster.yaml", "cluster: {}\n"),
        ],
        units: vec![Unit::new("cluster-detect.service", "[Service]\nExecStart=/bin/true\n")],
        ssh_keys: vec!["ssh-ed25519 AAAA me@desk".to_owned()],
        more_files: Vec::new(),
        rendered_at: at("2026-06-01T12:00:00Z"),
        valid_until: Some(at("2026-07-01T12:00:00Z")),
    }
}

fn rendered(name: &str) -> Rendered {
    render(input(cluster().machine(name).unwrap())).map_err(|error| error.to_string()).unwrap()
}

fn text(config: &Config) -> String {
    String::from_utf8(config.bytes().unwrap()).unwrap()
}

#[test]
fn each_kind_of_node_has_its_config() {
    for name in ["bootstrap", "master-01", "worker-01"] {
        let Rendered { bytes, record } = rendered(name);
        insta::assert_snapshot!(name, String::from_utf8(bytes.clone()).unwrap());
        assert_eq!(Record::of(&bytes), Some(record));
    }
}

#[test]
fn a_second_reader_finds_nothing_that_means_nothing() {
    for name in ["bootstrap", "master-01", "worker-01"] {
        let Rendered { bytes, .. } = rendered(name);
        let (config, warnings) = ignition_config::Config::parse_slice(&bytes).unwrap();
        assert!(warnings.is_empty(), "{name}: {warnings:?}");
        let ignition_config::Config::V3_2(config) = config else { panic!("{name} is of another version") };
        let files = config.storage.unwrap().files.unwrap();
        assert!(files.iter().all(|file| file.overwrite == Some(true)));
        assert_eq!(validate(name, &bytes, at("2026-06-15T00:00:00Z")), []);
    }
}

/// Only the moment differs between two renders of the same, and the id says so.
#[test]
fn the_id_is_that_of_the_inputs() {
    let cluster = cluster();
    let node = cluster.machine("master-01").unwrap();
    let id = |change: fn(&mut Input<'_>)| {
        let mut input = input(node);
        change(&mut input);
        render(input).map_err(|error| error.to_string()).unwrap().record.id
    };
    let first = id(|_| {});
    assert_eq!(first, id(|input| input.rendered_at = at("2026-06-02T00:00:00Z")));
    assert_eq!(first, id(|input| input.configuration.reverse()), "the order of files is ours");
    assert_ne!(first, id(|input| input.ssh_keys.clear()));
    assert_ne!(first, id(|input| input.more_files.push(File::new("/etc/b", 0o644, b"b"))));
    assert_ne!(first, id(|input| input.units.clear()));
    assert_eq!(rendered("master-01").bytes, rendered("master-01").bytes);
}

#[test]
fn what_comes_twice_is_refused() {
    let cluster = cluster();
    let mut input = input(cluster.machine("bootstrap").unwrap());
    input.more_files.push(File::new("/etc/hostname", 0o644, b""));
    assert!(matches!(render(input), Err(RenderError::Twice(path)) if path.ends_with("hostname")));
}

#[test]
fn a_pointer_leads_to_these_very_bytes() {
    let pointer = |server| Pointer {
        server,
        node: "master-01",
        authorization: "Bearer PROOF",
        ca_pem: "CA\n",
        served: b"the config",
    };
    let config = pointer("https://10.0.0.9:22623/").config().unwrap();
    insta::assert_snapshot!(text(&config));
    let (_, warnings) = ignition_config::Config::parse_str(&text(&config)).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(validate("pointer", text(&config).as_bytes(), at("2026-06-15T00:00:00Z")), []);
    for server in ["http://10.0.0.9", "https://", "https:///x", "https://me:secret@host", "https://a b", "https://a?b"]
    {
        assert!(pointer(server).config().is_err(), "{server}");
    }
}
