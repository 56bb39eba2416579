//! A cluster of such nodes: objects with versions, slots, Secrets, pods; controllers that observe it and act on it step by step.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kubeapi::k8s_openapi::api::core::v1::Taint;
use operations::node_snapshot::NodeSnapshot;

use super::unit::{ApiNode, Machine};
use crate::{
    Command, Deadlines, Driver, NodeState, NodeUpgrade, NodeUpgradeSpec, Order, Phase, Rollback, names,
    next::{Effect, Leaving, Next, NodeSeen, SecretSeen, Seen, SlotSeen, advance, next},
    order::FORMAT,
};

/// The pod that is broken from the beginning.
pub(super) const BROKEN: &str = "broken before";

/// A node with all that belongs to it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) object: Option<NodeUpgrade>,
    pub(super) version: u64,
    pub(super) node: ApiNode,
    pub(super) machine: Machine,
    pub(super) secret: SecretSeen,
    secret_uid: u64,
    pub(super) pods: u8,
    pub(super) has_good_gates: bool,
    /// A pod that belongs on the node is broken from the beginning, and stays so.
    pub(super) has_broken_pod: bool,
    pub(super) before: NodeSnapshot,
    /// It was given back while it was Stuck, because a person deleted the object.
    pub(super) is_overruled: bool,
}

impl Place {
    fn new(is_cordoned: bool) -> Self {
        let labels = BTreeMap::from([("disk".to_owned(), "fast".to_owned())]);
        let taint = Taint { key: "dedicated".into(), effect: "NoSchedule".into(), ..Taint::default() };
        let before = NodeSnapshot { labels, taints: vec![taint], unschedulable: is_cordoned };
        let node =
            ApiNode { is_labelled: true, is_ready: true, boot: 1, of_others: before.clone(), ..ApiNode::default() };
        Self {
            object: None,
            version: 0,
            node,
            machine: Machine::default(),
            secret: SecretSeen::For(Driver::Rhel),
            secret_uid: 1,
            pods: 2,
            has_good_gates: true,
            has_broken_pod: false,
            before,
            is_overruled: false,
        }
    }

    /// A user, or another part of the cluster, changes the object.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut NodeUpgrade)) {
        if let Some(object) = &mut self.object {
            change(object);
            self.version += 1;
        }
    }

    pub(super) fn annotate(&mut self, key: &str, value: String) {
        self.change(|object| {
            object.metadata.annotations.get_or_insert_default().insert(key.to_owned(), value);
        });
    }

    pub(super) fn phase(&self) -> Option<Phase> {
        self.object.as_ref().map(|object| object.status.phase)
    }

    /// A user writes the Secret, or makes a new one.
    pub(super) fn give_secret(&mut self) {
        self.secret_uid += u64::from(matches!(self.secret, SecretSeen::Missing(_)));
        self.secret = SecretSeen::For(Driver::Rhel);
    }

    pub(super) fn secret_uid(&self) -> Option<String> {
        (!matches!(self.secret, SecretSeen::Missing(_))).then(|| self.secret_uid.to_string())
    }

    fn uid(&self) -> Option<&String> {
        self.object.as_ref()?.metadata.uid.as_ref()
    }

    pub(super) fn run(&self) -> Option<&String> {
        self.object.as_ref()?.status.run.as_ref()
    }
}

/// What a controller has seen and decided, and how much of it is done.
#[derive(Debug)]
pub(super) struct Plan {
    place: usize,
    object: NodeUpgrade,
    version: u64,
    node_version: u64,
    slot: Option<u64>,
    seen: Seen,
    next: Next,
    done: usize,
}

/// Everything there is.
#[derive(Debug)]
pub(super) struct World {
    pub(super) now: i64,
    pub(super) places: Vec<Place>,
    pub(super) plans: [Option<Plan>; 2],
    slots: BTreeMap<usize, u64>,
    limit: usize,
    made: u64,
    commits: bool,
    has_preconditions: bool,
}

impl World {
    pub(super) fn new(nodes: usize, limit: usize, commits: bool, is_cordoned: bool) -> Self {
        let places = (0..nodes).map(|_| Place::new(is_cordoned)).collect();
        let mut world = Self {
            now: 1,
            places,
            plans: [None, None],
            slots: BTreeMap::new(),
            limit,
            made: 0,
            commits,
            has_preconditions: true,
        };
        (0..nodes).for_each(|place| world.make_object(place));
        world
    }

    /// Node and slot are written whatever has become of them since they were seen.
    pub(super) fn without_preconditions(mut self) -> Self {
        self.has_preconditions = false;
        self
    }

    pub(super) fn with(mut self, rollback: Rollback, has_broken_pod: bool) -> Self {
        for place in &mut self.places {
            place.change(|object| object.spec.rollback = rollback);
            place.has_broken_pod = has_broken_pod;
        }
        self
    }

    /// By its label a Node gets an object.
    pub(super) fn make_object(&mut self, at: usize) {
        self.made += 1;
        let uid = format!("uid{}", self.made);
        let place = &mut self.places[at];
        if place.object.is_none() && place.node.is_labelled {
            let deadlines = Deadlines { preflight: 30, arm: 30, apply: 60, r#return: 60, gate: 60, confirm: 90 };
            let mut spec = NodeUpgradeSpec { deadlines, ..NodeUpgradeSpec::default() };
            spec.drain.timeout_seconds = 60;
            let mut object = NodeUpgrade::new(&at.to_string(), spec);
            object.metadata.uid = Some(uid);
            object.metadata.generation = Some(1);
            place.object = Some(object);
            place.version += 1;
        }
    }

    pub(super) fn holds_slot(&self, at: usize) -> bool {
        self.slots.contains_key(&at)
    }

    pub(super) fn is_full(&self) -> bool {
        self.slots.len() == self.limit
    }

    pub(super) fn is_within_limit(&self) -> bool {
        self.slots.len() <= self.limit
    }

    fn seen(&self, at: usize) -> Seen {
        let place = &self.places[at];
        let others = self.places.iter().enumerate().filter(|(other, place)| *other != at && !place.node.is_ready);
        let slot = match (self.holds_slot(at), self.slots.len() < self.limit) {
            (true, _) => SlotSeen::Held,
            (_, true) => SlotSeen::Free,
            _ => SlotSeen::Full("others".into()),
        };
        let node = &place.node;
        let not_ready_pods = [(!place.has_good_gates, "dns"), (place.has_broken_pod, BROKEN)];
        let not_ready_pods = not_ready_pods.into_iter().filter(|(is, _)| *is).map(|(_, pod)| pod.to_owned()).collect();
        Seen {
            now: Timestamp::from_second(self.now).unwrap(),
            node: Some(NodeSeen {
                is_labelled: node.is_labelled,
                is_cordoned: node.of_others.unschedulable,
                boot_id: node.boot.to_string(),
                not_ready: (!node.is_ready).then(|| "kubelet stopped".into()),
                order: node.order.clone(),
                snapshot: node.of_others.clone(),
            }),
            secret: place.secret.clone(),
            secret_uid: place.secret_uid(),
            slot,
            others: (others.count() >= self.limit).then(|| "not ready".into()),
            no_progress: None,
            report: node.report.clone(),
            leaving: Leaving { pods: (place.pods > 0).then(|| "pods".into()), volumes: None },
            not_ready_pods,
            commits: self.commits,
        }
    }

    /// A controller observes and decides; what it had decided before is forgotten, as if it had been killed.
    pub(super) fn observe(&mut self, controller: usize, at: usize) {
        let place = &self.places[at];
        self.plans[controller] = place.object.clone().map(|mut object| {
            // No Secret here names an API.
            object.status.outbox = object.status.outbox.unwanted();
            let seen = self.seen(at);
            let next = next(&object, &seen);
            let (version, node_version, slot) = (place.version, place.node.version, self.slots.get(&at).copied());
            Plan { place: at, object, version, node_version, slot, seen, next, done: 0 }
        });
    }

    /// A controller does one thing of what it has decided: an effect, at last the status.
    pub(super) fn act(&mut self, controller: usize) {
        let Some(mut plan) = self.plans[controller].take() else { return };
        let Some(effect) = plan.next.effects.get(plan.done).copied() else { return self.write_status(&plan) };
        plan.done += 1;
        if self.apply(&mut plan, effect) {
            self.plans[controller] = Some(plan);
        }
    }

    pub(super) fn act_to_the_end(&mut self, controller: usize) {
        while self.plans[controller].is_some() {
            self.act(controller);
        }
    }

    fn write_status(&mut self, plan: &Plan) {
        let place = &mut self.places[plan.place];
        if place.version == plan.version {
            let status = advance(&plan.object, &plan.seen, &plan.next);
            if status == plan.object.status {
                return;
            }
            place.change(|object| object.status = status);
        }
    }

    /// Whether it could be done.
    fn apply(&mut self, plan: &mut Plan, effect: Effect) -> bool {
        let at = plan.place;
        match effect {
            // It belongs to the object, and goes with it.
            Effect::TakeSlot if self.places[at].uid() != plan.object.metadata.uid.as_ref() => false,
            Effect::TakeSlot if self.slots.len() < self.limit || self.holds_slot(at) => {
                self.made += 1;
                self.slots.insert(at, self.made);
                true
            }
            Effect::TakeSlot => false,
            Effect::ReleaseSlot => {
                if !self.has_preconditions || self.slots.get(&at).copied() == plan.slot {
                    self.slots.remove(&at);
                }
                true
            }
            Effect::Evict => self.remove_pods(at, 1),
            Effect::DeletePods => self.remove_pods(at, u8::MAX),
            Effect::BlankSecret => self.set_secret(plan, SecretSeen::Bad("blank".into())),
            Effect::DeleteSecret => {
                assert_eq!(plan.seen.secret_uid, plan.object.status.secret_uid, "not of this run");
                self.set_secret(plan, SecretSeen::Missing("secret".into()))
            }
            Effect::RemoveFinalizer => {
                let place = &mut self.places[at];
                let removed = place.object.take_if(|_| place.version == plan.version);
                place.is_overruled |= removed.is_some_and(|object| object.status.phase == Phase::Stuck);
                false
            }
            _ => self.apply_to_node(plan, effect),
        }
    }

    fn remove_pods(&mut self, at: usize, count: u8) -> bool {
        self.places[at].pods = self.places[at].pods.saturating_sub(count);
        true
    }

    /// The very one that was seen.
    fn set_secret(&mut self, plan: &Plan, secret: SecretSeen) -> bool {
        let place = &mut self.places[plan.place];
        let is_the_same = (&place.secret, place.secret_uid()) == (&plan.seen.secret, plan.seen.secret_uid.clone());
        if is_the_same {
            place.secret = secret;
        }
        is_the_same
    }

    fn apply_to_node(&mut self, plan: &mut Plan, effect: Effect) -> bool {
        let place = &mut self.places[plan.place];
        if self.has_preconditions && place.node.version != plan.node_version {
            return false;
        }
        let status = &plan.object.status;
        place.node.write(|node| match effect {
            Effect::Cordon => node.of_others.unschedulable = true,
            Effect::Label => node.is_labelled = true,
            Effect::RemoveLabel => node.is_labelled = false,
            Effect::RemoveOrder => (node.order, node.ended) = (None, status.run.clone()),
            Effect::Order(command) => node.order = Some(order(&plan.object, command)),
            _ => {
                if let Some(snapshot) = &status.snapshot {
                    node.of_others = snapshot.clone();
                }
            }
        });
        if effect == Effect::Restore && !place.node.of_others.unschedulable {
            place.pods = 2;
        }
        plan.node_version = place.node.version;
        true
    }

    /// The door on the node: it removes the label once the node is armed for what it is ordered.
    pub(super) fn pod(&mut self, at: usize) {
        let node = &mut self.places[at].node;
        let is_armed = node.report.as_ref().is_some_and(|report| {
            let order = node.order.as_ref().filter(|order| order.run == report.run);
            report.state == NodeState::Armed && order.is_some_and(|order| order.command == Command::Arm)
        });
        if is_armed && !self.commits {
            node.write(|node| node.is_labelled = false);
        }
    }
}

fn order(object: &NodeUpgrade, command: Command) -> Order {
    Order {
        version: FORMAT,
        run: object.status.run.clone().unwrap_or_default(),
        command,
        driver: Driver::Rhel,
        secret: names::secret("w"),
        apply_seconds: 60,
        confirm_seconds: object.spec.deadlines.confirm,
        goes_back: object.spec.rollback == Rollback::Auto,
        by_agent: false,
    }
}
