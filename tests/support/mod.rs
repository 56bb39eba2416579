//! What every suite with machines needs: labs of its own, commands and their output, deadlines.

mod lab;
mod seed;

use std::{
    process::{Command, Output, Stdio},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    thread::sleep,
    time::{Duration, Instant},
};

pub(crate) use lab::TestLab;

/// Generous: the computer may be building something at the same time.
const DEADLINE: Duration = Duration::from_mins(3);

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_blackstart");

/// Waits for this test's turn. Fails at once where machines cannot be made at all.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    seed(); // the log of a failure has what to repeat it with
    let user = Command::new("id").arg("-u").output().expect("id runs").stdout;
    assert_eq!(String::from_utf8_lossy(&user).trim(), "0", "these tests make machines: run them as root");
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number that chooses among cases; it is printed once.
#[expect(clippy::print_stderr, reason = "the same cases are played again with it")]
pub(crate) fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| {
        let seed = seed::chosen().unwrap();
        eprintln!("{}={seed}", seed::VARIABLE);
        seed
    })
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl CommandOutput {
    /// Its standard output, if all went well.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// That it was refused with this code.
    #[track_caller]
    pub(crate) fn refused(&self, exit: i32, code: &str) {
        assert_eq!(self.code, Some(exit), "{self:?}");
        assert!(self.err.contains(code) && self.err.contains("hint: "), "{self:?}");
    }
}

/// Runs any command to its end.
pub(crate) fn run(program: &str, arguments: &[&str]) -> CommandOutput {
    Command::new(program).args(arguments).stdin(Stdio::null()).output().expect(program).into()
}

/// Waits until something is true.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_true() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        sleep(Duration::from_millis(50));
    }
}
