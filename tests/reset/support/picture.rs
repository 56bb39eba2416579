//! Everything that can be seen of a machine, and in what two pictures differ.

use std::collections::BTreeSet;

use super::common::TestLab;

const SCRIPT: &[u8] = include_bytes!("picture.sh");

/// What may differ, and why: it changes by itself on a machine where nobody does anything, or it is a note that some
/// other program keeps of what has happened. `*` stands for anything without a space, at most one in each.
const ALLOWED: &[(&str, &str)] = &[
    ("content /var/log/journal/*", "the journal"),
    ("file /var/log/journal/*", "the journal"),
    ("content /run/systemd/journal/*", "the journal's own state"),
    ("file /run/systemd/journal/*", "the journal's own state"),
    ("content /var/log/wtmp", "who has logged in"),
    ("file /var/log/wtmp", "who has logged in"),
    ("content /run/utmp", "who is logged in"),
    ("file /run/utmp", "who is logged in"),
    ("content /var/lib/NetworkManager/*", "when NetworkManager last used which profile"),
    ("file /var/lib/NetworkManager/*", "when NetworkManager last used which profile"),
    ("file /run/systemd/units/invocation:*", "numbers of starts"),
    ("file /run/systemd/propagate/*", "of services that the bus starts and that end when nobody asks them"),
    ("file /tmp/systemd-private-*", "of services that the bus starts and that end when nobody asks them"),
    ("file /var/tmp/systemd-private-*", "of services that the bus starts and that end when nobody asks them"),
    ("group */system.slice/systemd-hostnamed.service", "the bus starts it, and it ends when nobody asks it"),
    ("group */system.slice/NetworkManager-dispatcher.service", "the bus starts it, and it ends when nobody asks it"),
    ("unit systemd-hostnamed.service", "the bus starts it, and it ends when nobody asks it"),
    ("unit NetworkManager-dispatcher.service", "the bus starts it, and it ends when nobody asks it"),
    ("process /lib/systemd/systemd-hostnamed", "the bus starts it, and it ends when nobody asks it"),
    ("process /usr/lib/NetworkManager/nm-dispatcher", "the bus starts it, and it ends when nobody asks it"),
    ("process /usr/libexec/nm-dispatcher", "the bus starts it, and it ends when nobody asks it"),
    (
        "unit network-online.target",
        "our units asked for it; others may have, too, and it is only a word until the next boot",
    ),
    ("unit NetworkManager-wait-online.service", "comes with network-online.target"),
    ("process (sd-pam)", "of a session"),
    ("unit run-*", "of a session, or of a command that systemd ran"),
];

/// A machine at one moment.
pub(crate) struct Picture {
    lines: BTreeSet<String>,
}

impl Picture {
    /// Takes one. Only what lasts counts: what is seen in two looks.
    pub(crate) fn of(lab: &TestLab, machine: &str) -> Self {
        let look = || -> BTreeSet<String> {
            let said = lab.feed("exec", &[machine, "--", "sh"], SCRIPT).ok();
            said.lines().map(|line| line.trim_end().to_owned()).collect()
        };
        Self { lines: &look() & &look() }
    }

    /// The lines that only one of them has, without those that may differ.
    pub(crate) fn differences(&self, later: &Self, of_others: &[&str]) -> Vec<String> {
        let gone = self.lines.difference(&later.lines).map(|line| format!("- {line}"));
        let new = later.lines.difference(&self.lines).map(|line| format!("+ {line}"));
        let is_allowed = |line: &String| {
            let line = &line[2..];
            ALLOWED.iter().any(|(pattern, _)| fits(pattern, line)) || of_others.iter().any(|word| line.contains(word))
        };
        gone.chain(new).filter(|line| !is_allowed(line)).collect()
    }
}

/// Whether a line begins with a pattern, up to the end of a word.
fn fits(pattern: &str, line: &str) -> bool {
    let ends_word = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    match pattern.split_once('*') {
        None => line.strip_prefix(pattern).is_some_and(ends_word),
        Some((begin, end)) => line.strip_prefix(begin).is_some_and(|rest| {
            let word = rest.split(' ').next().unwrap_or_default();
            word.ends_with(end)
        }),
    }
}

#[test]
fn a_pattern_is_words_and_at_most_one_gap() {
    for (pattern, line, expected) in [
        ("unit a.service", "unit a.service loaded active", true),
        ("unit a.service", "unit a.service-of-somebody loaded", false),
        ("file /var/log/journal/*", "file /var/log/journal/x/y f 640", true),
        ("file /var/log/journal/*", "file /var/log/journal d 755", false),
        ("group */a.service", "group /sys/fs/cgroup/x/a.service", true),
        ("group */a.service", "group /sys/fs/cgroup/x/b.service", false),
    ] {
        assert_eq!(fits(pattern, line), expected, "{pattern} {line}");
    }
}
