//! Whether the machine still reaches any other: what is asked before a change, and again after it.

use std::net::IpAddr;

use engine::StepError;
use futures::future::join_all;
use host::{Cmd, CommandError, Host};
use spec::{Node, ValidatedCluster};

use super::links;

/// More would prove nothing more.
const PEERS: usize = 16;

/// Any one of these must answer after the change. None: there was nothing to lose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof(pub Vec<IpAddr>);

impl Proof {
    /// Asks around, and decides who has to answer later.
    pub async fn find(
        host: &Host,
        cluster: &ValidatedCluster,
        node: &Node,
        interface: &str,
    ) -> Result<Self, StepError> {
        let configured = cluster.networking().gateway;
        let mut gateways = links::gateways(host, interface).await?;
        gateways.extend(configured.filter(|gateway| !gateways.contains(gateway)));
        let gateways = answering(host, interface, &gateways).await?;
        let peers = if gateways.is_empty() || configured.is_none() {
            let others = cluster.masters().chain(cluster.nodes()).map(|other| other.ip).filter(|ip| *ip != node.ip);
            answering(host, interface, &others.take(PEERS).collect::<Vec<_>>()).await?
        } else {
            Vec::new() // a way out is worth more than a neighbour
        };
        Ok(decide(configured, gateways, peers))
    }

    /// True if one of them answers now.
    pub async fn holds(&self, host: &Host, interface: &str) -> Result<bool, StepError> {
        let Self(any_of) = self;
        Ok(any_of.is_empty() || !answering(host, interface, any_of).await?.is_empty())
    }
}

/// Who had a way out must have one afterwards, through the gateway that is configured. Who reached only neighbours, or
/// is to have no gateway, must reach a neighbour afterwards.
fn decide(configured: Option<IpAddr>, gateways: Vec<IpAddr>, peers: Vec<IpAddr>) -> Proof {
    match configured {
        Some(gateway) if !gateways.is_empty() => Proof(vec![gateway]),
        _ => Proof([gateways, peers].concat()),
    }
}

async fn answering(host: &Host, interface: &str, ips: &[IpAddr]) -> Result<Vec<IpAddr>, StepError> {
    let asked = join_all(ips.iter().map(|ip| answers(host, interface, *ip))).await;
    let mut answering = Vec::new();
    for (ip, answers) in ips.iter().zip(asked) {
        if answers? {
            answering.push(*ip);
        }
    }
    Ok(answering)
}

/// True if it answers to a ping or, where it ignores those, answers with its hardware address.
async fn answers(host: &Host, interface: &str, ip: IpAddr) -> Result<bool, StepError> {
    links::forget_neighbour(host, interface, ip).await?;
    let ping = Cmd::new("ping").args(["-n", "-c", "1", "-W", "1", "-I", interface]).arg(ip.to_string());
    match host.commands.run(&ping).await {
        Ok(_) => Ok(true),
        Err(CommandError::Failed { .. }) => links::is_neighbour(host, interface, ip).await,
        Err(error) => Err(StepError::from_explained(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reached_must_be_reached_again() {
        let [old, new, peer] = [[10, 0, 0, 1], [10, 0, 0, 254], [10, 0, 0, 7]].map(IpAddr::from);
        for (case, configured, gateways, peers, expected) in [
            ("the same gateway", Some(new), vec![new], vec![], vec![new]),
            ("a gateway that never answered, while another did", Some(new), vec![old], vec![], vec![new]),
            ("a gateway that is down, neighbours that are not", Some(new), vec![], vec![peer], vec![peer]),
            ("no gateway any more", None, vec![old], vec![peer], vec![old, peer]),
            ("no gateway ever", None, vec![], vec![peer], vec![peer]),
            ("neither a gateway nor a neighbour", Some(new), vec![], vec![], vec![]),
        ] {
            assert_eq!(decide(configured, gateways, peers), Proof(expected), "{case}");
        }
    }
}
