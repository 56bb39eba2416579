//! What this master has, as its disk shows.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Duration,
};

use etcd::{Access, Initial, Member};
use explain::Explain;
use host::{Host, HostError};
use join::{JoinKey, MasterKeys, server::KeyStore, wire::ClusterState};
use nodekit::Layout;
use pki::table;
use tokio::time::timeout;

use crate::{join_key, rotation, sealed::ENCRYPTION};

const MACHINE_ID: &str = "/etc/machine-id";
/// A member without a majority takes connections and does not answer.
const DEADLINE: Duration = Duration::from_secs(1);

/// The files of this master.
pub(super) struct OnDisk {
    pub(super) host: Host,
    pub(super) paths: Layout,
}

impl OnDisk {
    fn exists(&self, path: &Path) -> Result<bool, HostError> {
        self.host.disk.exists(path)
    }

    fn text(&self, path: &Path) -> Result<Option<String>, HostError> {
        Ok(self.host.disk.read_optional(path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn kubernetes(&self, name: &str) -> PathBuf {
        self.paths.kubernetes_dir.join(name)
    }

    fn config(&self, name: &str) -> PathBuf {
        self.paths.config_dir.join(name)
    }

    fn stands(&self) -> Result<ClusterState, HostError> {
        if self.exists(Path::new(etcd::DATA))? {
            Ok(ClusterState::Member)
        } else if self.exists(Path::new(etcd::INITIAL))? {
            Ok(ClusterState::Decided)
        } else {
            Ok(ClusterState::Apart)
        }
    }

    fn can_sign(&self) -> Result<bool, HostError> {
        use join::seal::layout::SECRET;
        let has_join_key = join_key::file(&self.host, &self.paths)?.is_some();
        let knows_secrets = has_join_key || !self.exists(&self.config(SECRET))?;
        // Written after the CAs; with it everything is there that another master asks for.
        let has_keys =
            self.exists(&self.kubernetes(&table::CLUSTER.key()))? && self.exists(&self.kubernetes(ENCRYPTION))?;
        Ok(knows_secrets && has_keys)
    }

    /// Given by another master, or from the sealed directory. Several lines while it is replaced.
    fn join_key_text(&self) -> Result<Option<String>, HostError> {
        let file = join_key::file(&self.host, &self.paths)?;
        file.map_or(Ok(None), |file| self.text(&file))
    }

    fn read_join_keys(&self) -> Result<Vec<JoinKey>, String> {
        let text = self.join_key_text().map_err(|error| explain::chain(&error))?;
        let keys = text.map(|text| JoinKey::parse_all(&text)).transpose().map_err(|error| error.to_string())?;
        Ok(keys.unwrap_or_default())
    }

    fn required(&self, path: &Path) -> Result<String, String> {
        let text = self.text(path).map_err(|error| explain::chain(&error))?;
        text.ok_or_else(|| format!("this master has no {} yet", path.display()))
    }

    /// What an initial member starts with. Not once it has been there: then it has lost its data, and must be
    /// brought in again by those that have theirs.
    async fn bootstrapping(&self, node: &str, machine_id: Option<&str>) -> Result<Option<String>, String> {
        let decided = self.text(Path::new(etcd::INITIAL)).map_err(|error| explain::chain(&error))?;
        let Some(decided) = decided else { return Ok(None) };
        let bootstraps = |initial: &Initial| machine_id.is_some_and(|machine| initial.bootstraps(node, machine));
        let Some(initial) = Initial::parse(&decided).filter(bootstraps) else { return Ok(None) };
        let access = match Access::read(&*self.host.disk, &self.paths.kubernetes_dir) {
            Ok(access) => access,
            Err(error) => return Err(explain::chain(&error)),
        };
        let own = access.member(etcd::client_url(Ipv4Addr::LOCALHOST.into()));
        let still_bootstraps = match timeout(DEADLINE, own.known_members()).await {
            Ok(Ok(members)) => is_awaited(&members, initial.members.get(node)),
            // It waits for the initial members itself.
            Ok(Err(_)) | Err(_) => true,
        };
        Ok(still_bootstraps.then_some(decided))
    }
}

/// Whether etcd waits for the initial member at this peer URL for the first time. One that has been there has lost its data; one
/// that is not among the members any more has left, and comes back like any other: as a learner.
fn is_awaited(members: &[Member], url: Option<&String>) -> bool {
    let is_it = |member: &Member| url.is_some_and(|url| member.peer_urls.contains(url));
    members.iter().any(|member| is_it(member) && !member.has_started() && !member.is_learner)
}

impl KeyStore for OnDisk {
    fn cluster_state(&self) -> ClusterState {
        self.stands().unwrap_or_else(|error| {
            tracing::warn!(
                code = error.code().id,
                "cannot determine whether etcd has data here: {}",
                explain::chain(&error)
            );
            // The asking master must not believe that there is no cluster.
            ClusterState::Member
        })
    }

    fn machine_id(&self) -> Option<String> {
        let id = self.text(Path::new(MACHINE_ID)).ok()??;
        Some(join::machine_id(id.trim()))
    }

    fn admits(&self) -> bool {
        self.can_sign().unwrap_or_else(|error| {
            tracing::warn!(code = error.code().id, "cannot let nodes in: {}", explain::chain(&error));
            false
        })
    }

    fn join_keys(&self) -> Vec<JoinKey> {
        self.read_join_keys().unwrap_or_else(|why| {
            tracing::warn!("the join key cannot be used: {why}");
            Vec::new()
        })
    }

    fn rotation_key(&self) -> Option<String> {
        rotation::pass::read(&self.host, &self.paths).unwrap_or_else(|error| {
            tracing::warn!(
                code = error.code().id,
                "cannot read the key that decrypts new keys: {}",
                explain::chain(&error)
            );
            None
        })
    }

    fn keys_for<'a>(&'a self, node: &'a str, machine_id: Option<&'a str>) -> join::server::Keys<'a> {
        Box::pin(async move {
            let file = |name: String| self.required(&self.kubernetes(&name)).map(|text| (name, text));
            Ok(MasterKeys {
                files: table::shared_files().into_iter().map(file).collect::<Result<_, _>>()?,
                encryption: self.required(&self.kubernetes(ENCRYPTION))?,
                join_key: self.join_key_text().map_err(|error| explain::chain(&error))?,
                bootstrapping: self.bootstrapping(node, machine_id).await?,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::{Change, Content};

    use super::*;
    use crate::testing::{Scripted, agent};

    fn on_disk() -> OnDisk {
        let agent = agent("master-01", &Arc::new(Scripted::default()));
        OnDisk { host: agent.host, paths: agent.paths }
    }

    fn write(held: &OnDisk, path: impl AsRef<Path>, text: &str) {
        let path = path.as_ref().to_path_buf();
        let content = Content::Plain(text.into());
        Change::File { path, mode: 0o600, content }.apply(&*held.host.disk).unwrap();
    }

    #[test]
    fn a_master_stands_where_its_disk_says() {
        let held = on_disk();
        assert_eq!(held.cluster_state(), ClusterState::Apart);
        write(&held, etcd::INITIAL, "");
        assert_eq!(held.cluster_state(), ClusterState::Decided);
        write(&held, format!("{}/wal", etcd::DATA), "");
        assert_eq!(held.cluster_state(), ClusterState::Member);
    }

    #[test]
    fn only_a_master_with_all_keys_lets_nodes_in() {
        let held = on_disk();
        assert!(!held.admits());
        write(&held, "/etc/kubernetes/pki/ca.key", "key");
        assert!(!held.admits(), "it has not written all of its keys yet");
        write(&held, "/etc/kubernetes/encryption.yaml", "key");
        assert!(held.admits(), "a cluster that was not sealed");
        write(&held, "/etc/cluster-config/join-secret", "secret");
        assert!(!held.admits());
        write(&held, "/etc/cluster-config/join.key", "key");
        assert!(held.admits());
    }

    #[tokio::test]
    async fn what_is_missing_is_named() {
        let held = on_disk();
        let why = held.keys_for("master-02", None).await.unwrap_err();
        assert_eq!(why, "this master has no /etc/kubernetes/pki/ca.key yet");
    }

    #[test]
    fn an_initial_member_is_awaited_once() {
        let member = |url: &str, has_started: bool, is_learner: bool| -> Member {
            let clients: &[&str] = if has_started { &["https://c"] } else { &[] };
            let fields =
                serde_json::json!({ "ID": "7", "peerURLs": [url], "clientURLs": clients, "isLearner": is_learner });
            serde_json::from_value(fields).unwrap()
        };
        let own = "https://10.0.0.2:2380".to_owned();
        for (what, others, expected) in [
            ("it has not come yet", vec![member(&own, false, false)], true),
            ("it was there, and lost its data", vec![member(&own, true, false)], false),
            ("it has left", vec![], false),
            ("it has left, and is announced again", vec![member(&own, false, true)], false),
            ("another one is awaited", vec![member("https://10.0.0.3:2380", false, false)], false),
        ] {
            let first = member("https://10.0.0.1:2380", true, false);
            let members: Vec<Member> = [first].into_iter().chain(others).collect();
            assert_eq!(is_awaited(&members, Some(&own)), expected, "{what}");
        }
    }

    #[tokio::test]
    async fn initial_members_are_machines_that_agreed() {
        let held = on_disk();
        let bootstrapping = Initial::bootstrapping([
            ("master-01", [10, 0, 0, 1].into(), "aa"),
            ("master-02", [10, 0, 0, 2].into(), "bb"),
        ]);
        assert_eq!(held.bootstrapping("master-02", Some("bb")).await, Ok(None), "nothing is decided");
        write(&held, etcd::INITIAL, &bootstrapping.text());
        for (node, machine) in [("master-02", None), ("master-02", Some("cc")), ("master-03", Some("bb"))] {
            assert_eq!(held.bootstrapping(node, machine).await, Ok(None), "{node} {machine:?}");
        }
        let why = held.bootstrapping("master-02", Some("bb")).await.unwrap_err();
        assert!(
            why.contains("pki/etcd/ca.crt"),
            "an initial member, which comes before this master has its own keys: {why}"
        );
    }
}
