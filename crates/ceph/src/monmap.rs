//! The map of monitors: where each one listens, and how the first map is made.

use std::{net::IpAddr, path::Path};

use host::Cmd;

use crate::{Fsid, InitialMonitor};

/// Where monitors listen, by the second and the first version of their protocol.
pub const PORTS: (u16, u16) = (3300, 6789);

/// The oldest release whose monitors may take part: that of the oldest distribution we install on.
const OLDEST: &str = "pacific";

/// A monitor's addresses as Ceph writes them, for both versions of its protocol.
pub fn addresses(ip: IpAddr) -> String {
    let host = match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    format!("[v2:{host}:{},v1:{host}:{}]", PORTS.0, PORTS.1)
}

/// Makes the first map. All initial monitors make the same one, and find each other by it.
pub fn make(fsid: &Fsid, initial_monitors: &[InitialMonitor], to: &Path) -> Cmd {
    let listed =
        initial_monitors.iter().flat_map(|monitor| ["--addv".to_owned(), monitor.name.clone(), addresses(monitor.ip)]);
    Cmd::new("monmaptool")
        .args(["--create", "--clobber", "--fsid", fsid.as_str()])
        .args(listed)
        .args(["--set-min-mon-release", OLDEST])
        .arg(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_initial_monitor_is_in_it_with_both_protocols() {
        let fsid = Fsid::parse("6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10").unwrap();
        let monitor = |name: &str, ip: &str| InitialMonitor { name: name.into(), ip: ip.parse().unwrap() };
        let initial_monitors = [monitor("m1", "10.0.0.1"), monitor("m2", "fd00::2")];
        assert_eq!(
            make(&fsid, &initial_monitors, Path::new("/tmp/monmap")).to_string(),
            "monmaptool --create --clobber --fsid 6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10 \
             --addv m1 [v2:10.0.0.1:3300,v1:10.0.0.1:6789] --addv m2 [v2:[fd00::2]:3300,v1:[fd00::2]:6789] \
             --set-min-mon-release pacific /tmp/monmap"
        );
    }
}
