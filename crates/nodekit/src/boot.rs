//! Which boot of the machine this is: what tells one before a reboot from one after it.

use std::path::Path;

use host::{Disk, HostError};

/// Where the kernel has it.
pub const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// In which boot of the machine this is; empty where there is none, as in an image.
pub fn boot_id(disk: &dyn Disk) -> Result<String, HostError> {
    let bytes = disk.read_optional(Path::new(BOOT_ID))?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}
