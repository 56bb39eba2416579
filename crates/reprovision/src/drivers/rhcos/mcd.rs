//! Runs the machine-config-daemon, as the system's own unit does at a first boot, and watches it.
//!
//! It never gives up: after an error it sleeps a minute and begins again, for ever. So its words are read while it runs, and after
//! some tries it is stopped. Its container outlives this program: one that is found running is followed, not started again.
//! The unit itself is not used: it switches `fsync` off for the repository that holds the old system, and disables all of dnf's.

use std::{future::ready, path::Path, time::Duration};

use engine::StepError;
use explain::plain;
use host::{Cmd, CommandError, Host};
use tokio::time::{Instant, sleep};

use crate::{Secret, codes::MCD_FAILED};

/// The container that works.
const NAME: &str = "blackstart-reprovision-mcd";
/// The one that comes before it.
const NICS: &str = "blackstart-reprovision-mcd-nics";
const POLL: Duration = Duration::from_secs(5);
/// It sleeps a minute after each.
const TRIES: u32 = 5;
/// What it says then.
const SLEEPING: &str = "Sleeping 1 minute for retry";
/// A machine that goes down takes this program with it.
const GOING_DOWN: Duration = Duration::from_mins(10);

/// What is run, and how.
pub(super) struct Mcd<'a> {
    pub(super) host: &'a Host,
    /// By its digest.
    pub(super) image: &'a str,
    /// No word of it is shown.
    pub(super) secret: &'a Secret,
    /// For how long it may be silent.
    pub(super) silence: Duration,
}

/// Keeps the names that network devices have now.
pub(super) fn persist_nics(image: &str) -> Cmd {
    run(NICS, &["--privileged", "--net=host"], image).arg("--persist-nics")
}

/// Makes of the machine what this file says.
pub(super) fn complete(image: &str, file: &Path) -> Cmd {
    run(NAME, &["--privileged", "--pid=host", "--net=host"], image).arg("--machineconfig-file").arg(file)
}

fn run(name: &str, rights: &[&str], image: &str) -> Cmd {
    Cmd::new("podman").args(["run", "--rm", "--replace", "--name", name]).args(rights.iter().copied()).args([
        "-v",
        "/:/rootfs",
        "--entrypoint",
        "machine-config-daemon",
        image,
        "firstboot-complete-machineconfig",
    ])
}

/// Ends both containers, if they are there.
pub(super) async fn stop(host: &Host) -> Result<(), StepError> {
    for name in [NICS, NAME] {
        host.commands.run(&Cmd::new("podman").args(["rm", "--force", "--ignore", name])).await?;
    }
    Ok(())
}

impl Mcd<'_> {
    /// Keeps the names of network devices.
    pub(super) async fn persist_nics(&self) -> Result<(), StepError> {
        self.watch(NICS, persist_nics(self.image), || ready(Ok(false))).await
    }

    /// Does the work. `is_done` says whether nothing but the reboot is left, which may be what failed.
    pub(super) async fn complete<F: Future<Output = Result<bool, StepError>>>(
        &self,
        file: &Path,
        is_done: impl Fn() -> F,
    ) -> Result<(), StepError> {
        self.watch(NAME, complete(self.image, file), is_done).await
    }

    async fn watch<F: Future<Output = Result<bool, StepError>>>(
        &self,
        name: &str,
        command: Cmd,
        is_done: impl Fn() -> F,
    ) -> Result<(), StepError> {
        let inspect = Cmd::new("podman").args(["container", "inspect", "--format", "{{.State.Running}}", name]);
        // Where there is none, podman ends with an error.
        let is_running = self.host.commands.run(&inspect).await.is_ok_and(|printed| printed.stdout.trim() == "true");
        let command = if is_running { Cmd::new("podman").args(["wait", name]) } else { command };
        let mut ended = self.host.commands.run(&command);
        let (mut last, mut since, mut tries) = (String::new(), Instant::now(), 0);
        loop {
            tokio::select! {
                biased;
                end = &mut ended => return self.judge(end.map(drop)).await,
                () = sleep(POLL) => {}
            }
            let log = self.log(name).await;
            let line = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
            if line != last {
                if line.contains(SLEEPING) {
                    if is_done().await? {
                        return stop(self.host).await;
                    }
                    tries += 1;
                }
                self.host.doing(self.shown(&line));
                (last, since) = (line, Instant::now());
            }
            if tries >= TRIES || since.elapsed() >= self.silence {
                stop(self.host).await?;
                return Err(self.given_up(tries, &log));
            }
        }
    }

    /// The end of what it has said.
    async fn log(&self, name: &str) -> String {
        let printed = self.host.commands.run(&Cmd::new("podman").args(["logs", "--tail", "20", name])).await;
        // A container that has just ended has no log any more.
        printed.map(|printed| printed.stdout + &printed.stderr).unwrap_or_default()
    }

    async fn judge(&self, end: Result<(), CommandError>) -> Result<(), StepError> {
        let Err(error) = end else { return Ok(()) };
        if is_going_down(self.host).await {
            // It was ended together with everything else: that is no failure, and nobody must act on it.
            sleep(GOING_DOWN).await;
        }
        let text = self.shown(&explain::chain(&error));
        let failed = StepError::new(MCD_FAILED, format!("the machine-config-daemon ended: {text}"));
        if text.contains("unknown flag") {
            return Err(failed.with_hint("the release is too old for this way: its machine-config-daemon must know `--machineconfig-file` and `--persist-nics`"));
        }
        Err(failed.retryable())
    }

    fn given_up(&self, tries: u32, log: &str) -> StepError {
        let error = log.lines().rfind(|line| line.contains("error:")).or(log.lines().last()).unwrap_or_default();
        let how = if tries >= TRIES {
            format!("failed {tries} times")
        } else {
            format!("said nothing for {} s", self.silence.as_secs())
        };
        StepError::new(MCD_FAILED, format!("the machine-config-daemon {how}, and was stopped: {}", self.shown(error)))
    }

    /// Without what must not be shown.
    fn shown(&self, text: &str) -> String {
        let mut text = plain(text).into_owned();
        for value in self.secret.values().map(str::trim).filter(|value| value.len() >= 6) {
            text = text.replace(value, "…");
        }
        text
    }
}

/// Whether systemd is about to end everything.
async fn is_going_down(host: &Host) -> bool {
    match host.commands.run(&Cmd::new("systemctl").arg("is-system-running")).await {
        Ok(printed) => printed.stdout.trim() == "stopping",
        Err(CommandError::Failed { output, .. }) => output.contains("stopping"),
        Err(CommandError::NotStarted { .. }) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::Mutex};

    use host::{Commands, Printed, Running};

    use super::{
        super::{samples::MCO, testing::Machine},
        *,
    };

    #[test]
    fn the_command_lines() {
        let file = Path::new("/var/lib/blackstart-reprovision/payload/machine-config.json");
        insta::assert_snapshot!(format!("{}\n{}", persist_nics("IMAGE"), complete("IMAGE", file)), @r"
        podman run --rm --replace --name blackstart-reprovision-mcd-nics --privileged --net=host -v /:/rootfs --entrypoint machine-config-daemon IMAGE firstboot-complete-machineconfig --persist-nics
        podman run --rm --replace --name blackstart-reprovision-mcd --privileged --pid=host --net=host -v /:/rootfs --entrypoint machine-config-daemon IMAGE firstboot-complete-machineconfig --machineconfig-file /var/lib/blackstart-reprovision/payload/machine-config.json
        ");
    }

    /// A stand-in for podman, whose container never ends, and says what it is told to, line by line.
    struct Endless {
        log: Mutex<Vec<&'static str>>,
        is_running: &'static str,
        asked: Mutex<Vec<String>>,
    }

    impl Commands for Endless {
        fn run<'a>(&'a self, command: &'a Cmd) -> Running<'a> {
            let shown = command.to_string();
            self.asked.lock().unwrap().push(shown.clone());
            Box::pin(async move {
                let stdout = match shown.split(' ').nth(1).unwrap_or_default() {
                    "run" | "wait" => pending().await,
                    "container" => self.is_running.to_owned(),
                    "logs" => {
                        let mut log = self.log.lock().unwrap();
                        if log.len() > 1 { log.remove(0) } else { log[0] }.to_owned()
                    }
                    _ => String::new(),
                };
                Ok(Printed { stdout, ..Printed::default() })
            })
        }
    }

    async fn ended(log: &[&'static str], is_running: &'static str, is_done: bool) -> (String, u64, Vec<String>) {
        let commands =
            std::sync::Arc::new(Endless { log: Mutex::new(log.to_vec()), is_running, asked: Mutex::default() });
        let machine = Machine::default();
        let (host, secret) = (Host { commands: commands.clone(), ..machine.host() }, machine.run().secret);
        let mcd = Mcd { host: &host, image: MCO, secret: &secret, silence: Duration::from_mins(30) };
        let began = Instant::now();
        let end = mcd.complete(Path::new("/x"), || ready(Ok(is_done))).await;
        let mut asked = commands.asked.lock().unwrap().clone();
        asked.retain(|command| !command.starts_with("podman logs"));
        (end.map_or_else(|error| error.to_string(), |()| "done".into()), began.elapsed().as_secs(), asked)
    }

    const FAILED: &str = "W1 error: cannot pull with hunter2\nI1 Sleeping 1 minute for retry";

    #[tokio::test(start_paused = true)]
    async fn one_that_never_gives_up_is_stopped() {
        let tries = [FAILED, "working"].repeat(5);
        let (end, _, asked) = ended(&tries, "false", false).await;
        assert_eq!(end, "the machine-config-daemon failed 5 times, and was stopped: W1 error: cannot pull with …");
        assert_eq!(asked.last().unwrap(), "podman rm --force --ignore blackstart-reprovision-mcd");
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_says_nothing_is_stopped() {
        let (end, seconds, _) = ended(&["Writing file"], "false", false).await;
        assert_eq!(end, "the machine-config-daemon said nothing for 1800 s, and was stopped: Writing file");
        assert!((1800..1820).contains(&seconds), "{seconds}");
    }

    /// What it has written is whole, and only its reboot failed: that is our business then.
    #[tokio::test(start_paused = true)]
    async fn one_whose_reboot_failed_is_done() {
        assert_eq!(ended(&["Writing", FAILED], "false", true).await.0, "done");
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_runs_is_followed() {
        let (_, _, asked) = ended(&["x"], "true\n", false).await;
        assert_eq!(asked[1], "podman wait blackstart-reprovision-mcd");
    }

    #[tokio::test(start_paused = true)]
    async fn how_an_end_is_judged() {
        for (output, state, words, retry) in [
            ("exit status: 125|no such image hunter2", "running", "ended: `podman", true),
            ("exit status: 1|Error: unknown flag: --machineconfig-file", "running", "unknown flag", false),
            ("exit status: 143|terminated", "stopping", "terminated", true),
        ] {
            let machine = Machine::default();
            machine.answers(move |command| match command {
                "systemctl is-system-running" => Some(Err(format!("exit status: 1|{state}"))),
                command if command.starts_with("podman run") => Some(Err(output.to_owned())),
                _ => None,
            });
            let (host, secret, began) = (machine.host(), machine.run().secret, Instant::now());
            let mcd = Mcd { host: &host, image: MCO, secret: &secret, silence: Duration::from_mins(30) };
            let error = mcd.persist_nics().await.unwrap_err();
            assert!(error.to_string().contains(words) && !error.to_string().contains("hunter2"), "{error}");
            assert_eq!((error.is_retryable(), began.elapsed() >= GOING_DOWN), (retry, state == "stopping"));
        }
    }
}
