//! Everything that can be seen of a machine, and in what two pictures differ.

use std::collections::BTreeSet;

use super::common::TestLab;

const SCRIPT: &[u8] = include_bytes!("picture.sh");

/// Why services differ that we do not start.
const BACKUPS: &str = "backups outlive the node they were made on: a reset may be what they are needed for";
const ON_DEMAND: &str = "the bus starts it when a client asks, and it ends when none does";

/// What may differ, and why: it changes by itself on an idle machine, or it is a note that some
/// other program keeps of what has happened. `*` stands for anything without a space, at most one in each.
const ALLOWED: &[(&str, &str)] = &[
    ("content /var/log/journal/*", "the journal"),
    ("file /var/log/journal/*", "the journal"),
    ("content /run/systemd/journal/*", "the journal's own state"),
    ("file /run/systemd/journal/*", "the journal's own state"),
    ("content /var/log/wtmp", "when the machine was booted"),
    ("file /var/log/wtmp", "when the machine was booted"),
    ("content /run/utmp", "when the machine was booted"),
    ("file /run/utmp", "when the machine was booted"),
    ("content /var/lib/NetworkManager/*", "when NetworkManager last used which profile"),
    ("file /var/lib/NetworkManager/*", "when NetworkManager last used which profile"),
    ("file /run/systemd/units/invocation:*", "numbers of starts"),
    ("file /var/backups/blackstart", BACKUPS),
    ("file /var/backups/blackstart/*", BACKUPS),
    ("content /var/backups/blackstart/*", BACKUPS),
    (
        "unit network-online.target",
        "our units asked for it, others may, too, and until the next boot it is only a word",
    ),
    ("unit NetworkManager-wait-online.service", "comes with network-online.target"),
    ("file /run/systemd/propagate/*", ON_DEMAND),
    ("file /tmp/systemd-private-*", ON_DEMAND),
    ("file /var/tmp/systemd-private-*", ON_DEMAND),
    ("group */system.slice/systemd-hostnamed.service", ON_DEMAND),
    ("unit systemd-hostnamed.service", ON_DEMAND),
    ("group */system.slice/systemd-timedated.service", ON_DEMAND),
    ("unit systemd-timedated.service", ON_DEMAND),
    ("group */system.slice/NetworkManager-dispatcher.service", ON_DEMAND),
    ("unit NetworkManager-dispatcher.service", ON_DEMAND),
    ("process /lib/systemd/systemd-hostnamed", ON_DEMAND),
    ("process /lib/systemd/systemd-timedated", ON_DEMAND),
    ("process /usr/lib/NetworkManager/nm-dispatcher", ON_DEMAND),
];

/// A machine at one moment.
pub(crate) struct Picture {
    lines: BTreeSet<String>,
}

impl Picture {
    /// Takes one.
    pub(crate) fn of(lab: &TestLab, machine: &str) -> Self {
        let output = lab.feed("exec", &[machine, "--", "sh"], SCRIPT).ok();
        Self { lines: output.lines().map(|line| line.trim_end().to_owned()).collect() }
    }

    /// In what a machine differs from this picture, without what may differ. What is gone at a second look was only
    /// passing through.
    pub(crate) fn differences(&self, lab: &TestLab, machine: &str, of_others: &[&str]) -> Vec<String> {
        let first = self.compared_with(&Self::of(lab, machine), of_others);
        if first.is_empty() {
            return Vec::new();
        }
        let second = self.compared_with(&Self::of(lab, machine), of_others);
        first.intersection(&second).cloned().collect()
    }

    /// The lines that only one of them has.
    fn compared_with(&self, later: &Self, of_others: &[&str]) -> BTreeSet<String> {
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
        ("unit a.service", "unit a.service-of-another loaded", false),
        ("file /var/log/journal/*", "file /var/log/journal/x/y f 640", true),
        ("file /var/log/journal/*", "file /var/log/journal d 755", false),
        ("group */a.service", "group /sys/fs/cgroup/x/a.service", true),
        ("group */a.service", "group /sys/fs/cgroup/x/b.service", false),
    ] {
        assert_eq!(fits(pattern, line), expected, "{pattern} {line}");
    }
}
