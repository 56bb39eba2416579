//! Commands of the outside: one door, so that every failure carries the end of what the command printed.

use std::{ffi::OsString, fmt, io, pin::Pin, process::Stdio};

use explain::{Code, Explain};
use tokio::{io::AsyncWriteExt, process::Command};

use crate::codes;

/// A command to run, as data. Its arguments are shown in errors and anybody on the machine can see them; a secret goes
/// into the input or an environment variable, which are never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Cmd {
    program: OsString,
    arguments: Vec<OsString>,
    input: Vec<u8>,
    variables: Vec<(OsString, OsString)>,
}

impl Cmd {
    /// A command without arguments.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), arguments: Vec::new(), input: Vec::new(), variables: Vec::new() }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Several more arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// What the command reads from its standard input; nothing by default.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// One more environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }
}

impl fmt::Display for Cmd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.to_string_lossy())?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
    }
}

impl fmt::Debug for Cmd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cmd(`{self}`)")
    }
}

/// What a command printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A command that did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It could not be started.
    #[error("cannot run `{command}`")]
    NotStarted {
        /// The command.
        command: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// It ended with an error.
    #[error("`{command}` ended with {status}: {output}")]
    Failed {
        /// The command.
        command: String,
        /// `exit code 1`, `signal 9`.
        status: String,
        /// The end of what it printed.
        output: String,
    },
}

impl Explain for CommandError {
    fn code(&self) -> Code {
        match self {
            Self::NotStarted { source, .. } if source.kind() == io::ErrorKind::NotFound => codes::NO_COMMAND,
            Self::NotStarted { .. } | Self::Failed { .. } => codes::COMMAND,
        }
    }
}

/// A future of a command's end.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Printed, CommandError>> + Send + 'a>>;

/// Runs commands.
pub trait Commands: Send + Sync {
    /// Runs a command to its end. An exit code other than 0 is an error.
    fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a>;
}

/// The real thing. A command dies with the future that waits for it.
pub struct RealCommands;

impl Commands for RealCommands {
    fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
        Box::pin(async move {
            let not_started = |source| CommandError::NotStarted { command: command.to_string(), source };
            let mut child = Command::new(&command.program)
                .args(&command.arguments)
                .envs(command.variables.iter().cloned())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .kill_on_drop(true)
                .spawn()
                .map_err(not_started)?;
            let mut stdin = child.stdin.take();
            let feed = async {
                if let Some(stdin) = &mut stdin {
                    // A command that does not read all of its input says by its exit code whether that is an error.
                    let _ = stdin.write_all(&command.input).await;
                }
                drop(stdin.take());
            };
            let ((), output) = tokio::join!(feed, child.wait_with_output());
            let output = output.map_err(not_started)?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let printed = Printed { stdout: text(&output.stdout), stderr: text(&output.stderr) };
            if output.status.success() {
                return Ok(printed);
            }
            let all = if printed.stderr.trim().is_empty() { &printed.stdout } else { &printed.stderr };
            Err(CommandError::Failed {
                command: command.to_string(),
                status: output.status.to_string(),
                output: tail(all),
            })
        })
    }
}

/// The last lines, on one line: the beginning of a long text rarely shows why it ended.
fn tail(output: &str) -> String {
    const LINES: usize = 6;
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.len() {
        0 => "it has no output".to_owned(),
        count => lines[count.saturating_sub(LINES)..].join(" / "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_command_prints_and_how_it_fails() {
        let echo = Cmd::new("cat").input("hello");
        assert_eq!(RealCommands.run(&echo).await.unwrap().stdout, "hello");

        let failing = Cmd::new("sh").args(["-c", "echo one >&2; echo two >&2; exit 3"]);
        let error = RealCommands.run(&failing).await.unwrap_err();
        assert_eq!(error.code(), codes::COMMAND);
        assert!(error.to_string().ends_with("ended with exit status: 3: one / two"), "{error}");

        let missing = RealCommands.run(&Cmd::new("no-such-program-here")).await.unwrap_err();
        assert_eq!(missing.code(), codes::NO_COMMAND);
    }

    #[test]
    fn input_and_environment_are_never_shown() {
        let command = Cmd::new("tool").arg("--stdin").input("hunter2").env("PASSWORD", "hunter3");
        assert_eq!(format!("{command} {command:?}"), "tool --stdin Cmd(`tool --stdin`)");
    }

    #[test]
    fn only_the_end_of_a_long_text_is_kept() {
        let long = (0..100).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        assert_eq!(tail(&long), "line 94 / line 95 / line 96 / line 97 / line 98 / line 99");
        assert_eq!(tail(" \n"), "it has no output");
    }
}
