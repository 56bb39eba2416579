//! What is known of OSDs: `ceph osd dump` of all of them, `status` of one.

use serde::Deserialize;

use crate::Fsid;

/// The OSDs there are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OsdMap {
    /// Each of them.
    pub osds: Vec<Osd>,
}

/// An OSD as the monitors see it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Osd {
    /// Its number.
    pub osd: u32,
    /// What its data is marked with.
    pub uuid: Fsid,
    /// 1 if it answers.
    pub up: u8,
    /// 1 if it holds data.
    #[serde(rename = "in")]
    pub is_in: u8,
}

impl OsdMap {
    /// How many there are, how many of them answer, how many hold data.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |is: fn(&Osd) -> bool| self.osds.iter().filter(|osd| is(osd)).count();
        (self.osds.len(), count(|osd| osd.up == 1), count(|osd| osd.is_in == 1))
    }
}

/// What one OSD says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OsdStatus {
    /// `active` once the monitors know that it is up; before that `booting`, `preboot` and others.
    pub state: String,
}

impl OsdStatus {
    /// Whether it works.
    pub fn is_active(&self) -> bool {
        self.state == "active"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn osds_are_counted() {
        let osd = |id: u32, up: u8, is_in: u8| {
            format!(
                r#"{{"osd":{id},"uuid":"6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b1{id}","up":{up},"in":{is_in},"weight":1}}"#
            )
        };
        let text = format!(r#"{{"epoch":9,"osds":[{},{},{}]}}"#, osd(0, 1, 1), osd(1, 0, 1), osd(2, 0, 0));
        let map: OsdMap = serde_json::from_str(&text).unwrap();
        assert_eq!(map.counts(), (3, 1, 2));
    }
}
