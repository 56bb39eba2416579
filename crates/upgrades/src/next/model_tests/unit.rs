//! The node's side of the protocol: a host unit that may lose its power and its network at any time, and the Node it shares
//! with the cluster.

use std::collections::BTreeMap;

use explain::Message;
use jiff::Timestamp;
use operations::node_snapshot::NodeSnapshot;

use crate::{Command, NodeReport, NodeState, Order, order::FORMAT};

/// A Node, as the API server has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ApiNode {
    pub(super) version: u64,
    pub(super) is_labelled: bool,
    pub(super) is_ready: bool,
    pub(super) boot: u32,
    pub(super) order: Option<Order>,
    /// The run whose order was removed last: so its removal changes the version even where there was no order.
    pub(super) ended: Option<String>,
    pub(super) report: Option<NodeReport>,
    pub(super) of_others: NodeSnapshot,
}

impl ApiNode {
    /// As with a real API server, a write that changes nothing leaves the version.
    pub(super) fn write(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.clone();
        change(self);
        self.version += u64::from(*self != before);
    }

    fn has_reported(&self, run: &str, state: NodeState) -> bool {
        self.report.as_ref().is_some_and(|report| report.run == run && report.state == state)
    }
}

/// A machine. What is in `run`, `state`, `begun` and `ledger` survives its reboot.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) is_up: bool,
    pub(super) has_network: bool,
    pub(super) boot: u32,
    pub(super) run: String,
    pub(super) state: NodeState,
    pub(super) begun: BTreeMap<String, u32>,
    pub(super) ledger: BTreeMap<String, NodeState>,
    /// Of its first order.
    goes_back: bool,
    armed_in: Option<u32>,
    returned_at: i64,
    progress: u64,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            is_up: true,
            has_network: true,
            boot: 1,
            run: String::new(),
            state: NodeState::Disarmed,
            begun: BTreeMap::new(),
            ledger: BTreeMap::new(),
            goes_back: true,
            armed_in: None,
            returned_at: 0,
            progress: 0,
        }
    }
}

impl Machine {
    /// It has begun a run and not ended it.
    pub(super) fn is_at_work(&self) -> bool {
        self.state.has_begun() && !self.state.is_end()
    }

    pub(super) fn lose_power(&mut self) {
        self.is_up = false;
    }

    pub(super) fn power_on(&mut self) {
        if !self.is_up {
            self.is_up = true;
            self.reboot();
        }
    }

    fn reboot(&mut self) {
        self.boot += 1;
        match self.state {
            NodeState::Checking | NodeState::Armed => self.become_(NodeState::Disarmed),
            NodeState::Rebooting => self.become_(NodeState::Stage2),
            _ => {}
        }
    }

    fn become_(&mut self, state: NodeState) {
        self.state = state;
        self.progress += 1;
        self.ledger.insert(self.run.clone(), state);
    }

    /// One observation and one step; whether it began.
    pub(super) fn step(&mut self, node: &mut ApiNode, now: i64, goes_well: bool) -> bool {
        if !self.is_up {
            return false;
        }
        let order = node.order.clone().filter(|_| self.has_network);
        match order.filter(|order| order.run == self.run || self.follows(order)) {
            Some(order) if order.run != self.run => {
                self.run = order.run;
                self.goes_back = order.goes_back;
                self.become_(NodeState::Checking);
                false
            }
            order => {
                let has_begun = self.obey(node, order.as_ref(), now);
                if !has_begun {
                    self.work(node, now, goes_well);
                }
                has_begun
            }
        }
    }

    /// Another run is begun only after the last one, and never one that was seen before.
    fn follows(&self, order: &Order) -> bool {
        order.command == Command::Check && self.state.is_end() && !self.ledger.contains_key(&order.run)
    }

    fn obey(&mut self, node: &ApiNode, order: Option<&Order>, now: i64) -> bool {
        let Some(order) = order else {
            self.check_dead_man(now, 90);
            return false;
        };
        match (self.state, order.command) {
            (NodeState::Checking | NodeState::Checked | NodeState::Armed, Command::Stop) => {
                self.become_(NodeState::Disarmed);
            }
            (NodeState::Checked, Command::Arm) => {
                self.armed_in = Some(self.boot);
                self.become_(NodeState::Armed);
            }
            (NodeState::Armed, Command::Arm) => {
                let is_committed = !node.is_labelled && node.has_reported(&self.run, NodeState::Armed);
                if is_committed && self.armed_in == Some(self.boot) {
                    *self.begun.entry(self.run.clone()).or_default() += 1;
                    self.become_(NodeState::Applying);
                    return true;
                }
            }
            (NodeState::Returned, Command::Confirm) => self.become_(NodeState::Done),
            (
                NodeState::Applying | NodeState::Rebooting | NodeState::Stage2 | NodeState::Returned,
                Command::RollBack,
            ) => {
                self.become_(NodeState::RollingBack);
            }
            _ => self.check_dead_man(now, order.confirm_seconds),
        }
        false
    }

    /// Back, or left to a person.
    fn fail(&mut self) {
        self.become_(if self.goes_back { NodeState::RollingBack } else { NodeState::Stuck });
    }

    /// The node decides alone only backwards.
    fn check_dead_man(&mut self, now: i64, confirm_seconds: u64) {
        if self.state == NodeState::Returned && now - self.returned_at > i64::try_from(confirm_seconds).unwrap() {
            self.fail();
        }
    }

    fn work(&mut self, node: &mut ApiNode, now: i64, goes_well: bool) {
        match (self.state, goes_well) {
            (NodeState::Checking, true) => self.become_(NodeState::Checked),
            (NodeState::Checking, false) => self.become_(NodeState::Refused),
            (NodeState::Applying, true) => self.become_(NodeState::Rebooting),
            (NodeState::Applying | NodeState::Stage2, false) => self.fail(),
            (NodeState::Rebooting, _) => self.reboot(),
            (NodeState::Stage2, true) => {
                // As a kubelet that registers again.
                node.write(|node| (node.of_others.labels.clear(), node.of_others.taints.clear()).0);
                self.returned_at = now;
                self.become_(NodeState::Returned);
            }
            (NodeState::RollingBack, true) => {
                self.boot += 1;
                self.become_(NodeState::RolledBack);
            }
            (NodeState::RollingBack, false) => self.become_(NodeState::Stuck),
            _ => {}
        }
    }

    /// The unit's report, and how the cluster sees the kubelet.
    pub(super) fn report(&self, node: &mut ApiNode) {
        let is_seen = self.is_up && self.has_network;
        if is_seen && !self.run.is_empty() {
            let report = self.written();
            node.write(|node| node.report = Some(report));
        }
        self.heartbeat(node);
    }

    /// The kubelet of this boot, without a word of the unit.
    pub(super) fn heartbeat(&self, node: &mut ApiNode) {
        let is_seen = self.is_up && self.has_network;
        node.write(|node| {
            node.is_ready = is_seen && !matches!(self.state, NodeState::Rebooting | NodeState::Stage2);
            if is_seen {
                node.boot = self.boot;
            }
        });
    }

    fn written(&self) -> NodeReport {
        NodeReport {
            version: FORMAT,
            run: self.run.clone(),
            state: self.state,
            text: Message::text(self.state.to_string()),
            problems: Vec::new(),
            seen: BTreeMap::from([("target".to_owned(), self.run.clone())]),
            progress: self.progress,
            reboots: 0,
            boot_id: self.boot.to_string(),
            at: Timestamp::UNIX_EPOCH,
        }
    }

    /// A person has repaired it.
    pub(super) fn repair(&mut self) {
        if self.state == NodeState::Stuck {
            self.run = String::new();
            self.state = NodeState::Disarmed;
        }
    }
}
