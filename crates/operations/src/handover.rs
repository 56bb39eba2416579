//! Before a master's etcd restarts: another member leads, and no write is lost on the way.
//!
//! ```text
//! this member leads ─► every other master holds its writes back ─► another one leads ─► they go on
//! ```
//! Where it does not work out, etcd hands over by itself when it stops, and a write that is on its way at that very moment
//! may fail. That is no reason for the caller to stop half-way.

use std::{net::SocketAddr, time::Duration};

use etcd::{
    Access, Etcd, EtcdError,
    survey::{self, Heard},
};
use futures::future::join_all;
use join::{JoinError, Member};
use spec::{Node, ValidatedCluster, ports};
use tokio::time::timeout;

/// Longer than a hold may take, and short enough to leave the other masters' holds time for what follows.
const DEADLINE: Duration = Duration::from_secs(1);

/// A leader that is to be followed by another member.
pub struct Handover {
    leader: Etcd,
    successor: u64,
    /// Whose writes are held back meanwhile.
    others: Vec<SocketAddr>,
}

impl Handover {
    /// Away from this machine, a master or the bootstrap node; `None` if it does not lead, or no other member could.
    pub async fn away_from(master: &Node, cluster: &ValidatedCluster, access: &Access) -> Option<Self> {
        let others = cluster.masters().filter(|other| other.name != master.name);
        let members = others.chain([master]).map(|member| (member.name.clone(), etcd::client_url(member.ip)));
        let (successor, others) = plan(&survey::ask(access, members).await, master, cluster)?;
        Some(Self { leader: access.member(etcd::client_url(master.ip)), successor, others })
    }

    /// The join services of the other masters, for an agent that trusts this CA (PEM) and shows this certificate and key.
    pub fn others(&self, ca: &str, shown: (&str, &str)) -> Result<Vec<(SocketAddr, Member)>, JoinError> {
        let member = |address: &SocketAddr| Ok((*address, Member::new(vec![*address], ca, shown)?));
        self.others.iter().map(member).collect()
    }

    /// Hands over, and returns the number of the member that leads now. The API server beside the leader must be stopped:
    /// its writes are not held back.
    pub async fn run(&self, others: &[(SocketAddr, Member)]) -> Result<u64, EtcdError> {
        hold(others, true).await;
        let led = self.leader.lead_by(self.successor).await;
        hold(others, false).await;
        led.map(|()| self.successor)
    }
}

/// Who leads next, and who holds still: a master whose etcd is silent writes nothing, and would only be waited for.
fn plan(heard: &[Heard], master: &Node, cluster: &ValidatedCluster) -> Option<(u64, Vec<SocketAddr>)> {
    let successor = etcd::successor(heard, &master.name)?;
    let answers = |name: &str| heard.iter().any(|one| one.name == name && one.reported.is_ok());
    let others = cluster.masters().filter(|other| other.name != master.name && answers(&other.name));
    Some((successor, others.map(|other| SocketAddr::new(other.ip, ports::JOIN)).collect()))
}

/// All at once. One that does not answer in time may still begin to hold afterwards; that ends by itself.
async fn hold(others: &[(SocketAddr, Member)], hold: bool) {
    join_all(others.iter().map(|(master, member)| async move {
        match timeout(DEADLINE, member.hold(hold)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%master, hold, error = explain::chain(&error), "writes are not held back"),
            Err(_) => tracing::warn!(%master, hold, "the master did not answer the request to hold writes back"),
        }
    }))
    .await;
}

#[cfg(test)]
mod tests {
    use etcd::survey::Reported;
    use serde_json::json;

    use super::*;

    fn cluster() -> ValidatedCluster {
        let node = |number: u8| format!("- {{ name: master-0{number}, ip: 10.0.0.1{number}, roles: [master] }}\n");
        let text = format!(
            "cluster: {{ name: home, networking: {{ node_cidr: 10.0.0.0/24, gateway: 10.0.0.1 }} }}\nnodes:\n{}",
            (1..=3).map(node).collect::<String>()
        );
        spec::check_text(&text).cluster.unwrap()
    }

    /// Master `n` is member `n`; a leader of 0 stands for one that is silent.
    fn heard(leaders: [u64; 3]) -> Vec<Heard> {
        let known: Vec<etcd::Member> =
            (1..=3).map(|id| serde_json::from_value(json!({ "ID": id.to_string() })).unwrap()).collect();
        let one = |(number, leader): (u64, u64)| {
            let status = json!({ "version": "3.7.3", "leader": leader.to_string(),
                                 "raftIndex": (100 - number).to_string(),
                                 "header": { "member_id": number.to_string() } });
            let reported = Reported {
                status: serde_json::from_value(status).unwrap(),
                known: known.clone(),
                agreed: None,
                alarms: Vec::new(),
            };
            let reported = if leader == 0 { Err("it is silent".to_owned()) } else { Ok(reported) };
            Heard { name: format!("master-0{number}"), url: String::new(), reported }
        };
        (1..).zip(leaders).map(one).collect()
    }

    #[test]
    fn those_that_write_hold_still_while_another_takes_over() {
        let cluster = cluster();
        for (leaders, expected) in [
            ([1, 1, 1], Some((2, vec!["10.0.0.12:7444", "10.0.0.13:7444"]))),
            ([1, 0, 1], Some((3, vec!["10.0.0.13:7444"]))),
            ([1, 0, 0], None),
            ([2, 2, 2], None),
            ([0, 2, 2], None),
        ] {
            let plan = plan(&heard(leaders), cluster.node("master-01").unwrap(), &cluster);
            let expected = expected.map(|(successor, others)| {
                (successor, others.iter().map(|other| other.parse().unwrap()).collect::<Vec<SocketAddr>>())
            });
            assert_eq!(plan, expected, "{leaders:?}");
        }
    }
}
