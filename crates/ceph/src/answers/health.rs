//! `ceph health detail`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// How Ceph is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Health {
    /// `HEALTH_OK`, `HEALTH_WARN` or `HEALTH_ERR`.
    pub status: String,
    /// What is wrong, by Ceph's own code.
    #[serde(default)]
    pub checks: BTreeMap<String, Check>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Check {
    /// `HEALTH_WARN` or `HEALTH_ERR`.
    pub severity: String,
    /// What is wrong.
    pub summary: Message,
    /// Where.
    #[serde(default)]
    pub detail: Vec<Message>,
    /// Whether an administrator has muted it.
    #[serde(default)]
    pub muted: bool,
}

/// A line of Ceph's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Message {
    /// Its text.
    pub message: String,
}

impl Health {
    /// Whether there is nothing to complain about.
    pub fn is_ok(&self) -> bool {
        self.status == "HEALTH_OK"
    }

    /// Everything that is wrong, on one line: `OSD_DOWN: 1 osds down; MON_DOWN: …`.
    pub fn reasons(&self) -> String {
        let reason = |(code, check): (&String, &Check)| format!("{code}: {}", check.summary.message);
        self.checks.iter().map(reason).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_cephs_codes() {
        let health: Health = serde_json::from_str(
            r#"{"status":"HEALTH_WARN","checks":{
                "TOO_FEW_OSDS":{"severity":"HEALTH_WARN","summary":{"message":"OSD count 0 < osd_pool_default_size 3","count":3},"detail":[],"muted":false},
                "MON_DOWN":{"severity":"HEALTH_WARN","summary":{"message":"1/3 mons down, quorum c1,c2","count":1},
                            "detail":[{"message":"mon.c3 (rank 2) addr [v2:10.78.0.13:3300/0,v1:10.78.0.13:6789/0] is down (out of quorum)"}],"muted":false}},
                "mutes":[]}"#,
        )
        .unwrap();
        assert!(!health.is_ok());
        assert_eq!(
            health.reasons(),
            "MON_DOWN: 1/3 mons down, quorum c1,c2; TOO_FEW_OSDS: OSD count 0 < osd_pool_default_size 3"
        );
    }
}
