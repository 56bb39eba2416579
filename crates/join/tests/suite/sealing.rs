//! Sealed directories: who gets what, again and again, and after a crash.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use explain::Explain;
use host::{Change, RealDisk};
use jiff::{SignedDuration, Timestamp};
use join::{
    Generation,
    seal::{self, Sealed, Terms},
};

use crate::world::{CLUSTER, cluster, seal_into, seal_plan};

fn disk() -> RealDisk {
    RealDisk::new("/")
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        if path.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            all.extend(files(&path));
        } else {
            assert_eq!(mode, 0o600, "{}", path.display());
            all.push(path);
        }
    }
    all.sort();
    all
}

fn read(out: &Path, name: &str) -> String {
    fs::read_to_string(out.join(name)).unwrap()
}

/// What a plan still has to do.
fn left(text: &str, out: &Path) -> Vec<Change> {
    Change::missing(seal_plan(&cluster(text), out).unwrap(), &disk()).unwrap()
}

fn until(end: Timestamp) -> Terms {
    Terms { expires: Some(end), ..Terms::default() }
}

#[test]
fn every_node_gets_its_own_directory() {
    let out = seal_into(&cluster(CLUSTER));
    let shown: Vec<String> =
        files(out.path()).iter().map(|path| path.strip_prefix(out.path()).unwrap().display().to_string()).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn no_worker_holds_what_is_not_its_own() {
    let out = seal_into(&cluster(CLUSTER));
    let all = files(out.path());
    let keys: Vec<(&PathBuf, String)> = all
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "key") || path.ends_with("join-secret"))
        .map(|path| (path, fs::read_to_string(path).unwrap().trim().to_owned()))
        .collect();
    assert_eq!(keys.len(), 4 + 2 + 3, "four keys of the PKI, join key, encryption key, three secrets");
    for path in &all {
        let content = fs::read_to_string(path).unwrap();
        assert!(path.starts_with(out.path().join("master-01")) || !content.contains("PRIVATE KEY"));
        for (owner, secret) in &keys {
            assert!(*owner == path || !content.contains(secret.as_str()), "{} in {}", owner.display(), path.display());
        }
    }
}

const BOOTSTRAP: &str = "  - { name: bootstrap, ip: 192.168.1.9, roles: [bootstrap], hardware: { dmi_serial: B1 } }\n";

/// The masters get the cluster's keys from its join service, so it is the one that has them.
#[test]
fn a_bootstrap_node_gets_what_the_first_master_has_otherwise() {
    let names = |out: &Path, node: &str| -> Vec<PathBuf> {
        let dir = out.join(node);
        files(&dir).iter().map(|path| path.strip_prefix(&dir).unwrap().to_path_buf()).collect()
    };
    let without = seal_into(&cluster(CLUSTER));
    let text = format!("{CLUSTER}{BOOTSTRAP}");
    let out = seal_into(&cluster(&text));
    assert_eq!(names(out.path(), "bootstrap"), names(without.path(), "master-01"));
    let of_master = names(out.path(), "master-01");
    assert!(of_master.contains(&"serving.pem".into()) && !of_master.contains(&"join.key".into()), "{of_master:?}");
    let bootstrap = Sealed::read(&disk(), &out.path().join("bootstrap")).unwrap().unwrap();
    let master = Sealed::read(&disk(), &out.path().join("master-01")).unwrap().unwrap();
    assert!(bootstrap.join_key.unwrap().made(&master.secret) && master.join_key.is_none());
    assert_eq!(left(&text, out.path()), []);

    // Keys that are not where they are looked for stop the sealing, whichever way the bootstrap node changes.
    for (out, text) in [(&without, text.as_str()), (&out, CLUSTER)] {
        assert_eq!(seal_plan(&cluster(text), out.path()).unwrap_err().code().id, "BS-JOIN-028");
    }
}

#[test]
fn a_node_reads_its_own_directory() {
    let out = seal_into(&cluster(CLUSTER));
    let sealed = Sealed::read(&disk(), &out.path().join("worker-01")).unwrap().unwrap();
    assert_eq!(sealed.secret.node, "worker-01");
    assert!(sealed.join_key.is_none());
    assert_eq!(pki::spki_pin(sealed.ca_pem.as_bytes()).unwrap(), sealed.pin);
    let master = Sealed::read(&disk(), &out.path().join("master-01")).unwrap().unwrap();
    assert!(master.join_key.unwrap().made(&sealed.secret));
    assert!(Sealed::read(&disk(), out.path()).unwrap().is_none(), "a directory that was not sealed");
    assert_eq!(Sealed::masters(&cluster(CLUSTER)), ["192.168.1.11:7444".parse().unwrap()]);
}

#[test]
fn a_directory_with_an_exchanged_or_missing_file_is_not_used() {
    let [out, other] = [(), ()].map(|()| seal_into(&cluster(CLUSTER)));
    let dir = out.path().join("worker-01");
    let code = || Sealed::read(&disk(), &dir).unwrap_err().code().id;
    fs::copy(other.path().join("worker-01/ca.crt"), dir.join("ca.crt")).unwrap();
    assert_eq!(code(), "BS-JOIN-031");
    fs::write(dir.join("ca.crt"), "hello").unwrap();
    assert_eq!(code(), "BS-JOIN-032");
    fs::remove_file(dir.join("ca.crt")).unwrap();
    assert_eq!(code(), "BS-JOIN-032");
    fs::write(dir.join("join-secret"), "hello").unwrap();
    assert_eq!(code(), "BS-JOIN-025");
}

#[test]
fn sealing_again_changes_nothing_and_adds_what_is_new() {
    let out = seal_into(&cluster(CLUSTER));
    assert_eq!(left(CLUSTER, out.path()), []);
    let more = format!(
        "{CLUSTER}  - {{ name: worker-03, ip: 192.168.1.23, roles: [worker], hardware: {{ mac_addresses: [\"52:54:00:00:00:23\"] }} }}\n"
    );
    let changes = left(&more, out.path());
    let new = out.path().join("worker-03");
    assert!(!changes.is_empty() && changes.iter().all(|change| change.path().starts_with(&new)));
    for change in &changes {
        change.apply(&disk()).unwrap();
    }
    assert_eq!(read(&new, "ca.crt"), read(out.path(), "worker-01/ca.crt"));
    assert_eq!(Sealed::read(&disk(), &new).unwrap().unwrap().secret.node, "worker-03");
}

#[test]
fn a_node_file_that_is_gone_goes_from_every_directory() {
    let out = seal_into(&cluster(CLUSTER));
    let stale = out.path().join("worker-02/nodes/old.yaml");
    fs::write(&stale, "node: { name: old }").unwrap();
    assert_eq!(left(CLUSTER, out.path()), [Change::Remove { path: stale }]);
}

#[test]
fn a_crash_at_any_point_is_followed_by_the_same_cluster() {
    let steps = seal_plan(&cluster(CLUSTER), Path::new("/nowhere")).unwrap().len();
    for survived in 0..steps {
        let out = tempfile::tempdir().unwrap();
        let out = out.path().join("out");
        for change in seal_plan(&cluster(CLUSTER), &out).unwrap().iter().take(survived) {
            change.apply(&disk()).unwrap();
        }
        let before: Vec<(PathBuf, Vec<u8>)> = if out.exists() {
            files(&out).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
        } else {
            Vec::new()
        };
        for change in seal_plan(&cluster(CLUSTER), &out).unwrap() {
            change.apply(&disk()).unwrap();
        }
        for (path, content) in before {
            assert_eq!(fs::read(&path).unwrap(), content, "{} after {survived} changes", path.display());
        }
        assert_eq!(left(CLUSTER, &out), [], "after {survived} changes");
        let key = Sealed::read(&disk(), &out.join("master-01")).unwrap().unwrap().join_key.unwrap();
        assert!(key.made(&Sealed::read(&disk(), &out.join("worker-02")).unwrap().unwrap().secret));
    }
}

#[test]
fn an_expired_secret_is_made_again_and_a_good_one_stays() {
    let out = seal_into(&cluster(CLUSTER));
    let master = Sealed::read(&disk(), &out.path().join("master-01")).unwrap().unwrap();
    let past = Timestamp::now() - SignedDuration::from_secs(60);
    let expired = master.join_key.unwrap().node_secret("worker-01", Generation(7), Some(past));
    let path = out.path().join("worker-01/join-secret");
    fs::write(&path, secrecy::ExposeSecret::expose_secret(&expired.text())).unwrap();

    let soon = Timestamp::now() + SignedDuration::from_secs(3600);
    let cluster = cluster(CLUSTER);
    let existing = seal::Existing::read(&disk(), out.path(), &cluster).unwrap();
    let sources = seal::Sources::default();
    for change in seal::plan(&cluster, &sources, &existing, Timestamp::now(), &until(soon)).unwrap() {
        change.apply(&disk()).unwrap();
    }
    let expiry = |node: &str| Sealed::read(&disk(), &out.path().join(node)).unwrap().unwrap().secret.expires;
    assert_eq!(expiry("worker-01").map(Timestamp::as_second), Some(soon.as_second()));
    assert_eq!(expiry("worker-02"), None);
}

#[test]
fn a_node_that_is_renewed_gets_a_newer_secret_and_a_master_another_certificate() {
    let out = seal_into(&cluster(CLUSTER));
    let read_all =
        || ["master-01", "worker-01", "worker-02"].map(|node| read(out.path(), &format!("{node}/join-secret")));
    let serving = || read(out.path(), "master-01/serving.pem");
    let generation = |node: &str| Sealed::read(&disk(), &out.path().join(node)).unwrap().unwrap().secret.generation;
    let seal_with = |terms: &Terms| {
        let cluster = cluster(CLUSTER);
        let existing = seal::Existing::read(&disk(), out.path(), &cluster).unwrap();
        for change in seal::plan(&cluster, &seal::Sources::default(), &existing, Timestamp::now(), terms).unwrap() {
            change.apply(&disk()).unwrap();
        }
    };
    let (before, shown, made) = (read_all(), serving(), generation("worker-01"));
    seal_with(&until(Timestamp::now() + SignedDuration::from_hours(1)));
    assert_eq!(
        (read_all(), serving()),
        (before.clone(), shown.clone()),
        "what is good stays, whatever new ones are like"
    );

    let soon = Timestamp::now() + SignedDuration::from_hours(1);
    seal_with(&Terms { expires: Some(soon), renew: ["worker-01".to_owned()].into() });
    let after = read_all();
    assert_eq!([&after[0], &after[2]], [&before[0], &before[2]]);
    assert!(generation("worker-01") > made && serving() == shown);

    seal_with(&Terms { expires: Some(soon), renew: ["master-01".to_owned()].into() });
    assert_ne!(serving(), shown);
    let pem = x509_parser::pem::Pem::iter_from_buffer(serving().as_bytes()).next().unwrap().unwrap();
    let end = pem.parse_x509().unwrap().validity().not_after.timestamp();
    assert_eq!(end, soon.as_second(), "it ends with the secret");
    let kept = serving();
    seal_with(&Terms::default());
    assert_eq!(serving(), kept);
}

#[test]
fn what_would_split_or_open_the_cluster_is_refused() {
    let code = |text: &str, out: &Path| seal_plan(&cluster(text), out).unwrap_err().code().id;
    let out = seal_into(&cluster(CLUSTER));
    let with_token = CLUSTER.replace("name: home", "name: home\n  bootstrap: { token: k2m8xq.v9d3n5p7r1t4w6y8 }");
    assert_eq!(code(&with_token, out.path()), "BS-JOIN-027");
    let another_first = format!(
        "{CLUSTER}  - {{ name: alpha, ip: 192.168.1.12, roles: [master], hardware: {{ mac_addresses: [\"52:54:00:00:00:12\"] }} }}\n"
    );
    assert_eq!(code(&another_first, out.path()), "BS-JOIN-028");
    let renamed = CLUSTER.replace("name: home", "name: away");
    assert_eq!(code(&renamed, out.path()), "BS-PKI-004");

    let cluster_home = cluster(CLUSTER);
    let existing = seal::Existing::read(&disk(), out.path(), &cluster_home).unwrap();
    let now = Timestamp::now();
    let error = seal::plan(&cluster_home, &seal::Sources::default(), &existing, now, &until(now)).unwrap_err();
    assert_eq!(error.code().id, "BS-JOIN-030");

    fs::remove_dir_all(out.path().join("master-01")).unwrap();
    assert_eq!(code(CLUSTER, out.path()), "BS-JOIN-029", "the first master's directory went to its machine");
    let out = seal_into(&cluster(CLUSTER));
    fs::write(out.path().join("master-01/join.key"), "hello").unwrap();
    assert_eq!(code(CLUSTER, out.path()), "BS-JOIN-025", "never overwritten");
}

#[test]
fn sources_are_the_configuration_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("cluster.yaml"), "cluster").unwrap();
    fs::create_dir(dir.path().join("nodes")).unwrap();
    for name in ["a.yaml", "b.yml", ".hidden.yaml", "notes.txt", "a.yaml~"] {
        fs::write(dir.path().join("nodes").join(name), name).unwrap();
    }
    let sources = seal::Sources::read(&disk(), dir.path(), &cluster(CLUSTER)).unwrap();
    assert_eq!(sources.cluster, b"cluster");
    assert_eq!(sources.nodes.keys().collect::<Vec<_>>(), ["a.yaml", "b.yml"]);
    assert!(sources.add_on.is_empty());
}

#[test]
fn masters_get_the_manifest_of_the_network_add_on() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("add-on/pods")).unwrap();
    for name in ["cluster.yaml", "calico.yaml", "add-on/pods/1.yaml", "add-on/pods/2.yaml"] {
        fs::write(dir.path().join(name), name).unwrap();
    }
    for (manifest, expected) in [
        ("calico.yaml", vec!["calico.yaml"]),
        ("add-on/pods", vec!["add-on/pods/1.yaml", "add-on/pods/2.yaml"]),
        ("/srv/calico.yaml", vec![]),
        ("../calico.yaml", vec![]),
    ] {
        let networking = format!("name: home\n  networking: {{ add_on: manifest, manifest: {manifest} }}");
        let cluster = cluster(&CLUSTER.replace("name: home", &networking));
        let sources = seal::Sources::read(&disk(), dir.path(), &cluster).unwrap();
        let out = tempfile::tempdir().unwrap();
        let existing = seal::Existing::read(&disk(), out.path(), &cluster).unwrap();
        for change in seal::plan(&cluster, &sources, &existing, Timestamp::now(), &Terms::default()).unwrap() {
            change.apply(&disk()).unwrap();
        }
        for name in &expected {
            assert_eq!(read(&out.path().join("master-01"), name), *name);
            assert!(!out.path().join("worker-01").join(name).exists(), "{name}");
        }
        assert_eq!(sources.add_on.len(), expected.len(), "{manifest}");
        files(out.path()); // looks at the modes too
    }
    let missing =
        cluster(&CLUSTER.replace("name: home", "name: home\n  networking: { add_on: manifest, manifest: x.yaml }"));
    assert!(seal::Sources::read(&disk(), dir.path(), &missing).is_err());
}
