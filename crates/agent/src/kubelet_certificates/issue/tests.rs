use std::sync::Arc;

use jiff::Timestamp;
use pki::{Input, Shared};
use x509_parser::{extensions::GeneralName, pem::Pem};

use super::{
    super::drafts::{Draft, client, serving},
    *,
};
use crate::testing::{Scripted, agent, cluster_with};

/// A master with a CA.
fn master() -> Agent {
    let agent = agent("master-01", &Arc::new(Scripted::default()));
    let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir).unwrap();
    let input = Input::new(&agent.cluster, &agent.node, Shared::Make);
    for change in pki::plan(&existing, &input, Timestamp::now()).unwrap() {
        change.apply(&*agent.host.disk).unwrap();
    }
    agent
}

fn ask(draft: &Draft) -> Ask {
    Ask::read(&draft.csr()).unwrap().unwrap()
}

/// What a verifier sees.
fn output(pem: &str) -> String {
    let blocks: Vec<Pem> = Pem::iter_from_buffer(pem.as_bytes()).map(Result::unwrap).collect();
    let [block] = &blocks[..] else { panic!("a kubelet wants its own certificate and no chain: {pem}") };
    let certificate = block.parse_x509().unwrap();
    let names: Vec<String> = certificate
        .subject_alternative_name()
        .unwrap()
        .into_iter()
        .flat_map(|names| &names.value.general_names)
        .map(|name| match name {
            GeneralName::DNSName(name) => (*name).to_owned(),
            GeneralName::IPAddress(bytes) => format!("{bytes:?}"),
            other => panic!("{other:?}"),
        })
        .collect();
    let usage = certificate.extended_key_usage().unwrap().unwrap().value;
    let key_usage = certificate.key_usage().unwrap().unwrap().value;
    let minutes = (certificate.validity().not_after.timestamp() - Timestamp::now().as_second() + 30) / 60;
    format!(
        "{}; names: {}; client: {}, server: {}; {key_usage}; CA: {}; {minutes} minutes",
        certificate.subject(),
        names.join(" "),
        usage.client_auth,
        usage.server_auth,
        certificate.is_ca(),
    )
}

#[test]
fn certificates_say_what_cluster_yaml_says() {
    let master = master();
    let short = |seconds| Draft { expiration_seconds: Some(seconds), ..client("worker-01") };
    let cases = [
        ("client", client("worker-01")),
        ("serving, with all of its names", serving("worker-02", &["worker-02", "rack-7"], &["10.0.0.22"])),
        ("serving, asked for less", serving("worker-02", &["rack-7"], &["10.0.0.22"])),
        ("for an hour", short(3600)),
        ("for too short a time", short(1)),
        ("for too long a time", short(i32::MAX)),
    ];
    let report: Vec<String> =
        cases.iter().map(|(what, draft)| format!("{what}: {}", output(&sign(&master, &ask(draft)).unwrap()))).collect();
    insta::assert_snapshot!(report.join("\n"));
}

#[test]
fn only_the_key_comes_from_the_request() {
    let master = master();
    let ask = ask(&client("worker-01"));
    let pem = sign(&master, &ask).unwrap();
    let block = Pem::iter_from_buffer(pem.as_bytes()).next().unwrap().unwrap();
    let certificate = block.parse_x509().unwrap();
    let ca = master.host.disk.read(&master.paths.kubernetes_dir.join("pki/ca.crt")).unwrap();
    let ca = Pem::iter_from_buffer(&ca).next().unwrap().unwrap();
    assert!(certificate.verify_signature(Some(ca.parse_x509().unwrap().public_key())).is_ok());
    assert_eq!(ask.request.public_key_info(), certificate.public_key().raw);
}

#[test]
fn a_node_that_is_not_listed_gets_the_names_that_were_found_to_be_its_own() {
    let cluster = cluster_with("  bootstrap: { unlisted_nodes: allow }");
    let ask = ask(&serving("guest", &["guest"], &["10.0.0.99"]));
    assert_eq!(contents(&ask, &cluster).names, ask.request.names);
}

#[test]
fn without_the_ca_nothing_is_signed() {
    let agent = agent("master-01", &Arc::new(Scripted::default()));
    assert!(sign(&agent, &ask(&client("worker-01"))).is_err());
}
