//! Keyrings: who may do what, as Ceph's own tool writes it.

use std::fmt;

use crate::Key;

/// An entity that may talk to Ceph, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entity {
    /// The monitors among themselves.
    Mon,
    /// The administrator, who may do everything.
    Admin,
    /// Makes new OSDs, and can do nothing else.
    BootstrapOsd,
    /// The manager of a node.
    Mgr(String),
    /// An OSD by its number.
    Osd(u32),
    /// The driver that gives pods block devices.
    CsiRbd,
}

impl Entity {
    /// What it may do, in the order in which Ceph writes it.
    pub fn caps(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Mon => &[("mon", "allow *")],
            Self::Admin => &[("mds", "allow *"), ("mgr", "allow *"), ("mon", "allow *"), ("osd", "allow *")],
            Self::BootstrapOsd => &[("mgr", "allow r"), ("mon", "profile bootstrap-osd")],
            Self::Mgr(_) => &[("mds", "allow *"), ("mon", "profile mgr"), ("osd", "allow *")],
            Self::Osd(_) => &[("mgr", "profile osd"), ("mon", "profile osd"), ("osd", "allow *")],
            Self::CsiRbd => &[("mgr", "profile rbd"), ("mon", "profile rbd"), ("osd", "profile rbd")],
        }
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mon => f.write_str("mon."),
            Self::Admin => f.write_str("client.admin"),
            Self::BootstrapOsd => f.write_str("client.bootstrap-osd"),
            Self::Mgr(node) => write!(f, "mgr.{node}"),
            Self::Osd(id) => write!(f, "osd.{id}"),
            Self::CsiRbd => f.write_str("client.csi-rbd"),
        }
    }
}

/// A keyring's text. A secret.
pub fn text<'a>(entries: impl IntoIterator<Item = (&'a Entity, &'a Key)>) -> String {
    let entry = |(entity, key): (&Entity, &Key)| {
        let caps = entity.caps().iter().map(|(service, may)| format!("\tcaps {service} = \"{may}\"\n"));
        format!("[{entity}]\n\tkey = {}\n{}", key.expose(), caps.collect::<String>())
    };
    entries.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_cephs_own_tool_writes_it() {
        let key = Key::parse("AQDRRxlp6SUZBBAAQUJDREVGR0hJSktMTU5PUA==").unwrap();
        let all = [
            Entity::Mon,
            Entity::Admin,
            Entity::BootstrapOsd,
            Entity::Mgr("master-01".into()),
            Entity::Osd(7),
            Entity::CsiRbd,
        ];
        insta::assert_snapshot!(text(all.iter().map(|entity| (entity, &key))));
    }
}
