//! How a node gets into the cluster: sealed directories, tokens, the protocol, its server and its client.
//!
//! ```text
//! seal     where the configuration is made: one directory per node, the cluster's keys in one of them
//! pointer  with what a machine that has only a pointer config asks for its config
//! client   on a node: hello (a challenge) ─► join (claims, requests, proof) ─► certificates
//!          on a master: hello ─► master (claims, proof) ─► the cluster's keys, in an envelope
//!          on a node of Ceph: hello ─► ceph (claims, proof) ─► what its roles need, in an envelope
//! server   on every master: throttle ─► challenge ─► credential ─► admit (pure) ─► spend the challenge ─► sign
//! ```
//! The proof is an HMAC over everything else in the request, keyed with a secret that never travels: the node's own
//! ([`NodeSecret`], derived from the [`JoinKey`] that masters hold) or that of a bootstrap token. [`admit`] decides with
//! nothing but values; a [`Refusal`] carries the same code to the master's log and to the node, and leaves nothing behind.
//! What was granted and what was revoked is remembered in [`Admissions`], in the API and on every master.
//!
//! Everything goes over TLS with the cluster's CA. The one exception is [`wire::CaAnswer`]: a node that knows only
//! a token asks *any server that answers* for the CA, believes nothing but the token's HMAC over the answer, and starts
//! again over TLS with what it has learnt. This is the less secure way, because every holder of the token can pose as
//! a master towards such a node; sealed nodes never use it.
//!
//! To add a request: its types in [`wire`], a handler in `server/`, a method in `client/`, and for each new way to be
//! refused a variant of [`Refusal`] and a line in [`codes`].

mod admissions;
mod admit;
mod agent_certificate;
mod ceph_keys;
mod claim;
pub mod client;
pub mod codes;
pub mod envelope;
mod generation;
mod identity;
mod living;
mod mac;
mod machine;
mod mark;
mod master_keys;
mod new_secret;
pub mod pointer;
mod proof;
mod purpose;
mod refusal;
pub mod seal;
mod secret;
pub mod server;
pub mod token;
pub mod wire;

pub use admissions::{Admission, Admissions, FILE as ADMISSIONS_FILE, Given, SECRET as ADMISSIONS, Unreadable};
pub use admit::{Bearer, Circumstances, Grant, Key, admit};
pub use agent_certificate::{AgentCertificate, NotSigned};
pub use claim::{Claim, FILE as CLAIM_FILE, NoClaim};
pub use client::{Applicant, Client, Credential, JoinError, Joined, Member, Pair, Renewed, Trust, Whose};
pub use generation::Generation;
pub use identity::Caller;
pub use living::{Living, Sign};
pub use mac::NoRandomness;
pub use machine::machine_id;
pub use mark::{Marks, ca_mark};
pub use master_keys::MasterKeys;
pub use purpose::Purpose;
pub use refusal::Refusal;
pub use secret::{BadSecret, JoinKey, NodeSecret};
