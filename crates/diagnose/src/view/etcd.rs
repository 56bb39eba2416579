//! What this master's etcd says of itself.

use std::{error::Error, path::Path, time::Duration};

use etcd::{Etcd, EtcdError, Member, Status};
use host::Host;
use spec::ports;

use crate::finding::CouldNotLook;

const LIMIT: Duration = Duration::from_secs(2);

/// etcd as it answers on loopback.
pub(crate) enum EtcdView {
    /// No answer, and why.
    Silent(String),
    /// What it says, and whom it knows.
    Answers {
        /// Of itself.
        status: Status,
        /// All members it knows.
        members: Vec<Member>,
        /// Its figures, in the form of Prometheus; empty where it does not give them.
        metrics: String,
    },
}

impl EtcdView {
    /// Asks, with the certificate that health checks use.
    pub(crate) async fn read(host: &Host, pki: &Path) -> Result<Self, CouldNotLook> {
        let etcd = etcd_client(host, pki)?;
        let (status, members, metrics) = tokio::join!(etcd.status(), etcd.known_members(), metrics());
        Ok(match (status, members) {
            (Ok(status), Ok(members)) => Self::Answers { status, members, metrics },
            (Err(error), _) | (_, Err(error)) => Self::Silent(why(&error)),
        })
    }
}

/// A client for the member on this machine.
pub(crate) fn etcd_client(host: &Host, pki: &Path) -> Result<Etcd, CouldNotLook> {
    let text = |name: &str| {
        let bytes = host.disk.read(&pki.join(name))?;
        Ok::<_, CouldNotLook>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let (ca, certificate, key) = (text("ca.crt")?, text("healthcheck-client.crt")?, text("healthcheck-client.key")?);
    let http = tls::client(&ca, Some((&certificate, &key)));
    let http = http.map_err(|error| CouldNotLook(explain::chain(&error)))?;
    Ok(Etcd::new(http, format!("https://127.0.0.1:{}", ports::ETCD_CLIENT)))
}

async fn metrics() -> String {
    let read = async || {
        let http = reqwest::Client::builder().no_proxy().timeout(LIMIT).build()?;
        http.get(format!("http://127.0.0.1:{}/metrics", ports::ETCD_METRICS)).send().await?.text().await
    };
    read().await.unwrap_or_default()
}

/// The last cause says it best: those above it repeat the URL.
fn why(error: &EtcdError) -> String {
    if let Some(distrust) = tls::distrust(error) {
        return format!("its certificate is not believed ({distrust:?})");
    }
    let EtcdError::Unreachable { source, .. } = error else { return explain::chain(error) };
    let port = ports::ETCD_CLIENT;
    if source.is_timeout() {
        return format!("it is connected to on port {port} and does not answer");
    }
    let mut last: &dyn Error = source;
    while let Some(cause) = last.source() {
        last = cause;
    }
    format!("no answer on port {port}: {last}")
}
