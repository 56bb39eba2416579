//! Whatever happens to controllers, nodes and users, in whatever order: no node is worked on twice or while it counts as given
//! back, and once all is calm every object comes to the end that is true of its node.

mod unit;
mod world;

use jiff::Timestamp;
use kubeapi::k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use proptest::prelude::*;
use world::{BROKEN, Place, World};

use super::SecretSeen;
use crate::{NodeState, Phase, Rollback, names};

/// More rounds than all deadlines of a run take one after the other.
const FAIR_ROUNDS: usize = 600;

/// One thing that happens; the first number is a node's.
#[derive(Debug, Clone, Copy)]
enum Event {
    Round(usize),
    Observe(usize, usize),
    Act(usize),
    ActToTheEnd(usize),
    Kill(usize),
    Step(usize, bool),
    Report(usize),
    Heartbeat(usize),
    Pod(usize),
    Wait(i64),
    Label(usize),
    Unlabel(usize),
    Abort(usize),
    NoAbort(usize),
    Delete(usize),
    Change(usize),
    Retry(usize),
    Secret(usize, bool),
    LosePower(usize),
    PowerOn(usize),
    Network(usize, bool),
    Gates(usize, bool),
    Repair(usize),
}

fn events() -> impl Strategy<Value = Event> {
    let (at, controller) = (0..3_usize, 0..2_usize);
    prop_oneof![
        40 => at.clone().prop_map(Event::Round),
        10 => (controller.clone(), at.clone()).prop_map(|(controller, at)| Event::Observe(controller, at)),
        20 => controller.clone().prop_map(Event::Act),
        10 => controller.clone().prop_map(Event::ActToTheEnd),
        2 => controller.prop_map(Event::Kill),
        8 => (at.clone(), prop::bool::weighted(0.8)).prop_map(|(at, goes_well)| Event::Step(at, goes_well)),
        4 => at.clone().prop_map(Event::Report),
        4 => at.clone().prop_map(Event::Heartbeat),
        4 => at.clone().prop_map(Event::Pod),
        6 => prop::sample::select(vec![1, 10, 40, 200, 2_000]).prop_map(Event::Wait),
        6 => at.clone().prop_map(Event::Label),
        2 => at.clone().prop_map(Event::Unlabel),
        1 => at.clone().prop_map(Event::Abort),
        1 => at.clone().prop_map(Event::NoAbort),
        1 => at.clone().prop_map(Event::Delete),
        1 => at.clone().prop_map(Event::Change),
        1 => at.clone().prop_map(Event::Retry),
        2 => (at.clone(), any::<bool>()).prop_map(|(at, is_there)| Event::Secret(at, is_there)),
        2 => at.clone().prop_map(Event::LosePower),
        3 => at.clone().prop_map(Event::PowerOn),
        4 => (at.clone(), any::<bool>()).prop_map(|(at, is_there)| Event::Network(at, is_there)),
        2 => (at.clone(), any::<bool>()).prop_map(|(at, are_good)| Event::Gates(at, are_good)),
        1 => at.prop_map(Event::Repair),
    ]
}

impl World {
    fn happen(&mut self, event: Event) {
        match event {
            Event::Round(at) => self.round(self.index(at)),
            Event::Observe(controller, at) => self.observe(controller, self.index(at)),
            Event::Act(controller) => self.act(controller),
            Event::ActToTheEnd(controller) => self.act_to_the_end(controller),
            Event::Kill(controller) => self.plans[controller] = None,
            Event::Step(at, goes_well) => self.step(self.index(at), goes_well),
            Event::Pod(at) => self.pod(self.index(at)),
            Event::Wait(seconds) => self.now += seconds,
            Event::Label(at) => {
                let at = self.index(at);
                self.places[at].node.write(|node| node.is_labelled = true);
                self.make_object(at);
            }
            _ => self.happen_to_place(event),
        }
    }

    fn happen_to_place(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Unlabel(at) => self.at(at).node.write(|node| node.is_labelled = false),
            Event::Abort(at) => self.at(at).annotate(names::ABORT_ANNOTATION, (now % 2).to_string()),
            Event::NoAbort(at) => self.at(at).change(|object| {
                object.metadata.annotations.get_or_insert_default().remove(names::ABORT_ANNOTATION);
            }),
            Event::Delete(at) => self.at(at).change(|object| {
                object.metadata.deletion_timestamp = Some(Time(Timestamp::from_second(now).unwrap()));
            }),
            Event::Change(at) => self.at(at).change(|object| {
                object.metadata.generation = object.metadata.generation.map(|generation| generation + 1);
            }),
            Event::Retry(at) => self.at(at).annotate(names::RETRY_ANNOTATION, now.to_string()),
            Event::Secret(at, true) => self.at(at).give_secret(),
            Event::Secret(at, false) => self.at(at).secret = SecretSeen::Missing("secret".into()),
            Event::LosePower(at) => self.at(at).machine.lose_power(),
            Event::PowerOn(at) => self.at(at).machine.power_on(),
            Event::Network(at, is_there) => self.at(at).machine.has_network = is_there,
            Event::Gates(at, are_good) => self.at(at).has_good_gates = are_good,
            Event::Repair(at) => self.at(at).machine.repair(),
            Event::Report(at) => self.at(at).report(),
            Event::Heartbeat(at) => {
                let place = self.at(at);
                place.machine.heartbeat(&mut place.node);
            }
            _ => {}
        }
    }

    fn index(&self, at: usize) -> usize {
        at % self.places.len()
    }

    fn at(&mut self, at: usize) -> &mut Place {
        let at = self.index(at);
        &mut self.places[at]
    }

    fn step(&mut self, at: usize, goes_well: bool) {
        let now = self.now;
        let holds_slot = self.holds_slot(at);
        let Place { machine, node, .. } = &mut self.places[at];
        if machine.step(node, now, goes_well) {
            let place = &self.places[at];
            assert_eq!(place.phase(), Some(Phase::Armed), "begins in another phase");
            assert_eq!(place.run(), Some(&place.machine.run), "begins another run");
            assert!(place.node.of_others.unschedulable, "begins while uncordoned");
            assert!(holds_slot, "begins without a slot");
        }
    }

    /// Everybody does one thing, and all goes well.
    fn round(&mut self, at: usize) {
        self.now += 5;
        self.step(at, true);
        self.places[at].report();
        self.check();
        self.pod(at);
        self.check();
        self.observe(0, at);
        while self.plans[0].is_some() {
            self.act(0);
            self.check();
        }
    }

    fn check(&self) {
        assert!(self.is_within_limit(), "more slots than the limit");
        for (at, place) in self.places.iter().enumerate() {
            assert!(place.machine.begun.values().all(|count| *count <= 1), "begun twice");
            place.check(self.holds_slot(at));
        }
    }

    /// No more faults, and users who only do what they are asked to.
    fn calm_down(&mut self) {
        for controller in 0..2 {
            self.act_to_the_end(controller);
            self.check();
        }
        for _ in 0..FAIR_ROUNDS {
            for at in 0..self.places.len() {
                self.places[at].be_kind();
                self.round(at);
            }
            if (0..self.places.len()).all(|at| self.is_quiet(at)) {
                return;
            }
        }
        panic!("never quiet: {:#?}", self.places);
    }

    /// It waits for a slot, and nodes that are Stuck hold all: only a person can go on.
    fn is_blocked(&self, at: usize) -> bool {
        let are_stuck = (0..self.places.len())
            .filter(|other| self.holds_slot(*other))
            .all(|other| self.places[other].phase() == Some(Phase::Stuck));
        self.places[at].phase() == Some(Phase::Pending) && !self.holds_slot(at) && self.is_full() && are_stuck
    }

    fn is_quiet(&mut self, at: usize) -> bool {
        let version = self.places[at].version;
        let node = self.places[at].node.clone();
        self.places[at].be_kind();
        self.round(at);
        let place = &self.places[at];
        let is_blocked = self.is_blocked(at);
        // A label is a wish that is still to be followed, unless a person must first inspect a node.
        let is_asked = place.node.is_labelled && place.phase().is_some_and(|phase| phase != Phase::Stuck);
        let is_at_end = place.phase().is_none_or(Phase::is_end) && !is_asked;
        let is_calm = (is_at_end || is_blocked) && !place.machine.is_at_work();
        is_calm && (place.version, &place.node) == (version, &node)
    }
}

impl Place {
    fn report(&mut self) {
        self.machine.report(&mut self.node);
    }

    fn be_kind(&mut self) {
        self.machine.power_on();
        self.machine.has_network = true;
        self.has_good_gates = true;
        let wants_secret = self.phase() == Some(Phase::Pending) || (self.phase().is_some() && self.node.is_labelled);
        if wants_secret {
            self.give_secret();
        }
        // A report of a machine that was repaired by hand is removed by hand, if that is asked for.
        let is_left = self.node.report.as_ref().is_some_and(|report| report.run != self.machine.run);
        if is_left && self.phase() == Some(Phase::Stuck) && !self.machine.is_at_work() {
            self.node.write(|node| node.report = None);
        }
        // A run that never reached the node can only be left by a person.
        let is_of_another_run = self.run() != Some(&self.machine.run);
        if self.phase() == Some(Phase::Stuck) && is_of_another_run && !self.machine.is_at_work() {
            let since = self.object.as_ref().and_then(|object| object.status.since);
            let again = format!("after {:?} since {since:?}", self.run());
            self.annotate(names::RETRY_ANNOTATION, again);
        }
    }

    fn check(&self, holds_slot: bool) {
        let Some(object) = &self.object else { return };
        let status = &object.status;
        let end = if status.phase == Phase::Restoring { status.ending } else { Some(status.phase) };
        let ledger = status.run.as_ref().and_then(|run| self.machine.ledger.get(run));
        let has_begun = status.run.as_ref().is_some_and(|run| self.machine.begun.contains_key(run));
        match end {
            Some(Phase::Refused) => assert!(!has_begun, "refused after it has begun: {self:#?}"),
            Some(Phase::Done) => assert_eq!(ledger, Some(&NodeState::Done), "{self:#?}"),
            Some(Phase::RolledBack) => assert_eq!(ledger, Some(&NodeState::RolledBack), "{self:#?}"),
            _ => {}
        }
        let failure = status.failure.as_ref().map_or("", |failure| &failure.message);
        assert!(!failure.contains(BROKEN), "goes back for what was broken before: {self:#?}");
        let is_at_work = self.machine.is_at_work();
        // A person who deletes what is Stuck answers for the node.
        let is_overruled = status.phase == Phase::Stuck && object.metadata.deletion_timestamp.is_some();
        if is_overruled || (is_at_work && status.run.as_ref() != Some(&self.machine.run)) {
            return;
        }
        let is_taken = self.node.of_others.unschedulable && !self.before.unschedulable;
        assert!(holds_slot || !(is_at_work || is_taken), "away without a slot: {self:#?}");
        if status.phase.is_end() && status.phase != Phase::Stuck && !self.is_overruled {
            assert_eq!(self.node.of_others, self.before, "not restored: {self:#?}");
        }
    }

    fn check_end(&self) {
        let noted = self.object.as_ref().and_then(|object| object.status.secret_uid.clone());
        let is_used_up = self.phase() == Some(Phase::Done) && noted.is_some();
        assert!(!is_used_up || self.secret_uid() != noted, "the Secret of a run that is done stays: {self:#?}");
        let reported =
            self.node.report.as_ref().filter(|report| Some(&report.run) == self.run()).map(|report| report.state);
        if self.phase() == Some(Phase::Stuck) {
            assert_eq!(reported, Some(NodeState::Stuck), "{self:#?}");
        } else {
            let is_blocked = self.phase() == Some(Phase::Pending);
            assert!(!self.node.is_labelled || self.object.is_none() || is_blocked, "{self:#?}");
            assert!(self.is_overruled || self.node.of_others == self.before, "{self:#?}");
            assert_eq!(self.node.order, None, "{self:#?}");
        }
    }
}

fn play(mut world: World, events: &[Event]) -> World {
    for event in events {
        world.happen(*event);
        world.check();
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_every_object_comes_to_the_end_that_is_true(
        nodes in prop::sample::select(vec![1, 3]),
        limit in 1..3_usize,
        commits in any::<bool>(),
        is_cordoned in prop::bool::weighted(0.2),
        rollback in prop::sample::select(vec![Rollback::Auto, Rollback::Never]),
        has_broken_pod in any::<bool>(),
        events in prop::collection::vec(events(), 0..120),
    ) {
        let mut world = play(World::new(nodes, limit, commits, is_cordoned).with(rollback, has_broken_pod), &events);
        world.calm_down();
        for (at, place) in world.places.iter().enumerate() {
            place.check_end();
            let keeps_slot = place.phase() == Some(Phase::Stuck);
            prop_assert_eq!(world.holds_slot(at), keeps_slot);
        }
    }
}

/// The plainest run, so that a model in which nothing happens is no proof.
#[test]
fn left_alone_all_nodes_are_done_one_after_the_other() {
    for (commits, has_broken_pod) in [(false, false), (true, false), (false, true)] {
        let mut world = World::new(3, 1, commits, false).with(Rollback::Auto, has_broken_pod);
        world.calm_down();
        for place in &world.places {
            assert_eq!((place.phase(), place.machine.begun.len()), (Some(Phase::Done), 1));
        }
    }
}

/// A controller that was stopped while it gave the node back goes on when the next run is under way.
fn finish_an_old_restore_in_the_next_run(mut world: World) {
    world.round_until(Phase::Preflight);
    world.happen(Event::Abort(0));
    world.round_until(Phase::Restoring);
    world.observe(1, 0);
    world.round_until(Phase::Refused);
    world.happen(Event::NoAbort(0));
    world.happen(Event::Label(0));
    world.round_until(Phase::Armed);
    world.observe(0, 0);
    world.act_to_the_end(0);
    world.happen(Event::Step(0, true));
    world.happen(Event::Report(0));
    world.act_to_the_end(1);
    world.calm_down();
}

impl World {
    fn round_until(&mut self, phase: Phase) {
        for _ in 0..FAIR_ROUNDS {
            if self.places[0].phase() == Some(phase) {
                return;
            }
            self.round(0);
        }
        panic!("never {phase}");
    }
}

#[test]
fn a_controller_that_was_stopped_for_a_whole_run_harms_nothing() {
    finish_an_old_restore_in_the_next_run(World::new(1, 1, false, false));
}

/// So a controller writes to a Node, and releases a slot, only if it is as it was seen.
#[test]
#[should_panic(expected = "begins while uncordoned")]
fn without_a_version_in_its_writes_it_would() {
    finish_an_old_restore_in_the_next_run(World::new(1, 1, false, false).without_preconditions());
}
