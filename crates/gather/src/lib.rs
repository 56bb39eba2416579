//! Everything that helps to understand a node, in one archive without secrets.
//!
//! ```text
//! registry of items ─► asked all at once, each with its own time limit ─► scrubbed ─► archive with an index
//! secret files of the machine ─► their values, in every usual form ─────────▲
//! ```
//!
//! Two layers keep secrets out. Files that are secret by nature are never taken ([`is_secret`]). Everything that *is* taken
//! is scrubbed: of whatever has the form of a secret, and of the very values that lie on this machine, because a log can
//! repeat a secret in a place where nothing looks like one.
//!
//! An item that fails, hangs or is too large spoils only itself: the index holds the reason. To add one: a line in
//! `registry.rs`. To add a path where secrets lie: a line in `secrets/paths.rs`.

mod archive;
pub mod codes;
mod collect;
mod error;
mod files;
mod index;
mod item;
mod laboratory;
mod machine;
mod objects;
mod patterns;
mod registry;
mod scrub;
mod secrets;
mod shell;

pub use archive::Archive;
pub use collect::{Gathered, Progress};
pub use error::GatherError;
pub use files::is_secret;
pub use index::{Entry, Index};
pub use laboratory::lab;
pub use machine::machine;
