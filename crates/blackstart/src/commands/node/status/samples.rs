//! Nodes in every state, as facts.

use std::collections::BTreeMap;

use ::explain::Diagnostic;
use jiff::{SignedDuration, Timestamp};
use nodekit::run_record::{
    Attempt, Outcome, Process, Purpose, RecordedError, RunRecord, SCHEMA_VERSION, StepRun, StepState, Wait,
};
use pki::Urgency;
use serde_json::json;
use spec::BootstrapRole;

use super::{
    api,
    evaluate::State,
    facts::{Api, ApiNode, Certificate, Facts, Health, Identity, Unit},
};

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

fn unit(name: &str, health: Health, state: &str, seconds: i64) -> Unit {
    Unit { name: name.into(), health, state: state.into(), since: Some(ago(seconds)), restarts: 0, last_log_line: None }
}

fn run(outcome: Outcome, steps: Vec<StepRun>) -> RunRecord {
    RunRecord {
        v: SCHEMA_VERSION,
        run: "20261115T100000Z-812".into(),
        purpose: Purpose::Up,
        node: "master-01".into(),
        playbook: "cluster".into(),
        boot_id: "b1".into(),
        process: Process { pid: 812, began: 1 },
        version: "0.1.0".into(),
        started: ago(7200),
        updated: ago(7180),
        ended: matches!(outcome, Outcome::Done | Outcome::Failed | Outcome::Cancelled).then(|| ago(7180)),
        outcome,
        done: 12,
        total: 24,
        summary: "24 steps".into(),
        steps,
        last_error: None,
    }
}

fn waiting() -> RunRecord {
    let step = StepRun {
        id: "etcd".into(),
        title: "Start etcd".into(),
        started: Some(ago(100)),
        ended: None,
        state: StepState::Waiting,
        attempts: vec![Attempt { number: 1, started: ago(100), ended: None, error: None }],
        waits: vec![Wait { what: "etcd to answer on port 2379".into(), since: ago(75), until: None }],
        doing: None,
    };
    RunRecord { started: ago(110), ..run(Outcome::Working, vec![step]) }
}

fn failed() -> RunRecord {
    let failure = RecordedError {
        step: Some("preflight".into()),
        diagnostic: Diagnostic {
            code: "BS-PRE-011".into(),
            message: "port 10250 is held by `python3` (process 4711)".into(),
            hint: "stop the program named in the message, and keep it from starting again".into(),
        },
        time: ago(7180),
    };
    let step = StepRun {
        id: "preflight".into(),
        title: "Check whether this machine can become a node".into(),
        started: Some(ago(7190)),
        ended: Some(ago(7180)),
        state: StepState::Failed,
        attempts: vec![Attempt { number: 1, started: ago(7190), ended: Some(ago(7180)), error: Some(failure.clone()) }],
        waits: Vec::new(),
        doing: None,
    };
    RunRecord { last_error: Some(failure), ..run(Outcome::Failed, vec![step]) }
}

fn node(boot_id: &str, ready: &str, message: &str) -> ApiNode {
    let condition = |kind: &str, status: &str, message: &str| {
        json!({ "type": kind, "status": status, "reason": "KubeletSays", "message": message,
                "lastTransitionTime": ago(7000) })
    };
    let conditions =
        [condition("DiskPressure", "False", "kubelet has no disk pressure"), condition("Ready", ready, message)];
    let seen = api::seen(serde_json::from_value(json!({ "conditions": conditions })).unwrap());
    ApiNode { boot_id: boot_id.into(), ..seen }
}

fn nodes(own: Option<ApiNode>) -> Api {
    let mut all = BTreeMap::from([("worker-01".to_owned(), node("w", "True", "kubelet is posting ready status"))]);
    all.extend(own.map(|own| ("master-01".to_owned(), own)));
    Api::Nodes(all)
}

fn certificate(name: &str, days_left: i64, urgency: Urgency) -> Certificate {
    let not_after = now() + SignedDuration::from_hours(24 * days_left);
    Certificate { name: name.into(), not_after, days_left, urgency }
}

/// A master on which everything is as it should be.
fn good() -> Facts {
    Facts {
        now: now(),
        boot_id: "b1".into(),
        identity: Identity {
            node: Some("master-01".into()),
            role: Some(BootstrapRole::MasterFirst),
            cluster: Some("home".into()),
            nodes: vec!["master-01".into(), "worker-01".into()],
            failure: None,
        },
        is_retired: false,
        joined_at: Some(ago(7180)),
        run: Ok(Some((&run(Outcome::Done, Vec::new())).into())),
        disk: None,
        units: Ok(vec![
            unit("cluster-bootstrap.service", Health::Ok, "active (exited)", 7180),
            unit("etcd.service", Health::Ok, "active (running)", 7195),
            unit("kube-apiserver.service", Health::Ok, "active (running)", 7194),
        ]),
        api: nodes(Some(node("b1", "True", "kubelet is posting ready status"))),
        certificates: Ok(vec![certificate("ca", 3649, Urgency::Ok), certificate("apiserver", 364, Urgency::Ok)]),
    }
}

/// A machine on which there is nothing of us.
fn nothing() -> Facts {
    Facts {
        identity: Identity {
            failure: Some("there is no /etc/cluster-config/cluster.yaml".into()),
            ..Identity::default()
        },
        joined_at: None,
        run: Ok(None),
        units: Ok(Vec::new()),
        api: Api::NotAsked("there is no kubeconfig on this machine yet".into()),
        certificates: Ok(Vec::new()),
        ..good()
    }
}

fn stopped_control_plane() -> Facts {
    let mut etcd = unit("etcd.service", Health::Stopped, "inactive (dead)", 42);
    etcd.restarts = 0;
    let mut api = unit("kube-apiserver.service", Health::Failing, "activating (auto-restart)", 3);
    (api.restarts, api.last_log_line) = (7, Some("Error: cannot reach etcd at https://127.0.0.1:2379".into()));
    let units = vec![unit("cluster-bootstrap.service", Health::Stopped, "inactive (dead)", 7180), etcd, api];
    let silent = "cannot list the nodes: the API server does not answer: Connection refused (os error 111)";
    Facts { units: Ok(units), api: Api::Silent(silent.into()), ..good() }
}

/// What it is called, the facts, the state it must give and the exit code.
pub(super) fn all() -> Vec<(&'static str, Facts, State, u8)> {
    let with = |record: RunRecord| Facts { run: Ok(Some((&record).into())), ..nothing() };
    let known = |facts: Facts| Facts { identity: good().identity, ..facts };
    let no_rights = "cannot read /etc/kubernetes/super-admin.conf: Permission denied (os error 13); root may";
    vec![
        ("ready", good(), State::Ready, 0),
        ("never started", nothing(), State::NeverStarted, 4),
        ("waiting for etcd", known(with(waiting())), State::Working, 3),
        ("failed", known(with(failed())), State::Failed, 1),
        ("interrupted", known(with(run(Outcome::Interrupted, Vec::new()))), State::Interrupted, 1),
        ("stopped by a person", known(with(run(Outcome::Cancelled, Vec::new()))), State::Stopped, 1),
        ("etcd and API server stopped", stopped_control_plane(), State::Joined, 1),
        ("not Ready", Facts { api: nodes(Some(node("b1", "False", "no CNI"))), ..good() }, State::NotReady, 1),
        ("not yet of this boot", Facts { api: nodes(Some(node("b0", "True", ""))), ..good() }, State::NotReady, 1),
        ("deleted in the API", Facts { api: nodes(None), ..good() }, State::NotReady, 1),
        ("Ready after a run that failed", Facts { run: Ok(Some((&failed()).into())), ..good() }, State::Degraded, 1),
        (
            "a certificate has expired",
            Facts { certificates: Ok(vec![certificate("apiserver", -1, Urgency::Expired)]), ..good() },
            State::Degraded,
            1,
        ),
        (
            "the disk is full",
            Facts { disk: Some("the file system of /var/lib/cluster-state is full".into()), ..good() },
            State::Degraded,
            1,
        ),
        (
            "not root",
            Facts {
                api: Api::NotAsked(no_rights.into()),
                certificates: Err("cannot read /etc/kubernetes/pki/ca.key: Permission denied (os error 13)".into()),
                ..good()
            },
            State::Joined,
            1,
        ),
    ]
}
