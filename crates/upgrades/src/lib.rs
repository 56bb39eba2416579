//! Nodes that are worked on in place, so many at once: the cluster's side of it.
//!
//! ```text
//!  label, UpgradePlan ─► NodeUpgrade ─► next (pure) ─► effects: slot, cordon, drain, gates, restore      (controller)
//!                           ▲                │
//!                           │                └─► Order, an annotation of the Node ─► its host unit        (crate reprovision)
//!                           └─── NodeReport, an annotation of the Node ◄─────────────────┘
//! ```
//! The object is the truth: the controller keeps nothing, and whichever is the leader goes on from it. What a node does is none of
//! its business: a driver is a name here. So a driver is added without touching a phase, and the same controller
//! serves every kind of work that a node needs to be drained for.
//!
//! Two contracts tie cluster and node together, and both carry the id of the run: what a node has done for one run says nothing about
//! another, and an order of another run is none.

pub mod codes;
pub mod controller;
pub mod manifests;
pub mod names;
pub mod next;
mod object;
mod order;
pub mod plan;
pub mod progress;
mod report;
mod start;
mod table;

pub use object::{
    Conditions, Deadlines, Drain, DrainPolicy, Driver, NodeUpgrade, NodeUpgradeSpec, NodeUpgradeStatus, OnTimeout,
    Phase, Progress, Rollback, Soak, UpgradePlan, UpgradePlanSpec, UpgradePlanStatus, conditions,
};
pub use order::{Command, Order};
pub use report::{NodeReport, NodeState};
pub use start::{abort, list, start};
pub use table::{exit_code, table};
