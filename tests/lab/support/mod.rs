//! Labs for tests: made under a name of their own, removed whatever happens.

mod picture;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};

pub(crate) use picture::Picture;
use serde_json::Value;

/// Generous: the computer may be building something at the same time.
const PATIENCE: Duration = Duration::from_secs(90);

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_blackstart");

/// Waits for this test's turn. Fails at once where machines cannot be made at all.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let user = Command::new("id").arg("-u").output().expect("id runs").stdout;
    assert_eq!(String::from_utf8_lossy(&user).trim(), "0", "these tests make machines: run them as root");
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A directory of `examples/`.
pub(crate) fn example(name: &str) -> String {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two levels below it");
    repository.join("examples").join(name).display().to_string()
}

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl Said {
    /// Its standard output, if all went well.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// That it was refused with this code.
    pub(crate) fn refused(&self, exit: i32, code: &str) {
        assert_eq!(self.code, Some(exit), "{self:?}");
        assert!(self.err.contains(code) && self.err.contains("hint: "), "{self:?}");
    }
}

/// Runs any command to its end.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Said {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().expect(program).into()
}

/// A lab of a test.
pub(crate) struct TestLab {
    pub(crate) name: String,
}

impl TestLab {
    /// A name nobody else has, and nothing made yet.
    pub(crate) fn unmade() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { name: format!("{}{}", Self::prefix(), letters(count)) }
    }

    /// What the names of this run's labs begin with.
    fn prefix() -> String {
        format!("t{}", letters(std::process::id()))
    }

    /// A lab with this many machines, all of them running.
    pub(crate) fn with(masters: u8, workers: u8) -> Self {
        let lab = Self::unmade();
        lab.up(masters, workers).ok();
        lab
    }

    /// `lab up`, to its end.
    pub(crate) fn up(&self, masters: u8, workers: u8) -> Said {
        self.command("up").args(shape(masters, workers)).output().unwrap().into()
    }

    /// A sub-command for this lab, to be given more.
    pub(crate) fn command(&self, command: &str) -> Command {
        let mut made = Command::new(PROGRAM);
        made.args(["lab", command, "--name", &self.name]).stdin(Stdio::null()).env_remove("CONFIG_DIR");
        made
    }

    /// Runs a sub-command.
    pub(crate) fn run(&self, command: &str, arguments: &[&str]) -> Said {
        self.command(command).args(arguments).output().unwrap().into()
    }

    /// Runs a sub-command that reads something.
    pub(crate) fn feed(&self, command: &str, arguments: &[&str], input: &[u8]) -> Said {
        let mut made = self.command(command);
        let piped = made.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// What a line of shell in a machine prints.
    pub(crate) fn sh(&self, machine: &str, line: &str) -> String {
        self.run("exec", &[machine, "--", "sh", "-c", line]).ok().trim().to_owned()
    }

    /// `lab status -o json`.
    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.run("status", &["-o", "json"]).ok()).expect("JSON")
    }

    /// What `lab status` says of a machine.
    pub(crate) fn machine(&self, name: &str) -> Value {
        let status = self.status();
        let all = status["machines"].as_array().unwrap();
        all.iter().find(|machine| machine["name"] == name).unwrap_or_else(|| panic!("{name} in {status}")).clone()
    }

    /// The state of a machine.
    pub(crate) fn state(&self, machine: &str) -> String {
        self.machine(machine)["state"].as_str().unwrap().to_owned()
    }

    /// The number of a machine's boot.
    pub(crate) fn boot(&self, machine: &str) -> String {
        self.sh(machine, "cat /proc/sys/kernel/random/boot_id")
    }

    /// Where the lab keeps its things on this computer.
    pub(crate) fn dir(&self) -> PathBuf {
        Path::new("/var/lib/blackstart/lab").join(&self.name)
    }

    /// Removes the lab and everything in it.
    pub(crate) fn destroy(&self) -> Said {
        self.run("destroy", &["--yes"])
    }

    /// The processes of this computer that belong to a machine, or to all of them.
    pub(crate) fn processes(&self, machine: &str) -> Vec<i32> {
        let group = format!("/blackstart-lab/{}/{machine}", self.name);
        picture::processes().filter(|process| process.groups.contains(&group)).map(|process| process.pid).collect()
    }

    /// The process of a machine whose command line contains this.
    pub(crate) fn process(&self, machine: &str, words: &str) -> i32 {
        let group = format!("/blackstart-lab/{}/{machine}", self.name);
        let mut all = picture::processes().filter(|process| process.groups.contains(&group));
        all.find(|process| process.line.contains(words)).unwrap_or_else(|| panic!("{words} of {machine}")).pid
    }
}

impl Drop for TestLab {
    fn drop(&mut self) {
        let gone = self.destroy();
        if !std::thread::panicking() {
            gone.ok();
        }
    }
}

/// The options of `lab up` for so many machines.
pub(crate) fn shape(masters: u8, workers: u8) -> [String; 4] {
    ["--masters".into(), masters.to_string(), "--workers".into(), workers.to_string()]
}

/// Waits until something is true.
pub(crate) fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_true() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        sleep(Duration::from_millis(50));
    }
}

/// `kill -9`, for a process that is not our child.
pub(crate) fn kill(pid: i32) {
    run("kill", &["-9", &pid.to_string()]).ok();
}

/// A number in as few letters and digits as can be: names of labs are short.
fn letters(mut number: u32) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut text = String::new();
    loop {
        text.insert(0, DIGITS[(number % 36) as usize].into());
        number /= 36;
        if number == 0 {
            return text;
        }
    }
}
