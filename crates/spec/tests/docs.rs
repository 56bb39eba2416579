//! docs/reference/cluster-yaml.md says what the schema says: the same keys, the same defaults, examples that work.

#![expect(clippy::unwrap_used, reason = "a failing unwrap in a test is the failure we want to see")]

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;
use spec::{Sources, check, codes, node_schema, report, schema};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cluster-yaml.md");
    fs::read_to_string(path).unwrap()
}

/// Every key of a schema with what its default column must hold: `required`, the default, or anything.
fn keys(schema: &Value, prefix: &str, found: &mut BTreeMap<String, Option<String>>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, property) in properties {
        let path = format!("{prefix}{name}");
        let required = schema["required"].as_array().is_some_and(|list| list.iter().any(|entry| entry == name));
        let default = match &property["default"] {
            Value::Null if required => Some("required".to_owned()),
            Value::Null => None,
            Value::String(text) => Some(format!("`{text}`")),
            other => Some(format!("`{other}`")),
        };
        keys(property, &format!("{path}."), found);
        keys(&property["items"], &format!("{path}[]."), found);
        found.insert(path, default);
    }
}

#[test]
fn the_tables_list_every_key_and_its_default() {
    let mut expected = BTreeMap::new();
    keys(&schema(), "", &mut expected);
    keys(&node_schema(), "", &mut expected);
    let page = page();
    let rows: BTreeMap<&str, &str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|row| row.split_once("` |"))
        .filter(|(_, rest)| rest.matches('|').count() == 3)
        .map(|(key, rest)| (key, rest.split('|').nth(1).unwrap().trim()))
        .collect();
    assert_eq!(rows.keys().copied().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (key, default) in expected {
        if let Some(default) = default {
            assert_eq!(rows[key.as_str()], default, "{key}");
        }
    }
}

#[test]
fn the_examples_in_the_page_work() {
    let page = page();
    let blocks: Vec<&str> = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [cluster, node] = blocks.as_slice() else { panic!("expected two examples, found {}", blocks.len()) };
    // The node file speaks of a cluster without Ceph.
    let node = node.replace("[worker]", "[worker, ceph-osd]");
    let checked = check(&Sources::cluster(*cluster).with_node("nodes/worker-01.yaml", node));
    let codes: Vec<_> = checked.problems.iter().map(|problem| problem.diagnostic.code).collect();
    assert_eq!(codes, [codes::TOKEN_IN_FILE], "{}", report(&checked.problems, false));

    let value: Value = serde_saphyr::from_str(cluster).unwrap();
    jsonschema::validator_for(&schema()).unwrap().validate(&value).unwrap();
    let mut all = BTreeMap::new();
    keys(&schema(), "", &mut all);
    // `prefix` is the short form of `node_cidr` and cannot stand beside it.
    for key in all.keys().filter(|key| *key != "cluster.networking.prefix") {
        assert!(holds(&value, key), "{key} is not in the example");
    }
}

/// Whether a value has a key such as `nodes[].name`, in any of its nodes.
fn holds(value: &Value, key: &str) -> bool {
    let (first, rest) = key.split_once('.').unwrap_or((key, ""));
    let Some(inner) = value.get(first.trim_end_matches("[]")) else { return false };
    match inner.as_array().filter(|_| first.ends_with("[]")) {
        _ if rest.is_empty() => true,
        Some(items) => items.iter().any(|item| holds(item, rest)),
        None => holds(inner, rest),
    }
}
