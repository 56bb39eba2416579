//! Which node a machine is, from what it shows.

#![expect(clippy::expect_used, reason = "a helper that fails is a test that fails")]

use explain::Explain;
use host::{Facts, Interface};
use nodekit::identity::{by_hardware, by_name};
use spec::ValidatedCluster;

fn cluster() -> ValidatedCluster {
    let text = r#"
cluster: { name: home }
nodes:
  - { name: master-01, ip: 192.168.1.10, roles: [master], hardware: { mac_addresses: ["52:54:00:00:00:10", "52:54:00:00:01:10"] } }
  - { name: worker-01, ip: 192.168.1.11, roles: [worker], hardware: { mac_addresses: [5254.0000.0011], dmi_uuid: 4C4C4544-0042-3510-8052-B4C04F4B4D32 } }
  - { name: worker-02, ip: 192.168.1.12, roles: [worker], hardware: { dmi_serial: XK-22 } }
"#;
    spec::check_text(text).cluster.expect("a valid cluster")
}

fn facts(macs: &[&str], uuid: Option<&str>, serial: Option<&str>) -> Facts {
    let interfaces = macs.iter().enumerate();
    Facts {
        interfaces: interfaces.map(|(n, mac)| Interface { name: format!("eth{n}"), mac: (*mac).into() }).collect(),
        dmi_uuid: uuid.map(Into::into),
        dmi_serial: serial.map(Into::into),
    }
}

#[test]
fn every_interface_and_dmi_count() {
    let cluster = cluster();
    for (facts, expected) in [
        (facts(&["52:54:00:00:00:10"], None, None), "master-01"),
        (facts(&["aa:aa:aa:aa:aa:aa", "52:54:00:00:01:10"], None, None), "master-01"),
        (facts(&["52:54:00:00:00:10", "52:54:00:00:01:10"], None, None), "master-01"),
        (facts(&["52:54:00:00:00:11"], None, None), "worker-01"),
        (facts(&[], Some("4c4c4544-0042-3510-8052-b4c04f4b4d32"), None), "worker-01"),
        (facts(&["aa:aa:aa:aa:aa:aa"], None, Some("XK-22")), "worker-02"),
    ] {
        assert_eq!(by_hardware(&cluster, &facts).unwrap().name, expected, "{facts:?}");
    }
}

#[test]
fn none_or_several_is_an_error_that_lists_what_was_seen() {
    let cluster = cluster();
    let cases = [
        facts(&["aa:aa:aa:aa:aa:aa", "bb:bb:bb:bb:bb:bb"], None, Some("XK-99")),
        facts(&[], None, None),
        facts(&["52:54:00:00:00:10", "52:54:00:00:00:11"], None, None),
        facts(&["52:54:00:00:00:10"], None, Some("XK-22")),
    ];
    let errors: Vec<String> = cases
        .iter()
        .map(|facts| by_hardware(&cluster, facts).unwrap_err())
        .map(|error| format!("{}: {error}", error.code()))
        .collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn a_name_given_by_hand_must_exist() {
    let cluster = cluster();
    assert_eq!(by_name(&cluster, "worker-02").unwrap().name, "worker-02");
    let error = by_name(&cluster, "worker-2").unwrap_err();
    insta::assert_snapshot!(format!("{}: {error}\nhint: {}", error.code(), error.hint().unwrap()));
}
