//! The modules that drive the GPU are loaded, now and after every boot.
//!
//! Those that are part of the kernel count as loaded. A name that the kernel does not have is not listed: systemd would
//! call its list failed at every boot.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::{Change, Content, Host};
use nodekit::kernel_modules::{self, Kernel, ModuleState};

use super::super::ids;

const FILE: &str = "/etc/modules-load.d/gpu-bootstrap.conf";

/// What drives an Intel GPU; the others come with the first, where they are modules.
pub(super) const MODULES: [&str; 4] = ["i915", "drm", "drm_kms_helper", "video"];

/// The modules are loaded.
pub(super) struct Modules;

/// What was found.
pub(super) struct Seen {
    file: Vec<Change>,
    to_load: Vec<&'static str>,
}

impl Step for Modules {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::GPU_MODULES, "Load the GPU's modules", "without its driver a GPU has no render node")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let kernel = Kernel::read(&*host.disk)?;
        let content = Content::Plain(list(&kernel).into_bytes());
        let file = vec![Change::File { path: FILE.into(), mode: 0o644, content }];
        let is_idle = |module: &&str| kernel.state(module) == ModuleState::Loadable;
        Ok(Seen { file: Change::missing(file, &*host.disk)?, to_load: MODULES.into_iter().filter(is_idle).collect() })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let load =
            seen.to_load.iter().map(|module| Planned::act((*module).to_owned(), format!("load the module {module}")));
        Ok(Planned::files(&seen.file).into_iter().chain(load).collect())
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        kernel_modules::load(host, key).await
    }
}

fn list(kernel: &Kernel) -> String {
    let mut text = "# Intel GPU, for transcoding.\n".to_owned();
    for module in MODULES {
        text += &match kernel.state(module) {
            ModuleState::Absent => format!("# {module}: kernel {} has none\n", kernel.release),
            ModuleState::BuiltIn | ModuleState::Loaded | ModuleState::Loadable => format!("{module}\n"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Machine, *};

    #[tokio::test]
    async fn what_the_kernel_has_is_listed_and_loaded() {
        let machine = Machine::default();
        machine.write("/proc/sys/kernel/osrelease", "6.1.0\n");
        let mut reported = format!("no modules at all:\n{}", machine.planned(&Modules).await);
        machine.write("/lib/modules/6.1.0/modules.builtin", "kernel/drivers/gpu/drm/drm.ko\n");
        machine.write(
            "/lib/modules/6.1.0/modules.dep",
            "kernel/i915.ko: kernel/drm_kms_helper.ko\nkernel/drm_kms_helper.ko:\n",
        );
        reported += &format!("some:\n{}", machine.planned(&Modules).await);
        machine.apply(&Modules).await;
        machine.write("/proc/modules", "i915 1 0\ndrm_kms_helper 1 0\n");
        reported += &format!("done:\n{}\n{}", machine.planned(&Modules).await, machine.read(FILE).unwrap());
        insta::assert_snapshot!(reported);
        assert_eq!(machine.asked(), ["modprobe i915", "modprobe drm_kms_helper"]);
    }
}
