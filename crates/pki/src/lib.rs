//! All certificates, keys and kubeconfigs of a Kubernetes and etcd control plane.
//!
//! [`table`] says what exists; everything else works through its rows. The flow has three stages:
//! 1. [`Existing::read`] reads the files that are there;
//! 2. [`plan`] (or [`renewal`]) compares them with the table and an [`Input`], and returns [`host::Change`]s or all
//!    problems at once. Pure but for random keys;
//! 3. the engine applies the changes, each atomic and durable, and plans again: an empty plan is the proof.
//!
//! A crash at any point is followed by another plan, which goes on from what is there; the order of changes that makes
//! this safe is explained in `plan.rs`. [`inventory`] and [`show`] show people what there is,
//! [`faults`] what is wrong with it. To add a certificate: one
//! row in the table.
//!
//! What is signed for other machines goes another way: [`Request`] reads what they ask for, [`Signer`] signs it with the
//! names that *we* chose.

mod ca;
mod canonical;
mod certificate;
pub mod codes;
mod der;
mod error;
mod evaluate;
mod existing;
mod faults;
mod input;
mod inventory;
mod issue;
mod key;
mod kubeconfig;
mod leaf;
mod lifetime;
mod pem;
mod pin;
mod plan;
mod reason;
mod renewal;
mod request;
mod rotation;
mod service_account;
mod show;
mod signer;
pub mod table;
mod write;

pub use error::{PkiError, PkiErrors};
pub use existing::Existing;
pub use faults::{Fault, Flaw, certificate_flaw, faults, kubeconfig_flaw};
pub use input::{Input, Shared};
pub use inventory::{Entry, EntryKind, Facts, State, inventory};
pub use issue::{Contents, Subject};
pub use kubeconfig::{Proof, kubeconfig};
pub use lifetime::{BACKDATED, Urgency, is_plausible};
pub use pin::{NoPin, spki_pin};
pub use plan::{plan, plan_shared};
pub use reason::Reason;
pub use renewal::{Which, renewal};
pub use request::{BadRequest, Request};
pub use rotation::{Stage, Successors, check_rotatable, is_of_signer, rotation};
pub use service_account::token_key_id;
pub use show::show;
pub use signer::Signer;
