//! Why apt or dpkg did not do their work, read from what they said.

use engine::StepError;
use explain::Code;

use crate::codes;

/// What was to be done with packages, for the words of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// They were to come.
    Install,
    /// They were to go.
    Remove,
}

impl Work {
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Remove => "remove",
        }
    }

    const fn past(self) -> &'static str {
        match self {
            Self::Install => "installed",
            Self::Remove => "removed",
        }
    }
}

/// What keeps a package from being installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Somebody else works with packages; who, as far as it was said.
    Busy(String),
    /// dpkg was killed in the middle of something.
    Interrupted,
    /// What is needed cannot be fetched.
    Unreachable(String),
    /// There is no room for it.
    Full(String),
    /// Anything else.
    Failed(String),
}

/// Words that tell that dpkg did not come to its end, now or before.
const INTERRUPTED: &[&str] =
    &["dpkg was interrupted", "dpkg exited unexpectedly", "dpkg received signal", "dpkg received a segmentation fault"];

/// Words that tell of a mirror, a name server or a network that is not there.
const UNREACHABLE: &[&str] = &[
    "Failed to fetch",
    "Unable to fetch",
    "Temporary failure resolving",
    "Could not resolve",
    "Could not connect",
    "Unable to locate package",
    "has no installation candidate",
    "is not available, but is referred to",
];

/// Words that tell of a file system without space.
const FULL: &[&str] = &["No space left on device", "have enough free space"];

impl Trouble {
    /// From the last lines of a command, in English.
    pub(super) fn read(said: &str) -> Self {
        if let Some(holder) = holder(said) {
            return Self::Busy(holder);
        }
        if INTERRUPTED.iter().any(|words| said.contains(words)) {
            return Self::Interrupted;
        }
        // What is meant for people begins with `E:`; around it are notes and progress.
        let complaints: Vec<&str> = said.split(" / ").filter_map(|line| line.strip_prefix("E: ")).collect();
        let told = if complaints.is_empty() { said.to_owned() } else { complaints.join("; ") };
        if FULL.iter().any(|words| said.contains(words)) {
            return Self::Full(told);
        }
        if UNREACHABLE.iter().any(|words| said.contains(words)) { Self::Unreachable(told) } else { Self::Failed(told) }
    }

    /// The same with dpkg's own words, which tell more.
    pub(super) fn with_words(self, words: String) -> Self {
        match self {
            Self::Failed(_) if FULL.iter().any(|full| words.contains(full)) => Self::Full(words),
            Self::Failed(_) => Self::Failed(words),
            other => other,
        }
    }

    /// For people.
    pub(crate) fn into_error(self, work: Work, names: &str) -> StepError {
        let error = |code: Code, what: String| StepError::new(code, what);
        let (verb, past) = (work.verb(), work.past());
        match self {
            Self::Busy(holder) => {
                error(codes::PACKAGES_BUSY, format!("{holder} keeps {names} from being {past}")).retryable()
            }
            Self::Interrupted => {
                error(codes::PACKAGES_FAILED, format!("dpkg was interrupted while it {past} {names}")).retryable()
            }
            Self::Unreachable(told) => {
                error(codes::PACKAGES_UNREACHABLE, format!("cannot fetch {names}: {told}")).retryable()
            }
            Self::Full(told) => error(codes::PACKAGES_NO_SPACE, format!("no space to {verb} {names}: {told}")),
            Self::Failed(told) => error(codes::PACKAGES_FAILED, format!("cannot {verb} {names}: {told}")),
        }
    }
}

/// Who holds a lock, as apt and dpkg put it.
fn holder(said: &str) -> Option<String> {
    let after = |words: &str| said.split_once(words).map(|(_, rest)| rest);
    if let Some(rest) = after("It is held by process ") {
        let (pid, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let name = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(name, _)| name);
        return Some(name.map_or_else(|| format!("process {pid}"), |name| format!("`{name}`, process {pid},")));
    }
    if let Some(rest) = after("locked by another process with pid ") {
        return Some(format!("process {}", rest.split(' ').next().unwrap_or_default()));
    }
    let locked = ["Could not get lock", "Unable to acquire the dpkg frontend lock", "Unable to lock directory"];
    locked.iter().any(|words| said.contains(words)).then(|| "another process".to_owned())
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::*;

    #[test]
    fn what_was_said_tells_why() {
        let mut told = String::new();
        for said in [
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr) / N: Be aware \
             that removing the lock file is not a solution and may break your system. / E: Unable to acquire the dpkg \
             frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
            "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 9 / E: Unable to lock directory",
            "dpkg: error: dpkg frontend lock was locked by another process with pid 77 / Note: removing the lock file is \
             always wrong, can damage the locked area and the entire system.",
            "E: Could not get lock /var/cache/apt/archives/lock - open (11: Resource temporarily unavailable)",
            "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem.",
            "E: Sub-process /usr/bin/dpkg exited unexpectedly",
            "Err:1 http://mirror bookworm InRelease / E: Failed to fetch http://mirror/ceph-mon.deb  Temporary failure \
             resolving 'mirror' / E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?",
            "Reading package lists... / E: Unable to locate package ceph-mon",
            "dpkg: error processing package ceph-mon (--configure): / E: Sub-process /usr/bin/dpkg returned an error code (1)",
            "E: You don't have enough free space in /var/cache/apt/archives/.",
            "dpkg: error processing archive x.deb (--unpack): / cannot copy extracted data for './bin/x': failed to write \
             (No space left on device) / E: Sub-process /usr/bin/dpkg returned an error code (1)",
            "it said nothing",
        ] {
            let error = Trouble::read(said).into_error(Work::Install, "ceph-mon");
            let retry = if error.is_retryable() { ", tried again" } else { "" };
            told += &format!("{} {error}{retry}\n", error.code().id);
        }
        insta::assert_snapshot!(told);
        let full =
            Trouble::read("E: Sub-process returned 1").with_words("dpkg: error (No space left on device)".into());
        assert_eq!(full.into_error(Work::Install, "x").code(), codes::PACKAGES_NO_SPACE);
        let leaving = Trouble::read("it said nothing").into_error(Work::Remove, "ceph-mon");
        assert_eq!(leaving.to_string(), "cannot remove ceph-mon: it said nothing");
    }
}
