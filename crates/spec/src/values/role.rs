//! Roles. The match is exact: `webmaster` is not a master.

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, choose};
use crate::{cluster::Role, codes};

const ROLES: &[(&str, Role)] = &[
    ("master", Role::Master),
    ("control-plane", Role::Master),
    ("worker", Role::Worker),
    ("ceph-mon", Role::CephMon),
    ("ceph-osd", Role::CephOsd),
    ("ceph-mgr", Role::CephMgr),
    ("bootstrap", Role::Bootstrap),
];

impl Value for Role {
    const EXPECTED: &'static str = "a role";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        choose(codes::UNKNOWN_ROLE, Self::EXPECTED, text, ROLES)
    }

    fn schema() -> Schema {
        let names: Vec<&str> = ROLES.iter().map(|(name, _)| *name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn roles() {
        let rows = ["master", "control-plane", "worker", "ceph-mon", "Master", "mastre", "webmaster", "etcd", ""];
        let report: Vec<String> = rows.iter().map(|text| outcome::<Role>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn what_a_role_prints_is_read_back() {
        for (_, role) in ROLES {
            assert_eq!(Role::parse(&role.to_string()), Ok(*role));
        }
    }
}
