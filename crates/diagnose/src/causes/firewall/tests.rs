use serde_json::{Value, json};

use super::*;

const CLUSTER: &str = "cluster: { name: home }\n\
    nodes: [{ name: m, ip: 192.168.1.10, roles: [master] }, { name: w, ip: 192.168.1.11, roles: [worker] }]";

fn chain(name: &str, hook: Option<&str>, policy: &str) -> Value {
    json!({ "chain": {
        "family": "inet", "table": "t", "name": name, "handle": 1, "type": "filter", "hook": hook, "prio": 0, "policy": policy,
    } })
}

fn rule(chain: &str, handle: u64, expr: &Value) -> Value {
    json!({ "rule": { "family": "inet", "table": "t", "chain": chain, "handle": handle, "expr": expr } })
}

fn dport(port: &Value) -> Value {
    json!({ "match": { "op": "==", "left": { "payload": { "protocol": "tcp", "field": "dport" } }, "right": port } })
}

fn iif(name: &str) -> Value {
    json!({ "match": { "op": "==", "left": { "meta": { "key": "iifname" } }, "right": name } })
}

/// What is reported of a node whose packet filter has these rules.
fn reported(node: &str, objects: &[Value]) -> String {
    let cluster = spec::check_text(CLUSTER).cluster.unwrap();
    let rules = Ruleset::parse(&json!({ "nftables": objects }).to_string()).unwrap();
    let dropped = dropped(&rules, &connections(&cluster, cluster.node(node).unwrap()), Some("eth0"));
    let shown = "chain input { # handle 1\n\t\ttcp dport 6443 drop # handle 5\n}\n";
    dropped
        .iter()
        .map(|(place, whose)| evaluate(place, whose, shown))
        .map(|one| format!("{}\n{}\n", one.evidence, one.fix))
        .collect()
}

#[test]
fn a_rule_that_drops_is_named_with_what_it_drops() {
    let rules = [
        chain("input", Some("input"), "accept"),
        rule("input", 5, &json!([dport(&json!(6443)), { "counter": null }, { "drop": null }])),
    ];
    insta::assert_snapshot!(reported("m", &rules), @r"
    chain `input` of table `inet t` has the rule `tcp dport 6443 drop`, which drops connections of this node to its API server (port 6443), from w to the API server (port 6443)
    `nft delete rule inet t input handle 5`, and whatever writes it
    ");
    assert_eq!(reported("w", &rules), "", "no connection of a worker uses this port");
}

#[test]
fn a_chain_that_drops_all_that_is_not_accepted() {
    let mut rules = vec![
        chain("input", Some("input"), "drop"),
        chain("open", None, "accept"),
        rule("input", 5, &json!([iif("lo"), { "accept": null }])),
        rule("input", 6, &json!([{ "jump": { "target": "open" } }])),
        rule("open", 7, &json!([dport(&json!({ "set": [22, 6443, 7444] })), { "accept": null }])),
    ];
    insta::assert_snapshot!(reported("w", &rules), @r"
    chain `input` of table `inet t` drops what it has no rule for, and has none for connections from m to the kubelet (port 10250)
    `nft insert rule inet t input tcp dport { 10250 } accept`
    ");
    assert_eq!(reported("m", &rules), "", "what a master needs is open");
    rules.push(rule("input", 8, &json!([{ "limit": { "rate": 9 } }, { "accept": null }])));
    assert_eq!(reported("w", &rules), "", "it may be accepted");
}

#[test]
fn what_goes_out_counts_too() {
    let rules = [
        chain("output", Some("output"), "accept"),
        rule("output", 5, &json!([dport(&json!(7444)), { "reject": { "type": "tcp reset" } }])),
    ];
    assert!(reported("w", &rules).contains("to the join service of m (port 7444)"), "{}", reported("w", &rules));
    assert_eq!(reported("m", &rules), "");
}

#[test]
fn rules_that_do_not_concern_the_node_are_ignored() {
    let unknown = json!({ "match": { "op": "==", "left": { "meta": { "key": "mark" } }, "right": 1 } });
    for rules in [
        vec![],
        vec![chain("input", Some("input"), "accept"), rule("input", 5, &json!([dport(&json!(22)), { "drop": null }]))],
        vec![chain("input", Some("input"), "accept"), rule("input", 5, &json!([unknown, { "drop": null }]))],
        vec![chain("forward", Some("forward"), "drop")],
        vec![
            chain("input", Some("input"), "accept"),
            rule("input", 5, &json!([dport(&json!(6443)), { "accept": null }])),
            rule("input", 6, &json!([dport(&json!(6443)), { "drop": null }])),
        ],
    ] {
        assert_eq!(reported("m", &rules), "", "{rules:?}");
    }
    assert!(Ruleset::parse("no json").is_err());
}

#[test]
fn other_families_do_not_see_it() {
    let other = json!({ "chain": {
        "family": "ip6", "table": "t", "name": "input", "handle": 1, "type": "filter", "hook": "input", "prio": 0, "policy": "drop",
    } });
    assert_eq!(reported("m", &[other]), "");
}
