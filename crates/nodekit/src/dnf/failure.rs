//! Why dnf or rpm did not do their work, read from their output.

use crate::packaging::Failure;

/// Output about a repository, a name server or a network that is not there.
const UNREACHABLE: &[&str] = &[
    "Failed to download metadata",
    "Failed to load metadata",
    "Cannot download",
    "Curl error",
    "All mirrors were tried",
    "no enabled repositories",
    "No match for argument",
    "Unable to find a match",
    "Could not resolve host",
];

/// Output about a file system without space.
const FULL: &[&str] = &["No space left on device", "more space needed", "Disk Requirements"];

/// Output that says that another process works with packages, before its process id where that is known.
const LOCKED: &[&str] = &["already locked by ", "running as pid ", "process with pid ", "with PID "];

/// The same without an id.
const LOCKED_WITHOUT_PID: &[&str] =
    &["create transaction lock", "Failed to obtain the transaction lock", "rpm transaction lock"];

/// The lock of rpm, wherever its list of packages is.
const RPM_LOCK: &str = "/.rpm.lock";

/// From the last lines of a command, in English; `name_of` knows what a process is called.
pub(super) fn read(output: &str, name_of: impl Fn(&str) -> Option<String>) -> Failure {
    if let Some(pid) = LOCKED.iter().find_map(|words| number_after(output, words)) {
        let named = name_of(pid).map(|name| format!("`{name}`, process {pid},"));
        return Failure::Busy(named.unwrap_or_else(|| format!("process {pid}")));
    }
    let says = |list: &[&str]| list.iter().any(|words| output.contains(words));
    if says(LOCKED_WITHOUT_PID) {
        return Failure::Busy("another process".to_owned());
    }
    let complaints: Vec<&str> = output.split(" / ").filter(|line| !line.starts_with("(try to add ")).collect();
    let reported = complaints.join("; ");
    if says(FULL) {
        Failure::Full(reported)
    } else if says(UNREACHABLE) {
        Failure::Unreachable(reported)
    } else {
        Failure::Failed(reported)
    }
}

/// From a list of locks, each line a process id, a name and a file.
pub(super) fn holder(locks: &str) -> Option<String> {
    let line = locks.lines().find(|line| line.trim_end().ends_with(RPM_LOCK))?;
    let mut words = line.split_whitespace();
    let (pid, name) = (words.next()?, words.next()?);
    Some(format!("`{name}`, process {pid},"))
}

fn number_after<'a>(output: &'a str, words: &str) -> Option<&'a str> {
    let (_, rest) = output.split_once(words)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| &rest[..digits])
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::*;
    use crate::packaging::Work;

    #[test]
    fn who_has_the_lock_of_rpm() {
        let others = "-1 (undefined) \n812 dockerd /run/x.pid\n";
        assert_eq!(holder(others), None);
        let locks = format!("{others}2106 perl /usr/lib/sysimage/rpm/.rpm.lock\n");
        assert_eq!(holder(&locks).as_deref(), Some("`perl`, process 2106,"));
    }

    #[test]
    fn the_output_shows_why() {
        let mut reported = String::new();
        for output in [
            "Error: metadata already locked by 3541",
            "Existing lock /var/cache/dnf/metadata_lock.pid: another copy is running as pid 77.",
            "error: can't create transaction lock on /var/lib/rpm/.rpm.lock (Resource temporarily unavailable)",
            "Errors during downloading metadata for repository 'baseos': / - Curl error (6): Couldn't resolve host name for \
             https://mirror/repomd.xml / Error: Failed to download metadata for repo 'baseos': Cannot download repomd.xml",
            "No match for argument: iscsi-initiator-utils / Error: Unable to find a match: iscsi-initiator-utils / \
             (try to add '--skip-broken' to skip uninstallable packages)",
            "Error: Transaction test error: / installing package x needs 12MB more space needed on the / filesystem",
            "Error: GPG check FAILED",
        ] {
            let name_of = |pid: &str| (pid == "3541").then(|| "packagekitd".to_owned());
            let error = read(output, name_of).into_error(Work::Install, "iscsi-initiator-utils");
            let retry = if error.is_retryable() { ", tried again" } else { "" };
            reported += &format!("{} {error}{retry}\n", error.code().id);
        }
        insta::assert_snapshot!(reported);
    }
}
