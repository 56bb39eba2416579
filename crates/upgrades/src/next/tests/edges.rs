//! One row per edge: the phase, what is seen, what follows.

use super::*;
use crate::{DrainPolicy, OnTimeout, Rollback};

type Row = (&'static str, Case);
type Change = (&'static str, fn(Case) -> Case);

fn table(rows: impl IntoIterator<Item = Row>) -> String {
    let lines = rows.into_iter().map(|(what, case)| {
        let next = case.next();
        format!("{:<12} {what:<44} {}", case.object.status.phase, shown(&next)).trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn shown(next: &Next) -> String {
    let effects: Vec<_> = next.effects.iter().map(|effect| format!("{effect:?}")).collect();
    let enter = next.enter.as_ref().map(|enter| {
        let ending = enter.ending.map(|ending| format!("({ending})")).unwrap_or_default();
        let code = enter.failure.as_ref().map(|failure| format!(" {}", failure.code)).unwrap_or_default();
        format!("-> {}{ending}{code}", enter.phase)
    });
    let waits = next.waits_for.as_ref().map(|message| match message.error() {
        Some(error) => format!("waits: {error}"),
        None => format!("waits: {}", message.message()),
    });
    let gates = next.gates_hold.then(|| "[gates hold]".to_owned());
    let effects = (!effects.is_empty()).then(|| effects.join(" + "));
    [effects, enter, gates, waits].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[test]
fn pending() {
    let of = || Case::new(Phase::Pending);
    insta::assert_snapshot!(table(vec![
        ("a slot is free", of()),
        ("a slot is held", of().seen(|seen| seen.slot = SlotSeen::Held)),
        ("all slots are held", of().seen(|seen| seen.slot = SlotSeen::Full("w2".into()))),
        ("others are not Ready", of().seen(|seen| seen.others = Some("w2 is not Ready".into()))),
        ("no Secret", of().seen(|seen| seen.secret = SecretSeen::Missing("ipb-w1".into()))),
        ("a bad Secret", of().seen(|seen| seen.secret = SecretSeen::Bad("both sets of keys".into()))),
        ("progress cannot be reported", of().seen(|seen| seen.no_progress = Some("connection refused".into()))),
        ("no Node", of().without_node()),
        ("abort", of().annotated(names::ABORT_ANNOTATION)),
        ("deleted", of().deleted()),
        ("deleted, something is still to be reported", of().deleted().unreported()),
        ("deleted, the API does not answer", of().deleted().unreported().at(31)),
        ("label removed", of().unlabelled()),
        ("retry", of().annotated(names::RETRY_ANNOTATION)),
    ]));
}

#[test]
fn cordoned() {
    let of = || Case::new(Phase::Cordoned);
    insta::assert_snapshot!(table(vec![
        ("not cordoned yet", of().node(|node| node.is_cordoned = false)),
        ("not labelled", of().unlabelled()),
        ("neither", of().unlabelled().node(|node| node.is_cordoned = false)),
        ("its slot was taken", of().seen(|seen| seen.slot = SlotSeen::Full("w2".into()))),
        ("cordoned", of()),
        ("no Node", of().without_node()),
        ("abort", of().annotated(names::ABORT_ANNOTATION)),
        ("deleted", of().deleted()),
        ("new generation", of().but(|case| case.object.metadata.generation = Some(2))),
    ]));
}

#[test]
fn preflight() {
    let of = || Case::new(Phase::Preflight);
    let ordered = || of().ordered(Command::Check);
    insta::assert_snapshot!(table(vec![
        ("no order yet", of()),
        ("ordered", ordered()),
        ("label removed", ordered().unlabelled()),
        ("checking", ordered().reports(NodeState::Checking)),
        ("checked", ordered().reports(NodeState::Checked)),
        ("checked, another run", ordered().reports_of("other", NodeState::Checked)),
        ("refused", ordered().reports(NodeState::Refused)),
        ("disarmed", ordered().reports(NodeState::Disarmed)),
        ("begun", ordered().reports(NodeState::Applying)),
        ("silent, at the deadline", ordered().at(300)),
        ("silent, late", ordered().at(301)),
        ("checking, late", ordered().reports(NodeState::Checking).at(301)),
        ("at work for another run, late", ordered().reports_of("other", NodeState::Applying).at(301)),
        ("another run ended, late", ordered().reports_of("other", NodeState::Done).at(301)),
        (
            "a refused target",
            ordered().reports(NodeState::Checked).but(|case| {
                case.object.status.refused_target = Some("sha".into());
                case.seen.report.as_mut().unwrap().seen = [("target".into(), "sha".into())].into();
            })
        ),
        (
            "another target than the refused one",
            ordered().reports(NodeState::Checked).but(|case| {
                case.object.status.refused_target = Some("old".into());
                case.seen.report.as_mut().unwrap().seen = [("target".into(), "sha".into())].into();
            })
        ),
        ("no Node", of().without_node()),
        ("abort", ordered().annotated(names::ABORT_ANNOTATION)),
        ("deleted", ordered().deleted()),
    ]));
}

#[test]
fn draining() {
    let of = || Case::new(Phase::Draining).ordered(Command::Check).reports(NodeState::Checked);
    let pods = || of().seen(|seen| seen.leaving.pods = Some("pod a/b: budget c".into()));
    let volumes = || of().seen(|seen| seen.leaving.volumes = Some("volume v".into()));
    let delete = |case: Case| case.but(|case| case.object.spec.drain.on_timeout = OnTimeout::Delete);
    insta::assert_snapshot!(table(vec![
        ("pods", pods()),
        ("pods, never drained", pods().but(|case| case.object.spec.drain.policy = DrainPolicy::Never)),
        ("pods, late, stop", pods().at(601)),
        ("pods, late, delete", delete(pods()).at(601)),
        ("pods, deleted in vain", delete(pods()).at(1201)),
        ("volumes", volumes()),
        ("volumes, late, stop", volumes().at(601)),
        ("volumes, late, delete", delete(volumes()).at(601)),
        ("volumes, later, delete", delete(volumes()).at(1201)),
        ("nothing leaves any more", of()),
        ("label removed", of().unlabelled()),
        ("no Node", of().without_node()),
        ("abort", pods().annotated(names::ABORT_ANNOTATION)),
        ("deleted", pods().deleted()),
    ]));
}

#[test]
fn armed() {
    let of = || Case::new(Phase::Armed);
    let ordered = || of().ordered(Command::Arm).reports(NodeState::Checked);
    let is_armed = || of().ordered(Command::Arm).reports(NodeState::Armed);
    let stopped = || of().ordered(Command::Stop).reports(NodeState::Armed);
    insta::assert_snapshot!(table(vec![
        ("no order yet", of().reports(NodeState::Checked)),
        ("ordered", ordered()),
        ("armed", is_armed()),
        ("armed, no pod", is_armed().seen(|seen| seen.commits = true)),
        (
            "armed for another run, no pod",
            is_armed().reports_of("other", NodeState::Armed).seen(|seen| seen.commits = true)
        ),
        ("label gone", is_armed().unlabelled()),
        ("label removed before it is armed", ordered().unlabelled()),
        ("label removed before it is ordered", of().unlabelled()),
        ("label removed, ordered to stop", stopped().reports(NodeState::Checked).unlabelled()),
        ("label removed, disarmed", stopped().reports(NodeState::Disarmed).unlabelled()),
        ("label gone, rebooted", is_armed().rebooted().unlabelled()),
        ("begun", is_armed().reports(NodeState::Applying)),
        ("begun, abort", is_armed().reports(NodeState::Applying).annotated(names::ABORT_ANNOTATION)),
        ("begun, deleted", is_armed().reports(NodeState::Applying).deleted()),
        ("disarmed", is_armed().reports(NodeState::Disarmed)),
        ("disarmed, abort", is_armed().reports(NodeState::Disarmed).annotated(names::ABORT_ANNOTATION)),
        ("refused", is_armed().reports(NodeState::Refused)),
        ("not armed, late", ordered().at(301)),
        ("armed, late", is_armed().at(301)),
        ("abort", is_armed().annotated(names::ABORT_ANNOTATION)),
        ("deleted", is_armed().deleted()),
        ("ordered to stop, never armed", stopped().reports(NodeState::Checked)),
        ("ordered to stop, armed", stopped()),
        ("ordered to stop, armed, silent", stopped().at(901)),
        ("ordered to stop, label gone", stopped().reports(NodeState::Checked).unlabelled()),
        ("ordered to stop, label gone, silent", stopped().reports(NodeState::Checked).unlabelled().at(901)),
        ("no Node", is_armed().without_node()),
        ("no Node, abort", is_armed().without_node().annotated(names::ABORT_ANNOTATION)),
        ("no Node, at the deadlines", is_armed().without_node().at(900)),
        ("no Node, late", is_armed().without_node().at(901)),
        ("no Node, deleted", is_armed().without_node().deleted()),
    ]));
}

#[test]
fn applying() {
    let of = || Case::new(Phase::Applying).ordered(Command::Arm).unlabelled();
    let works = || of().reports(NodeState::Applying);
    insta::assert_snapshot!(table(vec![
        ("no report", of()),
        ("an unreadable report, late", of().at(3901)),
        ("at work", works()),
        ("at work, label added again", works().node(|node| node.is_labelled = true)),
        ("at work, abort", works().annotated(names::ABORT_ANNOTATION)),
        ("at work, deleted", works().deleted()),
        ("no progress, in the node's own time", works().at(3900)),
        ("no progress, late", works().at(3901)),
        ("new progress, late", works().at(3901).seen(|seen| seen.report.as_mut().unwrap().progress = 2)),
        ("no progress, late, never back", works().at(3901).but(|case| case.object.spec.rollback = Rollback::Never)),
        ("reboots", of().reports(NodeState::Rebooting)),
        (
            "reboots, another Secret",
            of().reports(NodeState::Rebooting).seen(|seen| seen.secret_uid = Some("s2".into()))
        ),
        ("returned already", of().reports(NodeState::Returned)),
        ("goes back", of().reports(NodeState::RollingBack)),
        ("is back", of().reports(NodeState::RolledBack)),
        ("stuck", of().reports(NodeState::Stuck)),
        ("another run", of().reports_of("other", NodeState::Rebooting)),
        ("no Node", of().without_node()),
    ]));
}

#[test]
fn rebooting() {
    let of = || Case::new(Phase::Rebooting).ordered(Command::Arm).unlabelled();
    let returned = || of().reports(NodeState::Returned);
    insta::assert_snapshot!(table(vec![
        ("down", of().reports(NodeState::Rebooting)),
        ("down, overdue", of().reports(NodeState::Rebooting).at(601)),
        ("down, late", of().reports(NodeState::Rebooting).at(4501)),
        (
            "down, late, never back",
            of().reports(NodeState::Rebooting).at(4501).but(|case| {
                case.object.spec.rollback = Rollback::Never;
            })
        ),
        ("stage 2", of().reports(NodeState::Stage2)),
        ("stage 2, has its own deadline", of().reports(NodeState::Stage2).at(4500)),
        ("stage 2, late", of().reports(NodeState::Stage2).at(4501)),
        ("returned", returned()),
        ("returned, another boot", returned().node(|node| node.boot_id = "zero".into())),
        ("returned, not Ready", returned().node(|node| node.not_ready = Some("kubelet stopped".into()))),
        ("returned, not Ready, late", returned().node(|node| node.not_ready = Some("no".into())).at(601)),
        ("goes back", of().reports(NodeState::RollingBack)),
        ("no report", of()),
        ("no report, late", of().at(601)),
        ("deleted", returned().deleted()),
        ("label added again", returned().node(|node| node.is_labelled = true)),
    ]));
}

#[test]
fn gating() {
    let of = || Case::new(Phase::Gating).ordered(Command::Arm).unlabelled().reports(NodeState::Returned);
    let unmet = || of().seen(|seen| seen.not_ready_pods = ["dns".to_owned()].into());
    let held = || of().but(|case| case.object.status.gates_since = Some(Timestamp::UNIX_EPOCH));
    let confirmed = || held().ordered(Command::Confirm);
    insta::assert_snapshot!(table(vec![
        ("a gate does not hold", unmet()),
        ("a gate does not hold, late", unmet().at(601)),
        (
            "a pod that was broken before",
            unmet().at(601).but(|case| case.object.status.not_ready_before = ["dns".to_owned()].into())
        ),
        (
            "a gate does not hold, late, never back",
            unmet().at(601).but(|case| {
                case.object.spec.rollback = Rollback::Never;
            })
        ),
        ("not Ready", of().node(|node| node.not_ready = Some("kubelet stopped".into()))),
        ("all hold", of()),
        ("all hold, at the end of the soak", held().at(5)),
        ("all hold long enough", held().at(6)),
        ("no Node", held().without_node()),
        ("all hold, in another boot than the report's", held().at(6).node(|node| node.boot_id = "two".into())),
        ("all hold, no report of this run", held().at(6).reports_of("other", NodeState::Returned)),
        ("all hold, the report is behind", held().at(6).reports(NodeState::Stage2)),
        ("the report is behind, late", held().at(601).reports(NodeState::Stage2)),
        ("confirmed", confirmed()),
        (
            "confirmed, a gate does not hold",
            confirmed().seen(|seen| {
                seen.not_ready_pods = ["dns".to_owned()].into();
            })
        ),
        ("confirmed, late", confirmed().at(2401)),
        ("done", confirmed().reports(NodeState::Done)),
        ("done, another run", confirmed().reports_of("other", NodeState::Done)),
        ("goes back", of().reports(NodeState::RollingBack)),
        ("deleted", of().deleted()),
    ]));
}

#[test]
fn rolling_back() {
    let of = || Case::new(Phase::RollingBack).ordered(Command::RollBack).unlabelled();
    insta::assert_snapshot!(table(vec![
        ("not ordered yet", of().ordered(Command::Arm).reports(NodeState::Returned)),
        ("not ordered yet, late", of().ordered(Command::Arm).reports(NodeState::Returned).at(4501)),
        ("goes back", of().reports(NodeState::RollingBack)),
        ("goes back, late", of().reports(NodeState::RollingBack).at(4501)),
        ("is back", of().reports(NodeState::RolledBack)),
        ("is back, another boot", of().reports(NodeState::RolledBack).node(|node| node.boot_id = "two".into())),
        ("is back, not Ready", of().reports(NodeState::RolledBack).node(|node| node.not_ready = Some("no".into()))),
        ("stuck", of().reports(NodeState::Stuck)),
        ("was confirmed before", of().reports(NodeState::Done)),
        ("no report", of()),
        ("deleted", of().reports(NodeState::RollingBack).deleted()),
    ]));
}

#[test]
fn restoring() {
    let to = |ending| Case::new(Phase::Restoring).but(|case| case.object.status.ending = Some(ending));
    insta::assert_snapshot!(table(vec![
        ("to Refused", to(Phase::Refused)),
        ("to Done", to(Phase::Done)),
        ("to RolledBack", to(Phase::RolledBack)),
        ("to nowhere", Case::new(Phase::Restoring)),
        ("no Node", to(Phase::Done).without_node()),
        ("deleted", to(Phase::Refused).deleted()),
    ]));
}

#[test]
fn ends() {
    let all = [Phase::Done, Phase::Refused, Phase::RolledBack, Phase::Stuck];
    let changes: [Change; 18] = [
        ("nothing", |case| case),
        ("something is still to be reported", Case::unreported),
        ("another Secret", |case| case.seen(|seen| seen.secret_uid = Some("s2".into()))),
        ("no Secret any more", |case| case.seen(|seen| seen.secret_uid = None)),
        ("label added again", |case| case.node(|node| node.is_labelled = true)),
        ("label added again, no Secret", |case| {
            case.node(|node| node.is_labelled = true).seen(|seen| seen.secret = SecretSeen::Missing("ipb-w1".into()))
        }),
        ("label added again, after a while", |case| case.node(|node| node.is_labelled = true).at(61)),
        ("label added again, another Secret", |case| {
            case.node(|node| node.is_labelled = true).seen(|seen| seen.secret_uid = Some("s2".into()))
        }),
        ("label added again, retry", |case| {
            case.node(|node| node.is_labelled = true).annotated(names::RETRY_ANNOTATION)
        }),
        ("retry", |case| case.annotated(names::RETRY_ANNOTATION)),
        ("retry, followed already", |case| {
            case.annotated(names::RETRY_ANNOTATION).but(|case| case.object.status.retried = Some("now".into()))
        }),
        ("new generation", |case| case.but(|case| case.object.metadata.generation = Some(2))),
        ("deleted", Case::deleted),
        ("deleted, something is still to be reported", |case| case.deleted().unreported()),
        ("deleted, no Node", |case| case.deleted().without_node()),
        ("deleted, at work", |case| case.deleted().reports(NodeState::Stage2)),
        ("deleted, at work for another run", |case| case.deleted().reports_of("other", NodeState::Stage2)),
        ("deleted, at its end", |case| case.deleted().reports(NodeState::Stuck)),
    ];
    let rows = all.into_iter().flat_map(|phase| changes.map(|(what, change)| (what, change(Case::new(phase)))));
    insta::assert_snapshot!(table(rows));
}
