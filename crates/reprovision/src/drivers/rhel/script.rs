//! Runs a stage of a payload: its output line by line into our own, its end, and no way to outlive us.
//!
//! The program and all that it starts are one process group. It is ended when it is not waited for any more, and when it has printed
//! nothing for too long: first politely, because rpm then comes to the end of the package that it is at. Should we be killed ourselves,
//! systemd ends what is left in the unit.

use std::{
    collections::VecDeque,
    io,
    path::PathBuf,
    pin::Pin,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use host::Host;
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, Command},
    sync::mpsc::{Sender, channel},
    time::{Instant, timeout, timeout_at},
};

/// What is kept of a longer line.
const LINE: usize = 4 << 10;
/// How many lines an error shows.
const LAST: usize = 8;
/// How long what was asked to end may take.
const POLITELY: Duration = Duration::from_secs(30);
/// How long output is waited for that a child of the script, which may go on, has still to print.
const LATE: Duration = Duration::from_secs(2);
/// How often a listener hears the last line.
const REPORTED: Duration = Duration::from_secs(1);

/// What is run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// Program and arguments.
    pub(super) command: Vec<&'static str>,
    /// Where.
    pub(super) dir: PathBuf,
    /// Added to our own environment. Anybody who is root can see it: nothing secret is in it.
    pub(super) env: Vec<(&'static str, String)>,
    /// How long it may print nothing.
    pub(super) within: Duration,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// With 0.
    Well,
    /// With another code, or by a signal; and the last lines.
    Badly { status: String, was_killed: bool, last: String },
    /// By us: it printed nothing for so long; and the last lines.
    Late { last: String },
    /// It did not begin.
    NotStarted(String),
}

/// A future of an end.
pub(super) type Ending<'a> = Pin<Box<dyn Future<Output = Ended> + Send + 'a>>;

/// Runs scripts; a test has another one.
pub(super) trait Scripts: Send + Sync + 'static {
    /// Runs it to its end. No line that is shown has one of these texts.
    fn run<'a>(&'a self, script: &'a Script, secrets: &'a [String], host: &'a Host) -> Ending<'a>;
}

/// The real thing.
pub(super) struct Bash;

impl Scripts for Bash {
    fn run<'a>(&'a self, script: &'a Script, secrets: &'a [String], host: &'a Host) -> Ending<'a> {
        Box::pin(async move {
            match start(script) {
                Ok(group) => group.watch(script, secrets, host).await,
                Err(error) => Ended::NotStarted(explain::chain(&error)),
            }
        })
    }
}

fn start(script: &Script) -> io::Result<Group> {
    let Some((program, arguments)) = script.command.split_first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let child = Command::new(program)
        .args(arguments)
        .current_dir(&script.dir)
        .envs(script.env.iter().map(|(name, value)| (name, value)))
        // What systemd tells us is not meant for a script.
        .env_remove("NOTIFY_SOCKET")
        .env_remove("WATCHDOG_USEC")
        .env_remove("WATCHDOG_PID")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    Ok(Group { id: child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw), child })
}

/// A process with all that it started. It ends with us.
struct Group {
    child: Child,
    /// None once it has ended well.
    id: Option<Pid>,
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // It may have ended by itself meanwhile, which is as good.
            let _ = killpg(id, signal);
        }
    }

    async fn watch(mut self, script: &Script, secrets: &[String], host: &Host) -> Ended {
        let (sender, mut lines) = channel(64);
        if let (Some(stdout), Some(stderr)) = (self.child.stdout.take(), self.child.stderr.take()) {
            tokio::spawn(read(stdout, sender.clone()));
            tokio::spawn(read(stderr, sender));
        }
        let mut shown = Shown { secrets, host, last: VecDeque::new(), reported: None };
        let mut deadline = Instant::now() + script.within;
        loop {
            tokio::select! {
                biased;
                Some(line) = lines.recv() => {
                    shown.add(&line);
                    deadline = Instant::now() + script.within;
                }
                status = self.child.wait() => {
                    // What it has left running may hold the pipe for ever.
                    let late = Instant::now() + LATE;
                    while let Ok(Some(line)) = timeout_at(late, lines.recv()).await {
                        shown.add(&line);
                    }
                    if status.as_ref().is_ok_and(ExitStatus::success) {
                        self.id = None;
                    }
                    return ended(status, &shown);
                }
                () = tokio::time::sleep_until(deadline) => {
                    self.signal(Signal::SIGTERM);
                    let drained = async { while lines.recv().await.is_some() {} };
                    let gone = async { tokio::join!(self.child.wait(), drained) };
                    // However it ends now, it was late; what is left of the group goes with the drop.
                    let _ = timeout(POLITELY, gone).await;
                    return Ended::Late { last: shown.last() };
                }
            }
        }
    }
}

fn ended(status: io::Result<ExitStatus>, shown: &Shown<'_>) -> Ended {
    match status {
        Ok(status) if status.success() => Ended::Well,
        Ok(status) => {
            Ended::Badly { status: status.to_string(), was_killed: status.code().is_none(), last: shown.last() }
        }
        Err(error) => Ended::Badly { status: explain::chain(&error), was_killed: false, last: shown.last() },
    }
}

/// Passes on what is printed, in lines.
async fn read(mut from: impl AsyncRead + Unpin, to: Sender<String>) {
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        // A pipe that cannot be read any more is at its end.
        let count = from.read(&mut buffer).await.unwrap_or(0);
        for byte in &buffer[..count] {
            if !matches!(byte, b'\n' | b'\r') {
                if line.len() < LINE {
                    line.push(*byte);
                }
            } else if !line.is_empty() && to.send(text(&mut line)).await.is_err() {
                return;
            }
        }
        if count == 0 {
            if !line.is_empty() {
                // There is no listener any more: it is not needed.
                let _ = to.send(text(&mut line)).await;
            }
            return;
        }
    }
}

fn text(line: &mut Vec<u8>) -> String {
    String::from_utf8_lossy(&std::mem::take(line)).into_owned()
}

/// Lines as they may be shown.
struct Shown<'a> {
    secrets: &'a [String],
    host: &'a Host,
    last: VecDeque<String>,
    reported: Option<Instant>,
}

impl Shown<'_> {
    fn add(&mut self, line: &str) {
        let hidden = self.secrets.iter().fold(line.to_owned(), |line, secret| line.replace(secret, "***"));
        let line = explain::plain(&hidden).trim().to_owned();
        if line.is_empty() {
            return;
        }
        tracing::info!("{line}");
        if self.reported.is_none_or(|reported| reported.elapsed() >= REPORTED) {
            self.host.doing(line.clone());
            self.reported = Some(Instant::now());
        }
        if self.last.len() == LAST {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    fn last(&self) -> String {
        if self.last.is_empty() {
            return "it has no output".to_owned();
        }
        self.last.iter().map(String::as_str).collect::<Vec<_>>().join(" / ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &'static str) -> Script {
        Script {
            command: vec!["/bin/bash", "-c", text],
            dir: "/".into(),
            env: vec![("BOOTSTRAP_STAGE", "1".to_owned())],
            within: Duration::from_mins(1),
        }
    }

    async fn ran(script: &Script) -> Ended {
        Bash.run(script, &["hunter2".to_owned()], &Host::rooted("/nonexistent")).await
    }

    #[tokio::test]
    async fn how_a_script_ends() {
        let badly = |status: &str, was_killed, last: &str| Ended::Badly {
            status: status.to_owned(),
            was_killed,
            last: last.to_owned(),
        };
        for (text, expected) in [
            ("true", Ended::Well),
            ("exit 3", badly("exit status: 3", false, "it has no output")),
            (
                "seq 100; exit $BOOTSTRAP_STAGE",
                badly("exit status: 1", false, "93 / 94 / 95 / 96 / 97 / 98 / 99 / 100"),
            ),
            ("printf 'token hunter2\\e[2J\\n' >&2; exit 1", badly("exit status: 1", false, "token *** [2J")),
            ("kill -9 $$", badly("signal: 9 (SIGKILL)", true, "it has no output")),
            ("pwd; cat; exit 4", badly("exit status: 4", false, "/")),
            // What it leaves running holds its output open.
            ("sleep 20 & exit 0", Ended::Well),
        ] {
            assert_eq!(ran(&script(text)).await, expected, "{text}");
        }
        let none = Script { command: vec!["/no/such/program"], ..script("") };
        assert!(matches!(ran(&none).await, Ended::NotStarted(_)));
        let long = script("head -c 100000 /dev/zero | tr '\\0' x; exit 1");
        assert!(matches!(ran(&long).await, Ended::Badly { last, .. } if last.len() == LINE));
    }

    fn is_there(pid: &str) -> bool {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
    }

    /// Its children too, whether it was late or it is not waited for any more.
    #[tokio::test]
    async fn a_script_does_not_outlive_us() {
        let dir = tempfile::tempdir().unwrap();
        for is_late in [true, false] {
            let within = Duration::from_millis(if is_late { 300 } else { 60_000 });
            let script = Script {
                dir: dir.path().into(),
                within,
                ..script("sleep 600 & echo $! > child.new; mv child.new child; echo begun; wait")
            };
            let host = Host::rooted("/nonexistent");
            let begun = async {
                while !dir.path().join("child").exists() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            if is_late {
                assert_eq!(Bash.run(&script, &[], &host).await, Ended::Late { last: "begun".to_owned() });
            } else {
                tokio::select! {
                    ended = Bash.run(&script, &[], &host) => panic!("{ended:?}"),
                    () = begun => {}
                }
            }
            let child = std::fs::read_to_string(dir.path().join("child")).unwrap().trim().to_owned();
            let started = Instant::now();
            while is_there(&child) {
                assert!(started.elapsed() < Duration::from_secs(20), "{child} is still there");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            std::fs::remove_file(dir.path().join("child")).unwrap();
        }
    }
}
