//! What only this suite needs: machines as processes of this computer, and pictures of all of it.

#[path = "../../support/mod.rs"]
mod common;
mod picture;

use std::path::Path;

pub(crate) use common::{CommandOutput, PROGRAM, TestLab, eventually, run, turn};
pub(crate) use picture::Picture;

/// A directory of `examples/`.
pub(crate) fn example(name: &str) -> String {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two levels below it");
    repository.join("examples").join(name).display().to_string()
}

/// `kill -9`, for a process that is not our child.
pub(crate) fn kill(pid: i32) {
    run("kill", &["-9", &pid.to_string()]).ok();
}

impl TestLab {
    /// The state of a machine.
    pub(crate) fn state(&self, machine: &str) -> String {
        self.machine(machine)["state"].as_str().unwrap().to_owned()
    }

    /// The processes of this computer that belong to a machine, or to all of them.
    pub(crate) fn processes(&self, machine: &str) -> Vec<i32> {
        let group = format!("/blackstart-lab/{}/{machine}", self.name);
        picture::processes().filter(|process| process.groups.contains(&group)).map(|process| process.pid).collect()
    }

    /// The command lines of those processes.
    pub(crate) fn lines(&self, machine: &str) -> Vec<String> {
        let group = format!("/blackstart-lab/{}/{machine}", self.name);
        let all = picture::processes().filter(|process| process.groups.contains(&group));
        all.map(|process| process.line.trim_end().to_owned()).collect()
    }

    /// The process of a machine whose command line contains this.
    pub(crate) fn process(&self, machine: &str, words: &str) -> i32 {
        let group = format!("/blackstart-lab/{}/{machine}", self.name);
        let mut all = picture::processes().filter(|process| process.groups.contains(&group));
        all.find(|process| process.line.contains(words)).unwrap_or_else(|| panic!("{words} of {machine}")).pid
    }
}
