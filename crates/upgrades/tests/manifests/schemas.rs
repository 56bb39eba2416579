//! The schemas are those of the types, in both directions.

use std::collections::{BTreeMap, BTreeSet};

use explain::{Diagnostic, Message};
use jiff::Timestamp;
use kubeapi::{
    k8s_openapi::{
        api::core::v1::Taint,
        apimachinery::pkg::apis::meta::v1::{Condition, Time},
    },
    kube::Resource,
};
use operations::{node_snapshot::NodeSnapshot, slots::Limit};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use upgrades::{
    Deadlines, Drain, DrainPolicy, Driver, NodeState, NodeUpgrade, NodeUpgradeSpec, NodeUpgradeStatus, OnTimeout,
    Phase, Progress, Rollback, Soak, names,
    progress::{Event, Noted, Outbox},
};

use crate::{of_kind, strings};

fn definition(plural: &str) -> Value {
    let name = format!("{plural}.{}", names::GROUP);
    let all = of_kind("CustomResourceDefinition");
    all.into_iter().find(|one| one["metadata"]["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn version(plural: &str) -> Value {
    let definition = definition(plural);
    let [version] = definition["spec"]["versions"].as_array().unwrap().as_slice() else { panic!("one version") };
    version.clone()
}

fn schema(plural: &str) -> Value {
    version(plural)["schema"]["openAPIV3Schema"].clone()
}

fn of_nodes() -> Value {
    schema("nodeupgrades")
}

/// Every schema within a schema, by its path.
fn each(schema: &Value) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::from([(String::new(), schema.clone())]);
    let properties = schema["properties"].as_object().into_iter().flatten();
    let inner = properties.map(|(name, inner)| (name.as_str(), inner));
    let inner = inner.chain(["items", "additionalProperties"].into_iter().map(|name| (name, &schema[name])));
    for (name, inner) in inner.filter(|(_, inner)| inner.is_object()) {
        all.extend(each(inner).into_iter().map(|(path, it)| (format!("{name} {path}").trim().to_owned(), it)));
    }
    all
}

/// Every field of a value as a schema has it: items of lists and values of maps by no name of their own.
fn fields(schema: &Value, value: &Value) -> BTreeSet<String> {
    let mut all = BTreeSet::from([String::new()]);
    let mut within = |name: &str, schema: &Value, value: &Value| {
        all.extend(fields(schema, value).into_iter().map(|path| format!("{name} {path}").trim().to_owned()));
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| match &schema["additionalProperties"] {
            Value::Null => within(key, &schema["properties"][key], value),
            of_values => within("additionalProperties", of_values, value),
        }),
        Value::Array(list) => list.iter().for_each(|value| within("items", &schema["items"], value)),
        _ => {}
    }
    all
}

/// What the API server would remove is a fault here.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let mut closed: serde_json::Map<_, _> = map.iter().map(|(key, it)| (key.clone(), closed(it))).collect();
            // A field may be called `properties`; none is.
            if map.contains_key("properties") {
                closed.insert("additionalProperties".to_owned(), json!(false));
            }
            Value::Object(closed)
        }
        Value::Array(list) => list.iter().map(self::closed).collect(),
        other => other.clone(),
    }
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(&closed(schema)).unwrap()
}

/// As the API server does it: from outside to inside.
fn defaulted(schema: &Value, mut value: Value) -> Value {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let Value::Object(map) = &mut value else { break };
        if let Some(default) = property.get("default") {
            map.entry(name).or_insert_with(|| default.clone());
        }
        if let Some(inner) = map.remove(name) {
            map.insert(name.clone(), defaulted(property, inner));
        }
    }
    value
}

/// All that serde takes for a type, by its own words.
fn variants<T: DeserializeOwned>() -> BTreeSet<String> {
    let Err(error) = serde_json::from_str::<T>("\"?\"") else { panic!("`?` is one") };
    error.to_string().split('`').skip(3).step_by(2).map(ToOwned::to_owned).collect()
}

fn outbox(at: Timestamp) -> Outbox {
    let event = Event {
        seq: 1,
        at,
        run: Some("uid-2-1".into()),
        phase: Phase::Stuck,
        code: Some("BS-UPG-015".into()),
        message: "m".into(),
        from: Some("4.17".into()),
        to: Some("4.18".into()),
        attempt: 1,
        node_state: Some(NodeState::Stuck),
    };
    Outbox {
        seq: 1,
        events: vec![event],
        dropped: 1,
        noted: Some(Noted { run: "uid-2-1".into(), state: NodeState::Stuck }),
        noted_at: Some(at),
        failures: 1,
        not_before: Some(at),
        first_failure: Some(at),
        stopped: true,
        last_error: Some(Diagnostic { code: "BS-UPG-030".into(), message: "m".into(), hint: "h".into() }),
    }
}

/// Every field set. Not by `..Default`: a new field must be thought of here, and in the schema.
fn full() -> NodeUpgrade {
    let at = Timestamp::from_nanosecond(1_763_526_515_123_456_789).unwrap();
    let failure = Diagnostic { code: "BS-UPG-015".into(), message: "m".into(), hint: "h".into() };
    let spec = NodeUpgradeSpec {
        driver: Some(Driver::Rhel),
        secret: Some("ipb-other".into()),
        plan: Some("all".into()),
        drain: Drain { policy: DrainPolicy::Never, timeout_seconds: 60, on_timeout: OnTimeout::Delete },
        soak_seconds: Soak(0),
        rollback: Rollback::Never,
        deadlines: Deadlines { preflight: 1, arm: 2, apply: 3, r#return: 4, gate: 5, confirm: 6 },
    };
    let taint = Taint {
        key: "dedicated".into(),
        value: Some("db".into()),
        effect: "NoExecute".into(),
        time_added: Some(Time(at)),
    };
    let condition = Condition {
        type_: "Ready".into(),
        status: "False".into(),
        reason: Phase::Stuck.to_string(),
        message: String::new(),
        observed_generation: Some(2),
        last_transition_time: Time(at),
    };
    let status = NodeUpgradeStatus {
        phase: Phase::Stuck,
        since: Some(at),
        observed_generation: 2,
        attempt: u32::MAX,
        run: Some("uid-2-1".into()),
        driver: Some(Driver::Rhcos),
        waits_for: Some(Message::Error(failure.clone())),
        failure: Some(failure),
        snapshot: Some(NodeSnapshot {
            labels: [("disk".to_owned(), "fast".to_owned())].into(),
            taints: vec![taint],
            unschedulable: true,
        }),
        not_ready_before: ["DaemonSet kube-system/csi-node".to_owned()].into(),
        boot_id_before: Some("b".into()),
        ending: Some(Phase::Refused),
        from: Some("4.17".into()),
        to: Some("4.18".into()),
        progress: Some(Progress { count: 7, at }),
        gates_since: Some(at),
        refused_target: Some("sha256:ab".into()),
        aborted: Some("2026-01-01T00:00:00Z".into()),
        retried: Some("1".into()),
        secret_uid: Some("u".into()),
        outbox: outbox(at),
        conditions: vec![condition],
    };
    NodeUpgrade { status, ..NodeUpgrade::new("worker-01", spec) }
}

#[test]
fn kinds_are_those_of_the_program() {
    let spec = definition("nodeupgrades")["spec"].clone();
    let of_program = (NodeUpgrade::group(&()), NodeUpgrade::kind(&()), NodeUpgrade::plural(&()));
    let in_it = [&spec["group"], &spec["names"]["kind"], &spec["names"]["plural"]].map(|it| it.as_str().unwrap());
    assert_eq!(in_it, [&*of_program.0, &*of_program.1, &*of_program.2]);
    assert_eq!(spec["names"]["shortNames"], json!(["nup"]));
    for plural in ["nodeupgrades", "upgradeplans"] {
        assert_eq!(definition(plural)["spec"]["scope"], "Cluster");
        assert_eq!(version(plural)["name"], names::VERSION);
        assert_eq!(version(plural)["subresources"], json!({ "status": {} }));
    }
}

#[test]
fn no_field_is_pruned_and_none_is_unknown() {
    let (schema, full) = (of_nodes(), serde_json::to_value(full()).unwrap());
    let in_schema: BTreeSet<String> = each(&schema).into_keys().collect();
    let mut written = fields(&schema, &full);
    written.retain(|path| !path.starts_with("metadata "));
    assert_eq!(written, in_schema);
}

#[test]
fn what_the_program_writes_is_accepted() {
    let validator = validator(&of_nodes());
    let text = Message::Text { message: "m".into(), hint: Some("h".into()) };
    let of_text = NodeUpgradeStatus { waits_for: Some(text), ..full().status };
    for object in [full(), NodeUpgrade::new("w", NodeUpgradeSpec::default()), NodeUpgrade { status: of_text, ..full() }]
    {
        let value = serde_json::to_value(object).unwrap();
        validator.validate(&value).unwrap_or_else(|error| panic!("{} at {}", error, error.instance_path()));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let validator = validator(&of_nodes());
    for (field, value) in [
        ("/spec/driver", json!("native")),
        ("/spec/secret", json!("../other")),
        ("/spec/drain/policy", json!("Evict")),
        ("/spec/drain/timeoutSeconds", json!(-1)),
        ("/spec/drain/onTimeout", json!("wait")),
        ("/spec/soakSeconds", json!(-1)),
        ("/spec/soakSeconds", json!("5s")),
        ("/spec/rollback", json!("manual")),
        ("/spec/deadlines/return", json!(0)),
        ("/spec/deadlines/confirm", json!(u64::MAX)),
        ("/spec/deadlines", json!({ "reboot": 1 })),
        ("/status/phase", json!("Committed")),
        ("/status/since", json!("yesterday")),
        ("/status/waitsFor", json!({ "code": "BS-UPG-001" })),
        ("/status/failure", json!({ "message": "m" })),
        ("/status/snapshot", json!({ "labels": {} })),
        ("/status/conditions/0/status", json!("yes")),
    ] {
        let mut object = serde_json::to_value(full()).unwrap();
        *object.pointer_mut(field).unwrap() = value;
        assert!(!validator.is_valid(&object), "{field}: {object}");
    }
}

#[test]
fn enums_have_the_same_values() {
    let phases = variants::<Phase>();
    assert_eq!(phases, Phase::ALL.iter().map(ToString::to_string).collect());
    let expected = BTreeMap::from([
        ("spec driver", variants::<Driver>()),
        ("spec drain policy", variants::<DrainPolicy>()),
        ("spec drain onTimeout", variants::<OnTimeout>()),
        ("spec rollback", variants::<Rollback>()),
        ("status phase", phases.clone()),
        ("status ending", phases),
        ("status driver", variants::<Driver>()),
        ("status conditions items status", ["True", "False", "Unknown"].map(ToOwned::to_owned).into()),
    ]);
    let schemas = each(&of_nodes());
    let with_enum = schemas.iter().filter(|(_, schema)| !schema["enum"].is_null());
    let found: BTreeMap<&str, _> = with_enum.map(|(path, it)| (path.as_str(), strings(&it["enum"]))).collect();
    assert_eq!(found, expected);
}

#[test]
fn defaults_are_the_same() {
    let bare = defaulted(&of_nodes(), json!({}));
    assert_eq!(bare["spec"], serde_json::to_value(NodeUpgradeSpec::default()).unwrap());
    assert_eq!(bare["status"], serde_json::to_value(NodeUpgradeStatus::default()).unwrap());
}

/// What the API server would refuse of a schema.
#[test]
fn schemas_are_structural() {
    for plural in ["nodeupgrades", "upgradeplans"] {
        for (path, schema) in each(&schema(plural)) {
            let is_either = schema["x-kubernetes-int-or-string"] == true;
            assert_eq!(schema["type"].is_string(), !is_either, "{plural} {path}");
            let is_open = schema["type"] == "object"
                && schema["properties"].is_null()
                && schema["additionalProperties"].is_null();
            assert!(!is_open || path == "metadata", "{plural} {path} is pruned to nothing");
            let Some(default) = schema.get("default") else { continue };
            // A default is validated as it stands, without those of its fields: a rule would miss them.
            assert!(schema["x-kubernetes-validations"].is_null(), "{plural} {path}");
            assert!(validator(&schema).is_valid(default), "{plural} {path}");
        }
    }
}

#[test]
fn columns_show_what_there_is() {
    for (plural, expected) in [
        ("nodeupgrades", "DRIVER FROM TO PHASE WAITS FOR AGE | ATTEMPT RUN FAILURE"),
        ("upgradeplans", "DRIVER NODES DONE ACTIVE FAILED PAUSED MESSAGE AGE | AT ONCE"),
    ] {
        let schemas = each(&schema(plural));
        let mut titles = [Vec::new(), Vec::new()];
        for column in version(plural)["additionalPrinterColumns"].as_array().unwrap() {
            let path = column["jsonPath"].as_str().unwrap().trim_start_matches('.').replace('.', " ");
            let known = schemas.get(&path).map(|schema| schema["type"].clone());
            match known {
                None => assert_eq!(path, "metadata creationTimestamp"),
                Some(Value::Null) => assert_eq!(column["type"], "string", "a number or a share"),
                Some(kind) => assert_eq!(kind, column["type"], "{path}"),
            }
            titles[usize::from(column["priority"] == 1)].push(column["name"].as_str().unwrap().to_uppercase());
        }
        assert_eq!(titles.map(|names| names.join(" ")).join(" | "), expected);
    }
}

/// A plan hands on what it says of nodes.
#[test]
fn a_plan_wants_what_a_node_can_want() {
    let (plan, node) = (schema("upgradeplans"), of_nodes());
    let of = |schema: &Value, name: &str| {
        let mut schema = schema["properties"]["spec"]["properties"][name].clone();
        schema.as_object_mut().unwrap().remove("description");
        schema
    };
    for name in ["driver", "drain", "soakSeconds", "rollback", "deadlines"] {
        assert_eq!(of(&plan, name)["properties"], of(&node, name)["properties"], "{name}");
        let alone = |schema: &Value| {
            let mut schema = of(schema, name);
            schema.as_object_mut().unwrap().remove("properties");
            schema
        };
        assert_eq!(alone(&plan), alone(&node), "{name}");
    }
    let rules = |schema: &Value| -> BTreeSet<String> {
        let rules = schema["x-kubernetes-validations"].as_array().unwrap().iter();
        rules.map(|rule| rule["rule"].as_str().unwrap().to_owned()).filter(|it| it.contains("spec")).collect()
    };
    assert_eq!((rules(&plan), rules(&plan).len()), (rules(&node), 2));
    let bare = defaulted(&plan, json!({ "spec": { "nodes": {} } }));
    let of_nodes = serde_json::to_value(NodeUpgradeSpec::default()).unwrap();
    let mut expected = json!({ "nodes": {}, "maxUnavailable": 1, "paused": false, "stopOnFailure": true });
    expected.as_object_mut().unwrap().extend(of_nodes.as_object().unwrap().clone());
    assert_eq!(bare["spec"], expected);
}

#[test]
fn a_plan_has_limits_that_are_understood() {
    let validator = validator(&schema("upgradeplans"));
    let plan = |limit: &Value| json!({ "spec": { "nodes": {}, "maxUnavailable": limit } });
    for (limit, expected) in [
        (json!(1), true),
        (json!(12), true),
        (json!("1%"), true),
        (json!("25%"), true),
        (json!("100%"), true),
        (json!(0), false),
        (json!(-1), false),
        (json!("0%"), false),
        (json!("101%"), false),
        (json!("many"), false),
        (json!(1.5), false),
        (json!(true), false),
    ] {
        let text = limit.as_str().map_or_else(|| limit.to_string(), ToOwned::to_owned);
        assert_eq!(validator.is_valid(&plan(&limit)), expected, "{limit}");
        assert_eq!(Limit::parse(&text).is_some(), expected, "{limit}");
    }
    assert!(!validator.is_valid(&json!({ "spec": {} })), "which nodes is never left open");
}
