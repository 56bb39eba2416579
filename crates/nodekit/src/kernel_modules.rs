//! Modules of the kernel: which are loaded, which are part of it, which it could load.

use std::{collections::BTreeSet, path::Path};

use engine::StepError;
use host::{Cmd, CommandError, Disk, Host, HostError};
use serde::{Deserialize, Serialize};

use crate::codes;

/// The kernel that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    /// `6.1.0-54-amd64`.
    pub release: String,
    /// `/lib/modules/6.1.0-54-amd64` is there.
    pub has_directory: bool,
    loaded: BTreeSet<String>,
    built_in: BTreeSet<String>,
    loadable: BTreeSet<String>,
}

/// How a module is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleState {
    /// Part of the kernel.
    BuiltIn,
    /// Loaded.
    Loaded,
    /// It could be.
    Loadable,
    /// This kernel has none of that name.
    Absent,
}

impl ModuleState {
    /// Whether what it offers can be used now.
    pub const fn works(self) -> bool {
        matches!(self, Self::BuiltIn | Self::Loaded)
    }

    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::Loaded => "loaded",
            Self::Loadable => "not loaded",
            Self::Absent => "absent",
        }
    }
}

impl Kernel {
    /// What it has, and could load.
    pub fn read(disk: &dyn Disk) -> Result<Self, HostError> {
        let text = |path: &Path| -> Result<String, HostError> {
            let bytes = disk.read_optional(path)?.unwrap_or_default();
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let release = text(Path::new("/proc/sys/kernel/osrelease"))?.trim().to_owned();
        let dir = Path::new("/lib/modules").join(&release);
        Ok(Self {
            has_directory: disk.exists(&dir)?,
            loaded: text(Path::new("/proc/modules"))?
                .lines()
                .filter_map(|line| line.split(' ').next())
                .map(name)
                .collect(),
            built_in: files(&text(&dir.join("modules.builtin"))?),
            loadable: files(&text(&dir.join("modules.dep"))?),
            release,
        })
    }

    /// How a module of it is.
    pub fn state(&self, module: &str) -> ModuleState {
        if self.built_in.contains(module) {
            ModuleState::BuiltIn
        } else if self.loaded.contains(module) {
            ModuleState::Loaded
        } else if self.loadable.contains(module) {
            ModuleState::Loadable
        } else {
            ModuleState::Absent
        }
    }
}

/// `kernel/drivers/scsi/iscsi_tcp.ko.xz: kernel/…` is `iscsi_tcp`, also in a list without what it needs.
fn files(list: &str) -> BTreeSet<String> {
    let files = list.lines().filter_map(|line| line.split(':').next()?.rsplit('/').next()?.split('.').next());
    files.filter(|file| !file.is_empty()).map(name).collect()
}

/// The kernel takes `-` and `_` for the same.
fn name(module: &str) -> String {
    module.replace('-', "_")
}

/// Loads a module.
pub async fn load(host: &Host, module: &str) -> Result<(), StepError> {
    let refused = |error: CommandError| match error {
        CommandError::Failed { output, .. } => {
            StepError::new(codes::MODULE_REFUSED, format!("the kernel does not load {module}: {output}"))
        }
        error @ CommandError::NotStarted { .. } => StepError::from_explained(&error),
    };
    host.commands.run(&Cmd::new("modprobe").arg(module)).await.map(drop).map_err(refused)
}

#[cfg(test)]
mod tests {
    use host::RealDisk;

    use super::*;

    #[test]
    fn loaded_built_in_loadable_or_absent() {
        use ModuleState::{Absent, BuiltIn, Loadable, Loaded};
        let root = tempfile::tempdir().unwrap();
        let states = || {
            let kernel = Kernel::read(&RealDisk::new(root.path())).unwrap();
            ["i915", "drm", "iscsi_tcp", "drm_kms_helper", "video"].map(|module| kernel.state(module))
        };
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert_eq!(states(), [Absent; 5]);
        write("proc/sys/kernel/osrelease", "6.1.0-54-amd64\n");
        write("proc/modules", "i915 3051520 25 - Live 0x0\ndrm_kms_helper 204800 1 i915, Live 0x0\n");
        let dir = "lib/modules/6.1.0-54-amd64";
        write(&format!("{dir}/modules.builtin"), "kernel/drivers/gpu/drm/drm.ko\n");
        let dep =
            "kernel/drivers/gpu/i915/i915.ko: kernel/drivers/acpi/video.ko\nkernel/drivers/scsi/iscsi-tcp.ko.xz:\n";
        write(&format!("{dir}/modules.dep"), dep);
        assert_eq!(states(), [Loaded, BuiltIn, Loadable, Loaded, Absent]);
    }
}
