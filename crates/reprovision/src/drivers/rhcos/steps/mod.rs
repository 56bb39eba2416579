//! The steps: before the reboot, and after it before the kubelet.
//!
//! The machine may be rebooted under each of them, by the machine-config-daemon itself too: each looks at the machine, and not at
//! what was done. To add one: a file, its name in `ids`, and its line in a list in [`super`].

mod booted_image;
mod current_config;
mod kept;
mod machine_config;
mod mcd;
mod mcd_pull;
mod pin;
mod stale_files;

pub(super) use booted_image::BootedImage;
pub(super) use current_config::CurrentConfig;
pub(super) use kept::KeptFiles;
pub(super) use machine_config::MachineConfigFile;
pub(super) use mcd::{AppliedByMcd, Returned};
pub(super) use mcd_pull::McdImage;
pub(super) use pin::{PinnedDeployment, Unpin, UnpinForGood};
pub(super) use stale_files::StaleFiles;
