//! One thing to gather, as data.

use std::time::Duration;

/// Enough for whatever answers at all, on a machine that is busy failing.
const LIMIT: Duration = Duration::from_secs(20);

/// One thing to gather.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its name in the index and, where it is one file, in the archive.
    pub(crate) name: String,
    /// What it is, in a few words.
    pub(crate) what: &'static str,
    /// How it is had.
    pub(crate) how: How,
    /// Where it can be had.
    pub(crate) availability: Availability,
    /// How long that may take.
    pub(crate) limit: Duration,
}

/// How something is had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum How {
    /// What a line of shell prints, however it ends. It sees `$KUBECONFIG`, `$NODE`, `$PKI`, `$JOURNAL` and `$BLACKSTART`.
    Line(String),
    /// The same for objects of the API as JSON, which hold more than anybody needs.
    Objects(String),
    /// Files, by their paths with `*` for any part of a name.
    Files(Vec<String>),
    /// Certificates without their keys, as `pki show` prints them.
    Certificates,
}

/// Where something can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Availability {
    /// Also from the files of a machine that is off.
    Anywhere,
    /// On a machine that runs.
    Running,
    /// On a master that runs.
    Master,
}

impl Item {
    /// What a line of shell prints.
    pub(crate) fn line(name: impl Into<String>, what: &'static str, line: impl Into<String>) -> Self {
        Self { name: name.into(), what, how: How::Line(line.into()), availability: Availability::Running, limit: LIMIT }
    }

    /// Objects of the API.
    pub(crate) fn objects(name: &str, what: &'static str, line: &str) -> Self {
        Self { how: How::Objects(line.to_owned()), ..Self::line(name, what, "") }
    }

    /// Files.
    pub(crate) fn files<P: Into<String>>(
        name: &str,
        what: &'static str,
        patterns: impl IntoIterator<Item = P>,
    ) -> Self {
        let patterns = patterns.into_iter().map(Into::into).collect();
        Self { how: How::Files(patterns), availability: Availability::Anywhere, ..Self::line(name, what, "") }
    }

    /// Only where this can be had.
    pub(crate) fn only(self, availability: Availability) -> Self {
        Self { availability, ..self }
    }

    /// How it is had, as a person would do it.
    pub(crate) fn recipe(&self) -> String {
        match &self.how {
            How::Line(line) | How::Objects(line) => line.clone(),
            How::Files(patterns) => patterns.join(" "),
            How::Certificates => "blackstart pki show".to_owned(),
        }
    }
}
