//! What there is to see of transcoding on this machine: for the proof, the marker and the report.

use std::collections::BTreeMap;

use engine::StepError;
use host::{Cmd, CommandError, Host};
use nodekit::{
    kernel_modules::{Kernel, ModuleState},
    package_manager::Manager,
};
use serde::{Deserialize, Serialize};

use super::{WANTED, device::Device, modules::MODULES};

/// What was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct Evidence {
    /// The kernel's release.
    pub(in super::super) kernel: String,
    /// How its modules are.
    pub(in super::super) modules: BTreeMap<String, ModuleState>,
    /// Those of the packages that are installed, with their versions.
    pub(in super::super) packages: BTreeMap<String, String>,
    /// The GPU, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in super::super) gpu: Option<Device>,
    /// In how many ways it codes video, as `vainfo` lists them.
    pub(in super::super) entrypoints: usize,
    /// Why `vainfo` lists none.
    #[serde(skip)]
    pub(in super::super) complaint: Option<String>,
}

impl Evidence {
    /// Looks at everything. Only a GPU with a driver and a node is asked what it can.
    pub(in super::super) async fn read(host: &Host) -> Result<Self, StepError> {
        let disk = &*host.disk;
        let kernel = Kernel::read(disk)?;
        let mut evidence = Self {
            modules: MODULES.iter().map(|module| ((*module).to_owned(), kernel.state(module))).collect(),
            kernel: kernel.release,
            gpu: Device::find(disk)?,
            ..Self::default()
        };
        if let Some(manager) = Manager::find(disk)? {
            let mut versions = manager.installed(host).await?.versions;
            let wanted = WANTED.with(manager).iter();
            evidence.packages = wanted.filter_map(|name| versions.remove_entry(*name)).collect();
        }
        let node = evidence.gpu.as_ref().filter(|gpu| gpu.is_driven()).and_then(|gpu| gpu.render_node.as_deref());
        if let Some(node) = node {
            match vainfo(host, node).await {
                Ok(count) => evidence.entrypoints = count,
                Err(complaint) => evidence.complaint = Some(complaint),
            }
        }
        Ok(evidence)
    }

    /// Whether it was seen to transcode.
    pub(super) fn is_proof(&self) -> bool {
        self.entrypoints > 0
    }

    /// What was there before, as a marker says, and is not any more.
    pub(super) fn lost(&self, before: &Self) -> Vec<String> {
        let packages = before.packages.keys().filter(|name| !self.packages.contains_key(*name));
        let mut lost: Vec<String> = packages.map(|name| format!("{name} is not installed")).collect();
        let worked = before.modules.iter().filter(|(_, state)| state.works());
        let works = |module: &String| self.modules.get(module).is_some_and(|state| state.works());
        lost.extend(worked.filter(|(module, _)| !works(module)).map(|(module, _)| format!("{module} is not loaded")));
        if before.is_proof() && !self.is_proof() {
            lost.push("the GPU offers no video coding".to_owned());
        }
        lost
    }

    /// For the report, each under its name.
    pub(in super::super) fn seen(&self) -> BTreeMap<String, String> {
        let mut seen = BTreeMap::new();
        let mut emit = |name: &str, text: String| drop(seen.insert(name.to_owned(), text));
        emit("kernel", self.kernel.clone());
        let modules = self.modules.iter().map(|(module, state)| format!("{module} {}", state.words()));
        emit("modules", modules.collect::<Vec<_>>().join(", "));
        if !self.packages.is_empty() {
            let packages = self.packages.iter().map(|(name, version)| format!("{name} {version}"));
            emit("packages", packages.collect::<Vec<_>>().join(", "));
        }
        match &self.gpu {
            None => emit("gpu", "no display device of Intel".to_owned()),
            Some(Device { address, id, driver, render_node }) => {
                emit("gpu", format!("{id} at {address}"));
                emit("driver", driver.clone().unwrap_or_else(|| "none".to_owned()));
                emit("render-node", render_node.clone().unwrap_or_else(|| "none".to_owned()));
                emit("vainfo", explain::counted(self.entrypoints, "entrypoint"));
            }
        }
        seen
    }
}

/// In how many ways a GPU codes video, or what was printed instead.
async fn vainfo(host: &Host, node: &str) -> Result<usize, String> {
    let command = Cmd::new("vainfo").args(["--display", "drm", "--device", node]).env("LC_ALL", "C");
    match host.commands.run(&command).await {
        Ok(printed) => match printed.stdout.lines().filter(|line| line.contains("VAEntrypoint")).count() {
            0 => Err("vainfo lists no entrypoint".to_owned()),
            count => Ok(count),
        },
        Err(CommandError::Failed { output, .. }) => Err(format!("vainfo: {output}")),
        Err(error @ CommandError::NotStarted { .. }) => Err(explain::chain(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_named_and_what_is_newer_is_not() {
        let evidence = |version: &str, state, entrypoints| Evidence {
            packages: [("vainfo".to_owned(), version.to_owned())].into(),
            modules: [("i915".to_owned(), state)].into(),
            entrypoints,
            ..Evidence::default()
        };
        let before = evidence("2.12", ModuleState::Loaded, 14);
        assert!(evidence("2.13", ModuleState::BuiltIn, 15).lost(&before).is_empty());
        let now = Evidence { packages: BTreeMap::new(), ..evidence("", ModuleState::Loadable, 0) };
        let expected = ["vainfo is not installed", "i915 is not loaded", "the GPU offers no video coding"];
        assert_eq!(now.lost(&before), expected);
        assert!(before.lost(&now).is_empty());
    }
}
