//! Sealing: one directory per node, made once, where the configuration is made.
//!
//! ```text
//! OUT/<node>/  cluster.yaml  nodes/*.yaml  join-secret  ca.crt  ca-pin       every node; put on its medium as
//!                                                                            /etc/cluster-config
//! OUT/<master>/        also  serving.pem                                     with which it answers before it has joined
//!                      also  the network add-on's manifest                   if cluster.yaml names one beside it
//! OUT/<first master>/  also  join.key  encryption.key  pki/                  the cluster's keys, nowhere else
//! ```
//! Where there is a bootstrap node, its directory has all that the first master's has otherwise, keys included: the cluster
//! grows from there, and every master asks it for them.
//!
//! [`Existing::read`] looks at what an earlier sealing left, [`plan()`] says what has to be written (pure but for random
//! keys), the caller applies it. Sealing again keeps every key and every good secret and adds what is new; so does sealing
//! after a crash, because the directory with the keys is written first. [`Terms`] say which secrets are followed by others:
//! the first use of one makes those before it worthless. On the node, [`Sealed::read`] reads its own directory.
//!
//! To put one more file into the directories: a name in [`layout`], a line in `plan.rs`.

mod error;
mod existing;
pub mod layout;
mod plan;
mod sealed;
mod sources;

pub use error::SealError;
pub use existing::{Existing, keeper};
pub(crate) use plan::SERVICE;
pub use plan::{Terms, end, plan, serving};
pub use sealed::{Sealed, split};
pub use sources::Sources;
