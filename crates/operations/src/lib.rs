//! What more than one playbook or controller does to a running cluster, one operation per file.
//!
//! | operation | does |
//! |---|---|
//! | [`cordon`] | keeps new pods away from a node |
//! | [`drain`] | evicts a node's pods, as their budgets allow, within a deadline |
//! | [`handover`] | lets another member of etcd lead, without losing a write |
//! | [`node_snapshot`] | notes what others have set on a Node, and restores it |
//! | [`outage`] | says once that something does not work, and once that it works again |
//! | [`quorum`] | refuses what could cost etcd its majority |
//! | [`readiness`] | says whether a node can run pods, of this boot or of any |
//! | [`slots`] | lets no more than so many nodes be worked on at once |
//!
//! An operation takes values and clients, knows neither steps nor duties, and says what it is at through what the caller
//! gives it. What it decides is a pure function beside what it does. Each looks at the cluster again, so it can be interrupted
//! anywhere and run again. To add one: a file here, and its row above.

pub mod codes;
pub mod cordon;
pub mod drain;
pub mod handover;
pub mod node_snapshot;
pub mod outage;
pub mod quorum;
pub mod readiness;
pub mod slots;
#[cfg(test)]
mod testing;
