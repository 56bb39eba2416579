//! Intel's display devices on the PCI bus, with what drives them.

use std::path::Path;

use host::{Disk, HostError};
use serde::{Deserialize, Serialize};

const DEVICES: &str = "/sys/bus/pci/devices";
const INTEL: &str = "0x8086";
/// Drivers by which a GPU transcodes.
const DRIVERS: [&str; 2] = ["i915", "xe"];

/// A display device of Intel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct Device {
    /// Where it is: `0000:00:02.0`.
    pub(in super::super) address: String,
    /// What it is: `8086:9a49`.
    pub(in super::super) id: String,
    /// Who drives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in super::super) driver: Option<String>,
    /// The node by which programs use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in super::super) render_node: Option<String>,
}

impl Device {
    /// The one that can do most.
    pub(in super::super) fn find(disk: &dyn Disk) -> Result<Option<Self>, HostError> {
        let dir = Path::new(DEVICES);
        let addresses = if disk.exists(dir)? { disk.list(dir)? } else { Vec::new() };
        let mut best: Option<Self> = None;
        for address in addresses {
            if let Some(device) = Self::read(disk, address)?
                && best.as_ref().is_none_or(|best| best.rank() < device.rank())
            {
                best = Some(device);
            }
        }
        Ok(best)
    }

    fn read(disk: &dyn Disk, address: String) -> Result<Option<Self>, HostError> {
        let dir = Path::new(DEVICES).join(&address);
        let line = |name: &str| -> Result<String, HostError> {
            let bytes = disk.read_optional(&dir.join(name))?.unwrap_or_default();
            Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
        };
        if line("vendor")? != INTEL || !line("class")?.starts_with("0x03") {
            return Ok(None);
        }
        let driver = disk.read_link(&dir.join("driver"))?;
        let driver = driver.and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()));
        let drm = dir.join("drm");
        let nodes = if disk.exists(&drm)? { disk.list(&drm)? } else { Vec::new() };
        let mut render_node = None;
        for node in nodes.iter().filter(|node| node.starts_with("renderD")) {
            let path = Path::new("/dev/dri").join(node);
            if disk.exists(&path)? {
                render_node.get_or_insert(path.to_string_lossy().into_owned());
            }
        }
        let device = line("device")?;
        let id = format!("8086:{}", device.trim_start_matches("0x"));
        Ok(Some(Self { address, id, driver, render_node }))
    }

    /// One that has another driver is not for us.
    pub(super) fn is_driven(&self) -> bool {
        self.driver.as_deref().is_some_and(|driver| DRIVERS.contains(&driver))
    }

    fn rank(&self) -> (bool, bool) {
        (self.is_driven(), self.render_node.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Machine, *};

    /// Puts a device on the bus.
    fn plug(machine: &Machine, address: &str, vendor: &str, class: &str, driver: Option<&str>) {
        let dir = format!("{DEVICES}/{address}");
        for (name, text) in [("vendor", vendor), ("class", class), ("device", "0x9a49")] {
            machine.write(&format!("{dir}/{name}"), &format!("{text}\n"));
        }
        if let Some(driver) = driver {
            machine.link(&format!("{dir}/driver"), &format!("../../../bus/pci/drivers/{driver}"));
        }
    }

    #[test]
    fn a_display_device_of_intel_and_no_other() {
        let machine = Machine::default();
        let find = |machine: &Machine| Device::find(&*machine.host().disk).unwrap();
        assert_eq!(find(&machine), None);
        plug(&machine, "0000:00:01.0", "0x1234", "0x030000", Some("bochs-drm"));
        plug(&machine, "0000:00:1f.3", "0x8086", "0x040300", Some("snd_hda_intel"));
        assert_eq!(find(&machine), None, "another vendor's GPU, and Intel's sound");

        plug(&machine, "0000:00:02.0", "0x8086", "0x030000", None);
        let expected =
            Device { address: "0000:00:02.0".into(), id: "8086:9a49".into(), driver: None, render_node: None };
        assert_eq!(find(&machine), Some(expected.clone()));
        assert!(!expected.is_driven());

        plug(&machine, "0000:03:00.0", "0x8086", "0x038000", Some("xe"));
        machine.write("/sys/bus/pci/devices/0000:03:00.0/drm/renderD129/dev", "226:129\n");
        machine.write("/sys/bus/pci/devices/0000:03:00.0/drm/card1/dev", "226:1\n");
        machine.write("/dev/dri/renderD129", "");
        let found = find(&machine).unwrap();
        assert_eq!(
            (found.address.as_str(), found.render_node.as_deref()),
            ("0000:03:00.0", Some("/dev/dri/renderD129"))
        );
        assert!(found.is_driven());
    }
}
