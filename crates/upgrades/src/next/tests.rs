//! Every edge of every phase, and what has gone wrong before.

mod edges;
mod regressions;

use std::collections::BTreeSet;

use jiff::Timestamp;
use kubeapi::k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use operations::node_snapshot::NodeSnapshot;

use super::*;
use crate::{Driver, NodeState, NodeUpgradeSpec, Order, order::FORMAT};

/// Where a run is, and what is seen of it.
struct Case {
    object: NodeUpgrade,
    seen: Seen,
}

impl Case {
    /// A node in this phase for ten seconds, all well.
    fn new(phase: Phase) -> Self {
        let mut object = NodeUpgrade::new("w1", NodeUpgradeSpec::default());
        object.metadata.generation = Some(1);
        object.status.phase = phase;
        object.status.since = Some(Timestamp::UNIX_EPOCH);
        if phase != Phase::Pending {
            object.status.run = Some("r".into());
            object.status.observed_generation = 1;
            object.status.attempt = 1;
            object.status.secret_uid = Some("s1".into());
        }
        let is_taken = object.status.holds_slot();
        object.status.snapshot = is_taken.then(NodeSnapshot::default);
        let node = NodeSeen {
            boot_id: "one".into(),
            is_labelled: !phase.is_end(),
            is_cordoned: is_taken,
            ..NodeSeen::default()
        };
        let seen = Seen {
            now: Timestamp::from_second(10).unwrap(),
            node: Some(node),
            secret: SecretSeen::For(Driver::Rhel),
            secret_uid: Some("s1".into()),
            slot: if is_taken { SlotSeen::Held } else { SlotSeen::Free },
            others: None,
            no_progress: None,
            report: None,
            leaving: Leaving::default(),
            not_ready_pods: BTreeSet::new(),
            commits: false,
        };
        Self { object, seen }
    }

    fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn seen(self, change: impl FnOnce(&mut Seen)) -> Self {
        self.but(|case| change(&mut case.seen))
    }

    fn node(self, change: impl FnOnce(&mut NodeSeen)) -> Self {
        self.but(|case| change(case.seen.node.as_mut().unwrap()))
    }

    fn at(self, second: i64) -> Self {
        self.seen(|seen| seen.now = Timestamp::from_second(second).unwrap())
    }

    fn ordered(self, command: Command) -> Self {
        self.node(|node| {
            node.order = Some(Order {
                version: FORMAT,
                run: "r".into(),
                command,
                driver: Driver::Rhel,
                secret: "s".into(),
                apply_seconds: 1,
                confirm_seconds: 1,
                goes_back: true,
                by_agent: false,
            });
        })
    }

    fn reports(self, state: NodeState) -> Self {
        self.reports_of("r", state)
    }

    /// Its progress is noted already.
    fn reports_of(self, run: &str, state: NodeState) -> Self {
        self.but(|case| {
            case.object.status.progress = Some(crate::Progress { count: 1, at: Timestamp::UNIX_EPOCH });
            case.seen.report = Some(NodeReport {
                version: FORMAT,
                run: run.into(),
                state,
                text: Message::text(format!("(the node says {state})")),
                problems: Vec::new(),
                seen: [].into(),
                progress: 1,
                reboots: 0,
                boot_id: "one".into(),
                at: Timestamp::UNIX_EPOCH,
            });
        })
    }

    fn annotated(self, key: &str) -> Self {
        self.but(|case| {
            case.object.metadata.annotations = Some([(key.to_owned(), "now".to_owned())].into());
        })
    }

    fn deleted(self) -> Self {
        self.but(|case| {
            case.object.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        })
    }

    /// A machine that was rebooted while it was armed says why it is not any more.
    fn rebooted(self) -> Self {
        self.reports(NodeState::Disarmed).seen(|seen| {
            if let Some(report) = &mut seen.report {
                report.text = Message::Error(diagnostic(crate::codes::CHECKS_UNMET, "rebooted"));
            }
        })
    }

    fn unreported(self) -> Self {
        self.but(|case| case.object.status.outbox.events.push(crate::progress::Event::default()))
    }

    fn unlabelled(self) -> Self {
        self.node(|node| node.is_labelled = false)
    }

    fn without_node(self) -> Self {
        self.seen(|seen| seen.node = None)
    }

    fn next(&self) -> Next {
        next(&self.object, &self.seen)
    }

    /// What is entered, the end it leads to, the code of the failure.
    fn entered(&self) -> Option<(Phase, Option<Phase>, Option<String>)> {
        let enter = self.next().enter?;
        Some((enter.phase, enter.ending, enter.failure.map(|failure| failure.code)))
    }

    /// As a controller that does all of it.
    fn advance(mut self) -> Self {
        self.object.status = advance(&self.object, &self.seen, &self.next());
        self
    }
}
