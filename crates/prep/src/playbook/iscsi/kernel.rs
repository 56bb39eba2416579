//! The kernel has an iSCSI initiator, now and after every boot.
//!
//! What counts is the transport `tcp` among those that the kernel offers: `iscsid` talks to it, and it is there whether the
//! driver is a module or part of the kernel. A kernel without one cannot be helped from here.

use std::path::Path;

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use host::{Change, Content, Disk, Host, HostError};
use nodekit::{
    kernel_modules::{self, Kernel, ModuleState},
    package_manager::Manager,
};

use super::{super::ids, wanted};
use crate::codes;

const MODULE: &str = "iscsi_tcp";
const TRANSPORT: &str = "/sys/class/iscsi_transport/tcp";
const FILE: &str = "/etc/modules-load.d/iscsi-bootstrap.conf";
const LOAD: &str = "load";

/// The kernel can, and goes on to.
pub(super) struct KernelSupport;

/// What was found.
pub(super) struct Seen {
    support: Support,
    /// `open-iscsi 2.1.8-1`.
    package: String,
    file: Vec<Change>,
}

/// What the kernel offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Support {
    pub(super) kernel: Kernel,
    has_transport: bool,
}

impl Support {
    pub(super) fn read(disk: &dyn Disk) -> Result<Self, HostError> {
        Ok(Self { kernel: Kernel::read(disk)?, has_transport: disk.exists(Path::new(TRANSPORT))? })
    }

    pub(super) fn state(&self) -> ModuleState {
        match self.kernel.state(MODULE) {
            // A kernel that offers the transport has it, also where no list says so.
            ModuleState::Loadable if self.has_transport => ModuleState::Loaded,
            ModuleState::Absent if self.has_transport => ModuleState::BuiltIn,
            state => state,
        }
    }

    /// Why there is none.
    fn absence(&self, package: &str) -> String {
        let Kernel { release, has_directory, .. } = &self.kernel;
        let where_ = if *has_directory {
            format!("module {MODULE} is not in /lib/modules/{release}")
        } else {
            format!("module {MODULE} absent; /lib/modules/{release} missing")
        };
        format!(
            "{package} installed; iscsid cannot run: kernel {release} has no iSCSI initiator ({where_}). \
             Longhorn volumes will not attach on this node"
        )
    }
}

impl Step for KernelSupport {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::ISCSI_KERNEL, "Load the kernel's iSCSI initiator", "it is the kernel that attaches volumes")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let disk = &*host.disk;
        let support = Support::read(disk)?;
        // One that is part of the kernel need not be loaded, and a name that no module has would fail at each boot.
        let is_module = matches!(support.state(), ModuleState::Loaded | ModuleState::Loadable);
        let content = Content::Plain(format!("# Longhorn attaches volumes by it.\n{MODULE}\n").into_bytes());
        let wanted = is_module.then(|| Change::File { path: FILE.into(), mode: 0o644, content });
        let file = Change::missing(wanted.into_iter().collect(), disk)?;
        Ok(Seen { support, package: package(host).await?, file })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let mut changes = Planned::files(&seen.file);
        match seen.support.state() {
            ModuleState::Absent => {
                return Err(StepError::new(codes::KERNEL_WITHOUT_ISCSI, seen.support.absence(&seen.package)));
            }
            ModuleState::Loadable => {
                changes.push(Planned::act(LOAD, format!("load the module {MODULE}")));
            }
            ModuleState::BuiltIn | ModuleState::Loaded => {}
        }
        Ok(changes)
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        if seen.support.has_transport {
            return Verdict::Met;
        }
        Verdict::Waiting { what: "the kernel to offer iSCSI over TCP".to_owned(), progress: String::new() }
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        kernel_modules::load(host, MODULE).await
    }

    fn deadline(&self) -> std::time::Duration {
        std::time::Duration::from_secs(10)
    }
}

/// The package that holds `iscsid`, with its version.
pub(super) async fn package(host: &Host) -> Result<String, StepError> {
    let Some(manager) = Manager::find(&*host.disk)? else { return Ok("nothing".to_owned()) };
    let name = wanted(false).with(manager).first().copied().unwrap_or_default();
    let versions = manager.installed(host).await?.versions;
    Ok(versions.get(name).map_or_else(|| format!("{name} not"), |version| format!("{name} {version}")))
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Machine, *};

    const ISCSI: &str = "Package: open-iscsi\nStatus: install ok installed\nVersion: 2.1.8-1\n\n";

    #[tokio::test]
    async fn a_module_is_loaded_and_kept_and_a_kernel_without_one_is_reported() {
        let dep = ("/lib/modules/6.1.0/modules.dep", "kernel/drivers/scsi/iscsi_tcp.ko: kernel/x.ko\n");
        let other = ("/lib/modules/6.1.0/modules.dep", "kernel/drivers/net/vxlan.ko:\n");
        let built_in = ("/lib/modules/6.1.0/modules.builtin", "kernel/drivers/scsi/iscsi_tcp.ko\n");
        let (transport, loaded) =
            (("/sys/class/iscsi_transport/tcp/handle", "1\n"), ("/proc/modules", "iscsi_tcp 1 0\n"));
        let mut reported = String::new();
        for (case, files) in [
            ("a module that is not loaded", &[dep][..]),
            ("a module that is loaded", &[dep, loaded, transport]),
            ("a module that is loaded, and offers nothing yet", &[dep, loaded]),
            ("part of the kernel", &[built_in, transport]),
            ("no list, but it is there", &[transport]),
            ("no such module", &[other]),
            ("no modules at all", &[]),
        ] {
            let machine = Machine::default().apt(ISCSI);
            machine.write("/proc/sys/kernel/osrelease", "6.1.0\n");
            for (path, text) in files {
                machine.write(path, text);
            }
            reported += &format!("{case}:\n{}", machine.planned(&KernelSupport).await);
        }
        insta::assert_snapshot!(reported);
    }

    #[tokio::test]
    async fn a_module_that_is_refused_is_reported() {
        let machine =
            Machine::default().answering(|_| Err("exit status: 1|modprobe: ERROR: Key was rejected by service".into()));
        let act = Planned::act(LOAD, String::new());
        let error = KernelSupport.apply(&act, &machine.host()).await.unwrap_err();
        insta::assert_snapshot!(error.to_string(), @"the kernel does not load iscsi_tcp: modprobe: ERROR: Key was rejected by service");
    }
}
