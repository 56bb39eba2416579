//! What there is to see of iSCSI on this machine, for the report.

use std::{collections::BTreeMap, path::Path};

use crate::{Report, Requirement, Verdict};
use engine::StepError;
use host::{Disk, Host, HostError};

use super::{
    daemon, initiator,
    kernel::{self, Support},
    proof, wanted,
};
use nodekit::{
    kernel_modules::{Kernel, ModuleState},
    package_manager::Manager,
    systemd,
};

const MULTIPATH: &str = "multipathd.service";
const MULTIPATH_CONF: &str = "/etc/multipath.conf";
const NFS_MODULE: &str = "nfsv4";

/// Everything that was seen, each under its name.
pub(in super::super) async fn seen(
    host: &Host,
    state_dir: &Path,
    with_nfs: bool,
) -> Result<BTreeMap<String, String>, StepError> {
    let disk = &*host.disk;
    let support = Support::read(disk)?;
    let daemon = daemon::Seen::check(host).await?;
    let mut seen = BTreeMap::new();
    let mut emit = |name: &str, text: String| drop(seen.insert(name.to_owned(), text));
    emit("kernel", support.kernel.release.clone());
    emit("iscsi-tcp", support.state().words().to_owned());
    emit("package", kernel::package(host).await?);
    if with_nfs && let Some(manager) = Manager::find(disk)? {
        let versions = manager.installed(host).await?.versions;
        let name = wanted(true).with(manager)[1];
        emit("nfs", versions.get(name).map_or_else(|| format!("{name} not"), |version| format!("{name} {version}")));
    }
    if let Some(name) = initiator::name(disk)? {
        emit(Report::INITIATOR_NAME, name);
    }
    let is_up = daemon.unit.active == "active";
    let file = if daemon.unit.file.is_empty() { "unknown" } else { &daemon.unit.file };
    emit("iscsid", format!("{}, {file}", daemon.unit.active));
    if is_up && support.state().works() {
        emit("proof", proof::proved(host, state_dir)?.to_owned());
    }
    Ok(seen)
}

/// Whether the other program that takes disks would take those of Longhorn.
pub(in super::super) async fn multipath(host: &Host) -> Result<Requirement, StepError> {
    let is_up = systemd::check(host, MULTIPATH).await?.is_up();
    let text = host.disk.read_optional(Path::new(MULTIPATH_CONF))?.unwrap_or_default();
    Ok(evaluate(is_up, &String::from_utf8_lossy(&text)))
}

/// Whether the kernel can mount volumes that several nodes write to.
pub(in super::super) fn nfs(disk: &dyn Disk) -> Result<Requirement, HostError> {
    let known = disk.read_optional(Path::new("/proc/filesystems"))?.unwrap_or_default();
    let is_known = String::from_utf8_lossy(&known).lines().any(|line| line.split_whitespace().last() == Some("nfs4"));
    let state = Kernel::read(disk)?.state(NFS_MODULE);
    let (verdict, detail) = match state {
        _ if is_known => (Verdict::Met, "the kernel knows nfs4".to_owned()),
        ModuleState::Absent => (
            Verdict::Warning,
            format!("this kernel has no module {NFS_MODULE}, so volumes that several nodes write to cannot be mounted"),
        ),
        state => (Verdict::Met, format!("{NFS_MODULE} {}", state.words())),
    };
    Ok(Requirement::new("nfs4", verdict, detail))
}

fn evaluate(is_up: bool, conf: &str) -> Requirement {
    let (verdict, detail) = match (is_up, leaves_disks(conf)) {
        (false, _) => (Verdict::Met, "multipathd does not run".to_owned()),
        (true, true) => (Verdict::Met, format!("multipathd runs, and {MULTIPATH_CONF} keeps it from disks named sd*")),
        (true, false) => (
            Verdict::Warning,
            format!(
                "multipathd runs and takes disks that Longhorn attaches, so that they cannot be mounted: put \
                 `blacklist {{ devnode \"^sd[a-z0-9]+\" }}` into {MULTIPATH_CONF} and restart it, if its own are of other names"
            ),
        ),
    };
    Requirement::new("multipath", verdict, detail)
}

/// Whether its configuration leaves out disks with names like `sda`.
fn leaves_disks(conf: &str) -> bool {
    let lines = conf.lines().map(|line| line.split('#').next().unwrap_or_default());
    let text: String = lines.collect::<Vec<_>>().join("\n");
    let mut sections = text.split("blacklist").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('{'));
    sections.any(|section| {
        let section = section.split('}').next().unwrap_or_default();
        section
            .lines()
            .any(|line| line.contains("devnode") && ["^sd", "\".*\"", "\"*\""].iter().any(|what| line.contains(what)))
    })
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Machine, *};

    #[test]
    fn volumes_of_several_writers_need_a_kernel_with_nfs4() {
        let machine = Machine::default();
        let found = |machine: &Machine| nfs(&*machine.host().disk).unwrap().verdict;
        machine.write("/proc/sys/kernel/osrelease", "6.1.0-54-amd64\n");
        machine.write("/proc/filesystems", "nodev\tproc\n\text4\nnodev\tnfs\n");
        assert_eq!(found(&machine), Verdict::Warning);
        machine.write("/lib/modules/6.1.0-54-amd64/modules.dep", "kernel/fs/nfs/nfsv4.ko: kernel/fs/nfs/nfs.ko\n");
        assert_eq!(found(&machine), Verdict::Met, "it is loaded by the first mount");
        let built_in = Machine::default();
        built_in.write("/proc/filesystems", "nodev\tnfs4\n");
        assert_eq!(found(&built_in), Verdict::Met);
    }

    #[test]
    fn multipathd_is_a_conflict_unless_it_leaves_disks_alone() {
        for (is_up, conf, expected) in [
            (false, "", Verdict::Met),
            (true, "", Verdict::Warning),
            (true, "defaults {\n  user_friendly_names yes\n}\n", Verdict::Warning),
            (true, "blacklist {\n    devnode \"^sd[a-z0-9]+\"\n}\n", Verdict::Met),
            (true, "#blacklist {\n#    devnode \"^sd[a-z0-9]+\"\n#}\n", Verdict::Warning),
            (true, "blacklist_exceptions {\n devnode \"^sda\"\n}\n", Verdict::Warning),
            (true, "blacklist { devnode \".*\" }\n", Verdict::Met),
        ] {
            assert_eq!(evaluate(is_up, conf).verdict, expected, "{conf}");
        }
    }
}
