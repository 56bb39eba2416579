//! A machine's first boot as an Ignition config: what `node install` would have put there, in one JSON file that RHCOS,
//! FCOS, Flatcar and Debian's Ignition read before the first process of the system starts. Pure.
//!
//! ```text
//! config     the part of spec 3.2.0 that we write, as types          render     a node's files -> config, with an id and an end
//! record     what the machine can read about the render              pointer    a config that says where the config is
//! validate/  any config -> problems with line and column
//! ```
//! Programs, components and images are not in it: they are in the machine's bundle. The same inputs give the same bytes, but
//! for the moment of rendering, so the id (a sum of the inputs) says whether a file has to be written again.
//!
//! To put one more file into every config: a line in `render.rs`. To check one more thing: a function in `validate/checks.rs`
//! and a code.

pub mod codes;
mod config;
mod pointer;
mod record;
mod render;
mod sum;
mod validate;

pub use config::{Config, Directory, File, Unit, VERSION};
pub use pointer::{BadUrl, Pointer};
pub use record::{RECORD, Record};
pub use render::{Input, RenderError, Rendered, render};
pub use validate::{MAX_BYTES, Problem, report, validate};
