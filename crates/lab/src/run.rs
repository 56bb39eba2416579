//! Short forms for the commands the lab runs.

use host::{Cmd, Commands, RealCommands};

use crate::LabError;

/// Runs a command for its effect.
pub(crate) async fn run(line: &str) -> Result<(), LabError> {
    output(line).await.map(drop)
}

/// Runs a command for what it prints. Arguments are separated by blanks; none of ours contains one.
pub(crate) async fn output(line: &str) -> Result<String, LabError> {
    let mut words = line.split_whitespace();
    let command = Cmd::new(words.next().unwrap_or_default()).args(words);
    Ok(RealCommands.run(&command).await?.stdout)
}

/// Runs a command that reads `input`.
pub(crate) async fn feed(line: &str, input: &str) -> Result<(), LabError> {
    let mut words = line.split_whitespace();
    let command = Cmd::new(words.next().unwrap_or_default()).args(words).input(input);
    RealCommands.run(&command).await?;
    Ok(())
}
