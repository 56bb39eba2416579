//! Looking at a machine to evaluate it, for checks before a bootstrap and for the diagnosis after it.

use std::path::Path;

use host::{Cmd, CommandError, Host, HostError};

/// Why something could not be looked at. That is not a finding: it is told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inconclusive(pub String);

impl From<HostError> for Inconclusive {
    fn from(error: HostError) -> Self {
        Self(explain::chain(&error))
    }
}

impl From<CommandError> for Inconclusive {
    fn from(error: CommandError) -> Self {
        Self(explain::chain(&error))
    }
}

/// A file's text; `None` if there is no such file.
pub fn text(host: &Host, path: &Path) -> Result<Option<String>, HostError> {
    let bytes = host.disk.read_optional(path)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// What a command prints, in the language that parsers know.
pub async fn output<const N: usize>(host: &Host, program: &str, arguments: [&str; N]) -> Result<String, Inconclusive> {
    let command = Cmd::new(program).args(arguments).env("LC_ALL", "C");
    Ok(host.commands.run(&command).await?.stdout)
}
