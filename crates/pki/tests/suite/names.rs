//! The names in certificates and the servers in kubeconfigs.

use std::collections::BTreeSet;

use pki::{
    Input,
    table::{Names, Server},
};
use spec::{Endpoint, San};

use crate::machine::input;

fn listed(names: &BTreeSet<San>) -> String {
    let shown = names.iter().map(|name| match name {
        San::Dns(name) => format!("DNS {name}"),
        San::Ip(ip) => format!("IP {ip}"),
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_api_server_answers_to_every_name_it_is_called_by() {
    let endpoint = Some(Endpoint { host: San::Dns("api.example.org".into()), port: 443 });
    let extra_sans = vec![San::Dns("k8s.example.org".into()), San::Ip([192, 0, 2, 9].into())];
    let input = Input { endpoint, extra_sans, hostname: "m1.example.org".into(), ..input() };
    insta::assert_snapshot!(listed(&input.names(Names::ApiServer)));
}

#[test]
fn an_etcd_member_answers_to_its_own_names_only() {
    let input = Input { hostname: "m1.example.org".into(), ..input() };
    insta::assert_snapshot!(listed(&input.names(Names::EtcdMember)));
}

#[test]
fn kubeconfigs_name_the_server_of_their_column() {
    let plain = input();
    let endpoint = Some(Endpoint { host: San::Dns("api.example.org".into()), port: 443 });
    let balanced = Input { endpoint, ..plain.clone() };
    let six = Input { ip: "fd00::11".parse().unwrap(), ..plain.clone() };
    for (input, server, expected) in [
        (&plain, Server::OwnNode, "https://192.168.1.11:6443"),
        (&plain, Server::Endpoint, "https://192.168.1.11:6443"),
        (&balanced, Server::OwnNode, "https://192.168.1.11:6443"),
        (&balanced, Server::Endpoint, "https://api.example.org:443"),
        (&six, Server::OwnNode, "https://[fd00::11]:6443"),
    ] {
        assert_eq!(input.server_url(server), expected);
    }
}
