//! What a machine is like before anything is done: read once, for the playbook and the requirements.

use engine::StepError;
use host::{Cmd, Host};
use nodekit::package_manager::Manager;

use super::{
    Goal, Task,
    gpu::Evidence,
    iscsi,
    os::{Os, text},
};

/// What the machine is like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    pub(super) os: Os,
    pub(super) manager: Option<Manager>,
    /// As `uname -m` has it.
    pub(super) architecture: Option<String>,
    /// In KiB.
    pub(super) memory: Option<u64>,
    /// Where packages and volumes come to lie, in KiB.
    pub(super) free: Option<u64>,
    pub(super) cpu: Option<Cpu>,
    pub(super) kernel: String,
    /// Packages that have to be fetched.
    pub(super) missing: Vec<&'static str>,
    /// How many packages are in the directory that was given.
    pub(super) in_directory: Option<usize>,
    pub(super) has_gpu: bool,
    /// Only asked for iSCSI.
    pub(super) multipath: Option<crate::Requirement>,
    /// Only where its client is asked for.
    pub(super) nfs: Option<crate::Requirement>,
}

/// The first processor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cpu {
    pub(super) vendor: String,
    pub(super) family: u32,
    pub(super) model: u32,
    pub(super) name: String,
}

impl Survey {
    /// Looks at the machine. What it does not show is left open; what cannot be read is an error.
    pub async fn take(task: &Task, host: &Host) -> Result<Self, StepError> {
        let disk = &*host.disk;
        let manager = Manager::find(disk)?;
        let missing = match manager {
            Some(manager) => {
                let versions = manager.installed(host).await?.versions;
                task.wanted().with(manager).iter().copied().filter(|name| !versions.contains_key(*name)).collect()
            }
            None => Vec::new(),
        };
        let in_directory = match (&task.packages, manager) {
            (Some(dir), Some(manager)) if disk.exists(dir)? => {
                Some(disk.list(dir)?.iter().filter(|name| name.ends_with(manager.suffix())).count())
            }
            (Some(_), _) => Some(0),
            (None, _) => None,
        };
        let (is_iscsi, mut multipath) = (matches!(task.goal, Goal::Iscsi { .. }), None);
        if is_iscsi {
            multipath = Some(iscsi::multipath(host).await?);
        }
        let nfs = match task.goal {
            Goal::Iscsi { with_nfs: true } => Some(iscsi::nfs(disk)?),
            _ => None,
        };
        Ok(Self {
            os: Os::read(disk)?,
            manager,
            architecture: printed(host, Cmd::new("uname").arg("-m")).await.map(|text| text.trim().to_owned()),
            memory: memory(&text(disk, "/proc/meminfo")?),
            free: printed(host, Cmd::new("df").args(["-Pk", "/var"]).env("LC_ALL", "C")).await.and_then(|df| free(&df)),
            cpu: cpu(&text(disk, "/proc/cpuinfo")?),
            kernel: text(disk, "/proc/sys/kernel/osrelease")?.trim().to_owned(),
            missing,
            in_directory,
            has_gpu: !is_iscsi && Evidence::read(host).await?.gpu.is_some(),
            multipath,
            nfs,
        })
    }

    /// Whether there is anything to prepare on this machine.
    pub(super) fn is_applicable(&self, task: &Task) -> bool {
        match task.goal {
            Goal::Iscsi { .. } => true,
            Goal::Gpu { even_without_gpu, .. } => self.has_gpu || even_without_gpu,
        }
    }
}

/// What a command prints, where it can be asked at all: what is not known is reported as that.
async fn printed(host: &Host, command: Cmd) -> Option<String> {
    host.commands.run(&command).await.ok().map(|printed| printed.stdout)
}

/// `MemTotal:       16296116 kB`.
fn memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The fourth column of the one line below the heading.
fn free(df: &str) -> Option<u64> {
    df.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()
}

fn cpu(cpuinfo: &str) -> Option<Cpu> {
    let value = |name: &str| {
        let mut pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    };
    Some(Cpu {
        vendor: value("vendor_id")?,
        family: value("cpu family")?.parse().ok()?,
        model: value("model")?.parse().ok()?,
        name: value("model name").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read() {
        assert_eq!(memory("MemTotal:       16296116 kB\nMemFree: 1 kB\n"), Some(16_296_116));
        assert_eq!(free("Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a 9 4 5 44% /\n"), Some(5));
        let cpuinfo =
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 140\nmodel name\t: 11th Gen\n";
        let expected = Cpu { vendor: "GenuineIntel".into(), family: 6, model: 140, name: "11th Gen".into() };
        assert_eq!(cpu(cpuinfo), Some(expected));
        assert_eq!((memory(""), free(""), cpu("")), (None, None, None));
    }
}
