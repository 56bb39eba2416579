//! Who the Ceph cluster is: made once, kept in a Secret of Kubernetes, handed out in parts.
//!
//! Whichever master needs it first writes the Secret, and the first writer wins; all others read. It names the initial monitors of
//! the cluster (the monitors of cluster.yaml at that moment) and, from the first quorum on, that it *is* initialized: a monitor
//! that comes without data later joins the others, and never bootstraps a second cluster.
//!
//! What is in it is data ([`Identity::data`]), so that a caller of the API need not know Ceph. To hand a role one more
//! key: its line in [`Identity::for_node`].

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    net::IpAddr,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use spec::{Node, Role, ValidatedCluster};

use crate::{BadIdentity, Cipher, Entity, Fsid, Key, NoIdentity, NoRandomness};

/// Namespace and name of the Secret.
pub const SECRET: (&str, &str) = ("kube-system", "blackstart-ceph");

const FSID: &str = "fsid";
const INITIAL_MONITORS: &str = "initial-monitors";
const INITIALIZED: &str = "initialized";
const KEY: &str = "key.";

/// A monitor of the first map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitialMonitor {
    /// Its node's name.
    pub name: String,
    /// Its address.
    pub ip: IpAddr,
}

/// The whole identity. Only masters see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    fsid: Fsid,
    initial_monitors: Vec<InitialMonitor>,
    initialized: Option<Timestamp>,
    /// By the entity's name.
    keys: BTreeMap<String, Key>,
}

/// What one node gets of it. It travels only in an envelope, and cannot be printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// Which Ceph cluster.
    pub fsid: Fsid,
    /// The monitors of the first map.
    pub initial_monitors: Vec<InitialMonitor>,
    /// Whether there has been a quorum.
    pub is_initialized: bool,
    keys: BTreeMap<String, Key>,
}

impl fmt::Debug for Handed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handed").field("fsid", &self.fsid).finish_non_exhaustive()
    }
}

impl Handed {
    /// The key of this entity, if this node was given it.
    pub fn key(&self, of: &Entity) -> Option<&Key> {
        self.keys.get(&of.to_string())
    }

    /// Everything that a new monitor's keyring holds; a quorum takes over what the first of them knows.
    pub fn monitor_keyring(&self, managers: impl IntoIterator<Item = String>) -> String {
        let all =
            [Entity::Mon, Entity::Admin, Entity::BootstrapOsd].into_iter().chain(managers.into_iter().map(Entity::Mgr));
        let held: Vec<(Entity, &Key)> = all.filter_map(|entity| Some((entity.clone(), self.key(&entity)?))).collect();
        crate::keyring_text(held.iter().map(|(entity, key)| (entity, *key)))
    }
}

impl Identity {
    /// A new one for this cluster.
    pub fn make(cluster: &ValidatedCluster, now: Timestamp) -> Result<Self, NoRandomness> {
        let monitor = |node: &Node| InitialMonitor { name: node.name.clone(), ip: node.ip };
        let mut keys = BTreeMap::new();
        for entity in [Entity::Mon, Entity::Admin, Entity::BootstrapOsd] {
            keys.insert(entity.to_string(), Key::generate(Cipher::OURS, now)?);
        }
        let initial_monitors = cluster.with_role(Role::CephMon).map(monitor).collect();
        let made = Self { fsid: Fsid::generate()?, initial_monitors, initialized: None, keys };
        Ok(made.completed(cluster, now)?.unwrap_or(made))
    }

    /// What the Secret should hold instead of what it holds; `None` if that is all there is to say. `is_initialized` says that
    /// the caller has seen a quorum.
    pub fn wanted(
        held: Option<&BTreeMap<String, String>>,
        cluster: &ValidatedCluster,
        is_initialized: bool,
        now: Timestamp,
    ) -> Result<Option<BTreeMap<String, String>>, NoIdentity> {
        let (known, is_new) = match held {
            Some(data) => (Self::read(data)?, false),
            None => (Self::make(cluster, now)?, true),
        };
        let completed = known.completed(cluster, now)?;
        let initialized = if is_initialized { completed.as_ref().unwrap_or(&known).initialized(now) } else { None };
        Ok(initialized.or(completed).or(is_new.then_some(known)).map(|wanted| wanted.data()))
    }

    /// With a key for every manager that has none; `None` if all have one.
    pub fn completed(&self, cluster: &ValidatedCluster, now: Timestamp) -> Result<Option<Self>, NoRandomness> {
        let mut keys = self.keys.clone();
        for node in cluster.with_role(Role::CephMgr) {
            let name = Entity::Mgr(node.name.clone()).to_string();
            if let Entry::Vacant(vacant) = keys.entry(name) {
                vacant.insert(Key::generate(Cipher::OURS, now)?);
            }
        }
        Ok((keys.len() > self.keys.len()).then(|| Self { keys, ..self.clone() }))
    }

    /// Noted as initialized; `None` if it is already.
    pub fn initialized(&self, now: Timestamp) -> Option<Self> {
        self.initialized.is_none().then(|| Self { initialized: Some(now), ..self.clone() })
    }

    /// What a node of these roles needs, and no more; `None` for a node without a role in Ceph.
    pub fn for_node(&self, node: &Node) -> Option<Handed> {
        let mut entities = Vec::new();
        if node.has(Role::CephMon) {
            // `client.admin` may do everything, and could make itself any of these.
            entities.extend(self.keys.keys().cloned());
        }
        if node.has(Role::CephMgr) {
            entities.push(Entity::Mgr(node.name.clone()).to_string());
        }
        if node.has(Role::CephOsd) {
            entities.push(Entity::BootstrapOsd.to_string());
        }
        let held = |name: String| self.keys.get(&name).map(|key| (name, key.clone()));
        node.has_ceph_role().then(|| Handed {
            fsid: self.fsid.clone(),
            initial_monitors: self.initial_monitors.clone(),
            is_initialized: self.initialized.is_some(),
            keys: entities.into_iter().filter_map(held).collect(),
        })
    }

    /// As the Secret holds it.
    pub fn data(&self) -> BTreeMap<String, String> {
        let initial_monitors = serde_json::json!(self.initial_monitors).to_string();
        let mut data =
            BTreeMap::from([(FSID.to_owned(), self.fsid.to_string()), (INITIAL_MONITORS.to_owned(), initial_monitors)]);
        data.extend(self.initialized.map(|when| (INITIALIZED.to_owned(), when.to_string())));
        data.extend(self.keys.iter().map(|(name, key)| (format!("{KEY}{name}"), key.expose().to_owned())));
        data
    }

    /// From what the Secret holds.
    pub fn read(data: &BTreeMap<String, String>) -> Result<Self, BadIdentity> {
        let field = |name: &str| data.get(name).ok_or_else(|| BadIdentity::of(name));
        let fsid = Fsid::parse(field(FSID)?).ok_or_else(|| BadIdentity::of(FSID))?;
        let initial_monitors =
            serde_json::from_str(field(INITIAL_MONITORS)?).map_err(|_| BadIdentity::of(INITIAL_MONITORS))?;
        let initialized =
            data.get(INITIALIZED).map(|text| text.parse()).transpose().map_err(|_| BadIdentity::of(INITIALIZED))?;
        let mut keys = BTreeMap::new();
        for (name, text) in data {
            if let Some(entity) = name.strip_prefix(KEY) {
                keys.insert(entity.to_owned(), Key::parse(text).ok_or_else(|| BadIdentity::of(name))?);
            }
        }
        for entity in [Entity::Mon, Entity::Admin, Entity::BootstrapOsd] {
            let name = entity.to_string();
            if !keys.contains_key(&name) {
                return Err(BadIdentity::of(format!("{KEY}{name}")));
            }
        }
        Ok(Self { fsid, initial_monitors, initialized, keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, cluster};

    fn identity() -> Identity {
        Identity::make(&cluster(samples::THREE), Timestamp::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let made = identity();
        assert_eq!(Identity::read(&made.data()), Ok(made.clone()));
        let initialized = made.initialized(Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(Identity::read(&initialized.data()), Ok(initialized.clone()));
        assert_eq!(initialized.initialized(Timestamp::UNIX_EPOCH), None, "it is initialized once");
        let names: Vec<String> = initialized.data().into_keys().collect();
        assert_eq!(
            names.join(" "),
            "fsid initial-monitors initialized key.client.admin key.client.bootstrap-osd key.mgr.m1 key.mgr.m2 key.mon."
        );
    }

    #[test]
    fn what_is_something_else_is_refused_by_the_name_of_the_part() {
        for (part, instead) in [
            ("fsid", None),
            ("fsid", Some("home")),
            ("initial-monitors", Some("m1")),
            ("initialized", Some("yes")),
            ("key.mon.", None),
            ("key.mgr.m1", Some("secret")),
        ] {
            let mut data = identity().data();
            match instead {
                Some(text) => data.insert(part.into(), text.into()),
                None => data.remove(part),
            };
            assert_eq!(Identity::read(&data), Err(BadIdentity::of(part)), "{instead:?}");
        }
    }

    #[test]
    fn each_role_gets_what_it_needs_and_no_more() {
        let (identity, cluster) = (identity(), cluster(samples::THREE));
        let all = "client.admin client.bootstrap-osd mgr.m1 mgr.m2 mon.";
        for (node, expected) in
            [("m1", Some(all)), ("m2", Some("mgr.m2")), ("w1", Some("client.bootstrap-osd")), ("w2", None)]
        {
            let handed = identity.for_node(cluster.node(node).unwrap());
            let keys = handed.map(|handed| handed.keys.keys().cloned().collect::<Vec<_>>().join(" "));
            assert_eq!(keys.as_deref(), expected, "{node}");
        }
    }

    #[test]
    fn a_manager_that_comes_later_gets_a_key_and_no_other_key_changes() {
        let made = identity();
        let more = cluster(&samples::THREE.replace("[worker, ceph-osd]", "[worker, ceph-osd, ceph-mgr]"));
        let completed = made.completed(&more, Timestamp::UNIX_EPOCH).unwrap().unwrap();
        assert!(completed.keys.contains_key("mgr.w1"));
        assert!(made.keys.iter().all(|(name, key)| completed.keys[name] == *key));
        assert_eq!(completed.completed(&more, Timestamp::UNIX_EPOCH), Ok(None));
    }

    #[test]
    fn the_secret_is_written_once_and_then_only_added_to() {
        let (cluster, now) = (cluster(samples::THREE), Timestamp::UNIX_EPOCH);
        let wanted = |held: Option<&BTreeMap<_, _>>, is_initialized| {
            Identity::wanted(held, &cluster, is_initialized, now).unwrap()
        };
        let first = wanted(None, false).unwrap();
        assert_eq!(wanted(Some(&first), false), None);
        let initialized = wanted(Some(&first), true).unwrap();
        let added: Vec<_> = initialized.keys().filter(|name| !first.contains_key(*name)).collect();
        assert_eq!(added, ["initialized"]);
        assert!(first.iter().all(|(name, text)| initialized[name] == *text));
        assert_eq!(wanted(Some(&initialized), true), None);
        assert_eq!(wanted(Some(&initialized), false), None, "it stays initialized");
    }

    #[test]
    fn keys_are_never_printed() {
        let made = identity();
        let cluster = cluster(samples::THREE);
        let handed = made.for_node(cluster.node("m1").unwrap()).unwrap();
        let text = format!("{made:?} {handed:?}");
        assert!(made.keys.values().all(|key| !text.contains(key.expose())), "{text}");
    }
}
