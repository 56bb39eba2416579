//! `ClusterVersion` and `ClusterOperators`: what `kubectl get co` shows of a cluster that a bootstrap node began.
//!
//! ```text
//!  the API ─► read ─► Seen ─► evaluate ─► Health of each operator ─► status ─► write, where it differs
//!            (observe.rs)    (pure)                                 (pure)
//! ```
//! The pod of the Deployment `cluster-version-operator` goes round this every few seconds ([`run`]). It keeps nothing: killed at
//! any point, the next one looks again, and conditions keep the time of their last change because that is read from
//! the objects. Before a master can run the pod, a step of the bootstrap node writes what [`Seen::nothing`] evaluates to.
//!
//! To add an operator: its name in [`NAMES`], its line in `evaluate.rs`, what it needs in [`Seen`].

pub mod codes;
mod error;
mod evaluate;
mod objects;
mod observe;
mod run;
mod seen;
mod status;

pub use error::OperatorError;
pub use evaluate::{Health, NAMES, Operator, evaluate};
pub use objects::{Object, read, unreported, write};
pub use run::{LOG_FILTER, run};
pub use seen::{Api, Leader, Node, Replicas, Seen};
pub use status::statuses;
