//! A picture of the computer: everything that a lab could leave behind.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use super::run;

/// Settings of the kernel that count, or that change without anybody's doing.
const RESTLESS: &[&str] =
    &["kernel/random/", "kernel/ns_last_pid", "kernel/pty/nr", "fs/quota/syncs", "-nr", "-state", "_count", "hostname"];

/// All there is, by theme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture(BTreeMap<&'static str, BTreeSet<String>>);

impl Picture {
    /// Looks at everything. What belongs to labs of other people on this computer is left out.
    pub(crate) fn take() -> Self {
        let roots = cgroup_roots();
        let groups = roots.iter().flat_map(|root| tree(root)).filter(|path| path.is_dir());
        let mut all = BTreeMap::from([
            ("processes", lab_processes()),
            ("mounts", mounts()),
            ("control groups", groups.map(|path| path.display().to_string()).collect()),
            ("links", lines("ip", &["-o", "link"], |line| line.split(": ").nth(1).map(str::to_owned))),
            ("addresses", lines("ip", &["-o", "addr"], |line| line.split(" valid_lft").next().map(str::to_owned))),
            ("routes", lines("ip", &["route", "show", "table", "all"], |line| Some(line.to_owned()))),
            ("rules", lines("ip", &["rule"], |line| Some(line.to_owned()))),
            ("nft", lines("nft", &["list", "ruleset"], |line| Some(line.to_owned()))),
            ("files", files()),
            ("settings", settings()),
        ]);
        let others = other_labs();
        for lines in all.values_mut() {
            lines.retain(|line| !others.iter().any(|lab| mentions(line, lab)));
        }
        Self(all)
    }

    /// Looks again, until nothing is left that was not there before. The kernel removes some things after their end.
    pub(crate) fn assert_back(&self, after: &str) {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let now = Self::take();
            let differences = self.differences(&now);
            if differences.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "not as before, {after}:\n{differences}");
            sleep(Duration::from_millis(200));
        }
    }

    fn differences(&self, now: &Self) -> String {
        let mut text = String::new();
        for (theme, before) in &self.0 {
            let now = &now.0[theme];
            text.extend(before.difference(now).map(|line| format!("  {theme}: gone: {line}\n")));
            text.extend(now.difference(before).map(|line| format!("  {theme}: new: {line}\n")));
        }
        text
    }
}

/// A process of this computer.
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) line: String,
    pub(crate) groups: String,
}

/// All processes of this computer that have a command line.
pub(crate) fn processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let groups = fs::read_to_string(entry.path().join("cgroup")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (!line.is_empty()).then_some(Process { pid, line, groups })
    })
}

/// Those that have to do with a lab: in its groups, or one of the programs it is made with.
fn lab_processes() -> BTreeSet<String> {
    let programs = ["systemd-nspawn", "debootstrap", "lab supervise", "lab up", "unshare --"];
    processes()
        .filter(|process| {
            process.groups.contains("blackstart-lab") || programs.iter().any(|program| process.line.contains(program))
        })
        .map(|Process { pid, line, groups }| format!("{pid} {line} {}", groups.replace('\n', " ")))
        .collect()
}

fn mounts() -> BTreeSet<String> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    // Without the numbers in front, which are given again.
    text.lines().map(|line| line.split(' ').skip(3).collect::<Vec<_>>().join(" ")).collect()
}

fn cgroup_roots() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mounts").unwrap();
    let mounts = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    mounts.filter(|mount| mount[2].starts_with("cgroup")).map(|mount| mount[1].into()).collect()
}

fn files() -> BTreeSet<String> {
    let cache = Path::new("/var/cache/blackstart/base");
    let images = fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path());
    let dirs = ["/var/lib/blackstart", "/run/systemd", "/run/netns", "/run/blackstart"];
    let below = dirs.iter().flat_map(|dir| tree(Path::new(dir)));
    below.chain(images).map(|path| path.display().to_string()).collect()
}

fn settings() -> BTreeSet<String> {
    let files = tree(Path::new("/proc/sys")).into_iter().filter(|path| path.is_file());
    files
        .filter_map(|path| {
            let name = path.display().to_string();
            let value = fs::read_to_string(&path).ok()?;
            (!RESTLESS.iter().any(|word| name.contains(word))).then(|| format!("{name} = {}", value.trim()))
        })
        .collect()
}

fn lines(program: &str, arguments: &[&str], pick: impl Fn(&str) -> Option<String>) -> BTreeSet<String> {
    run(program, arguments).ok().lines().filter_map(pick).collect()
}

/// A directory and everything below it; links are not followed.
fn tree(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![top.to_path_buf()];
    while let Some(path) = todo.pop() {
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() {
            todo.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        found.push(path);
    }
    found
}

/// Labs that are not made by this suite.
fn other_labs() -> Vec<String> {
    let entries = fs::read_dir("/var/lib/blackstart/lab").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ours = super::TestLab::prefix();
    names.filter(|name| !name.contains('.') && !name.starts_with(&ours)).collect()
}

fn mentions(line: &str, lab: &str) -> bool {
    let ways = [
        format!("lab/{lab}/"),
        format!("lab/{lab} "),
        format!("bs-{lab}"),
        format!("_lab_{lab} "),
        format!("_cut_{lab} "),
        format!("lab supervise {lab} "),
    ];
    ways.iter().any(|way| line.contains(way)) || line.ends_with(&format!("lab/{lab}"))
}
