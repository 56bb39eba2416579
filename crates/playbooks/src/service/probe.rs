//! The question whose answer proves that a service does its work.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use engine::StepError;
use etcd::Etcd;
use host::Host;
use spec::ports;
use tokio::{
    net::{TcpStream, UnixStream},
    sync::OnceCell,
    time::timeout,
};

use crate::etcd_access::etcd_access;

const LIMIT: Duration = Duration::from_secs(2);

/// What the answer was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    /// It does its work.
    Good,
    /// It was not asked.
    Unknown,
    /// Not yet.
    NotYet {
        /// What is being waited for.
        what: String,
        /// Changes while there is progress.
        progress: String,
    },
}

/// How to ask. Clients are kept: to make one costs as much as a few requests.
pub(crate) enum Probe {
    /// Something accepts connections on this socket.
    UnixSocket(PathBuf),
    /// Something accepts connections on this port of loopback.
    Port(u16),
    /// This URL on loopback, without TLS, answers with 200.
    Http(String),
    /// etcd's own member answers and has a leader.
    Etcd {
        /// `/etc/kubernetes`.
        kubernetes_dir: PathBuf,
        /// Made when the certificates are there.
        client: OnceCell<Etcd>,
    },
    /// The API server answers at all, if only that it is not ready.
    ApiAnswers {
        /// `https://192.168.1.10:6443`.
        url: String,
        /// The CA's certificate.
        ca: PathBuf,
        /// Made when the certificate is there.
        client: OnceCell<reqwest::Client>,
    },
    /// The API server reports that it is ready, to a client that trusts only the cluster's CA.
    ApiServer {
        /// `https://192.168.1.10:6443`.
        url: String,
        /// The CA's certificate.
        ca: PathBuf,
        /// Made when the certificate is there.
        client: OnceCell<reqwest::Client>,
    },
}

impl Probe {
    /// etcd on this node.
    pub(crate) fn etcd(kubernetes_dir: PathBuf) -> Self {
        Self::Etcd { kubernetes_dir, client: OnceCell::new() }
    }

    /// The API server at this URL.
    pub(crate) fn api_server(url: String, ca: PathBuf) -> Self {
        Self::ApiServer { url, ca, client: OnceCell::new() }
    }

    /// The API server at this URL, as soon as it answers at all.
    pub(crate) fn api_answers(url: String, ca: PathBuf) -> Self {
        Self::ApiAnswers { url, ca, client: OnceCell::new() }
    }

    /// Asks.
    pub(crate) async fn check(&self, host: &Host) -> Result<Health, StepError> {
        let not_yet = |what: String| Ok(Health::NotYet { what, progress: String::new() });
        match self {
            Self::UnixSocket(path) => match timeout(LIMIT, UnixStream::connect(path)).await {
                Ok(Ok(_)) => Ok(Health::Good),
                _ => not_yet(format!("{} to accept connections", path.display())),
            },
            Self::Port(port) => match timeout(LIMIT, TcpStream::connect(("127.0.0.1", *port))).await {
                Ok(Ok(_)) => Ok(Health::Good),
                _ => not_yet(format!("port {port} to accept connections")),
            },
            Self::Http(url) => {
                tls::install_provider();
                let client = reqwest::Client::builder().no_proxy().build();
                let answer = match client {
                    Ok(client) => client.get(url).timeout(LIMIT).send().await,
                    Err(error) => Err(error),
                };
                match answer {
                    Ok(answer) if answer.status().is_success() => Ok(Health::Good),
                    Ok(answer) => not_yet(format!("{url} to return success; it returned {}", answer.status())),
                    Err(_) => not_yet(format!("{url} to answer")),
                }
            }
            Self::Etcd { kubernetes_dir, client } => {
                let own = async || Ok::<_, StepError>(etcd_access(host, kubernetes_dir)?.own());
                etcd_health(client.get_or_try_init(own).await?).await
            }
            Self::ApiAnswers { url, ca, client } => {
                let client = client.get_or_try_init(async || api_client(host, ca)).await?;
                match client.get(format!("{url}/livez")).timeout(LIMIT).send().await {
                    Ok(_) => Ok(Health::Good),
                    Err(error) => Ok(no_answer(url, &error)),
                }
            }
            Self::ApiServer { url, ca, client } => {
                let client = client.get_or_try_init(async || api_client(host, ca)).await?;
                api_health(client, url).await
            }
        }
    }
}

fn api_client(host: &Host, ca: &Path) -> Result<reqwest::Client, StepError> {
    let ca = host.disk.read(ca)?;
    tls::client(&String::from_utf8_lossy(&ca), None).map_err(|error| StepError::from_explained(&error))
}

/// A server that is not there yet, or one that is not ours.
fn no_answer(url: &str, error: &reqwest::Error) -> Health {
    let what = match tls::distrust(error) {
        Some(distrust) => format!("{url} to be trusted; its certificate is refused: {distrust:?}"),
        None => format!("{url} to answer"),
    };
    Health::NotYet { what, progress: String::new() }
}

/// Quorum is what matters: a member without it answers some questions and does no work.
async fn etcd_health(etcd: &Etcd) -> Result<Health, StepError> {
    match timeout(LIMIT, etcd.status()).await {
        Ok(Ok(status)) if status.leader != 0 && status.errors.is_empty() => Ok(Health::Good),
        Ok(Ok(status)) if status.leader == 0 => Ok(Health::NotYet {
            what: "etcd to have a leader; a majority of its members must be there for that".into(),
            progress: "answers".into(),
        }),
        Ok(Ok(status)) => Ok(Health::NotYet {
            what: format!("etcd to be healthy; it reports: {}", status.errors.join(", ")),
            progress: "answers".into(),
        }),
        Ok(Err(_)) | Err(_) => Ok(Health::NotYet {
            what: format!("etcd to answer on port {}", ports::ETCD_CLIENT),
            progress: String::new(),
        }),
    }
}

/// What is not ready yet is in the body, one line per check.
async fn api_health(client: &reqwest::Client, url: &str) -> Result<Health, StepError> {
    let answer = client.get(format!("{url}/readyz?verbose")).timeout(LIMIT).send().await;
    let answer = match answer {
        Ok(answer) if answer.status().is_success() => return Ok(Health::Good),
        Ok(answer) => answer,
        Err(error) => return Ok(no_answer(url, &error)),
    };
    let status = answer.status();
    let body = answer.text().await.unwrap_or_default();
    let failing: Vec<&str> =
        body.lines().filter_map(|line| line.strip_prefix("[-]")?.split_whitespace().next()).collect();
    let why = if failing.is_empty() {
        format!("/readyz returned {status}")
    } else {
        format!("not yet: {}", failing.join(", "))
    };
    Ok(Health::NotYet { what: format!("the API server to be ready; {why}"), progress: why })
}
