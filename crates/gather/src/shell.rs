//! Lines of shell, ended in time, with all that they printed however they ended.

use std::time::Duration;

use host::{Cmd, Host};
use tokio::time::timeout;

/// What `timeout` waits between asking and ending, and a little more.
const GRACE: Duration = Duration::from_secs(4);

/// The line is a program of its own, so that `timeout` ends everything it has started; how it ended goes another way than
/// what it printed.
const WRAPPED: &str = "timeout --kill-after=2 \"$1\" sh -c \"$2\" 2>&1 </dev/null; echo $? >&2";

/// What a line printed, and what is wrong with it.
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) error: Option<String>,
}

/// Runs a line with these variables.
pub(crate) async fn run(host: &Host, line: &str, variables: &[(&'static str, String)], limit: Duration) -> Printed {
    let seconds = limit.as_secs().to_string();
    let command = Cmd::new("sh").args(["-c", WRAPPED, "sh", &seconds, line]);
    let command = variables.iter().fold(command, |command, (name, value)| command.env(*name, value.as_str()));
    match timeout(limit + GRACE, host.commands.run(&command)).await {
        Ok(Ok(printed)) => {
            Printed { error: evaluate(printed.stderr.trim(), &seconds, &printed.stdout), text: printed.stdout }
        }
        Ok(Err(error)) => Printed { text: String::new(), error: Some(explain::chain(&error)) },
        Err(_) => Printed {
            text: String::new(),
            error: Some(format!("no answer within {seconds} s, and it cannot be ended")),
        },
    }
}

fn evaluate(status: &str, seconds: &str, output: &str) -> Option<String> {
    let last = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it has no output");
    match status {
        "0" => None,
        "124" | "137" => Some(format!("no answer within {seconds} s")),
        status => Some(format!("exit code {status}: {last}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_printed_is_kept_however_it_ends() {
        let host = Host::real();
        for (line, text, error) in [
            ("echo $WORD; echo err >&2", "hello\nerr\n", None),
            ("echo part; exit 3", "part\n", Some("exit code 3: part")),
            ("echo part; sleep 30", "part\n", Some("no answer within 1 s")),
            ("no-such-program-here", "", Some("exit code 127")),
        ] {
            let printed = run(&host, line, &[("WORD", "hello".to_owned())], Duration::from_secs(1)).await;
            assert!(printed.text.starts_with(text), "{line}: {}", printed.text);
            match (error, &printed.error) {
                (None, None) => {}
                (Some(expected), Some(output)) => assert!(output.starts_with(expected), "{output}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
