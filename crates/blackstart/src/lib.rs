//! The command line: one file per sub-command in `commands/`, one place that prints (`output`), one that decides how an
//! error looks and which exit code it has (`failure`).

pub mod applet;
pub mod cli;
mod codes;
mod commands;
mod context;
mod failure;
mod output;
pub mod progress;
mod recording;

pub use commands::run;
pub use failure::{Exit, Failure};
pub use output::{Output, Style};
