//! The last report of each node, in memory: a master that restarts is told everything again within seconds.

use std::{collections::BTreeMap, sync::Mutex};

use jiff::Timestamp;
use serde_json::Value;

use super::{challenge::Good, outside::locked};
use crate::{Refusal, wire::Report};

/// What nodes said last; at most one entry per node that was ever in cluster.yaml.
#[derive(Default)]
pub(super) struct Reports(Mutex<BTreeMap<String, Kept>>);

#[derive(Default)]
struct Kept {
    report: Option<Report>,
    /// The moment of the challenge of its last early report; also remembered after it has joined.
    challenge: Option<i64>,
}

impl Reports {
    /// A node has shown its certificate.
    pub(super) fn certified(&self, node: String, status: Value, now: Timestamp) {
        locked(&self.0).entry(node).or_default().report = Some(Report { received: now, early: false, status });
    }

    /// A node has proved that it holds its credential; each challenge counts once.
    pub(super) fn early(&self, node: String, challenge: &Good, status: Value, now: Timestamp) -> Result<(), Refusal> {
        let mut all = locked(&self.0);
        let kept = all.entry(node).or_default();
        kept.challenge = Some(challenge.follow(kept.challenge, now)?);
        kept.report = Some(Report { received: now, early: true, status });
        Ok(())
    }

    /// The last report of a node.
    pub(super) fn of(&self, node: &str) -> Option<Report> {
        locked(&self.0).get(node)?.report.clone()
    }
}
