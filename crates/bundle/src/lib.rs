//! The components of a cluster: find, fetch or build, verify, pack.
//!
//! A *bundle* is a directory with programs, images and a [`Manifest`] of their sums; a node installs from it and needs
//! no network. [`table`] says what belongs into one.
//!
//! ```text
//! table ─► Builder ─► sources: given, release, Go modules ─► cache (by SHA-256) ─► bundle directory
//!                                                                     verify ◄──────┤
//!                                                             pack / unpack ◄───────┘
//! ```
//! Everything blocks; inside an async program call it through `spawn_blocking`. Progress goes to a [`Progress`], a
//! [`Stop`] ends the work from elsewhere. Killed at any point and run again, a build goes on with the component it was
//! at: what is complete is in the cache, what is not leaves no trace that counts.
//!
//! To add a component: one row in the table. To add a source: see `source/mod.rs`.

mod assemble;
mod build;
mod cache;
pub mod codes;
mod command;
pub mod component;
mod elf;
mod error;
mod image;
mod lock;
mod manifest;
mod obtained;
mod pack;
mod problems;
mod progress;
mod recipe;
mod source;
mod space;
mod staged;
mod stop;
mod sum;
pub mod table;
mod tarball;
mod verify;
mod wanted;

pub use build::Builder;
pub use cache::Cache;
pub use component::Component;
pub use elf::ensure_static;
pub use error::BundleError;
pub use image::Image;
pub use manifest::{Entry, FORMAT, File, MANIFEST, Manifest, SourceKind};
pub use pack::{pack, unpack};
pub use problems::{Flaw, Problem, Problems};
pub use progress::{Progress, State, Update};
pub use recipe::Recipe;
pub use source::{Mirror, Sources};
pub use stop::Stop;
pub use sum::{NotASum, Sum};
pub use verify::verify;
pub use wanted::{Own, Wanted};
