//! What is in an archive, what is not, and why.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The version in every index's `v`.
const VERSION: u32 = 1;

/// The index of an archive, `index.json` in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// Version of this form.
    pub v: u32,
    /// The node, or the lab.
    pub name: String,
    /// When it was gathered.
    pub time: Timestamp,
    /// The version of the program that did it.
    pub program: String,
    /// Every item that was asked for.
    pub items: Vec<Entry>,
}

/// One item of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub what: String,
    /// How it was had, as a person would do it.
    pub how: String,
    /// How many files it has in the archive.
    pub files: usize,
    /// Their size.
    pub bytes: usize,
    /// How long it took.
    pub milliseconds: u64,
    /// How many secrets were taken out.
    pub redacted: usize,
    /// Why it is missing, or not whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

impl Index {
    /// An index without items.
    pub(crate) fn new(name: &str, time: Timestamp) -> Self {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Self { v: VERSION, name: name.to_owned(), time, program, items: Vec::new() }
    }

    /// What is missing or not whole.
    pub fn errors(&self) -> impl Iterator<Item = (&str, &str)> {
        self.items.iter().filter_map(|item| Some((item.name.as_str(), item.error.as_deref()?)))
    }

    /// The same for people, one line each.
    pub(crate) fn errors_text(&self) -> String {
        self.errors().map(|(name, why)| format!("{name}: {why}\n")).collect()
    }
}
