//! The node's address: a NetworkManager connection on the right interface, and pods' interfaces left to those who make
//! them.
//!
//! A wrong address cuts off a machine that has no person beside it. So nothing is kept before it has proved itself:
//! ```text
//! who answers now? ─► guard ─► profile in /run, activated ─► address there, do they still answer? ─► guard lifted
//!                       │                                           │ no                                  │
//!                       └─ the old profile is back ◄────────────────┘                              profile in /etc
//! ```
//! The guard is NetworkManager's own: unless it is lifted in time, NetworkManager rolls the change back. It holds when
//! this program is killed in between; after a power cut `/run` is empty. Either way the machine has its old network and
//! the next run begins again. Profiles of others are not touched: ours has the higher priority.
//!
//! An image has no NetworkManager that runs; there, the files are all there is to do.

mod staged;
mod trial;

use engine::{About, Act, Planned, Step, StepError, Undo};
use host::{Change, Facts, Host};
use nodekit::network::{
    interface::{self, Found},
    links,
    manager::Manager,
};
use spec::{Node, ValidatedCluster};

use self::staged::Staged;
use super::ids;

const LEAVE_PODS_ALONE: &str = "leave-pods-alone";
const ACTIVATE: &str = "activate";
const KEEP: &str = "keep";

/// Gives the machine its address.
pub(super) struct Network {
    cluster: ValidatedCluster,
    node: Node,
}

/// What a check of the machine finds out.
pub(super) struct Seen {
    /// NetworkManager's settings in `/etc`, where they are not as they should be.
    settings: Vec<Change>,
    /// The same for our connection.
    connection: Vec<Change>,
    /// `None` for an image.
    live: Option<Live>,
}

/// What is only seen of a machine that runs.
struct Live {
    interface: String,
    /// Our connection is active, and the address is on the interface.
    is_active: bool,
    /// Something is still in `/run`, or NetworkManager believes so.
    is_on_trial: bool,
}

impl Network {
    /// For this node.
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node) -> Self {
        Self { cluster: cluster.clone(), node: node.clone() }
    }

    /// The length of the network's part of the address.
    fn prefix(&self) -> u8 {
        self.cluster.networking().node_cidr.prefix_len()
    }

    /// The interface of a machine that runs.
    async fn interface(&self, host: &Host) -> Result<Found, StepError> {
        let interfaces = Facts::read(&*host.disk)?.interfaces;
        let links = links::read(host).await?;
        let choice = &self.cluster.networking().interface;
        interface::choose(choice, &self.node, &interfaces, &links).map_err(|error| StepError::from_explained(&error))
    }

    async fn live(&self, host: &Host, found: &Found) -> Result<Live, StepError> {
        let active = Manager::new(host).active(&found.name).await?;
        let ours = active.filter(|profile| profile.uuid == staged::UUID);
        // A run that was killed at its very end has removed the file, and NetworkManager does not know.
        let mut is_on_trial = ours.as_ref().is_some_and(|profile| staged::trials().contains(&profile.file));
        for trial in staged::trials() {
            is_on_trial |= host.disk.exists(&trial)?;
        }
        let has_address = found.addresses.iter().any(|address| address.is(self.node.ip, self.prefix()));
        Ok(Live { interface: found.name.clone(), is_active: has_address && ours.is_some(), is_on_trial })
    }
}

impl Step for Network {
    type Seen = Seen;
    type Undo = Addressed;

    fn about(&self) -> About {
        About::new(ids::NETWORK, "Configure the network", "the other nodes must find this one at the address they know")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let settings = Staged::settings();
        let (connection, live) = if host.is_live {
            let found = self.interface(host).await?;
            let connection = Staged::connection(&self.cluster, &self.node, found.mac);
            let live = self.live(host, &found).await?;
            (connection, Some(live))
        } else {
            let choice = &self.cluster.networking().interface;
            let mac = interface::expected(choice, &self.node).map_err(|error| StepError::from_explained(&error))?;
            (Staged::connection(&self.cluster, &self.node, mac), None)
        };
        Ok(Seen {
            settings: Change::missing(vec![settings.kept()], &*host.disk)?,
            connection: Change::missing(vec![connection.kept()], &*host.disk)?,
            live,
        })
    }

    fn plan(&self, Seen { settings, connection, live }: &Seen) -> Result<Vec<Planned>, StepError> {
        let Some(live) = live else { return Ok(Planned::files(&[settings.as_slice(), connection].concat())) };
        let act = |key: &str, what: String| Planned::act(key, what);
        let mut changes = Vec::new();
        if !settings.is_empty() {
            changes.push(act(LEAVE_PODS_ALONE, "make NetworkManager ignore the interfaces of pods".to_owned()));
            changes.extend(Planned::files(settings));
        }
        if !connection.is_empty() || !live.is_active {
            let (ip, prefix) = (self.node.ip, self.prefix());
            let what = format!("give {} the address {ip}/{prefix}, and take it back if it cuts us off", live.interface);
            changes.push(act(ACTIVATE, what));
            changes.extend(Planned::files(connection));
        }
        if live.is_on_trial || !changes.is_empty() {
            changes.push(act(KEEP, "make NetworkManager keep what was tried out".to_owned()));
        }
        Ok(changes)
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        match key.as_str() {
            LEAVE_PODS_ALONE => {
                Staged::settings().on_trial().apply(&*host.disk)?;
                Manager::new(host).reload_settings().await
            }
            ACTIVATE => self.try_out(host).await,
            _ => end_trial(host).await,
        }
    }
}

/// How a machine gets its old network back.
pub(super) struct Addressed;

impl Undo for Addressed {
    const ONLY_LIVE: bool = true;

    fn shows(&self) -> Vec<String> {
        vec!["let NetworkManager go back to the profile it had".to_owned()]
    }

    /// What was tried out and kept is files.
    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }

    async fn after(&self, host: &Host) -> Result<(), StepError> {
        end_trial(host).await?;
        staged::remove_trial_directory(&*host.disk)?;
        Manager::new(host).wait_until_all_stable().await
    }
}

/// From here on NetworkManager has what `/etc` says: after a reset, what it had before us.
async fn end_trial(host: &Host) -> Result<(), StepError> {
    for trial in staged::trials() {
        host::remove_file(&*host.disk, &trial)?;
    }
    let manager = Manager::new(host);
    manager.reload_settings().await?;
    manager.reload_connections().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        let text = "cluster: { name: home, networking: { node_cidr: 192.168.1.0/24, gateway: 192.168.1.1 } }\n\
                    nodes: [{ name: m, ip: 192.168.1.10, roles: [master], \
                    hardware: { mac_addresses: ['52:54:00:00:00:10'] } }]";
        let cluster = spec::check_text(text).cluster.unwrap();
        Network::new(&cluster, &cluster.nodes()[0])
    }

    #[test]
    fn only_what_is_missing_is_planned_and_the_trial_comes_before_the_file() {
        let network = network();
        let settings = || vec![Staged::settings().kept()];
        let connection =
            || vec![Staged::connection(&network.cluster, &network.node, network.node.hardware.mac_addresses[0]).kept()];
        let live = |is_active, is_on_trial| Some(Live { interface: "eth0".to_owned(), is_active, is_on_trial });
        let mut text = String::new();
        for (case, seen) in [
            ("fresh", Seen { settings: settings(), connection: connection(), live: live(false, false) }),
            ("done", Seen { settings: vec![], connection: vec![], live: live(true, false) }),
            ("another profile took over", Seen { settings: vec![], connection: vec![], live: live(false, false) }),
            ("killed after the trial", Seen { settings: vec![], connection: connection(), live: live(true, true) }),
            ("killed before the last", Seen { settings: vec![], connection: vec![], live: live(true, true) }),
            ("an image", Seen { settings: settings(), connection: connection(), live: None }),
        ] {
            text += &format!("{case}:\n");
            for change in network.plan(&seen).unwrap() {
                text += &format!("  {change}\n");
            }
        }
        insta::assert_snapshot!(text);
    }

    #[tokio::test]
    async fn an_image_gets_files_and_nothing_is_asked() {
        let root = tempfile::tempdir().unwrap();
        let host = Host::rooted(root.path());
        let network = network();
        let seen = network.observe(&host).await.unwrap();
        for change in network.plan(&seen).unwrap() {
            network.apply(&change, &host).await.unwrap();
        }
        let seen = network.observe(&host).await.unwrap();
        assert!(network.plan(&seen).unwrap().is_empty());
        let path = root.path().join("etc/NetworkManager/system-connections/blackstart.nmconnection");
        insta::assert_snapshot!(std::fs::read_to_string(path).unwrap());
    }
}
