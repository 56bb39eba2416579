//! The cluster that is broken, and the question that is asked.

use std::{
    collections::BTreeSet,
    fmt,
    mem::ManuallyDrop,
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::common::{CommandOutput, TestLab};

/// How long a fault may take to show: a kubelet notices some only after a while. Not how long an answer may take.
const DEADLINE: Duration = Duration::from_mins(2);

/// Seconds within which an answer must be there.
const LIMIT: &str = "30";

/// A cluster to break.
pub(crate) struct Bench {
    /// Removed at the end, unless it is not ours.
    pub(crate) lab: ManuallyDrop<TestLab>,
    pub(crate) is_borrowed: bool,
}

impl Drop for Bench {
    fn drop(&mut self) {
        if !self.is_borrowed {
            drop(TestLab { name: self.lab.name.clone() });
        }
    }
}

impl Bench {
    /// A cluster of these machines in which nothing is wrong: the lab that the variable names, or one of its own.
    pub(crate) fn up(variable: &str, machines: &[&str]) -> Self {
        let borrowed = std::env::var(variable).ok();
        let is_borrowed = borrowed.is_some();
        let lab = borrowed.map_or_else(TestLab::unmade, |name| TestLab { name });
        let bench = Self { lab: ManuallyDrop::new(lab), is_borrowed };
        if !is_borrowed {
            let count = |role: &str| machines.iter().filter(|machine| machine.starts_with(role)).count().to_string();
            bench.lab.run("up", &["--masters", &count("master"), "--workers", &count("worker")]).ok();
        }
        for machine in machines {
            let answer = bench.ask_until(machine, "", Answer::is_well);
            assert!(answer.is_well(), "{machine} before anything is broken: {answer}");
        }
        bench
    }

    /// What a line of shell on a machine prints.
    pub(crate) fn try_sh(&self, machine: &str, line: &str) -> Result<String, String> {
        let output = self.lab.run("exec", &[machine, "--", "timeout", "120", "sh", "-euc", line]);
        if output.code == Some(0) { Ok(output.out.trim().to_owned()) } else { Err(format!("`{line}`: {output:?}")) }
    }

    /// The same, where nothing can go wrong.
    #[track_caller]
    pub(crate) fn sh(&self, machine: &str, line: &str) -> String {
        self.try_sh(machine, line).unwrap()
    }

    /// Asks a machine again and again until it says what is wanted, or the deadline passes; the last answer.
    pub(crate) fn ask_until(&self, machine: &str, environment: &str, is_wanted: impl Fn(&Answer) -> bool) -> Answer {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let answer = self.ask(machine, environment);
            if is_wanted(&answer) || Instant::now() > deadline {
                return answer;
            }
            sleep(Duration::from_millis(300));
        }
    }

    /// Asks once.
    pub(crate) fn ask(&self, machine: &str, environment: &str) -> Answer {
        let mut words = vec![machine, "--", "env"];
        words.extend(environment.split_whitespace());
        words.extend(["timeout", LIMIT, "blackstart", "diagnose", "-o", "json"]);
        Answer::from(self.lab.run("exec", &words))
    }
}

/// What `blackstart diagnose -o json` printed.
pub(crate) struct Answer {
    exit: Option<i32>,
    parsed: Value,
    output: CommandOutput,
}

impl From<CommandOutput> for Answer {
    fn from(output: CommandOutput) -> Self {
        Self { exit: output.code, parsed: serde_json::from_str(&output.out).unwrap_or_default(), output }
    }
}

impl Answer {
    /// Nothing is wrong, in the document and for a script.
    pub(crate) fn is_well(&self) -> bool {
        self.exit == Some(0) && self.parsed["findings"].as_array().is_some_and(Vec::is_empty)
    }

    /// The codes of `findings` or `warnings`.
    pub(crate) fn codes(&self, list: &str) -> BTreeSet<String> {
        let all = self.parsed[list].as_array().into_iter().flatten();
        all.filter_map(|finding| finding["code"].as_str().map(str::to_owned)).collect()
    }

    /// All that was given as evidence.
    pub(crate) fn evidence(&self) -> String {
        let all = ["findings", "warnings"].iter().filter_map(|list| self.parsed[*list].as_array()).flatten();
        let evidence: Vec<&str> = all.filter_map(|finding| finding["evidence"].as_str()).collect();
        evidence.join("\n")
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {:?}\n{}\n{}", self.exit, self.output.out, self.output.err)
    }
}
