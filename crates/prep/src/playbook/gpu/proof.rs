//! The GPU transcodes: it has a driver and a render node, and `vainfo` lists what it can.

use std::time::Duration;

use engine::{About, FilesOnly, Step, StepError, Verdict};
use host::{Change, Host};
use nodekit::kernel_modules::ModuleState;

use super::{super::ids, Evidence, device::Device};
use crate::codes;

/// It transcodes; on a machine without a GPU, on which everything was to be installed, nothing can be shown.
pub(super) struct Proof;

impl Step for Proof {
    type Seen = Evidence;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(
            ids::GPU_PROOF,
            "See that it transcodes",
            "a module that loads and a package that is there prove nothing",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Evidence, StepError> {
        Evidence::read(host).await
    }

    fn plan(&self, seen: &Evidence) -> Result<Vec<Change>, StepError> {
        let Some(gpu @ Device { id, address, driver, .. }) = &seen.gpu else { return Ok(Vec::new()) };
        let there = format!("there is an Intel GPU ({id} at {address})");
        match driver {
            Some(other) if !gpu.is_driven() => {
                return Err(StepError::new(codes::NO_GPU_DRIVER, format!("{there}, and {other} has it")));
            }
            None if seen.modules.get("i915").is_none_or(|state| *state == ModuleState::Absent) => {
                let message = format!("{there}, and kernel {} has no driver i915 for it", seen.kernel);
                return Err(StepError::new(codes::NO_GPU_DRIVER, message));
            }
            _ => {}
        }
        match &seen.complaint {
            Some(complaint) => Err(StepError::new(codes::NO_TRANSCODING, format!("{there}, and {complaint}"))),
            None => Ok(Vec::new()),
        }
    }

    fn verify(&self, seen: &Evidence) -> Verdict {
        let Some(gpu) = &seen.gpu else { return Verdict::Met };
        let what = match (gpu.is_driven(), &gpu.render_node) {
            (true, Some(_)) => return Verdict::Met,
            (true, None) => "a render node of the GPU in /dev/dri",
            (false, _) => "the driver i915 to take the GPU",
        };
        Verdict::Waiting { what: format!("{what} ({} at {})", gpu.id, gpu.address), progress: String::new() }
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(20)
    }
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::*;

    #[test]
    fn nothing_counts_but_what_vainfo_lists() {
        let mut reported = String::new();
        for (case, driver, node, state, complaint, entrypoints) in [
            ("it works", Some("i915"), true, ModuleState::Loaded, None, 14),
            ("a newer driver", Some("xe"), true, ModuleState::Absent, None, 20),
            ("no driver yet", None, false, ModuleState::Loaded, None, 0),
            ("no node yet", Some("i915"), false, ModuleState::Loaded, None, 0),
            ("a kernel without a driver", None, false, ModuleState::Absent, None, 0),
            ("given to a virtual machine", Some("vfio-pci"), false, ModuleState::Loaded, None, 0),
            ("no coding", Some("i915"), true, ModuleState::Loaded, Some("vainfo: failed to initialize display"), 0),
        ] {
            let gpu = Device {
                address: "0000:00:02.0".into(),
                id: "8086:9a49".into(),
                driver: driver.map(str::to_owned),
                render_node: node.then(|| "/dev/dri/renderD128".into()),
            };
            let evidence = Evidence {
                kernel: "6.1.0".into(),
                modules: [("i915".to_owned(), state)].into(),
                gpu: Some(gpu),
                entrypoints,
                complaint: complaint.map(str::to_owned),
                ..Evidence::default()
            };
            let line = match Proof.plan(&evidence) {
                Err(error) => format!("{} {error}", error.code().id),
                Ok(_) => format!("{:?}", Proof.verify(&evidence)),
            };
            reported += &format!("{case}: {line}\n");
        }
        insta::assert_snapshot!(reported);
        assert_eq!(Proof.verify(&Evidence::default()), Verdict::Met, "without a GPU there is nothing to show");
    }
}
