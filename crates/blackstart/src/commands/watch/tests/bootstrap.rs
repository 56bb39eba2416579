//! A temporary bootstrap node: shown while it is needed, and then no more than that it was.

use nodekit::milestones::{self, ALL, Milestone, Progress};

use super::*;

fn with_bootstrap() -> Facts {
    Facts { bootstrap: Some(Known { name: "bootstrap".to_owned(), role: Role::Bootstrap }), ..three_nodes() }
}

/// So many milestones, two seconds apart.
fn reached(until: u8) -> Vec<Progress> {
    let one = |milestone: &'static Milestone| Progress {
        milestone,
        reached: (milestone.number <= until).then(|| at(i64::from(milestone.number) * 2)),
        waiting: None,
    };
    ALL.iter().map(one).collect()
}

fn waiting_for_masters() -> RunSummary {
    let what = "master-02 to answer (connection\u{1b}[2J refused)";
    run(Outcome::Working, 9, vec![step("masters-present", StepState::Waiting, what, 20)])
}

/// What its agent reports.
fn own_report(received: i64, run: &RunSummary, milestones: &[Progress]) -> (String, Report) {
    let (name, mut report) = report("bootstrap", received, Some(run), &[]);
    report.status["milestones"] = json!(milestones::times(milestones));
    (name, report)
}

#[test]
fn its_boxes_are_shown_from_its_own_report() {
    let mut facts = with_bootstrap();
    facts.take("master-01", unreachable("connection refused"), at(30));
    let reports = vec![own_report(41, &waiting_for_masters(), &reached(8)), report("worker-01", 41, None, &[])];
    facts.take("bootstrap", answer(42, reports), at(42));
    insta::assert_snapshot!(shown(&facts, 42, None));
    insta::assert_json_snapshot!(evaluate(&facts, at(42)).bootstrap);
    let longest = shown(&facts, 42, Some(60)).lines().map(|line| line.chars().count()).max();
    assert_eq!(longest, Some(60));
}

#[test]
fn from_a_lab_its_machine_is_enough() {
    let mut facts = with_bootstrap();
    let off = Seen { power: Some(Power::Off), milestones: milestones::progress(&[]), ..Seen::default() };
    facts.machines.insert("bootstrap".into(), off);
    facts.take("master-01", Answer::NotAsked, at(1));
    facts.take("bootstrap", Answer::NotAsked, at(1));
    insta::assert_snapshot!(shown(&facts, 2, None));
    let seen = |outcome, milestones| Seen {
        power: Some(Power::On),
        run: Some(run(outcome, 14, vec![])),
        milestones,
        ..Seen::default()
    };
    for (outcome, until, expected) in [
        (Outcome::Working, 12, NodeState::Working),
        // It still has the keys.
        (Outcome::Failed, 13, NodeState::Failed),
        (Outcome::Done, 13, NodeState::Retired),
    ] {
        facts.machines.insert("bootstrap".into(), seen(outcome, reached(until)));
        let bootstrap = evaluate(&facts, at(60)).bootstrap.unwrap();
        assert_eq!((bootstrap.node.state, bootstrap.complete), (expected, until == 13), "{outcome:?}");
    }
    assert_eq!(evaluate(&facts, at(60)).bootstrap.unwrap().node.since, Some(at(26)));
}

#[test]
fn one_that_dies_is_silent_and_one_that_is_done_is_a_line() {
    let mut facts = with_bootstrap();
    let reports = || vec![own_report(41, &waiting_for_masters(), &reached(10)), report("worker-01", 41, None, &[])];
    facts.take("bootstrap", answer(42, reports()), at(42));
    facts.take("bootstrap", unreachable("connection refused"), at(45));
    let state = |facts: &Facts, now| evaluate(facts, at(now)).bootstrap.unwrap().node.state;
    assert_eq!(state(&facts, 50), NodeState::Waiting, "it may be busy");
    let master = |now| answer(now, vec![report("master-01", now, Some(&ready()), &[])]);
    facts.take("master-01", master(62), at(62));
    assert_eq!(state(&facts, 62), NodeState::Silent);
    assert_eq!(evaluate(&facts, at(62)).nodes[1].state, NodeState::Silent, "no other master has heard of it");
    assert!(evaluate(&facts, at(62)).has_master("bootstrap"));
    insta::assert_snapshot!(shown(&facts, 62, None));

    facts.published = reached(13);
    let workers = ["worker-01", "worker-02"].map(|name| report(name, 69, Some(&ready()), &[]));
    let all = [report("master-01", 69, Some(&ready()), &[])].into_iter().chain(workers).collect();
    facts.take("master-01", answer(70, all), at(70));
    assert!(!evaluate(&facts, at(70)).has_master("bootstrap"));
    insta::assert_snapshot!(shown(&facts, 70, None));
}

#[test]
fn one_that_is_long_gone_is_not_missed() {
    let silent = |answered: Answer| {
        let mut facts = with_bootstrap();
        facts.take("bootstrap", unreachable("no route to host"), at(10));
        facts.take("master-01", answered, at(12));
        (evaluate(&facts, at(12)).has_master("bootstrap"), shown(&facts, 12, None).contains("bootstrap"))
    };
    for (what, answered, expected) in [
        ("masters wait for it", answer(12, vec![report("master-01", 11, Some(&waiting_worker()), &[])]), true),
        ("masters are done", answer(12, vec![report("master-01", 11, Some(&ready()), &[])]), false),
        ("a worker waits for an API", hello(false, 12), true),
        ("a worker has an API", hello(true, 12), false),
    ] {
        assert_eq!(silent(answered), (expected, expected), "{what}");
    }
}

#[test]
fn what_is_no_time_is_not_reached() {
    let mut facts = with_bootstrap();
    let (name, mut strange) = own_report(41, &waiting_for_masters(), &reached(2));
    strange.status["milestones"]["02-kubelet"] = json!("\u{1b}[2Jsoon");
    facts.take("bootstrap", answer(42, vec![(name, strange)]), at(42));
    let milestones = evaluate(&facts, at(42)).bootstrap.unwrap().milestones;
    assert_eq!((milestones[0].reached, milestones[1].reached), (Some(at(2)), None));
}

#[test]
fn a_sign_of_life_is_no_change() {
    let mut facts = with_bootstrap();
    let essence = |facts: &mut Facts, now: i64, until| {
        let report = own_report(now, &waiting_for_masters(), &reached(until));
        facts.take("bootstrap", answer(now, vec![report]), at(now));
        evaluate(facts, at(now)).essence()
    };
    let before = essence(&mut facts, 40, 8);
    assert_eq!(essence(&mut facts, 45, 8), before);
    assert_ne!(essence(&mut facts, 46, 9), before);
}
