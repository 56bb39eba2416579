//! What a member starts with: alone, together with others, or added to those that run.
//!
//! It is a decision that must survive a crash, so it is a file: the environment of `etcd.service`, which does not start
//! without it. It lies beside the data, so that a disk that is lost takes the decision with it: a master that has neither has
//! to ask the others before it starts anything. etcd itself reads it only while it has no data.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
};

use spec::ports;

/// Where etcd keeps its data.
pub const DATA_DIR: &str = "/var/lib/etcd";
/// Where the decision is.
pub const INITIAL: &str = "/var/lib/etcd/initial.env";
/// What etcd makes when it starts for the first time, also where it then refuses to go on.
pub const DATA: &str = "/var/lib/etcd/member";
/// What it makes once it takes part: everything that it has promised is in it.
pub const LOG: &str = "/var/lib/etcd/member/wal";

const CLUSTER: &str = "ETCD_INITIAL_CLUSTER";
const STATE: &str = "ETCD_INITIAL_CLUSTER_STATE";
const MACHINES: &str = "BLACKSTART_INITIAL_MEMBERS";

/// What a member starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initial {
    /// Name and peer URL of all members, this one included.
    pub members: BTreeMap<String, String>,
    /// Whether they form a cluster or this one joins theirs.
    pub state: State,
    /// Of initial members, the machine each of them was when they agreed; see `machine_id` of the join service. A machine that
    /// comes with the same name and another id has lost its disk, and must not bootstrap again.
    pub machines: BTreeMap<String, String>,
}

/// Whether an etcd cluster is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The members form one together.
    New,
    /// This member has been added to one that runs.
    Existing,
}

impl Initial {
    /// Bootstrapping with these machines: name, address, machine id.
    pub fn bootstrapping<'a>(initial_members: impl IntoIterator<Item = (&'a str, IpAddr, &'a str)>) -> Self {
        let (mut members, mut machines) = (BTreeMap::new(), BTreeMap::new());
        for (name, ip, machine) in initial_members {
            members.insert(name.to_owned(), peer_url(ip));
            machines.insert(name.to_owned(), machine.to_owned());
        }
        Self { members, state: State::New, machines }
    }

    /// Joining these members: name and peer URL.
    pub fn joining(members: BTreeMap<String, String>) -> Self {
        Self { members, state: State::Existing, machines: BTreeMap::new() }
    }

    /// True if this node bootstraps, as the machine it was when that was agreed.
    pub fn bootstraps(&self, node: &str, machine: &str) -> bool {
        self.state == State::New && self.machines.get(node).is_some_and(|known| known == machine)
    }

    /// As it is written to [`INITIAL`].
    pub fn text(&self) -> String {
        let list = |pairs: &BTreeMap<String, String>| {
            pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
        };
        let state = match self.state {
            State::New => "new",
            State::Existing => "existing",
        };
        let mut text = format!("{CLUSTER}={}\n{STATE}={state}\n", list(&self.members));
        if !self.machines.is_empty() {
            text.push_str(&format!("{MACHINES}={}\n", list(&self.machines)));
        }
        text
    }

    /// Reads what [`text`](Self::text) wrote; `None` if it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let list = |text: &str| {
            let pair = |one: &str| one.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
            text.split(',').map(pair).collect::<Option<BTreeMap<_, _>>>()
        };
        let state = match value(STATE)? {
            "new" => State::New,
            "existing" => State::Existing,
            _ => return None,
        };
        let machines = value(MACHINES).map_or_else(|| Some(BTreeMap::new()), list)?;
        Some(Self { members: list(value(CLUSTER)?)?, state, machines })
    }
}

/// Where the other members reach the member of a master.
pub fn peer_url(ip: IpAddr) -> String {
    format!("https://{}", SocketAddr::new(ip, ports::ETCD_PEER))
}

/// Where clients reach the member of a master.
pub fn client_url(ip: IpAddr) -> String {
    format!("https://{}", SocketAddr::new(ip, ports::ETCD_CLIENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let bootstrapping = Initial::bootstrapping([
            ("master-01", IpAddr::from([10, 0, 0, 1]), "aa"),
            ("master-02", "fd00::2".parse().unwrap(), "bb"),
        ]);
        insta::assert_snapshot!(bootstrapping.text(), @r"
        ETCD_INITIAL_CLUSTER=master-01=https://10.0.0.1:2380,master-02=https://[fd00::2]:2380
        ETCD_INITIAL_CLUSTER_STATE=new
        BLACKSTART_INITIAL_MEMBERS=master-01=aa,master-02=bb
        ");
        let joining = Initial::joining(bootstrapping.members.clone());
        for initial in [bootstrapping, joining] {
            assert_eq!(Initial::parse(&initial.text()), Some(initial));
        }
    }

    #[test]
    fn what_was_not_written_by_us_is_nothing() {
        for text in [
            "",
            "ETCD_INITIAL_CLUSTER=a=b\n",
            "ETCD_INITIAL_CLUSTER=a\nETCD_INITIAL_CLUSTER_STATE=new\n",
            "ETCD_INITIAL_CLUSTER=a=b\nETCD_INITIAL_CLUSTER_STATE=old\n",
        ] {
            assert_eq!(Initial::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_the_machines_that_agreed_bootstrap() {
        let bootstrapping = Initial::bootstrapping([("a", IpAddr::from([10, 0, 0, 1]), "aa")]);
        for (node, machine, expected) in [("a", "aa", true), ("a", "bb", false), ("b", "aa", false)] {
            assert_eq!(bootstrapping.bootstraps(node, machine), expected, "{node} {machine}");
        }
        assert!(!Initial::joining(bootstrapping.members).bootstraps("a", "aa"));
    }
}
