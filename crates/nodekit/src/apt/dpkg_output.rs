//! dpkg's own output on why it failed. apt says only that it did; dpkg's output is in apt's log.

use std::path::Path;

use host::Disk;

const LOG: &str = "/var/log/apt/term.log";
/// How apt says that it was dpkg.
const DPKG: &str = "Sub-process /usr/bin/dpkg returned an error code";

/// dpkg's output in the session that has just ended, if it was dpkg that failed.
pub(super) fn of_dpkg(disk: &dyn Disk, output: &str) -> Option<String> {
    if !output.contains(DPKG) {
        return None;
    }
    // This only explains another error; a log that cannot be read must not hide it.
    let log = disk.read(Path::new(LOG)).ok()?;
    last_error(&String::from_utf8_lossy(&log))
}

/// `dpkg: error processing archive x.deb (--unpack):`, with the reason on the next line.
fn last_error(log: &str) -> Option<String> {
    let (_, session) = log.rsplit_once("Log started:")?;
    let mut lines = session.lines().map(str::trim).skip_while(|line| !line.starts_with("dpkg: error"));
    let (what, why) = (lines.next()?, lines.next().unwrap_or_default());
    Some(format!("{what} {why}").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_the_last_session() {
        let old = "Log started: 1\r\ndpkg: error processing package vim (--configure):\r\n old\r\nLog ended: 2\n\n";
        let new = "Log started: 3\nUnpacking x ...\r\ndpkg: error processing archive x.deb (--unpack):\r\n failed to write \
                   (No space left on device)\r\nErrors were encountered while processing:\r\n x.deb\r\nLog ended: 4\n";
        let expected = "dpkg: error processing archive x.deb (--unpack): failed to write (No space left on device)";
        assert_eq!(last_error(&format!("{old}{new}")).as_deref(), Some(expected));
        assert_eq!(last_error(&format!("{old}Log started: 5\nUnpacking x ...\r\nLog ended: 6\n")), None);
        assert_eq!(last_error(""), None);
    }
}
