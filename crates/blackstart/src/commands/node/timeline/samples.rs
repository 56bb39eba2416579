//! Runs to draw in tests: one that failed, one that is under way.

use ::explain::Diagnostic;
use jiff::{SignedDuration, Timestamp};
use nodekit::run_record::{
    Attempt, Outcome, Process, Purpose, RecordedError, RunRecord, SCHEMA_VERSION, StepRun, StepState, Wait,
};

pub(super) fn at(millis: i64) -> Timestamp {
    let start: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
    start + SignedDuration::from_millis(millis)
}

fn step(id: &str, state: StepState, from: i64, until: Option<i64>) -> StepRun {
    let (started, ended) = (at(from), until.map(at));
    StepRun {
        id: id.into(),
        title: format!("Do what {id} does"),
        started: Some(started),
        ended,
        state,
        attempts: vec![Attempt { number: 1, started, ended, error: None }],
        waits: Vec::new(),
        doing: None,
    }
}

fn wait(what: &str, since: i64, until: Option<i64>) -> Wait {
    Wait { what: what.into(), since: at(since), until: until.map(at) }
}

fn failure(step: &str, message: &str, time: i64) -> RecordedError {
    RecordedError {
        step: Some(step.into()),
        diagnostic: Diagnostic {
            code: "BS-ENGINE-002".into(),
            message: message.into(),
            hint: "check `journalctl -u etcd` & its <friends>".into(),
        },
        time: at(time),
    }
}

fn run(outcome: Outcome, ended: Option<i64>, updated: i64, steps: Vec<StepRun>) -> RunRecord {
    RunRecord {
        v: SCHEMA_VERSION,
        run: "20261115T120000Z-812".into(),
        purpose: Purpose::Up,
        node: "master-01".into(),
        playbook: "cluster".into(),
        boot_id: "b1".into(),
        process: Process { pid: 812, began: 1 },
        version: "0.1.0".into(),
        started: at(0),
        updated: at(updated),
        ended: ended.map(at),
        outcome,
        done: 3,
        total: 6,
        summary: "3 verified, 2 of them changed, 1 failed, 1 not tried".into(),
        steps,
        last_error: None,
    }
}

/// A step that needed two attempts and failed, beside others at the same time.
pub(super) fn failed() -> RunRecord {
    let no_answer = "waited for etcd to answer on port 2379; no progress for 7 s";
    let mut etcd = step("etcd", StepState::Failed, 300, Some(19_000));
    etcd.attempts = vec![
        Attempt { number: 1, started: at(300), ended: Some(at(9_900)), error: Some(failure("etcd", no_answer, 9_900)) },
        Attempt {
            number: 2,
            started: at(10_900),
            ended: Some(at(19_000)),
            error: Some(failure("etcd", no_answer, 19_000)),
        },
    ];
    etcd.waits = vec![
        wait("etcd.service to run", 900, Some(2_400)),
        wait("etcd to answer on port 2379", 2_400, Some(9_900)),
        wait("etcd to answer on port 2379", 11_100, Some(19_000)),
    ];
    let mut containerd = step("containerd", StepState::Done, 300, Some(6_000));
    containerd.waits = vec![wait("/run/containerd/containerd.sock to accept connections", 1_000, Some(5_800))];
    let mut never = step("kube-apiserver", StepState::NotTried, 0, None);
    (never.started, never.ended, never.attempts) = (None, Some(at(19_050)), Vec::new());
    let steps = vec![
        step("node-identity", StepState::Unchanged, 10, Some(20)),
        step("pki", StepState::Done, 20, Some(290)),
        containerd,
        etcd,
        never,
    ];
    let last_error = Some(failure("etcd", no_answer, 19_000));
    RunRecord { last_error, ..run(Outcome::Failed, Some(19_100), 19_100, steps) }
}

/// A run in which something is waited for right now.
pub(super) fn working() -> RunRecord {
    let mut join = step("await-master", StepState::Waiting, 1_000, None);
    join.waits = vec![wait("the master at 192.168.1.10:7444 to answer", 1_500, None)];
    let mut images = step("images", StepState::Working, 2_000, None);
    images.doing = Some("import pause".into());
    let steps = vec![step("preflight", StepState::Done, 10, Some(990)), join, images];
    RunRecord { summary: "16 steps".into(), ..run(Outcome::Working, None, 4_000, steps) }
}

/// A run of a bootstrap node that waits for its masters.
pub(super) fn bootstrap() -> RunRecord {
    let mut masters = step("masters-present", StepState::Waiting, 9_000, None);
    masters.waits = vec![wait("master-02 to answer (connection refused)", 9_500, None)];
    let done = |id: &str, until: i64| step(id, StepState::Done, 10, Some(until));
    let steps = vec![
        done("preflight", 990),
        done("kubelet", 2_000),
        done("pause-image", 1_500),
        done("etcd-pod", 4_200),
        done("kube-apiserver-pod", 5_000),
        done("api-ready", 7_900),
        step("kube-controller-manager-pod", StepState::Working, 8_000, None),
        masters,
    ];
    RunRecord { node: "bootstrap".into(), ..run(Outcome::Working, None, 10_000, steps) }
}
