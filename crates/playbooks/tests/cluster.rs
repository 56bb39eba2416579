//! The cluster playbook's lists, and that its steps keep what they promise.

#![expect(clippy::expect_used, reason = "a helper that fails is a test that fails")]

use std::{collections::BTreeSet, fs, path::Path};

use engine::{Ledger, LedgerStore, Playbook, Progress, Report, Runner, StepId, StepRecord, UndoEntry};
use host::Host;
use nodekit::Layout;
use playbooks::{
    ceph,
    cluster::{self, Installation, Reset},
};
use render::{Cgroup, Machine};
use spec::ValidatedCluster;

fn example(name: &str) -> ValidatedCluster {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    spec::check_dir(&dir).cluster.expect("the example is valid")
}

fn options() -> cluster::Options {
    cluster::Options {
        machine_id: "5f2e9a1c".repeat(8),
        machine: Machine {
            cgroup: Cgroup::V2,
            may_raise_limits: true,
            may_size_conntrack: true,
            has_own_disk: true,
            resolv_conf: "/etc/resolv.conf".into(),
        },
        pause_image: "example.org/pause:1".into(),
        dns_image: "example.org/dns:1".into(),
        skip: Vec::new(),
        token: None,
        force_new_cluster: false,
    }
}

#[test]
fn each_role_has_its_steps() {
    let mut lists = String::new();
    for (cluster, is_shown) in [(example("ha-ceph"), ""), (example("pivot"), "bootstrap")] {
        for node in cluster.machines().filter(|node| node.name.starts_with(is_shown)) {
            let playbook = cluster::playbook(&cluster, node, &Layout::default(), &options())
                .expect("a list without contradictions");
            let steps: Vec<_> = playbook.about().map(|about| about.id.to_string()).collect();
            lists += &format!("{} {}: {}\n", node.name, cluster.bootstrap_role(node), steps.join(", "));
        }
    }
    insta::assert_snapshot!(lists);
}

/// A list can only be built if each of its steps is undone by what it says, so this covers them all.
#[test]
fn every_step_of_every_list_can_be_undone_and_every_name_is_a_step() {
    let layout = Layout::default();
    let mut built = Vec::new();
    let kms = "cluster: {name: kms, encryption: {kms: {name: vault, endpoint: 'unix:///run/kms.sock'}}}\nnodes:\n\
               - {name: m, ip: 192.168.1.11, roles: [master], hardware: {mac_addresses: ['52:54:00:00:00:01']}}\n";
    for cluster in [example("home"), example("ha-ceph"), example("pivot"), spec::check_text(kms).cluster.unwrap()] {
        for node in cluster.machines() {
            built.push(cluster::playbook(&cluster, node, &layout, &options()));
            built.push(cluster::detect(&cluster, node, &layout));
            built.push(cluster::certificates(&cluster, node, &layout));
        }
    }
    let somewhere = Some(Path::new("/somewhere"));
    let all = Installation { program: somewhere, bundle: somewhere, config: somewhere, layout: &layout };
    built.extend([cluster::install(&all), cluster::components(Path::new("/somewhere"))]);
    let lists: Vec<Playbook> = built.into_iter().map(|list| list.expect("a list without contradictions")).collect();
    let steps: BTreeSet<StepId> = lists.iter().flat_map(Playbook::about).map(|about| about.id).collect();
    let names: BTreeSet<StepId> = cluster::ids::ALL.iter().chain(ceph::ids::ALL).copied().collect();
    assert_eq!(steps, names);
}

#[tokio::test]
async fn a_second_run_changes_nothing_and_undo_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let cluster = example("home");
    let node = cluster.node("master-01").unwrap();
    let layout = Layout::default();
    let playbook = cluster::playbook(&cluster, node, &layout, &options()).unwrap();
    let runner = Runner::new(Host::rooted(root.path()), &layout.state_dir, &node.name);

    // A directory has no API server, so what needs one fails; everything that is a file is there.
    let needs_api =
        |report: &Report| -> Vec<String> { report.failed.iter().map(|failure| failure.step.clone()).collect() };
    let first = runner.run(&playbook).await.unwrap();
    assert_eq!(needs_api(&first), ["roles", "dns"], "{first:?}");
    assert!(first.changed.iter().any(|step| step == "kube-apiserver"), "{first:?}");
    let second = runner.run(&playbook).await.unwrap();
    assert_eq!(needs_api(&second), ["roles", "dns"], "{second:?}");
    assert!(second.changed.is_empty(), "{second:?}");

    let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
    assert_eq!(read("etc/cluster-config/node-identity"), "master-01\n");
    assert_eq!(read("var/lib/cluster-state/node-role"), "master-first\n");
    insta::assert_snapshot!(read("etc/cluster-config/current-node.yaml"));

    let undone = runner.undo(&cluster::undos(&Reset::of(&layout))).await.unwrap();
    assert!(undone.failed.is_empty() && undone.notes.is_empty(), "{undone:?}");
    assert!(!cluster::tidy(&*runner.host.disk, &layout).unwrap());
    let left: Vec<_> = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["var"], "the state directory is made before anything can be noted");
}

/// `node-ready` restarts a kubelet whose Node was deleted; that is nothing a reset has to bring back.
#[tokio::test]
async fn a_node_whose_object_was_once_deleted_can_be_reset() {
    let root = tempfile::tempdir().unwrap();
    let layout = Layout::default();
    let runner = Runner::new(Host::rooted(root.path()), &layout.state_dir, "worker-01");
    let record = StepRecord {
        sequence: 1,
        progress: Progress::Verified,
        attempts: 1,
        started: runner.host.clock.now(),
        verified: None,
        undo: vec![UndoEntry::Act { key: "restart".into() }],
        error: None,
    };
    let steps = [(Ledger::key(cluster::NAME, cluster::ids::NODE_READY.as_str()), record)].into();
    fs::create_dir_all(root.path().join("var/lib/cluster-state")).unwrap();
    let mut ledger = Ledger { sequence: 1, steps, ..Ledger::default() };
    LedgerStore::new(&layout.state_dir).write(&*runner.host.disk, &mut ledger).unwrap();

    let undone = runner.undo(&cluster::undos(&Reset::of(&layout))).await.unwrap();
    assert!(undone.failed.is_empty() && undone.undone == ["node-ready"], "{undone:?}");
}

/// What we write is what we would accept as the node's own file.
#[tokio::test]
async fn the_current_node_fits_the_form_of_a_node_file() {
    let root = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/home");
    let cluster = example("home");
    let layout = Layout::default();
    for node in cluster.nodes() {
        let playbook = cluster::detect(&cluster, node, &layout).unwrap();
        let runner = Runner::new(Host::rooted(root.path()), &layout.state_dir, &node.name);
        assert!(runner.run(&playbook).await.unwrap().is_complete());

        let copy = tempfile::tempdir().unwrap();
        fs::create_dir(copy.path().join("nodes")).unwrap();
        fs::copy(source.join("cluster.yaml"), copy.path().join("cluster.yaml")).unwrap();
        let written = root.path().join("etc/cluster-config/current-node.yaml");
        fs::copy(written, copy.path().join(format!("nodes/{}.yaml", node.name))).unwrap();
        let checked = spec::check_dir(copy.path());
        let about_it: Vec<_> = checked.problems.iter().filter(|problem| problem.file.contains("nodes/")).collect();
        assert!(checked.cluster.is_some() && about_it.is_empty(), "{about_it:?}");
    }
}
