//! What identifies a machine, read from `/sys`.

use std::path::Path;

use crate::{Disk, HostError};

const INTERFACES: &str = "/sys/class/net";
const DMI: &str = "/sys/class/dmi/id";

/// What a machine shows of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// All interfaces that have a MAC address, by name; loopback and the like have none.
    pub interfaces: Vec<Interface>,
    /// The board's UUID, lower case; only root can read it.
    pub dmi_uuid: Option<String>,
    /// The board's serial number; only root can read it.
    pub dmi_serial: Option<String>,
}

/// A network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// For example `eth0`.
    pub name: String,
    /// As the kernel writes it: lower case with colons.
    pub mac: String,
}

impl Facts {
    /// Reads them. Something a machine does not have is absent; what cannot be read is an error.
    pub fn read(disk: &dyn Disk) -> Result<Self, HostError> {
        let dir = Path::new(INTERFACES);
        let names = if disk.exists(dir)? { disk.list(dir)? } else { Vec::new() };
        let mut interfaces = Vec::new();
        for name in names {
            // `bonding_masters` and the like are plain files beside the interfaces and have no address below them.
            if let Some(mac) = line(disk, &dir.join(&name).join("address"))?
                && mac.len() == "00:00:00:00:00:00".len()
                && mac != "00:00:00:00:00:00"
            {
                interfaces.push(Interface { name, mac });
            }
        }
        let dmi = |name| line(disk, &Path::new(DMI).join(name));
        Ok(Self {
            interfaces,
            dmi_uuid: dmi("product_uuid")?.map(|uuid| uuid.to_lowercase()),
            dmi_serial: dmi("product_serial")?,
        })
    }
}

/// The first line of a file; `None` where there is no such file, or nothing in it, or only root may see it.
fn line(disk: &dyn Disk, path: &Path) -> Result<Option<String>, HostError> {
    use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    match disk.read(path) {
        Ok(content) => {
            let text = String::from_utf8_lossy(&content);
            Ok(text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned))
        }
        Err(error) if matches!(error.source.kind(), NotFound | NotADirectory | PermissionDenied) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Content, disk::model::ModelDisk};

    #[test]
    fn interfaces_without_an_address_are_left_out() {
        let disk = ModelDisk::default();
        for (path, content) in [
            ("/sys/class/net/lo/address", "00:00:00:00:00:00\n"),
            ("/sys/class/net/eth1/address", "52:54:00:00:00:02\n"),
            ("/sys/class/net/eth0/address", "52:54:00:00:00:01\n"),
            ("/sys/class/net/ib0/address", "80:00:02:08:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:00:01\n"),
            ("/sys/class/net/tun0/type", "65534\n"),
            ("/sys/class/dmi/id/product_uuid", "4C4C4544-0042-3510-8052-B4C04F4B4D32\n"),
            ("/sys/class/dmi/id/product_serial", "\n"),
        ] {
            let content = Content::Plain(content.into());
            Change::File { path: path.into(), mode: 0o444, content }.apply(&disk).unwrap();
        }
        let interface = |name: &str, mac: &str| Interface { name: name.into(), mac: mac.into() };
        let expected = Facts {
            interfaces: vec![interface("eth0", "52:54:00:00:00:01"), interface("eth1", "52:54:00:00:00:02")],
            dmi_uuid: Some("4c4c4544-0042-3510-8052-b4c04f4b4d32".into()),
            dmi_serial: None,
        };
        assert_eq!(Facts::read(&disk).unwrap(), expected);
    }

    #[test]
    fn a_machine_without_sys_has_no_facts() {
        assert_eq!(Facts::read(&ModelDisk::default()).unwrap(), Facts::default());
    }
}
