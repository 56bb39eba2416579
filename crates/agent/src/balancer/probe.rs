//! One check of a master: does its API server say that it is ready?
//!
//! Once the cluster's CA is on the node, `/readyz` is asked over TLS and nothing but that CA is trusted. Before that
//! (a worker that has not joined) an open port has to do: what goes through the balancer is TLS from end to end, so a
//! wrong answer costs a failed connection and no more.

use std::{error::Error, io, net::SocketAddr, path::PathBuf, time::Duration};

use host::Host;
use tokio::{net::TcpStream, sync::Mutex, time::timeout};

use super::health::Outcome;

/// A master that needs longer is not convincing. Where something stops all masters at once, all are in doubt within this
/// and the pause between two checks, which is before the second check of any of them ends: so none is taken for dead.
const DEADLINE: Duration = Duration::from_millis(1500);

/// Looks at masters. The connections it makes are kept, so that a check costs no handshake.
pub(super) struct Probe {
    host: Host,
    ca_file: PathBuf,
    /// The client that trusts the CA as it was when last read.
    client: Mutex<Option<Trusting>>,
}

struct Trusting {
    ca: Vec<u8>,
    client: reqwest::Client,
}

impl Probe {
    pub(super) fn new(host: Host, ca_file: PathBuf) -> Self {
        Self { host, ca_file, client: Mutex::new(None) }
    }

    pub(super) async fn check(&self, master: SocketAddr) -> Outcome {
        let checking = async {
            match self.client().await {
                Some(client) => ask(&client, master).await,
                None => match TcpStream::connect(master).await {
                    Ok(_) => Outcome::Listens,
                    Err(error) => evaluate(&error),
                },
            }
        };
        timeout(DEADLINE, checking).await.unwrap_or(Outcome::Unsure)
    }

    /// A client for the CA that is in the file now; `None` while there is none.
    async fn client(&self) -> Option<reqwest::Client> {
        let ca = match self.host.disk.read_optional(&self.ca_file) {
            Ok(ca) => ca?,
            Err(error) => {
                tracing::warn!(error = explain::chain(&error), "the cluster's CA cannot be read");
                return None;
            }
        };
        let mut known = self.client.lock().await;
        if let Some(known) = known.as_ref().filter(|known| known.ca == ca) {
            return Some(known.client.clone());
        }
        match tls::client(&String::from_utf8_lossy(&ca), None) {
            Ok(client) => {
                *known = Some(Trusting { ca, client: client.clone() });
                Some(client)
            }
            Err(error) => {
                tracing::warn!(error = explain::chain(&error), "the cluster's CA cannot be used");
                None
            }
        }
    }
}

async fn ask(client: &reqwest::Client, master: SocketAddr) -> Outcome {
    match client.get(format!("https://{master}/readyz")).send().await {
        Ok(answer) if answer.status().is_success() => Outcome::Ready,
        Ok(_) => Outcome::NotReady,
        Err(error) => evaluate(&error),
    }
}

/// Certain are those failures that are an answer: of the other kernel, of the network, or of our own TLS.
fn evaluate(error: &(dyn Error + 'static)) -> Outcome {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    let no = |kind| matches!(kind, ConnectionRefused | HostUnreachable | NetworkUnreachable);
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let is_refusal = causes.filter_map(|cause| cause.downcast_ref()).any(|error: &io::Error| no(error.kind()));
    if is_refusal || tls::distrust(error).is_some() { Outcome::Refused } else { Outcome::Unsure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("sending the request")]
    struct Sending(#[source] io::Error);

    #[test]
    fn only_a_clear_no_is_certain() {
        for (kind, expected) in [
            (io::ErrorKind::ConnectionRefused, Outcome::Refused),
            (io::ErrorKind::HostUnreachable, Outcome::Refused),
            (io::ErrorKind::ConnectionReset, Outcome::Unsure),
            (io::ErrorKind::TimedOut, Outcome::Unsure),
        ] {
            assert_eq!(evaluate(&Sending(kind.into())), expected, "{kind:?}");
        }
    }
}
