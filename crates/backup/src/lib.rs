//! Everything a cluster cannot be without, in one encrypted file, and the way back.
//!
//! ```text
//! create   files of this master ─┐
//!          snapshot of etcd ─────┴─► tar ─► age ─► FILE, under a name of its own until it has been read back
//! verify   FILE ─► age ─► tar ─► sums of the manifest, etcd's own sum of its snapshot
//! restore  verify ─► nothing different in the way? ─► etcd's data beside the old ─► files ─► data into its place
//! ```
//! The file is what `age` and `tar` make of it, so that it can be opened without this program. What is in it is decided in
//! [`contents`](Contents), by whom it can be read in [`Key`]. Nothing holds a whole snapshot in memory: it passes in
//! pieces, and the manifest with all sums comes last.
//!
//! A crash while creating leaves a hidden file that the next one removes. A crash while restoring leaves etcd's old data
//! in its place or aside, and never a part of the new: run the same command again. Files that are there already and the
//! same are no obstacle.
//!
//! To put one more file into a backup: a line in `contents.rs`. [`rotation`] says which automatic backups are kept,
//! [`store`] where they are.

pub mod codes;
mod contents;
mod create;
mod error;
mod fresh_file;
mod key;
mod manifest;
mod read;
pub mod restore;
pub mod rotation;
pub mod store;
mod write;

pub use contents::{Contents, Directory};
pub use create::{Made, Progress, Source, create};
pub use error::BackupError;
pub use fresh_file::FreshFile;
pub use key::Key;
pub use manifest::{FileEntry, Manifest};
pub use read::{Locked, Verified};
