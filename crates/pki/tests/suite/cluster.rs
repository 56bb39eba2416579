//! From the text of a cluster.yaml to certificates.

use pki::{
    Input, Shared,
    table::{Names, Server},
};
use spec::{San, ValidatedCluster};

use crate::machine::{Machine, now};

const CLUSTER: &str = r"
cluster:
  name: paper
  networking:
    node_cidr: 192.168.7.0/24
    gateway: 192.168.7.1
    pod_cidr: 10.244.0.0/16
    service_cidr: 10.99.0.0/16
    domain: paper.internal
  api:
    port: 7443
    endpoint: api.paper.example:443
    extra_sans: [192.168.7.5]
nodes:
  - name: master-01
    ip: 192.168.7.11
    roles: [master]
";

fn cluster() -> ValidatedCluster {
    let checked = spec::check_text(CLUSTER);
    assert_eq!(checked.errors(), 0, "{:?}", checked.problems);
    checked.cluster.unwrap()
}

#[test]
fn everything_in_the_input_comes_from_the_cluster() {
    let cluster = cluster();
    let input = Input::new(&cluster, cluster.node("master-01").unwrap(), Shared::Make);
    let names = input.names(Names::ApiServer);
    for expected in ["kubernetes.default.svc.paper.internal", "api.paper.example", "master-01"] {
        assert!(names.contains(&San::Dns(expected.into())), "{expected}");
    }
    for expected in ["10.99.0.1", "192.168.7.5", "192.168.7.11"] {
        assert!(names.contains(&San::Ip(expected.parse().unwrap())), "{expected}");
    }
    assert_eq!(input.server_url(Server::OwnNode), "https://192.168.7.11:7443");
    assert_eq!(input.server_url(Server::Endpoint), "https://api.paper.example:443");
}

#[test]
fn a_validated_cluster_gets_a_complete_pki() {
    let cluster = cluster();
    let input = Input::new(&cluster, cluster.node("master-01").unwrap(), Shared::Make);
    let machine = Machine::complete(&input);
    assert_eq!(machine.plan(&input, now()).unwrap(), []);
}
