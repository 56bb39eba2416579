//! A machine's own control groups: made before it boots, searched for its processes, frozen, killed, removed.
//!
//! The path is `blackstart-lab/LAB/MACHINE` in every hierarchy. Without groups of their own two kubelets would share
//! `/kubepods` and fight. A machine's supervisor and the commands that are run in it from outside are in its groups
//! too, so that whatever belongs to a machine is found, stopped and killed with it.
//!
//! New groups hold processes only in their leaves, and systemd-nspawn divides the one it is in. So there a machine has
//! two of them: `system` for what boots, `outside` for the rest.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::LabError;

const TOP: &str = "blackstart-lab";

/// The control group hierarchies of a computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hierarchies {
    /// One mount per controller.
    V1 {
        /// Where they are mounted.
        roots: Vec<PathBuf>,
    },
    /// One mount for all.
    V2 {
        /// Where it is mounted.
        root: PathBuf,
    },
}

impl Hierarchies {
    /// From `/proc/self/mountinfo`. A unified mount beside old ones has no controllers, so it counts as one of them.
    pub(crate) fn from_mountinfo(text: &str) -> Self {
        let mut old = false;
        let mut roots = Vec::new();
        for line in text.lines() {
            let Some((left, right)) = line.split_once(" - ") else { continue };
            let (Some(mount), Some(kind)) = (left.split(' ').nth(4), right.split(' ').next()) else { continue };
            if matches!(kind, "cgroup" | "cgroup2") {
                old |= kind == "cgroup";
                roots.push(PathBuf::from(mount));
            }
        }
        match roots.first() {
            Some(root) if !old => Self::V2 { root: root.clone() },
            _ => Self::V1 { roots },
        }
    }

    fn roots(&self) -> Vec<PathBuf> {
        match self {
            Self::V1 { roots } => roots.clone(),
            Self::V2 { root } => vec![root.clone()],
        }
    }

    /// The groups of a machine.
    pub(crate) fn machine(&self, lab: &str, machine: &str) -> MachineGroups {
        let dirs = self.roots().iter().map(|root| root.join(TOP).join(lab).join(machine)).collect();
        MachineGroups { dirs, unified: matches!(self, Self::V2 { .. }) }
    }

    /// The machines of a lab that have groups, also those of lost labs.
    pub(crate) fn machines(&self, lab: &str) -> BTreeSet<String> {
        let labs = self.roots().into_iter().map(|root| root.join(TOP).join(lab));
        labs.flat_map(|dir| children(&dir))
            .filter_map(|dir| Some(dir.file_name()?.to_string_lossy().into_owned()))
            .collect()
    }

    /// Removes what is left of a lab once its machines are gone, and the top when it was the last one.
    pub(crate) fn remove_lab(&self, lab: &str) -> Result<(), LabError> {
        for root in self.roots() {
            remove_tree(&root.join(TOP).join(lab))?;
            let top = root.join(TOP);
            if top.exists() && children(&top).is_empty() {
                remove_tree(&top)?;
            }
        }
        Ok(())
    }
}

/// The groups of one machine.
#[derive(Debug, Clone)]
pub(crate) struct MachineGroups {
    dirs: Vec<PathBuf>,
    unified: bool,
}

impl MachineGroups {
    /// Makes them, with all CPUs and memory nodes of the group above.
    pub(crate) fn create(&self) -> Result<(), LabError> {
        for dir in &self.dirs {
            let failed = || LabError::while_doing(format!("create control group {}", dir.display()));
            fs::create_dir_all(dir).map_err(failed())?;
            for above in [dir.parent().and_then(Path::parent), dir.parent(), Some(dir.as_path())].into_iter().flatten()
            {
                if self.unified {
                    delegate(above).map_err(failed())?;
                } else {
                    inherit_cpus(above).map_err(failed())?;
                }
            }
        }
        for leaf in self.system().into_iter().chain(self.outside()) {
            let failed = LabError::while_doing(format!("create control group {}", leaf.display()));
            fs::create_dir_all(&leaf).map_err(failed)?;
        }
        Ok(())
    }

    /// What systemd-nspawn joins.
    pub(crate) fn system(&self) -> Vec<PathBuf> {
        self.leaves("system")
    }

    /// What a process joins that belongs to the machine without being started by it.
    pub(crate) fn outside(&self) -> Vec<PathBuf> {
        self.leaves("outside")
    }

    fn leaves(&self, name: &str) -> Vec<PathBuf> {
        if self.unified { self.dirs.iter().map(|dir| dir.join(name)).collect() } else { self.dirs.clone() }
    }

    /// Removes what an earlier boot has left: a kubelet would look for the pods of groups that it finds.
    pub(crate) fn clear(&self) -> Result<(), LabError> {
        let left: Vec<PathBuf> = self.system().iter().flat_map(|dir| children(dir)).collect();
        while_busy(|| left.iter().try_for_each(|dir| remove_tree(dir)))
    }

    /// All processes of the machine.
    pub(crate) fn processes(&self) -> BTreeSet<i32> {
        let mut processes = BTreeSet::new();
        let mut todo = self.dirs.clone();
        while let Some(dir) = todo.pop() {
            if let Ok(text) = fs::read_to_string(dir.join("cgroup.procs")) {
                // A process outside of our process namespace is written as 0.
                processes.extend(text.lines().filter_map(|line| line.parse::<i32>().ok()).filter(|pid| *pid > 0));
            }
            todo.extend(children(&dir));
        }
        processes
    }

    /// The machine's own process 1, seen from here.
    pub(crate) fn leader(&self) -> Option<i32> {
        self.processes().into_iter().find(|pid| is_first_of_its_namespace(*pid))
    }

    /// Stops all processes where they are.
    pub(crate) fn freeze(&self, frozen: bool) -> Result<(), LabError> {
        let Some((file, word)) = self.freezer(frozen) else { return Ok(()) };
        fs::write(&file, word).map_err(LabError::while_doing(format!("write {word} to {}", file.display())))
    }

    /// Whether all processes are stopped where they are.
    pub(crate) fn is_frozen(&self) -> bool {
        let Some((file, word)) = self.freezer(true) else { return false };
        fs::read_to_string(file).is_ok_and(|text| text.trim() == word)
    }

    fn freezer(&self, frozen: bool) -> Option<(PathBuf, &'static str)> {
        let (name, words) =
            if self.unified { ("cgroup.freeze", ["0", "1"]) } else { ("freezer.state", ["THAWED", "FROZEN"]) };
        let file = self.dirs.iter().map(|dir| dir.join(name)).find(|file| file.exists())?;
        Some((file, words[usize::from(frozen)]))
    }

    /// Bytes of memory the machine uses.
    pub(crate) fn memory(&self) -> Option<u64> {
        let files = ["memory.current", "memory.usage_in_bytes"];
        let found = self.dirs.iter().flat_map(|dir| files.map(|file| dir.join(file))).find(|file| file.exists())?;
        fs::read_to_string(found).ok()?.trim().parse().ok()
    }

    /// Kills everything in the machine at once, as a power cut would, and waits until nothing is left.
    pub(crate) fn kill(&self) -> Result<(), LabError> {
        let deadline = Instant::now() + Duration::from_secs(20);
        // Stopped first, so that none of them sees another one die.
        self.freeze(true)?;
        loop {
            let processes = self.processes();
            for pid in &processes {
                // One that ended in the meantime is what we want.
                let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
            }
            self.freeze(false)?;
            if processes.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                let source = io::Error::from(io::ErrorKind::TimedOut);
                return Err(LabError::System { doing: format!("kill processes {processes:?}"), source });
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Kills everything and removes the groups; again, if a process that was just being started joined in between.
    pub(crate) fn end(&self) -> Result<(), LabError> {
        while_busy(|| {
            self.kill()?;
            self.dirs.iter().try_for_each(|dir| remove_tree(dir))
        })
    }
}

/// A group is busy for a moment after the end of its last process.
fn while_busy(mut work: impl FnMut() -> Result<(), LabError>) -> Result<(), LabError> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        match work() {
            Err(LabError::System { source, .. })
                if source.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

fn is_first_of_its_namespace(pid: i32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return false };
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    // Only one level down: a container inside the machine has its own process 1, two levels down.
    numbers.is_some_and(|line| line.split_whitespace().collect::<Vec<_>>()[1..] == ["1"])
}

fn inherit_cpus(dir: &Path) -> io::Result<()> {
    for file in ["cpuset.cpus", "cpuset.mems"] {
        let (own, above) = (dir.join(file), dir.parent().unwrap_or(dir).join(file));
        if own.exists() && fs::read_to_string(&own)?.trim().is_empty() {
            fs::write(own, fs::read_to_string(above)?)?;
        }
    }
    Ok(())
}

fn delegate(dir: &Path) -> io::Result<()> {
    let wanted = fs::read_to_string(dir.join("cgroup.controllers"))?;
    let all: Vec<String> = wanted.split_whitespace().map(|name| format!("+{name}")).collect();
    fs::write(dir.join("cgroup.subtree_control"), all.join(" "))
}

fn children(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Groups are removed from the leaves up; the files in them are the kernel's and go with them.
fn remove_tree(dir: &Path) -> Result<(), LabError> {
    for child in children(dir) {
        remove_tree(&child)?;
    }
    match fs::remove_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LabError::while_doing(format!("remove control group {}", dir.display()))(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_old_mount_makes_all_old_and_a_second_new_one_changes_nothing() {
        let line = |at: &str, kind: &str| format!("30 24 0:26 / {at} rw,nosuid - {kind} {kind} rw\n");
        for (text, new) in [
            (line("/sys/fs/cgroup", "cgroup2"), true),
            (line("/sys/fs/cgroup", "cgroup2") + &line("/mnt/again", "cgroup2"), true),
            (line("/sys/fs/cgroup/pids", "cgroup") + &line("/sys/fs/cgroup/unified", "cgroup2"), false),
        ] {
            let found = Hierarchies::from_mountinfo(&text);
            assert_eq!(matches!(found, Hierarchies::V2 { .. }), new, "{text}");
        }
    }

    /// What the kernel puts into a new group, as far as it is read or written here.
    fn with_kernel_files(dir: &Path) {
        fs::create_dir_all(dir).unwrap();
        for (name, text) in [("cgroup.controllers", "cpu memory pids"), ("cgroup.freeze", "0"), ("cgroup.procs", "")] {
            fs::write(dir.join(name), text).unwrap();
        }
    }

    #[test]
    fn new_groups_hand_controllers_down_and_keep_processes_in_leaves() {
        let root = tempfile::tempdir().unwrap();
        let above = ["", "lab", "lab/worker-01"].map(|below| root.path().join(TOP).join(below));
        for dir in &above {
            with_kernel_files(dir);
        }
        let machine = Hierarchies::V2 { root: root.path().to_path_buf() }.machine("lab", "worker-01");
        machine.create().unwrap();
        for dir in &above {
            assert_eq!(fs::read_to_string(dir.join("cgroup.subtree_control")).unwrap(), "+cpu +memory +pids");
        }
        assert_eq!(machine.system(), [above[2].join("system")]);
        assert_eq!(machine.outside(), [above[2].join("outside")]);
        assert!(above[2].join("system").is_dir() && above[2].join("outside").is_dir());

        fs::create_dir_all(above[2].join("system/payload/kubepods")).unwrap();
        machine.clear().unwrap();
        assert!(children(&above[2].join("system")).is_empty());

        machine.freeze(true).unwrap();
        assert_eq!(fs::read_to_string(above[2].join("cgroup.freeze")).unwrap(), "1");
        assert!(machine.is_frozen());
    }

    #[test]
    fn groups_that_were_never_made_are_neither_frozen_nor_in_the_way() {
        for unified in [true, false] {
            let machine = MachineGroups { dirs: vec!["/nonexistent/blackstart".into()], unified };
            assert!(!machine.is_frozen() && machine.processes().is_empty() && machine.leader().is_none());
            machine.end().unwrap();
        }
    }
}
