//! `ceph mgr dump`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The managers there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct MgrMap {
    /// The one that works; empty while there is none.
    pub active_name: String,
    /// Whether it has begun.
    pub available: bool,
    /// Those that would take over.
    pub standbys: Vec<Standby>,
    /// The modules that are switched on.
    pub modules: Vec<String>,
    /// Where modules are reached.
    #[serde(default)]
    pub services: BTreeMap<String, String>,
}

/// A manager that would take over.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Standby {
    /// Its node's name.
    pub name: String,
}

impl MgrMap {
    /// Whether the manager of this name works or is ready to.
    pub fn has(&self, name: &str) -> bool {
        (self.active_name == name && self.available) || self.standbys.iter().any(|standby| standby.name == name)
    }

    /// Whether a module is switched on.
    pub fn is_on(&self, module: &str) -> bool {
        self.modules.iter().any(|on| on == module)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_active_one_counts_when_it_has_begun() {
        let map = |available: bool| -> MgrMap {
            let text = format!(
                r#"{{"epoch":3,"active_gid":4,"active_name":"m1","available":{available},"standbys":[{{"gid":5,"name":"m2"}}],
                    "modules":["iostat","restful"],"services":{{}}}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        let has = |map: &MgrMap| ["m1", "m2", "m3"].map(|name| map.has(name));
        assert_eq!(has(&map(true)), [true, true, false]);
        assert_eq!(has(&map(false)), [false, true, false]);
        assert!(map(true).is_on("restful") && !map(true).is_on("dashboard"));
    }
}
