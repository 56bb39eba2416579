//! Whether the machine that a [`host::Host`] leads to runs, or is an image or a directory that stands for one.

use std::path::Path;

use host::{Disk, HostError};

/// Systemd makes this directory when it boots a machine; an image does not have it.
const BOOTED: &str = "/run/systemd/system";

/// True if services, commands and the kernel of the machine can be asked.
pub(crate) fn is_running(disk: &dyn Disk) -> Result<bool, HostError> {
    disk.exists(Path::new(BOOTED))
}
