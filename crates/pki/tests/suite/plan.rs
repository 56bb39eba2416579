//! The plan on healthy machines.

use std::{fs, os::unix::fs::PermissionsExt};

use host::{Change, Content};
use pki::{Shared, Which, table};
use spec::{Endpoint, San};

use crate::machine::{Machine, days_later, input, now, outcome, written};

#[test]
fn an_empty_machine_gets_everything_in_a_safe_order() {
    let changes = Machine::new().plan(&input(), now()).unwrap();
    let shown: Vec<String> = changes
        .iter()
        .map(|change| match change {
            Change::File { path, mode, content: Content::Secret(_) } => format!("{mode:04o} secret {}", path.display()),
            Change::File { path, mode, content: Content::Plain(_) } => format!("{mode:04o} plain  {}", path.display()),
            other => other.to_string(),
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_complete_machine_gets_nothing() {
    let machine = Machine::complete(&input());
    assert_eq!(machine.plan(&input(), now()).unwrap(), []);
    let additional = pki::Input { shared: Shared::Bring, ..input() };
    assert_eq!(machine.plan(&additional, now()).unwrap(), []);
}

#[test]
fn what_changed_in_the_cluster_is_followed_and_nothing_else() {
    let machine = Machine::complete(&input());
    let edited = |edit: fn(&mut pki::Input)| {
        let mut input = input();
        edit(&mut input);
        input
    };
    let endpoint = |input: &mut pki::Input| {
        input.endpoint = Some(Endpoint { host: San::Dns("api.example.org".into()), port: 443 });
    };
    let mut lines = Vec::new();
    for (what, input) in [
        ("extra name", edited(|input| input.extra_sans.push(San::Dns("k8s.example.org".into())))),
        ("service network", edited(|input| input.service_ip = [10, 97, 0, 1].into())),
        ("domain", edited(|input| input.domain = "example.internal".into())),
        ("endpoint", edited(endpoint)),
        ("port", edited(|input| input.port = 7443)),
        ("host name", edited(|input| input.hostname = "m1.example.org".into())),
        ("address", edited(|input| input.ip = [192, 168, 1, 99].into())),
        ("node name", edited(|input| input.node = "master-09".into())),
        ("cluster name", edited(|input| input.cluster = "prod".into())),
    ] {
        lines.push(format!("{what}: {}", outcome(&machine.plan(&input, now()))));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn time_passes() {
    let machine = Machine::complete(&input());
    let lines: Vec<String> = [-1, 0, 243, 328, 329, 364, 366, 3649, 3650, 40_000]
        .map(|days| format!("day {days}: {}", outcome(&machine.plan(&input(), days_later(days)))))
        .into();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_clock_before_the_build_stops_everything() {
    let result = Machine::new().plan(&input(), "2001-01-01T00:00:00Z".parse().unwrap());
    assert!(outcome(&result).starts_with("BS-PKI-001 the clock says 2001-01-01T00:00:00Z"), "{}", outcome(&result));
}

#[test]
fn a_certificate_from_the_future_is_made_again() {
    let machine = Machine::complete(&input());
    machine.apply(&pki::renewal(&machine.existing(), &input(), days_later(10), Which::One("etcd-peer")).unwrap());
    let changes = machine.plan(&input(), days_later(5)).unwrap();
    assert_eq!(written(&changes), ["pki/etcd/peer.key", "pki/etcd/peer.crt"]);
}

#[test]
fn a_name_that_no_certificate_can_carry_is_reported_with_its_file() {
    let unusual = pki::Input { extra_sans: vec![San::Dns("bücher.example".into())], ..input() };
    let reported = outcome(&Machine::new().plan(&unusual, now()));
    assert_eq!(reported, "BS-PKI-013 cannot make /etc/kubernetes/pki/apiserver.crt");
}

#[test]
fn a_master_that_joins_makes_its_own_certificates_but_no_ca() {
    let first = Machine::complete(&input());
    let joining = pki::Input {
        node: "master-02".into(),
        hostname: "master-02".into(),
        ip: [192, 168, 1, 12].into(),
        shared: Shared::Bring,
        ..input()
    };
    let second = Machine::new();
    insta::assert_snapshot!(outcome(&second.plan(&joining, now())));

    fs::create_dir_all(second.at("pki/etcd")).unwrap();
    for row in table::CAS {
        second.take(&row.key(), &first);
        second.take(&row.certificate(), &first);
    }
    second.take(table::SERVICE_ACCOUNT.key, &first);
    second.take(table::SERVICE_ACCOUNT.public, &first);
    second.apply(&second.plan(&joining, now()).unwrap());
    assert_eq!(second.plan(&joining, now()).unwrap(), []);
    assert_eq!(second.read("pki/ca.crt"), first.read("pki/ca.crt"));
}

#[test]
fn modes_are_private_and_made_so_again() {
    let machine = Machine::complete(&input());
    let mode = |name: &str| fs::metadata(machine.at(name)).unwrap().permissions().mode() & 0o7777;
    for directory in ["", "pki", "pki/etcd"] {
        assert_eq!(mode(directory), 0o700, "{directory}");
    }
    for file in table::files() {
        assert_eq!(mode(&file), 0o600, "{file}");
    }

    let key = machine.read("pki/ca.key");
    fs::set_permissions(machine.at("pki/ca.key"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(machine.at("pki/etcd"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(machine.at(""), fs::Permissions::from_mode(0o755)).unwrap();
    let changes = machine.plan(&input(), now()).unwrap();
    assert_eq!(written(&changes), ["pki/etcd", "pki/ca.key"]);
    machine.apply(&changes);
    assert_eq!(machine.plan(&input(), now()).unwrap(), []);
    assert_eq!((mode("pki/ca.key"), machine.read("pki/ca.key")), (0o600, key));
    assert_eq!(mode(""), 0o755, "the root is shared with others");
}

#[test]
fn no_secret_is_shown() {
    let shown = format!("{:?}", Machine::new().plan(&input(), now()).unwrap());
    assert!(shown.contains("BEGIN CERTIFICATE"));
    assert!(!shown.contains("PRIVATE KEY"));
}
