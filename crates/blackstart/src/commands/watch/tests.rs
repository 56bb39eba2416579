//! From what comes in to what is shown, without anybody to ask.

mod bootstrap;

use std::collections::BTreeMap;

use ::explain::Diagnostic;
use jiff::{SignedDuration, Timestamp};
use join::wire::{ClaimedRole, Hello, KnownNode, Nodes, Report};
use lab::Power;
use nodekit::run_record::{OpenStep, Outcome, Purpose, RecordedError, RunSummary, StepState};
use serde_json::json;
use spec::Role;

use super::{
    evaluate::evaluate,
    facts::{Answer, Facts, Known, Seen},
    text::lines,
    view::NodeState,
};

/// Seconds after the beginning.
fn at(seconds: i64) -> Timestamp {
    "2026-11-16T03:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(seconds)
}

fn three_nodes() -> Facts {
    let known = |(name, role): (&str, Role)| Known { name: name.to_owned(), role };
    let nodes = [("master-01", Role::Master), ("worker-01", Role::Worker), ("worker-02", Role::Worker)];
    Facts { cluster: "home".to_owned(), nodes: nodes.map(known).into(), ..Facts::default() }
}

fn run(outcome: Outcome, done: usize, steps: Vec<OpenStep>) -> RunSummary {
    RunSummary {
        run: "20261116T030000Z-7".to_owned(),
        node: String::new(),
        purpose: Purpose::Up,
        outcome,
        boot_id: String::new(),
        started: at(0),
        updated: at(50),
        ended: (outcome != Outcome::Working).then(|| at(50)),
        done,
        total: 14,
        last_error: steps.iter().find_map(|step| step.error.clone()),
        steps,
    }
}

fn step(id: &str, state: StepState, what: &str, since: i64) -> OpenStep {
    OpenStep { id: id.to_owned(), state, what: what.to_owned(), since: Some(at(since)), attempt: 1, error: None }
}

fn failure(step: &str, code: &str, message: &str) -> RecordedError {
    RecordedError {
        step: Some(step.to_owned()),
        diagnostic: Diagnostic {
            code: code.to_owned(),
            message: message.to_owned(),
            hint: "check the clocks of both machines".to_owned(),
        },
        time: at(40),
    }
}

/// What an agent reports, received so many seconds after the beginning.
fn report(name: &str, received: i64, run: Option<&RunSummary>, units: &[(&str, &str)]) -> (String, Report) {
    let units: BTreeMap<&str, &str> = units.iter().copied().collect();
    let status = json!({ "node": name, "role": "worker", "bootstrap": null, "units": units, "unheard_seconds": null,
                         "version": "1.2.3", "run": run });
    (name.to_owned(), Report { received: at(received), early: false, status })
}

fn unreachable(why: &str) -> Answer {
    Answer::Nothing(Diagnostic::new(join::codes::UNREACHABLE, why).recorded())
}

/// What a master answers at that moment, whose clock is one hour ahead.
fn answer(now: i64, reports: Vec<(String, Report)>) -> Answer {
    let hour = SignedDuration::from_hours(1);
    let mut reports: BTreeMap<String, Report> = reports.into_iter().collect();
    for report in reports.values_mut() {
        report.received += hour;
    }
    let known =
        |name: &str| KnownNode { report: reports.get(name).cloned(), node: name.to_owned(), role: ClaimedRole::Master };
    let nodes = three_nodes().nodes.into_iter().map(|node| known(&node.name));
    Answer::Nodes(Nodes {
        cluster: "home".into(),
        master: "master-01".into(),
        now: at(now) + hour,
        listening_since: at(5) + hour,
        nodes: nodes.collect(),
        bootstrap: reports.contains_key("bootstrap").then(|| known("bootstrap")),
    })
}

/// What a master answers to one without a certificate.
fn hello(ready: bool, now: i64) -> Answer {
    Answer::Hello(Hello {
        cluster: "home".into(),
        master: "master-01".into(),
        ready,
        challenge: String::new(),
        machine: None,
        cluster_state: None,
        admits: true,
        own_machine: None,
        now: at(now),
    })
}

fn shown(facts: &Facts, now: i64, width: Option<usize>) -> String {
    let view = evaluate(facts, at(now));
    lines(&view, width).iter().map(|line| line.print(width, false) + "\n").collect()
}

fn waiting_worker() -> RunSummary {
    let what = "the master at 10.0.0.11:7444 to answer (since 2026-11-16T03:00:02Z: connection refused)";
    run(Outcome::Working, 6, vec![step("await-master", StepState::Waiting, what, 2)])
}

fn ready() -> RunSummary {
    run(Outcome::Done, 14, vec![])
}

#[test]
fn all_starting() {
    let mut facts = three_nodes();
    let seen = |power, run| Seen { power: Some(power), run, ..Seen::default() };
    let booting = run(Outcome::Working, 3, vec![step("components", StepState::Working, "install kubelet", 4)]);
    facts.machines.insert("master-01".into(), seen(Power::On, Some(booting)));
    facts.machines.insert("worker-01".into(), seen(Power::On, None));
    facts.machines.insert("worker-02".into(), seen(Power::Off, None));
    facts.take("master-01", Answer::NotAsked, at(5));
    insta::assert_snapshot!(shown(&facts, 6, None));
}

/// Whether there is a certificate is known only after the first try.
#[test]
fn who_is_just_being_asked_is_not_said_to_lack_a_certificate() {
    let mut facts = three_nodes();
    let asking = shown(&facts, 0, None);
    assert!(asking.contains("master-01 is being asked") && !asking.contains("certificate"), "{asking}");
    facts.take("master-01", Answer::NotAsked, at(1));
    assert!(shown(&facts, 1, None).contains("this machine has no certificate"));
    facts.take("master-01", answer(2, vec![]), at(2));
    facts.take("master-01", Answer::NotAsked, at(3));
    assert!(!shown(&facts, 3, None).contains("certificate"));
}

#[test]
fn one_waits_and_says_for_what() {
    let mut facts = three_nodes();
    let mut retried = step("kube-apiserver", StepState::Waiting, "the API server to answer on port 6443", 31);
    retried.attempt = 2;
    retried.error = Some(failure("kube-apiserver", "BS-ENGINE-002", "waited for the API server; no progress for 60 s"));
    let retrying = OpenStep {
        error: Some(failure("kubelet", "BS-HOST-004", "`systemctl start kubelet` failed: exit status: 1")),
        attempt: 3,
        ..step("kubelet", StepState::Retrying, "`systemctl start kubelet` failed: exit status: 1", 41)
    };
    let changing = step("cni", StepState::Working, "write /etc/cni/net.d/10-basic.conflist", 40);
    let master = run(Outcome::Working, 9, vec![retried, retrying, changing]);
    let (name, mut early) = report("worker-01", 41, Some(&waiting_worker()), &[]);
    early.early = true;
    facts.take("master-01", answer(42, vec![report("master-01", 42, Some(&master), &[]), (name, early)]), at(42));
    let view = evaluate(&facts, at(42));
    assert_eq!(view.nodes[1].state, NodeState::Waiting);
    assert_eq!((view.nodes[1].heard, view.nodes[1].joined), (Some(at(41)), Some(false)), "by our own clock");
    assert_eq!((view.nodes[2].state, view.nodes[2].since), (NodeState::Silent, Some(at(5))));
    insta::assert_snapshot!(shown(&facts, 42, None));
}

#[test]
fn one_has_failed() {
    let mut facts = three_nodes();
    let expired = "the credential expired at 2026-11-16T02:00:00Z, and it is 2026-11-16T03:00:40Z";
    let failed = OpenStep {
        error: Some(failure("join", "BS-JOIN-003", expired)),
        ..step("join", StepState::Failed, expired, 48)
    };
    let reports = vec![
        report(
            "master-01",
            50,
            Some(&ready()),
            &[("kubelet.service", "active"), ("kube-proxy.service", "auto-restart")],
        ),
        report(
            "worker-01",
            49,
            Some(&run(Outcome::Failed, 6, vec![failed])),
            &[("cluster-bootstrap.service", "failed")],
        ),
        report("worker-02", 50, Some(&run(Outcome::Interrupted, 6, vec![])), &[]),
    ];
    facts.take("master-01", answer(51, reports), at(51));
    insta::assert_snapshot!(shown(&facts, 60, None));
}

#[test]
fn one_is_silent() {
    let mut facts = three_nodes();
    let reports = |heard| {
        let silent = report("worker-02", 60, Some(&ready()), &[]);
        vec![report("master-01", heard, Some(&ready()), &[]), report("worker-01", heard, Some(&ready()), &[]), silent]
    };
    facts.take("master-01", answer(75, reports(74)), at(75));
    assert!(
        shown(&facts, 75, None).starts_with("cluster home  3 of 3 nodes ready"),
        "two missed reports are nothing yet"
    );
    facts.take("master-01", answer(100, reports(98)), at(100));
    assert_eq!(evaluate(&facts, at(100)).nodes[2].since, Some(at(60)));
    facts.machines.insert("worker-02".into(), Seen { cut_off_from: vec!["everything".into()], ..Seen::default() });
    insta::assert_snapshot!(shown(&facts, 100, None));

    let back = vec![report("worker-02", 101, Some(&ready()), &[])];
    facts.take("master-01", answer(102, back), at(102));
    assert_eq!(evaluate(&facts, at(102)).nodes[2].state, NodeState::Ready, "it is heard again");
}

#[test]
fn all_ready() {
    let mut facts = three_nodes();
    let all = ["master-01", "worker-01", "worker-02"]
        .map(|name| report(name, 70, Some(&ready()), &[("kubelet.service", "active")]));
    facts.take("master-01", answer(71, all.into()), at(71));
    insta::assert_snapshot!(shown(&facts, 73, None));
    insta::assert_json_snapshot!(evaluate(&facts, at(73)));
}

#[test]
fn a_narrow_terminal() {
    let mut facts = three_nodes();
    let reports = vec![report("worker-01", 41, Some(&waiting_worker()), &[])];
    facts.take("master-01", answer(42, reports), at(42));
    insta::assert_snapshot!(shown(&facts, 42, Some(60)));
    let longest = shown(&facts, 42, Some(40)).lines().map(|line| line.chars().count()).max();
    assert_eq!(longest, Some(40));
}

#[test]
fn a_node_that_has_not_joined_sees_itself_and_whether_masters_answer() {
    let mut facts = three_nodes();
    facts.machines.insert("worker-01".into(), Seen { run: Some(waiting_worker()), ..Seen::default() });
    facts.take("master-01", unreachable("connection refused"), at(10));
    facts.take("master-01", unreachable("connection refused"), at(40));
    let silent = shown(&facts, 42, None);
    facts.take("master-01", hello(false, 43), at(43));
    insta::assert_snapshot!(format!("{silent}\n{}", shown(&facts, 44, None)));
}

#[test]
fn while_a_master_cannot_be_asked_its_last_word_counts_as_of_then() {
    let mut facts = three_nodes();
    facts.take("master-01", answer(71, vec![report("worker-01", 70, Some(&ready()), &[])]), at(71));
    facts.take("master-01", unreachable("no answer in time"), at(80));
    let view = evaluate(&facts, at(200));
    assert_eq!(view.nodes[1].state, NodeState::Ready);
    assert!(shown(&facts, 200, None).contains(
        "master-01 does not answer for 2 min 0 s: BS-JOIN-019: no answer in time; its last report is of 03:01:11Z"
    ));
}

#[test]
fn of_several_masters_the_newest_word_counts() {
    let mut facts = three_nodes();
    facts.take("master-02", answer(60, vec![report("worker-01", 20, Some(&waiting_worker()), &[])]), at(60));
    facts.take("master-01", answer(60, vec![report("worker-01", 59, Some(&ready()), &[])]), at(60));
    assert_eq!(evaluate(&facts, at(60)).nodes[1].state, NodeState::Ready);
}

#[test]
fn time_alone_is_no_change() {
    let mut facts = three_nodes();
    facts.take("master-01", answer(71, vec![report("worker-01", 70, Some(&ready()), &[])]), at(71));
    let before = evaluate(&facts, at(72)).essence();
    facts.take("master-01", answer(76, vec![report("worker-01", 75, Some(&ready()), &[])]), at(76));
    assert_eq!(evaluate(&facts, at(77)).essence(), before);
    facts.take("master-01", answer(78, vec![report("worker-01", 77, Some(&waiting_worker()), &[])]), at(78));
    assert_ne!(evaluate(&facts, at(78)).essence(), before);
}

#[test]
fn what_is_no_report_of_ours_is_said_so() {
    let mut facts = three_nodes();
    let (name, mut strange) = report("worker-01", 70, None, &[]);
    strange.status = json!("hello");
    facts.take("master-01", answer(71, vec![(name, strange)]), at(71));
    let node = &evaluate(&facts, at(72)).nodes[1];
    assert_eq!((node.state, node.note.is_some()), (NodeState::Unknown, true));
}
