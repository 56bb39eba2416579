//! Good descriptions: the examples and the documentation give no problem, and an independent validator agrees.

#![expect(clippy::unwrap_used, reason = "a failing unwrap in a test is the failure we want to see")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use spec::{BootstrapRole, Mac, NetworkAddOn, OsdStore, Role, check_dir, check_text, node_schema, report, schema};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn examples() -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    dirs.sort();
    dirs
}

fn yaml(path: &Path) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn examples_have_no_problem_at_all() {
    let examples = examples();
    assert!(examples.len() >= 3);
    for dir in examples {
        let checked = check_dir(&dir);
        assert!(checked.problems.is_empty(), "{}:\n{}", dir.display(), report(&checked.problems, false));
        assert!(checked.cluster.is_some(), "{}", dir.display());
    }
}

#[test]
fn examples_fit_the_schema() {
    let (cluster, node) =
        (jsonschema::validator_for(&schema()).unwrap(), jsonschema::validator_for(&node_schema()).unwrap());
    for dir in examples() {
        let file = dir.join("cluster.yaml");
        cluster.validate(&yaml(&file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let Ok(nodes) = fs::read_dir(dir.join("nodes")) else { continue };
        for file in nodes.map(|entry| entry.unwrap().path()) {
            node.validate(&yaml(&file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
    }
}

/// The schemas beside the examples are for editors. `UPDATE_SCHEMAS=1 cargo test -p spec` writes them again.
#[test]
fn schemas_beside_the_examples_are_current() {
    for (name, schema) in [("cluster", schema()), ("node", node_schema())] {
        let path = root().join(format!("examples/{name}.schema.json"));
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            fs::write(&path, format!("{schema:#}\n")).unwrap();
        }
        let written: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(written == schema, "{name}.schema.json is out of date; run with UPDATE_SCHEMAS=1");
    }
}

#[test]
fn the_home_example_becomes_this_cluster() {
    let cluster = check_dir(&root().join("examples/home")).cluster.unwrap();
    let names: Vec<&str> = cluster.nodes().iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["master-01", "worker-01", "worker-02"]);
    let worker = cluster.node("worker-01").unwrap();
    assert_eq!(worker.hardware.mac_addresses, [Mac([0x52, 0x54, 0, 0, 0, 0x21])]);
    assert_eq!(worker.roles, [Role::Worker].into());
    assert_eq!(cluster.bootstrap_role(worker), BootstrapRole::Worker);
    assert_eq!(cluster.bootstrap_role(cluster.node("master-01").unwrap()), BootstrapRole::MasterFirst);
    assert!(cluster.ceph().is_none());
}

#[test]
fn the_ceph_example_becomes_this_cluster() {
    let cluster = check_dir(&root().join("examples/ha-ceph")).cluster.unwrap();
    assert_eq!(cluster.masters().count(), 3);
    let ceph = cluster.ceph().unwrap();
    assert_eq!(ceph.cluster_network.to_string(), "10.21.0.0/22");
    assert_eq!((ceph.pool_size, ceph.pool_min_size, ceph.osd_memory_target, ceph.dashboard), (3, 2, 8 << 30, true));
    let disks: Vec<&OsdStore> =
        cluster.with_role(Role::CephOsd).flat_map(|node| &node.osds).map(|osd| &osd.store).collect();
    assert_eq!(disks.len(), 6);
    assert_eq!(*disks[5], OsdStore::Device("/dev/disk/by-path/pci-0000:3c:00.0-nvme-1".into()));
    assert_eq!(cluster.networking().add_on, NetworkAddOn::Manifest("manifests/calico.yaml".into()));
    let second = cluster.node("master-02").unwrap();
    assert_eq!(second.hardware.mac_addresses[0].to_string(), "3c:ec:ef:00:00:12");
    assert_eq!(cluster.bootstrap_role(second), BootstrapRole::MasterAdditional);
}

/// The bootstrap node is a machine of its own and no member of what is left in the end.
#[test]
fn the_pivot_example_becomes_this_cluster() {
    let cluster = check_dir(&root().join("examples/pivot")).cluster.unwrap();
    let bootstrap = cluster.bootstrap_node().unwrap();
    assert_eq!((bootstrap.name.as_str(), bootstrap.ip), ("bootstrap", "192.168.10.9".parse().unwrap()));
    assert_eq!(cluster.bootstrap_role(bootstrap), BootstrapRole::Bootstrap);
    assert!(!cluster.bootstrap_role(bootstrap).is_master());
    let names = |nodes: Vec<&spec::Node>| nodes.iter().map(|node| node.name.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(names(cluster.nodes().iter().collect()), "master-01 master-02 master-03 worker-01");
    assert_eq!(names(cluster.masters().collect()), "master-01 master-02 master-03");
    assert_eq!(names(cluster.machines().collect()), "master-01 master-02 master-03 worker-01 bootstrap");
    assert!(cluster.node("bootstrap").is_none() && cluster.machine("bootstrap").is_some());
    assert_eq!(cluster.bootstrap_role(cluster.node("master-01").unwrap()), BootstrapRole::MasterFirst);
    let without = check_dir(&root().join("examples/home")).cluster.unwrap();
    assert!(without.bootstrap_node().is_none());
    assert_eq!(without.machines().count(), without.nodes().len());
}

/// What the schema and the documentation call the default is what a cluster gets that says nothing.
#[test]
fn defaults_are_those_of_the_schema() {
    let cluster = check_dir(&root().join("examples/minimal")).cluster.unwrap();
    let networking = cluster.networking();
    let schema = schema();
    let default = |pointer: &str| {
        let pointer = format!("/properties/cluster/properties/{}/default", pointer.replace('.', "/properties/"));
        schema.pointer(&pointer).unwrap_or_else(|| panic!("{pointer}")).clone()
    };
    let dns: Vec<String> = networking.dns.iter().map(ToString::to_string).collect();
    for (key, actual) in [
        ("kubernetes_version", Value::from(cluster.kubernetes_version().to_string())),
        ("networking.pod_cidr", networking.pod_cidr.to_string().into()),
        ("networking.pod_prefix_per_node", networking.pod_prefix_per_node.into()),
        ("networking.service_cidr", networking.service_cidr.to_string().into()),
        ("networking.dns", dns.into()),
        ("networking.domain", networking.domain.as_str().into()),
        ("api.port", cluster.api().port.into()),
    ] {
        assert_eq!(default(key), actual, "{key}");
    }
    assert_eq!(networking.node_cidr.to_string(), "192.168.1.0/24");
    assert_eq!(networking.gateway, Some("192.168.1.1".parse().unwrap()));
    assert_eq!(networking.add_on, NetworkAddOn::Basic);
    assert_eq!(networking.api_service_ip().to_string(), "10.96.0.1");
    assert_eq!(networking.dns_service_ip().to_string(), "10.96.0.10");
}

/// What a cluster with this many nodes with OSDs gets that says nothing about its pools.
#[test]
fn there_are_no_more_copies_than_nodes_to_keep_them() {
    for (nodes, expected) in [(0, (3, 2)), (1, (1, 1)), (2, (2, 1)), (3, (3, 2)), (5, (3, 2))] {
        let mut text =
            "cluster: {name: a}\nnodes:\n- {name: m, ip: 10.0.0.10, roles: [master, ceph-mon, ceph-mgr]}\n".to_owned();
        for node in 0..nodes {
            text += &format!(
                "- {{name: w{node}, ip: 10.0.0.2{node}, roles: [ceph-osd], ceph: {{osds: [{{device: /dev/sdb}}]}}}}\n"
            );
        }
        let checked = check_text(&text);
        let cluster = checked.cluster.unwrap_or_else(|| panic!("{}", report(&checked.problems, false)));
        let ceph = cluster.ceph().unwrap();
        assert_eq!((ceph.pool_size, ceph.pool_min_size), expected, "{nodes} nodes");
        assert_eq!(ceph.osd_memory_target, 4 << 30);
    }
}

#[test]
fn an_ipv6_cluster_has_ipv6_defaults() {
    let checked = check_text(
        "cluster: {name: six}\nnodes:\n  - name: m\n    ip: fd00:1::10\n    roles: [master]\n    \
         hardware: {dmi_serial: S1}\n",
    );
    assert!(checked.problems.is_empty(), "{}", report(&checked.problems, false));
    let networking = checked.cluster.unwrap().networking().clone();
    assert_eq!(networking.node_cidr.to_string(), "fd00:1::/64");
    assert_eq!(networking.gateway, Some("fd00:1::1".parse().unwrap()));
    assert_eq!(networking.pod_cidr.to_string(), "fd00:10:244::/56");
    assert_eq!(networking.pod_prefix_per_node, 64);
    assert_eq!(networking.dns_service_ip().to_string(), "fd00:10:96::a");
    assert!(networking.dns.iter().all(std::net::IpAddr::is_ipv6));
}
