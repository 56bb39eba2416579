//! `blackstart`: bare machines in, a working cluster out.

use std::process::ExitCode;

use blackstart::cli::Cli;
use clap::Parser;

fn main() -> ExitCode {
    blackstart::run(&Cli::parse())
}
