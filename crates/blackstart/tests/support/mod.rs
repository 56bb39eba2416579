//! Runs the real program in a directory that stands for a machine.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use regex::Regex;
use tempfile::TempDir;

/// A directory of `examples/`.
pub(crate) fn example(name: &str) -> String {
    repository().join("examples").join(name).display().to_string()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two levels below the repository").to_path_buf()
}

/// Runs the program; its output, in the form of the snapshots.
pub(crate) fn blackstart<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_blackstart"))
        .args(arguments)
        .env_remove("CONFIG_DIR")
        .env("COLUMNS", "120")
        .output()
        .expect("the program starts");
    let code = output.status.code().map_or("signal".to_owned(), |code| code.to_string());
    let mut text = format!("exit {code}\n");
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            text += &format!("--- {name}\n{}", String::from_utf8_lossy(bytes));
        }
    }
    masked(&text)
}

/// Takes out what differs from run to run.
fn masked(output: &str) -> String {
    let repository = format!("{}/", repository().display());
    let mut output = output.replace(&repository, "");
    for (pattern, word) in [
        (r"\d+ bytes", "N bytes"),
        (r"\(\d+(\.\d)? s\)", "(T)"),
        (r"\d{8}T\d{6}Z-\d+", "RUN"),
        (r"\d{4}-\d{2}-\d{2}T[0-9:.]+Z", "TIME"),
        (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}", "DATE"),
        (r"/tmp/\.tmp\w+", "ROOT"),
        (r"\bid [0-9a-f]{12}\b", "id ID"),
        (r"\b(36[45]|3649|3650)d\b", "DAYS"), // one less as soon as a second has passed
    ] {
        output = Regex::new(pattern).expect("a pattern").replace_all(&output, word).into_owned();
    }
    output
}

/// A directory that stands for a machine's `/`.
pub(crate) struct Trial {
    root: TempDir,
}

impl Trial {
    /// A machine without a configuration.
    pub(crate) fn empty() -> Self {
        Self { root: tempfile::tempdir().expect("a temporary directory") }
    }

    /// A machine with this cluster.yaml.
    pub(crate) fn with_cluster(text: &str) -> Self {
        let trial = Self::empty();
        trial.write("etc/cluster-config/cluster.yaml", text);
        trial
    }

    /// A machine with the configuration of an example.
    pub(crate) fn with_example(name: &str) -> Self {
        let trial = Self::empty();
        let source = PathBuf::from(example(name));
        trial.write("etc/cluster-config/cluster.yaml", &fs::read_to_string(source.join("cluster.yaml")).unwrap());
        for entry in fs::read_dir(source.join("nodes")).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            trial.write(&format!("etc/cluster-config/nodes/{name}"), &fs::read_to_string(path).unwrap());
        }
        trial
    }

    /// Gives the machine an interface.
    pub(crate) fn interface(&self, name: &str, mac: &str) {
        self.write(&format!("sys/class/net/{name}/address"), &format!("{mac}\n"));
    }

    /// Runs the program on this machine.
    pub(crate) fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> String {
        let mut all: Vec<OsString> = vec!["--root".into(), self.root.path().into()];
        all.extend(arguments.into_iter().map(OsString::from));
        blackstart(all)
    }

    /// A path on the machine.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// The content of a file on the machine.
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("a file")
    }

    /// All files with their content.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut todo = vec![self.root.path().to_path_buf()];
        while let Some(dir) = todo.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    todo.push(path);
                } else {
                    files.insert(path.clone(), fs::read(path).unwrap());
                }
            }
        }
        files
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("below the root")).unwrap();
        fs::write(path, text).unwrap();
    }
}
