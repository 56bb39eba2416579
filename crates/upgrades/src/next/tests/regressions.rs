//! What has gone wrong before, one test each.

use super::*;

/// The one thing that must never happen: a node is given back while it may still begin.
#[test]
fn an_armed_node_is_given_back_only_when_it_cannot_begin_any_more() {
    let late = |command| Case::new(Phase::Armed).ordered(command).at(10_000);
    assert_eq!(late(Command::Arm).next().effects, [Effect::Order(Command::Stop)]);
    assert_eq!(late(Command::Stop).entered().unwrap().0, Phase::Restoring);
    assert_eq!(late(Command::Stop).unlabelled().entered().unwrap().0, Phase::Stuck, "it alone knows, and says nothing");
    let begun = late(Command::Arm).reports(NodeState::Applying);
    assert_eq!(begun.entered().unwrap().0, Phase::Applying, "what the node reports counts more");
}

/// The label was removed, the node began, and a user labelled it again before it could report.
#[test]
fn a_label_that_is_there_again_is_no_proof_that_an_armed_node_has_not_begun() {
    let stopped = || Case::new(Phase::Armed).reports(NodeState::Armed).ordered(Command::Stop).at(301);
    assert_eq!(stopped().entered(), None, "it waits for the node");
    assert_eq!(stopped().reports(NodeState::Applying).entered().unwrap().0, Phase::Applying);
    assert_eq!(stopped().reports(NodeState::Disarmed).entered().unwrap().1, Some(Phase::Refused));
}

/// Another controller may give it back on the ground of that order.
#[test]
fn a_node_that_was_ordered_to_stop_is_never_ordered_to_be_armed_again() {
    let no_longer_aborted = Case::new(Phase::Armed).reports(NodeState::Armed).ordered(Command::Stop);
    assert_eq!(no_longer_aborted.next().effects, []);
}

#[test]
fn an_abort_before_the_first_run_ends_and_does_not_begin_again() {
    let aborted = Case::new(Phase::Pending).annotated(names::ABORT_ANNOTATION).advance().advance().unlabelled();
    assert_eq!(aborted.object.status.phase, Phase::Refused);
    assert_eq!((aborted.next().effects, aborted.entered()), (Vec::new(), None));
}

#[test]
fn an_abort_is_followed_once_and_labelling_again_works() {
    let abort = |case: Case| case.annotated(names::ABORT_ANNOTATION);
    let aborted = abort(Case::new(Phase::Preflight)).advance().advance();
    assert_eq!((aborted.object.status.phase, aborted.object.status.aborted.as_deref()), (Phase::Refused, Some("now")));
    let again =
        |case: Case| case.node(|node| node.is_labelled = true).seen(|seen| seen.slot = SlotSeen::Held).advance();
    let again = again(again(aborted));
    assert_eq!((again.object.status.phase, again.object.status.aborted.as_deref()), (Phase::Cordoned, Some("now")));
    let again = again.but(|case| {
        case.object.metadata.annotations = Some([(names::ABORT_ANNOTATION.to_owned(), "later".to_owned())].into());
    });
    assert_eq!(again.entered().unwrap().0, Phase::Restoring);

    let too_late = abort(Case::new(Phase::Gating)).reports(NodeState::Done).advance().advance();
    assert_eq!((too_late.object.status.phase, too_late.object.status.aborted.as_deref()), (Phase::Done, Some("now")));
    let removed = too_late.but(|case| case.object.metadata.annotations = None).advance();
    assert_eq!(removed.object.status.aborted, None, "so that the same value counts again");
}

#[test]
fn a_stuck_node_that_is_tried_again_and_deleted_at_once_is_restored() {
    let retried = Case::new(Phase::Stuck).annotated(names::RETRY_ANNOTATION).advance();
    assert_eq!(retried.object.status.phase, Phase::Pending);
    assert_eq!(retried.deleted().entered().unwrap().0, Phase::Restoring);
}

/// The controller was away for longer than the deadline; the node was not.
#[test]
fn progress_that_was_made_without_a_controller_counts() {
    for (phase, state) in [
        (Phase::Applying, NodeState::Applying),
        (Phase::Rebooting, NodeState::Stage2),
        (Phase::RollingBack, NodeState::RollingBack),
    ] {
        let worked = Case::new(phase).reports(state).ordered(Command::RollBack).at(10_000);
        let worked = worked.seen(|seen| seen.report.as_mut().unwrap().progress = 9);
        assert_eq!(worked.entered(), None, "{phase}");
        assert!(worked.advance().at(20_000).entered().is_some(), "{phase}: and is noted");
    }
}

#[test]
fn a_node_is_ordered_to_go_back_before_it_counts_as_stuck() {
    let unreported = Case::new(Phase::RollingBack).reports(NodeState::Returned).at(10_000);
    assert_eq!((unreported.entered(), unreported.next().effects), (None, vec![Effect::Order(Command::RollBack)]));
    assert_eq!(unreported.ordered(Command::RollBack).entered().unwrap().0, Phase::Stuck);
}

/// It was silent for too long, and is well.
#[test]
fn a_stuck_node_that_comes_to_an_end_by_itself_is_given_back() {
    let stuck = |state| Case::new(Phase::Stuck).reports(state);
    for (state, ending) in [
        (NodeState::Refused, Phase::Refused),
        (NodeState::Disarmed, Phase::Refused),
        (NodeState::RolledBack, Phase::RolledBack),
        (NodeState::Done, Phase::Done),
    ] {
        assert_eq!(stuck(state).entered(), Some((Phase::Restoring, Some(ending), None)));
    }
    let was_busy = stuck(NodeState::Checked).ordered(Command::Check);
    assert_eq!(was_busy.entered().unwrap().1, Some(Phase::Refused), "it was at work for another run, and is free now");
    for state in [NodeState::Stuck, NodeState::Checked, NodeState::Applying, NodeState::Returned] {
        assert_eq!(stuck(state).entered(), None);
    }
    assert_eq!(stuck(NodeState::RolledBack).node(|node| node.not_ready = Some("no".into())).entered(), None);
    assert_eq!(Case::new(Phase::Stuck).reports_of("other", NodeState::Done).entered(), None);
}

#[test]
fn a_node_that_works_on_for_another_run_is_not_given_back() {
    let busy = Case::new(Phase::Preflight).reports_of("other", NodeState::Applying).at(301);
    assert_eq!(busy.entered().unwrap().0, Phase::Stuck);
    for phase in [Phase::Pending, Phase::Cordoned, Phase::Preflight] {
        let busy = Case::new(phase).reports_of("other", NodeState::Applying).annotated(names::ABORT_ANNOTATION);
        let busy = busy.but(|case| case.object.status.snapshot = Some(NodeSnapshot::default()));
        assert_eq!(busy.entered().unwrap().0, Phase::Stuck, "{phase}: asked again while it was Stuck, and aborted");
    }
}

#[test]
fn a_slot_is_not_held_for_a_node_that_cannot_begin() {
    let held = |seen: &mut Seen| seen.slot = SlotSeen::Held;
    let missing = |seen: &mut Seen| seen.secret = SecretSeen::Missing("s".into());
    let waits = || Case::new(Phase::Pending).seen(held).seen(missing);
    assert_eq!(waits().next().effects, [Effect::ReleaseSlot]);
    let was_stuck = waits().but(|case| case.object.status.snapshot = Some(NodeSnapshot::default()));
    assert_eq!(was_stuck.next().effects, [], "it is still away");
    for end in [Phase::Done, Phase::Refused, Phase::RolledBack] {
        assert_eq!(Case::new(end).seen(held).next().effects[0], Effect::ReleaseSlot);
    }
}

#[test]
fn the_tokens_go_when_the_node_has_used_them_and_what_comes_later_stays() {
    let blank = [Effect::BlankSecret];
    for state in [NodeState::Rebooting, NodeState::RollingBack, NodeState::RolledBack, NodeState::Stuck] {
        assert_eq!(Case::new(Phase::Applying).reports(state).next().effects, blank, "{state}");
    }
    assert_eq!(Case::new(Phase::Applying).reports(NodeState::Applying).at(10_000).next().effects, blank, "given up");
    for phase in [Phase::Rebooting, Phase::Gating] {
        assert_eq!(Case::new(phase).reports(NodeState::RollingBack).next().effects, [], "{phase}: gone already");
    }
}

/// A hundred labels added again are not a hundred runs.
#[test]
fn a_node_that_is_labelled_again_as_it_was_waits_longer_each_time() {
    let labelled = |attempt, second| {
        let case = Case::new(Phase::Refused).node(|node| node.is_labelled = true).at(second);
        case.but(|case| case.object.status.attempt = attempt)
    };
    for (attempt, last) in [(1, 60), (3, 180), (15, 900), (100, 900), (u32::MAX - 1, 900)] {
        let waits = labelled(attempt, last).next();
        assert!(waits.enter.is_none() && waits.waits_for.is_some(), "attempt {attempt}");
        assert_eq!(labelled(attempt, last + 1).entered().unwrap().0, Phase::Pending, "attempt {attempt}");
    }
    let held = labelled(1, 10).seen(|seen| seen.slot = SlotSeen::Held);
    assert_eq!(held.next().effects, [Effect::ReleaseSlot]);
    let stopped = labelled(1, 10).but(|case| {
        case.object.status.failure = Some(diagnostic(crate::codes::ABORTED, "stopped"));
    });
    assert_eq!(stopped.entered().unwrap().0, Phase::Pending);
}

#[test]
fn a_label_that_a_person_removes_is_not_put_back() {
    let aborted = Some((Phase::Restoring, Some(Phase::Refused), Some(crate::codes::ABORTED.id.to_owned())));
    let checked = |phase| Case::new(phase).ordered(Command::Check).reports(NodeState::Checked).unlabelled();
    for phase in [Phase::Preflight, Phase::Draining] {
        assert_eq!(checked(phase).entered(), aborted, "{phase}");
        assert!(!checked(phase).next().effects.contains(&Effect::Label), "{phase}");
    }
    let armed = Case::new(Phase::Armed).ordered(Command::Arm).reports(NodeState::Checked).unlabelled();
    assert_eq!(armed.next().effects, [Effect::Order(Command::Stop)]);
    assert_eq!(armed.ordered(Command::Stop).reports(NodeState::Disarmed).entered(), aborted);
}

/// It is needed to report that all was done, and a user may have made another one by then.
#[test]
fn only_the_secret_of_the_run_is_deleted_and_not_before_all_is_reported() {
    let done = || Case::new(Phase::Restoring).but(|case| case.object.status.ending = Some(Phase::Done)).advance();
    assert_eq!(done().unlabelled().next().effects, [Effect::ReleaseSlot], "that it is done is still to be reported");
    let reported = || done().but(|case| case.object.status.outbox.events.clear()).unlabelled();
    assert_eq!(reported().next().effects, [Effect::ReleaseSlot, Effect::DeleteSecret]);
    let other = reported().seen(|seen| seen.secret_uid = Some("s2".into()));
    assert_eq!(other.next().effects, [Effect::ReleaseSlot]);
    assert_eq!(
        reported().but(|case| case.object.status.phase = Phase::RolledBack).next().effects,
        [Effect::ReleaseSlot]
    );
}

#[test]
fn the_longest_deadline_is_no_overflow() {
    for (phase, state) in [
        (Phase::Armed, NodeState::Armed),
        (Phase::Applying, NodeState::Applying),
        (Phase::Rebooting, NodeState::Stage2),
        (Phase::Gating, NodeState::Returned),
        (Phase::RollingBack, NodeState::RollingBack),
    ] {
        let command = if phase == Phase::Armed { Command::Stop } else { Command::RollBack };
        let command = if phase == Phase::Gating { Command::Confirm } else { command };
        let case = Case::new(phase).ordered(command).reports(state).at(10_000).but(|case| {
            let deadlines = &mut case.object.spec.deadlines;
            (deadlines.arm, deadlines.apply, deadlines.gate) = (u64::MAX, u64::MAX, u64::MAX);
        });
        assert_eq!(case.entered(), None, "{phase}");
    }
}

#[test]
fn a_refused_target_is_not_forgotten_with_the_report() {
    let restoring = Case::new(Phase::Restoring).without_node().but(|case| {
        case.object.status.ending = Some(Phase::RolledBack);
        case.object.status.refused_target = Some("sha".into());
    });
    assert_eq!(restoring.advance().object.status.refused_target.as_deref(), Some("sha"));
}

#[test]
fn the_status_of_a_run_is_written_once_and_read_by_the_next() {
    let taken = Case::new(Phase::Pending).seen(|seen| seen.slot = SlotSeen::Held).advance();
    let status = &taken.object.status;
    assert_eq!((status.phase, status.attempt, status.run.as_deref()), (Phase::Cordoned, 1, Some("-1-1")));
    assert_eq!((status.observed_generation, status.boot_id_before.as_deref()), (1, Some("one")));
    let again = taken.but(|case| case.object.status.phase = Phase::Refused).at(1000).advance();
    let again = again.seen(|seen| seen.slot = SlotSeen::Held).advance();
    assert_eq!(again.object.status.run.as_deref(), Some("-1-2"), "no run id is used again");
}

#[test]
fn pods_that_cannot_be_deleted_are_not_waited_for_for_ever() {
    let drained = |second| {
        Case::new(Phase::Draining).at(second).but(|case| {
            case.object.spec.drain.on_timeout = crate::OnTimeout::Delete;
            case.seen.leaving.pods = Some("pod a/b hangs on a finalizer".into());
        })
    };
    assert_eq!(drained(1200).next().effects, [Effect::DeletePods]);
    let ended = Some(crate::codes::NOT_DRAINED.id.to_owned());
    assert_eq!(drained(1201).entered(), Some((Phase::Restoring, Some(Phase::Refused), ended)));
}

/// The volumes of a pod that was deleted at the deadline leave after it.
#[test]
fn volumes_are_waited_for_after_their_pods_were_deleted() {
    let late = Case::new(Phase::Draining).at(601).but(|case| {
        case.object.spec.drain.on_timeout = crate::OnTimeout::Delete;
        case.seen.leaving.volumes = Some("volume v".into());
    });
    assert_eq!(late.entered(), None);
    assert_eq!(late.at(1201).entered().unwrap().0, Phase::Armed);
}

#[test]
fn a_node_that_is_done_after_all_shows_no_failure() {
    let done = Case::new(Phase::Restoring).but(|case| {
        case.object.status.ending = Some(Phase::Done);
        case.object.status.failure = Some(diagnostic(crate::codes::GATES_UNMET, "dns"));
    });
    assert_eq!(done.advance().object.status.failure, None);
}

/// Another controller saw it Pending without a Secret, and releases the slot only now.
#[test]
fn the_slot_is_taken_once_more_before_the_node_is_taken_away() {
    let taken = || Case::new(Phase::Cordoned);
    let free = taken().node(|node| node.is_cordoned = false);
    assert_eq!(free.next().effects, [Effect::TakeSlot, Effect::Cordon]);
    let retried = taken().unlabelled().node(|node| node.is_cordoned = false);
    assert_eq!(retried.next().effects, [Effect::TakeSlot, Effect::Cordon, Effect::Label]);
    assert_eq!(taken().next().effects, [Effect::TakeSlot], "it was cordoned by others");
}

/// A node went back for a pod that had been broken for days. What is not Ready is noted with the snapshot, once, and goes with it.
#[test]
fn what_was_broken_before_is_noted_once_and_is_no_fault_of_the_node() {
    let pods = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let taken = Case::new(Phase::Pending).seen(|seen| {
        seen.slot = SlotSeen::Held;
        seen.not_ready_pods = pods(&["DaemonSet a/old"]);
    });
    let taken = taken.advance();
    assert_eq!(
        (taken.object.status.phase, &taken.object.status.not_ready_before),
        (Phase::Cordoned, &pods(&["DaemonSet a/old"]))
    );

    let gating = |not_ready: &[&str]| {
        let mut case = Case::new(Phase::Gating).ordered(Command::Arm).unlabelled().reports(NodeState::Returned).at(601);
        case.object.status.not_ready_before = pods(&["DaemonSet a/old"]);
        case.seen.not_ready_pods = pods(not_ready);
        case.entered().map(|(phase, ..)| phase)
    };
    assert_eq!(gating(&["DaemonSet a/old"]), None);
    assert_eq!(gating(&["DaemonSet a/old", "DaemonSet a/new"]), Some(Phase::RollingBack));

    // A Stuck node that is tried again is still as the first run left it.
    let again = Case::new(Phase::Pending).but(|case| {
        case.object.status.snapshot = Some(NodeSnapshot::default());
        case.object.status.not_ready_before = pods(&["DaemonSet a/old"]);
        case.seen.slot = SlotSeen::Held;
        case.seen.not_ready_pods = pods(&["DaemonSet a/old", "DaemonSet a/new"]);
    });
    assert_eq!(again.advance().object.status.not_ready_before, pods(&["DaemonSet a/old"]));

    let mut ends = Case::new(Phase::Restoring).but(|case| case.object.status.ending = Some(Phase::Done));
    ends.object.status.not_ready_before = pods(&["DaemonSet a/old"]);
    assert_eq!(ends.advance().object.status.not_ready_before, pods(&[]));
}

/// The tokens of a run that has failed stay for another attempt, and still hold: the object says so, and where.
#[test]
fn a_secret_that_is_kept_with_its_tokens_is_named() {
    let named = |phase: Phase, change: fn(&mut Seen)| {
        let waits_for = Case::new(phase).seen(change).next().waits_for;
        waits_for.is_some_and(|text| text.message().contains("Secret ipb-w1 keeps its tokens"))
    };
    for (phase, expected) in
        [(Phase::Refused, true), (Phase::RolledBack, true), (Phase::Done, false), (Phase::Stuck, false)]
    {
        assert_eq!(named(phase, |_| ()), expected, "{phase}");
    }
    assert!(!named(Phase::RolledBack, |seen| seen.secret = SecretSeen::Bad("lacks bootstrap-token".into())), "used");
    assert!(!named(Phase::Refused, |seen| {
        (seen.secret, seen.secret_uid) = (SecretSeen::Missing("ipb-w1".into()), None);
    }));
}
