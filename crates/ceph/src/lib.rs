//! Ceph, as far as a node of ours must know it: who the cluster is, its keys, its configuration, its commands.
//!
//! ```text
//! identity   made once: fsid, initial monitors, keys ─► a Secret of Kubernetes ─► what one node's roles need
//! key        cephx keys, byte by byte as Ceph writes them     keyring   who may do what, as text
//! conf       cluster.yaml ─► ceph.conf; pure                  monmap    the first map of monitors, as arguments
//! client     the `ceph` command with a deadline               socket    a daemon of this machine, asked directly
//! answers/   what they say, one file per answer
//! device     what lies where an OSD is to be made, and whether that may be used
//! certificate  what the dashboard shows
//! paths      where everything lies, and whose it is           owned     files of the user that daemons run as
//! ```
//! Nothing here decides what is done on a machine; the steps in `playbooks/src/ceph` do. To add an answer: its type in
//! `answers/` with a fixture of what Ceph really printed, and a method of [`Client`] that asks for it.

pub mod answers;
pub mod certificate;
mod client;
pub mod codes;
mod conf;
pub mod device;
mod error;
mod fsid;
mod identity;
mod key;
mod keyring;
pub mod monmap;
pub mod owned;
pub mod paths;
mod random;
#[cfg(test)]
mod samples;
mod socket;

pub use client::Client;
pub use conf::conf;
pub use error::{BadIdentity, CephError, NoIdentity};
pub use fsid::Fsid;
pub use identity::{Handed, Identity, InitialMonitor, SECRET};
pub use key::{Cipher, Key};
pub use keyring::{Entity, text as keyring_text};
pub use random::{NoRandomness, random_text};
pub use socket::{monitor, osd};
