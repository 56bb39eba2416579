use k8s_openapi::{
    ByteString,
    api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestSpec},
};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, SanType};
use serde_json::json;

use super::*;
use crate::testing::{cluster, cluster_with};

/// A request as a kubelet makes it; cases change what they are about.
struct Draft {
    signer: &'static str,
    common_name: String,
    organization: &'static str,
    dns: Vec<&'static str>,
    ips: Vec<&'static str>,
    uri: bool,
    weak: bool,
    usages: Vec<&'static str>,
    username: String,
    groups: Vec<&'static str>,
    pem: Option<&'static str>,
    known: Known,
}

fn client(node: &str) -> Draft {
    Draft {
        signer: "kubernetes.io/kube-apiserver-client-kubelet",
        common_name: format!("system:node:{node}"),
        organization: "system:nodes",
        dns: vec![],
        ips: vec![],
        uri: false,
        weak: false,
        usages: vec!["digital signature", "client auth"],
        username: format!("system:node:{node}"),
        groups: vec!["system:nodes", "system:authenticated"],
        pem: None,
        known: Known::default(),
    }
}

fn first(node: &str) -> Draft {
    Draft {
        username: "system:bootstrap:abcdef".into(),
        groups: vec!["system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token", "system:authenticated"],
        known: Known { node: None, token: Some(Token { node: None }) },
        ..client(node)
    }
}

fn serving(node: &str, dns: &[&'static str], ips: &[&'static str]) -> Draft {
    Draft {
        signer: "kubernetes.io/kubelet-serving",
        dns: dns.to_vec(),
        ips: ips.to_vec(),
        usages: vec!["digital signature", "server auth"],
        ..client(node)
    }
}

fn with_node(addresses: &[(&str, &str)], draft: Draft) -> Draft {
    let addresses: Vec<_> =
        addresses.iter().map(|(kind, address)| json!({ "type": kind, "address": address })).collect();
    let node = json!({ "metadata": { "name": "any" }, "status": { "addresses": addresses } });
    Draft { known: Known { node: serde_json::from_value(node).unwrap(), ..draft.known }, ..draft }
}

fn bound_to(node: &str, draft: Draft) -> Draft {
    Draft { known: Known { token: Some(Token { node: Some(node.to_owned()) }), ..draft.known }, ..draft }
}

impl Draft {
    fn csr(&self) -> CertificateSigningRequest {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, self.organization);
        params.distinguished_name.push(DnType::CommonName, self.common_name.clone());
        let dns = self.dns.iter().map(|name| SanType::DnsName((*name).try_into().unwrap()));
        let ips = self.ips.iter().map(|ip| SanType::IpAddress(ip.parse().unwrap()));
        let uri = self.uri.then(|| SanType::URI("spiffe://x".try_into().unwrap()));
        params.subject_alt_names = dns.chain(ips).chain(uri).collect();
        let algorithm = if self.weak { &PKCS_ED25519 } else { &PKCS_ECDSA_P256_SHA256 };
        let pem = params.serialize_request(&KeyPair::generate_for(algorithm).unwrap()).unwrap().pem().unwrap();
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        CertificateSigningRequest {
            spec: CertificateSigningRequestSpec {
                signer_name: self.signer.to_owned(),
                request: ByteString(self.pem.unwrap_or(&pem).as_bytes().to_vec()),
                usages: Some(owned(&self.usages)),
                username: Some(self.username.clone()),
                groups: Some(owned(&self.groups)),
                ..CertificateSigningRequestSpec::default()
            },
            ..CertificateSigningRequest::default()
        }
    }

    fn decided(&self, cluster: &ValidatedCluster) -> String {
        let decision = match Ask::read(&self.csr()) {
            Ok(None) => return "ignored".to_owned(),
            Ok(Some(ask)) => decide(&ask, cluster, &self.known),
            Err(denial) => Decision::Deny(denial),
        };
        match decision {
            Decision::Approve => "approved".to_owned(),
            Decision::Deny(denial) => format!("{} {}", denial.code, denial.seen),
            Decision::Later(denial) => format!("later, or {} {}", denial.code, denial.seen),
        }
    }
}

fn report(cluster: &ValidatedCluster, cases: Vec<(&str, Draft)>) -> String {
    cases.into_iter().map(|(what, draft)| format!("{what}: {}\n", draft.decided(cluster))).collect()
}

#[test]
fn client_certificates() {
    let cases = vec![
        ("a worker renews", client("worker-01")),
        ("a master renews", client("master-01")),
        (
            "with key encipherment",
            Draft { usages: vec!["key encipherment", "digital signature", "client auth"], ..client("worker-01") },
        ),
        ("a worker joins with a token", first("worker-01")),
        ("a worker joins with its token", bound_to("worker-01", first("worker-01"))),
        ("another signer", Draft { signer: "kubernetes.io/kube-apiserver-client", ..client("worker-01") }),
        ("another worker asks", Draft { username: "system:node:worker-02".into(), ..client("worker-01") }),
        ("a worker asks for a master", Draft { username: "system:node:worker-01".into(), ..client("master-01") }),
        (
            "a person asks",
            Draft { username: "kubernetes-admin".into(), groups: vec!["system:masters"], ..client("worker-01") },
        ),
        ("a user who is called like a node", Draft { groups: vec!["system:authenticated"], ..client("worker-01") }),
        ("a user who is called like a token", Draft { groups: vec!["system:authenticated"], ..first("worker-01") }),
        ("a node with a token of another", bound_to("worker-02", first("worker-01"))),
        ("a token that is gone", Draft { known: Known::default(), ..first("worker-01") }),
        ("a token for a master", first("master-01")),
        ("a token for a node that is there", with_node(&[], first("worker-01"))),
        ("a token for a stranger", first("stranger")),
        ("a stranger renews", client("stranger")),
        ("no node", Draft { common_name: "kubernetes-admin".into(), ..client("worker-01") }),
        ("no name", client("")),
        ("another group", Draft { organization: "system:masters", ..client("worker-01") }),
        ("server auth", Draft { usages: vec!["digital signature", "server auth"], ..client("worker-01") }),
        ("more usages", Draft { usages: vec!["digital signature", "client auth", "cert sign"], ..client("worker-01") }),
        ("no usages", Draft { usages: vec![], ..client("worker-01") }),
        ("with names", Draft { dns: vec!["kubernetes"], ..client("worker-01") }),
        ("a weak key", Draft { weak: true, ..client("worker-01") }),
        ("no request", Draft { pem: Some("hello"), ..client("worker-01") }),
    ];
    insta::assert_snapshot!(report(&cluster(), cases));
}

#[test]
fn serving_certificates() {
    let ours = || serving("worker-02", &["worker-02"], &["10.0.0.22"]);
    let cases = vec![
        ("name and address", ours()),
        ("name, host name and address", serving("worker-02", &["worker-02", "rack-7"], &["10.0.0.22"])),
        ("host name and address", serving("worker-02", &["rack-7"], &["10.0.0.22"])),
        ("no name", serving("worker-02", &[], &["10.0.0.22"])),
        ("no address", serving("worker-02", &["worker-02"], &[])),
        ("nothing at all", serving("worker-02", &[], &[])),
        ("a second address", serving("worker-02", &["worker-02"], &["10.0.0.22", "10.96.0.1"])),
        ("a master's address", serving("worker-02", &["worker-02"], &["10.0.0.11"])),
        ("the API server's name", serving("worker-02", &["worker-02", "kubernetes"], &["10.0.0.22"])),
        ("a URI", Draft { uri: true, ..ours() }),
        ("client auth", Draft { usages: vec!["digital signature", "client auth"], ..ours() }),
        ("asked by another node", Draft { username: "system:node:worker-01".into(), ..ours() }),
        (
            "asked with a token",
            Draft { username: "system:bootstrap:abcdef".into(), groups: vec!["system:bootstrappers"], ..ours() },
        ),
        ("a stranger", serving("stranger", &["stranger"], &["10.0.0.99"])),
    ];
    insta::assert_snapshot!(report(&cluster(), cases));
}

#[test]
fn nodes_that_are_not_listed_where_they_are_allowed() {
    let guest = |dns: &[&'static str], ips: &[&'static str]| {
        with_node(
            &[
                ("InternalIP", "10.0.0.99"),
                ("Hostname", "guest"),
                ("InternalIP", "10.0.0.11"),
                ("InternalIP", "127.0.0.1"),
                ("ExternalIP", "10.96.0.1"),
                ("InternalDNS", "kubernetes.default.svc"),
                ("InternalDNS", "worker-01"),
            ],
            serving("guest", dns, ips),
        )
    };
    let cases = vec![
        ("joins with a token", first("guest")),
        ("joins with the token of a listed one", bound_to("worker-01", first("guest"))),
        ("joins as a master", first("master-01")),
        ("renews", client("guest")),
        ("serves", guest(&["guest"], &["10.0.0.99"])),
        ("serves before it is there", serving("guest", &["guest"], &["10.0.0.99"])),
        ("an address that is not its own", guest(&["guest"], &["10.0.0.98"])),
        ("a master's address", guest(&["guest"], &["10.0.0.99", "10.0.0.11"])),
        ("loopback", guest(&["guest"], &["127.0.0.1"])),
        ("the API's service address", guest(&["guest"], &["10.96.0.1"])),
        ("the API's service name", guest(&["kubernetes.default.svc"], &["10.0.0.99"])),
        ("a listed node's name", guest(&["worker-01"], &["10.0.0.99"])),
        (
            "a listed worker is still held to cluster.yaml",
            with_node(&[("InternalIP", "10.0.0.98")], serving("worker-01", &["worker-01"], &["10.0.0.98"])),
        ),
    ];
    let cluster = cluster_with("  bootstrap: { unlisted_nodes: allow }");
    insta::assert_snapshot!(report(&cluster, cases));
}

#[test]
fn the_message_says_what_was_seen_and_what_to_do() {
    let ask = Ask::read(&first("stranger").csr()).unwrap().unwrap();
    let denial = check(&ask, &cluster(), &Known::default()).unwrap_err();
    insta::assert_snapshot!(denial.message());
}
