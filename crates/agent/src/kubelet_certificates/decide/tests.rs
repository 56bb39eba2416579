use super::{
    super::drafts::{Draft, addresses_of_others, bound_to, client, first, serving, with_node},
    *,
};
use crate::testing::{cluster, cluster_with};

impl Draft {
    fn decided(&self, cluster: &ValidatedCluster) -> String {
        let decision = match Ask::read(&self.csr()) {
            Ok(None) => return "ignored".to_owned(),
            Ok(Some(ask)) => decide(&ask, cluster, &self.known),
            Err(denial) => Decision::Deny(denial),
        };
        match decision {
            Decision::Fits => "fits".to_owned(),
            Decision::Deny(denial) => format!("{} {}", denial.code, denial.seen),
            Decision::Later(denial) => format!("later, or {} {}", denial.code, denial.seen),
        }
    }
}

fn report(cluster: &ValidatedCluster, cases: Vec<(&str, Draft)>) -> String {
    cases.into_iter().map(|(what, draft)| format!("{what}: {}\n", draft.decided(cluster))).collect()
}

/// The honest request for us, another one for Go.
fn two_faces() -> Vec<u8> {
    let pem = |draft: Draft| String::from_utf8(draft.csr().spec.request.0).unwrap();
    let honest = pem(client("worker-01")).replace("END CERTIFICATE REQUEST", "END X");
    (honest + &pem(client("master-01"))).into_bytes()
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
        ("no request", Draft { pem: Some(b"hello".to_vec()), ..client("worker-01") }),
        ("no text", Draft { pem: Some(vec![0xff; 300]), ..client("worker-01") }),
        ("two faces", Draft { pem: Some(two_faces()), ..client("worker-01") }),
        ("as other programs write it", Draft { utf8: true, ..client("worker-01") }),
    ];
    insta::assert_snapshot!(report(&cluster(), cases));
}

/// Even where strangers may join.
#[test]
fn no_stranger_is_the_bootstrap_node() {
    let cluster = crate::testing::with_bootstrap_node();
    for (name, is_denied) in [("bootstrap", true), ("stranger", false)] {
        let decided = first(name).decided(&cluster);
        assert_eq!(decided != "fits", is_denied, "{name}: {decided}");
    }
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
    let named = |name: &'static str, dns: &[&'static str], ips: &[&'static str]| {
        // Its kubelet may say of it whatever it likes.
        let output = [name].into_iter().chain(dns.iter().copied()).map(|name| ("InternalDNS", name));
        let addresses: Vec<_> = output.chain(ips.iter().map(|ip| ("InternalIP", *ip))).collect();
        with_node(&addresses, serving(name, dns, ips))
    };
    let guest = |dns: &[&'static str], ips: &[&'static str]| named("guest", dns, ips);
    let cases = vec![
        ("joins with a token", first("guest")),
        ("joins with the token of a listed one", bound_to("worker-01", first("guest"))),
        ("joins as a master", first("master-01")),
        ("joins as a listed one in upper case", first("Worker-01")),
        ("joins under no name at all", first("a..b")),
        ("renews", client("guest")),
        ("serves", guest(&["guest"], &["10.0.0.99"])),
        ("serves with two families", guest(&["guest"], &["10.0.0.99", "2001:db8::99"])),
        ("serves by address alone", guest(&[], &["10.0.0.99"])),
        ("serves before it is there", serving("guest", &["guest"], &["10.0.0.99"])),
        ("another name of its own", guest(&["guest", "guest.example.org"], &["10.0.0.99"])),
        (
            "an address that is not its own",
            with_node(&[("InternalIP", "10.0.0.99")], serving("guest", &["guest"], &["10.0.0.98"])),
        ),
        ("an address of another Node", addresses_of_others(&["10.0.0.99"], guest(&["guest"], &["10.0.0.99"]))),
        ("a master's address", guest(&["guest"], &["10.0.0.99", "10.0.0.11"])),
        ("a worker's address", guest(&["guest"], &["10.0.0.21"])),
        ("a master's address as IPv6", guest(&["guest"], &["::ffff:10.0.0.11"])),
        ("loopback", guest(&["guest"], &["127.0.0.1"])),
        ("loopback, the other family", guest(&["guest"], &["::1"])),
        ("no address", guest(&["guest"], &["0.0.0.0"])),
        ("everybody", guest(&["guest"], &["224.0.0.1", "255.255.255.255"])),
        ("link-local", guest(&["guest"], &["169.254.0.1", "fe80::1"])),
        ("the API's service address", guest(&["guest"], &["10.96.0.1"])),
        ("another service's address", guest(&["guest"], &["10.96.0.10"])),
        ("a pod's address", guest(&["guest"], &["10.244.1.7"])),
        ("the API's service name", guest(&["kubernetes.default.svc"], &["10.0.0.99"])),
        ("a wildcard", guest(&["*.default.svc"], &["10.0.0.99"])),
        ("upper case", guest(&["KUBERNETES"], &["10.0.0.99"])),
        ("its own name in upper case", guest(&["Guest"], &["10.0.0.99"])),
        ("localhost", guest(&["localhost"], &["10.0.0.99"])),
        ("a listed node's name", guest(&["worker-01"], &["10.0.0.99"])),
        ("called like the API", named("kubernetes", &["kubernetes"], &["10.0.0.99"])),
        ("called like a service", named("db.default.svc", &["db.default.svc"], &["10.0.0.99"])),
        (
            "called like a service, in full",
            named("db.default.svc.cluster.local", &["db.default.svc.cluster.local"], &["10.0.0.99"]),
        ),
        ("called like every machine", named("x.localhost", &["x.localhost"], &["10.0.0.99"])),
        ("called like a listed one's host", named("rack-7", &["rack-7"], &["10.0.0.99"])),
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
