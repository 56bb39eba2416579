//! Who does not believe this master: clients that break off the handshake because of our certificate.
//!
//! No request of theirs is ever seen, so this is the only trace that a node sealed for another cluster leaves here. The
//! code is the one that the node itself shows.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use explain::Code;
use spec::ValidatedCluster;
use tls::{Distrust, Peer};
use tokio::{sync::watch, time::Instant};

use super::outside::locked;
use crate::codes;

/// A node tries again all the time; once in a while is enough to be found.
const QUIET: Duration = Duration::from_mins(1);
/// How many addresses are remembered. What comes beyond that within a minute is not worth a line each.
const MOST: usize = 256;

/// Says of each address at most once a minute that it does not believe this master.
pub struct HandshakeFailures {
    cluster: watch::Receiver<Arc<ValidatedCluster>>,
    reported: Mutex<BTreeMap<IpAddr, Instant>>,
}

impl HandshakeFailures {
    /// Of a master of this cluster.
    pub fn new(cluster: watch::Receiver<Arc<ValidatedCluster>>) -> Self {
        Self { cluster, reported: Mutex::default() }
    }

    /// A client broke off.
    pub fn note(&self, peer: &Peer, why: Distrust) {
        if !self.is_new(peer.ip(), Instant::now()) {
            return;
        }
        let cluster = self.cluster.borrow();
        let node = cluster.machines().find(|node| node.ip == peer.ip()).map_or("none", |node| node.name.as_str());
        let code = code(why);
        tracing::warn!(code = code.id, peer = %peer.address, node, "a client rejected this master's certificate: {}", code.meaning);
    }

    fn is_new(&self, address: IpAddr, now: Instant) -> bool {
        let mut reported = locked(&self.reported);
        reported.retain(|_, when| now.saturating_duration_since(*when) < QUIET);
        if reported.contains_key(&address) || reported.len() >= MOST {
            return false;
        }
        reported.insert(address, now);
        true
    }
}

/// As [`crate::JoinError`] has it on the other side.
fn code(why: Distrust) -> Code {
    match why {
        Distrust::Ca => codes::WRONG_CA,
        Distrust::Time => codes::CLOCK,
        Distrust::Name | Distrust::Other => codes::UNTRUSTED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_logged_once_a_minute_and_memory_is_bounded() {
        let text = "cluster: {name: demo}\nnodes:\n- {name: a, ip: 192.168.1.11, roles: [master], \
                    hardware: {mac_addresses: ['52:54:00:00:00:01']}}\n";
        let cluster = Arc::new(spec::check_text(text).cluster.unwrap());
        let handshake_failures = HandshakeFailures::new(watch::channel(cluster).1);
        let begun = Instant::now();
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        for (address, after, expected) in [(one, 0, true), (one, 59, false), (other, 59, true), (one, 60, true)] {
            assert_eq!(
                handshake_failures.is_new(address, begun + Duration::from_secs(after)),
                expected,
                "{address} {after}"
            );
        }
        let flood = (0..=u16::MAX).filter(|number| {
            let [high, low] = number.to_be_bytes();
            handshake_failures.is_new([10, 9, high, low].into(), begun + Duration::from_mins(5))
        });
        assert_eq!(flood.count(), MOST);
    }
}
