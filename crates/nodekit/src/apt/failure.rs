//! Why apt or dpkg did not do their work, read from their output.

use crate::packaging::Failure;

/// What a process that is interrupted while packages are set up leaves.
pub(super) const DPKG: &str = "dpkg";

/// Output of a dpkg that did not come to its end, now or before.
const INTERRUPTED: &[&str] =
    &["dpkg was interrupted", "dpkg exited unexpectedly", "dpkg received signal", "dpkg received a segmentation fault"];

/// Output about a mirror, a name server or a network that is not there.
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

/// Output about a file system without space.
const FULL: &[&str] = &["No space left on device", "have enough free space"];

/// From the last lines of a command, in English.
pub(super) fn read(output: &str) -> Failure {
    if let Some(holder) = holder(output) {
        return Failure::Busy(holder);
    }
    if INTERRUPTED.iter().any(|words| output.contains(words)) {
        return Failure::Interrupted(DPKG);
    }
    // What is meant for people begins with `E:`; around it are notes and progress.
    let complaints: Vec<&str> = output.split(" / ").filter_map(|line| line.strip_prefix("E: ")).collect();
    let reported = if complaints.is_empty() { output.to_owned() } else { complaints.join("; ") };
    if FULL.iter().any(|words| output.contains(words)) {
        return Failure::Full(reported);
    }
    if UNREACHABLE.iter().any(|words| output.contains(words)) {
        Failure::Unreachable(reported)
    } else {
        Failure::Failed(reported)
    }
}

/// The same with dpkg's own output, which says more.
pub(super) fn with_output(failure: Failure, words: String) -> Failure {
    match failure {
        Failure::Failed(_) if FULL.iter().any(|full| words.contains(full)) => Failure::Full(words),
        Failure::Failed(_) => Failure::Failed(words),
        other => other,
    }
}

/// Who holds a lock, as apt and dpkg put it.
fn holder(output: &str) -> Option<String> {
    let after = |words: &str| output.split_once(words).map(|(_, rest)| rest);
    if let Some(rest) = after("It is held by process ") {
        let (pid, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let name = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(name, _)| name);
        return Some(name.map_or_else(|| format!("process {pid}"), |name| format!("`{name}`, process {pid},")));
    }
    if let Some(rest) = after("locked by another process with pid ") {
        return Some(format!("process {}", rest.split(' ').next().unwrap_or_default()));
    }
    let locked = ["Could not get lock", "Unable to acquire the dpkg frontend lock", "Unable to lock directory"];
    locked.iter().any(|words| output.contains(words)).then(|| "another process".to_owned())
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::*;
    use crate::{codes, packaging::Work};

    #[test]
    fn the_output_shows_why() {
        let mut reported = String::new();
        for output in [
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
            "it has no output",
        ] {
            let error = read(output).into_error(Work::Install, "ceph-mon");
            let retry = if error.is_retryable() { ", tried again" } else { "" };
            reported += &format!("{} {error}{retry}\n", error.code().id);
        }
        insta::assert_snapshot!(reported);
        let full = with_output(read("E: Sub-process returned 1"), "dpkg: error (No space left on device)".into());
        assert_eq!(full.into_error(Work::Install, "x").code(), codes::PACKAGES_NO_SPACE);
        let leaving = read("it has no output").into_error(Work::Remove, "ceph-mon");
        assert_eq!(leaving.to_string(), "cannot remove ceph-mon: it has no output");
    }
}
