//! `blackstart`: bare machines in, a working cluster out.

use std::process::ExitCode;

use blackstart::{
    applet,
    cli::{Cli, complete},
};
use clap::Parser;

fn main() -> ExitCode {
    complete::answer();
    applet::run().unwrap_or_else(|| blackstart::run(&Cli::parse()))
}
