//! What monitors say: `quorum_status` of all of them, `mon_status` of one.

use serde::Deserialize;

/// What one monitor says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MonStatus {
    /// `leader`, `peon`, `probing`, `electing`, `synchronizing`.
    pub state: String,
    /// The map it goes by.
    pub monmap: MonMap,
}

impl MonStatus {
    /// Whether it takes part in a quorum.
    pub fn is_in_quorum(&self) -> bool {
        matches!(self.state.as_str(), "leader" | "peon")
    }
}

/// Which monitors agree.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Quorum {
    /// Who takes part.
    pub quorum_names: Vec<String>,
    /// Who leads.
    pub quorum_leader_name: String,
    /// All there are.
    pub monmap: MonMap,
}

/// The monitors there are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MonMap {
    /// Which cluster.
    pub fsid: String,
    /// Each of them.
    pub mons: Vec<Mon>,
}

/// A monitor.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Mon {
    /// Its node's name.
    pub name: String,
}

impl MonMap {
    /// Their names, on one line.
    pub fn names(&self) -> String {
        self.mons.iter().map(|mon| mon.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_leader_or_a_peon_is_in_the_quorum() {
        for (state, expected) in
            [("leader", true), ("peon", true), ("probing", false), ("electing", false), ("synchronizing", false)]
        {
            let text = format!(
                r#"{{"name":"m1","rank":0,"state":"{state}","monmap":{{"fsid":"f","mons":[{{"name":"m1"}}]}}}}"#
            );
            let status: MonStatus = serde_json::from_str(&text).unwrap();
            assert_eq!(status.is_in_quorum(), expected, "{state}");
        }
    }
}
