//! `ceph status`: a little of everything, for the price of one question.

use serde::Deserialize;

use super::Health;

/// How Ceph is, in short.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Status {
    /// What is wrong.
    pub health: Health,
    /// How many OSDs there are.
    pub osdmap: OsdCounts,
}

/// How many OSDs there are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OsdCounts {
    /// That answer.
    #[serde(rename = "num_up_osds")]
    pub up: u32,
}
