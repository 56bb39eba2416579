//! Labs for tests: made under a name of their own, removed whatever happens.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use serde_json::Value;

use super::{CommandOutput, PROGRAM};

/// A lab of a test.
pub(crate) struct TestLab {
    pub(crate) name: String,
}

impl TestLab {
    /// A name that is not in use, and nothing made yet.
    pub(crate) fn unmade() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { name: format!("{}{}", Self::prefix(), letters(count)) }
    }

    /// What the names of this run's labs begin with.
    pub(crate) fn prefix() -> String {
        format!("t{}", letters(std::process::id()))
    }

    /// A lab whose machines have booted and are nothing else yet.
    pub(crate) fn with(masters: u8, workers: u8) -> Self {
        let lab = Self::unmade();
        lab.up(masters, workers).ok();
        lab
    }

    /// `lab up --machines-only`, to its end.
    pub(crate) fn up(&self, masters: u8, workers: u8) -> CommandOutput {
        self.command("up").args(Self::shape(masters, workers)).output().unwrap().into()
    }

    /// The options of `lab up` for so many machines that only boot.
    pub(crate) fn shape(masters: u8, workers: u8) -> [String; 5] {
        let (masters, workers) = (masters.to_string(), workers.to_string());
        ["--machines-only".into(), "--masters".into(), masters, "--workers".into(), workers]
    }

    /// A sub-command for this lab, to be given more.
    pub(crate) fn command(&self, command: &str) -> Command {
        let mut made = Command::new(PROGRAM);
        made.args(["lab", command, "--name", &self.name]).stdin(Stdio::null()).env_remove("CONFIG_DIR");
        made
    }

    /// Runs a sub-command.
    pub(crate) fn run(&self, command: &str, arguments: &[&str]) -> CommandOutput {
        self.command(command).args(arguments).output().unwrap().into()
    }

    /// Runs a sub-command that reads something.
    pub(crate) fn feed(&self, command: &str, arguments: &[&str], input: &[u8]) -> CommandOutput {
        let mut made = self.command(command);
        let piped = made.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// What a line of shell in a machine prints.
    #[track_caller]
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

    /// The number of a machine's boot.
    pub(crate) fn boot(&self, machine: &str) -> String {
        self.sh(machine, "cat /proc/sys/kernel/random/boot_id")
    }

    /// Where the lab keeps its things on this computer.
    pub(crate) fn dir(&self) -> PathBuf {
        Path::new("/var/lib/blackstart/lab").join(&self.name)
    }

    /// Removes the lab and everything in it.
    pub(crate) fn destroy(&self) -> CommandOutput {
        self.run("destroy", &["--yes"])
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
