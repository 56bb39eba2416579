//! The cluster's DNS answers, asked the way a pod asks: at the service's address.

use std::{net::SocketAddr, time::Duration};

use engine::{About, FilesOnly, Step, StepError, Verdict};
use host::Host;
use spec::ValidatedCluster;
use tokio::{net::UdpSocket, time::timeout};

use super::ids;

const LIMIT: Duration = Duration::from_secs(1);
/// Any number; the answer repeats it.
const QUESTION_ID: u16 = 0xb1ac;

/// Asks for the API server's own name.
pub(super) struct ClusterDns {
    server: SocketAddr,
    name: String,
}

impl ClusterDns {
    /// At this cluster's DNS service.
    pub(super) fn new(cluster: &ValidatedCluster) -> Self {
        let networking = cluster.networking();
        Self {
            server: (networking.dns_service_ip(), 53).into(),
            name: format!("kubernetes.default.svc.{}", networking.domain),
        }
    }

    /// Asks once; what is wrong if there is no good answer.
    async fn ask(&self) -> Result<(), String> {
        let unreachable = |error: std::io::Error| format!("{} cannot be asked: {error}", self.server);
        let local: SocketAddr = if self.server.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
        let socket = UdpSocket::bind(local).await.map_err(unreachable)?;
        socket.connect(self.server).await.map_err(unreachable)?;
        socket.send(&question(&self.name, self.server.is_ipv4())).await.map_err(unreachable)?;
        let mut answer = [0; 512];
        match timeout(LIMIT, socket.recv(&mut answer)).await {
            Ok(Ok(length)) => verdict(&answer[..length]),
            Ok(Err(error)) => Err(unreachable(error)),
            Err(_) => Err(format!("{} does not answer", self.server)),
        }
    }
}

/// Asks a cluster's DNS once, the way its pods do; what is wrong if there is no good answer.
pub async fn ask_dns(cluster: &ValidatedCluster) -> Result<(), String> {
    ClusterDns::new(cluster).ask().await
}

/// A question for one name, as RFC 1035 writes it.
fn question(name: &str, ipv4: bool) -> Vec<u8> {
    let [high, low] = QUESTION_ID.to_be_bytes();
    let mut message = vec![high, low, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        message.push(u8::try_from(label.len()).unwrap_or(63));
        message.extend(label.bytes());
    }
    let kind = if ipv4 { 1 } else { 28 };
    message.extend([0, 0, kind, 0, 1]);
    message
}

/// Whether a message answers our question with at least one address.
fn verdict(message: &[u8]) -> Result<(), String> {
    let [high, low, _, flags, _, _, count_high, count_low, ..] = message else {
        return Err("the answer is no DNS message".into());
    };
    if u16::from_be_bytes([*high, *low]) != QUESTION_ID {
        return Err("the answer belongs to another question".into());
    }
    match (flags & 0x0f, u16::from_be_bytes([*count_high, *count_low])) {
        (0, 1..) => Ok(()),
        (3, _) => Err("it knows no such name yet".into()),
        (code, _) => Err(format!("it answers with code {code} and no address")),
    }
}

impl Step for ClusterDns {
    /// What is wrong; nothing if the name was resolved.
    type Seen = Option<String>;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::CLUSTER_DNS, "Ask the cluster's DNS", "pods find services by name")
    }

    async fn observe(&self, _host: &Host) -> Result<Option<String>, StepError> {
        Ok(self.ask().await.err())
    }

    fn verify(&self, problem: &Option<String>) -> Verdict {
        let Some(problem) = problem else { return Verdict::Met };
        let what = format!("the cluster's DNS to resolve {}: {problem}", self.name);
        Verdict::Waiting { what, progress: problem.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_what_dns_servers_read() {
        let expected = b"\xb1\xac\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x02ab\x01c\x00\x00\x01\x00\x01";
        assert_eq!(question("ab.c", true), expected);
    }

    #[test]
    fn answers_are_evaluated() {
        for (flags, count, expected) in [
            (0x80, 1, Ok(())),
            (0x83, 0, Err("it knows no such name yet".to_owned())),
            (0x82, 0, Err("it answers with code 2 and no address".to_owned())),
        ] {
            assert_eq!(verdict(&[0xb1, 0xac, 0x85, flags, 0, 1, 0, count, 0, 0]), expected);
        }
        assert!(verdict(&[1, 2, 3]).is_err());
        assert!(verdict(&[0, 0, 0x85, 0x80, 0, 1, 0, 1]).is_err(), "another question's answer");
    }
}
