//! Why a duty failed. It is logged and started again; nothing here ends the agent.

use std::{error::Error, io, net::SocketAddr, path::PathBuf};

use engine::LockError;
use etcd::{EtcdError, NoAccess};
use explain::{Code, Explain};
use host::{CommandError, HostError};
use join::{BadSecret, JoinError, NoRandomness, NotSigned};
use kubeapi::{ApiError, kube};
use pki::{NoPin, PkiErrors};
use tls::TlsError;

use crate::codes;
use nodekit::kubeconfig::Unusable;

/// The Secret of a rotation cannot be read, or its keys cannot be opened here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the Secret kube-system/blackstart-rotation is not what a rotation of this cluster's keys writes")]
pub struct Unreadable;

impl Explain for Unreadable {
    fn code(&self) -> Code {
        codes::NO_ROTATION
    }
}

/// Why a duty failed.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The port is taken.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The agent would not hear that it is to stop.
    #[error("cannot install signal handlers")]
    Signals(#[source] io::Error),
    /// The Kubernetes API refused, or did not answer.
    #[error("cannot {doing}: {why}")]
    Api {
        /// For example `list nodes`.
        doing: &'static str,
        /// The client library's words, which hold those of its sources.
        why: String,
    },
    /// The client could not be made.
    #[error(transparent)]
    Client(#[from] ApiError),
    /// A tool printed what it never printed before.
    #[error("unexpected output of `{command}`: {why}")]
    Output {
        /// The command.
        command: String,
        /// What is wrong with it.
        why: String,
    },
    /// A unit that was restarted is not well.
    #[error("{unit} was restarted and is not healthy: {why}")]
    NotWell {
        /// The unit.
        unit: &'static str,
        /// What it says, or does not.
        why: String,
    },
    /// The Secret of a rotation.
    #[error(transparent)]
    Rotation(#[from] Unreadable),
    /// The configuration of encryption at rest is not ours.
    #[error("{} was not written by this program, so its keys cannot be replaced", .0.display())]
    ForeignKey(PathBuf),
    /// Neither this master nor another one can open the new keys.
    #[error("no reachable master can decrypt the new keys of the rotation")]
    Locked,
    /// The machine's lock cannot be taken.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The system gave no random bytes.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// A file.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A command.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// Certificates.
    #[error(transparent)]
    Pki(#[from] PkiErrors),
    /// The CA that this node trusts.
    #[error("cannot parse the cluster's CA")]
    Pin(#[from] NoPin),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A kubeconfig of this node.
    #[error("cannot use {}", path.display())]
    Kubeconfig {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Unusable,
    },
    /// The agent's own certificate.
    #[error(transparent)]
    NotSigned(#[from] NotSigned),
    /// etcd.
    #[error(transparent)]
    Etcd(#[from] EtcdError),
    /// The certificate for etcd.
    #[error(transparent)]
    EtcdAccess(#[from] NoAccess),
    /// The join key.
    #[error(transparent)]
    Secret(#[from] BadSecret),
    /// What is remembered of admitted nodes.
    #[error(transparent)]
    Admissions(#[from] join::Unreadable),
    /// This master's claim of the cluster's keys.
    #[error(transparent)]
    Claim(#[from] join::NoClaim),
    /// Another master.
    #[error(transparent)]
    Join(Box<JoinError>),
    /// The door of a node that is worked on in place.
    #[error(transparent)]
    Door(#[from] reprovision::door::DoorError),
    /// Several things at once, none of which kept the others from being tried.
    #[error("{}", .0.iter().map(|error| explain::chain(error)).collect::<Vec<_>>().join("; "))]
    Several(Vec<AgentError>),
}

impl AgentError {
    /// For the client library's errors.
    pub(crate) fn api(doing: &'static str) -> impl Fn(kube::Error) -> Self {
        move |error| Self::Api { doing, why: why(&error) }
    }

    /// What was collected, as one result.
    pub(crate) fn unless_empty(mut errors: Vec<Self>) -> Result<(), Self> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(Self::Several(errors)),
        }
    }
}

impl From<JoinError> for AgentError {
    fn from(error: JoinError) -> Self {
        Self::Join(Box::new(error))
    }
}

/// The client library's errors hold some of their sources in their text, and either too much (all of the server's
/// answer) or too little (not that the connection was refused). This is what a person wants to read of them.
pub(crate) fn why(error: &(dyn Error + 'static)) -> String {
    let causes = || std::iter::successors(Some(error), |&error| error.source());
    for cause in causes() {
        if let Some(kube::Error::Api(status)) = cause.downcast_ref() {
            return status.message.clone();
        }
    }
    let whole = error.to_string();
    match causes().last().map(ToString::to_string) {
        Some(last) if !whole.contains(&last) => format!("{whole}: {last}"),
        _ => whole,
    }
}

impl Explain for AgentError {
    fn code(&self) -> Code {
        match self {
            Self::Listen { .. } => codes::LISTEN,
            Self::Signals(_) => codes::SIGNALS,
            Self::Api { .. } => codes::API,
            Self::Output { .. } => codes::OUTPUT,
            Self::NotWell { .. } => codes::NOT_WELL,
            Self::Rotation(error) => error.code(),
            Self::ForeignKey(_) => codes::FOREIGN_KEY,
            Self::Locked => codes::LOCKED,
            Self::Several(_) => codes::SEVERAL,
            Self::Client(error) => error.code(),
            Self::Host(error) => error.code(),
            Self::Command(error) => error.code(),
            Self::Pki(error) => error.code(),
            Self::Pin(_) => pki::codes::UNREADABLE,
            Self::Tls(error) => error.code(),
            Self::Kubeconfig { .. } => codes::KUBECONFIG,
            Self::NotSigned(error) => error.code(),
            Self::Lock(error) => error.code(),
            Self::NoRandomness(_) => codes::OWN_KEY,
            Self::Etcd(error) => error.code(),
            Self::EtcdAccess(error) => error.code(),
            Self::Secret(error) => error.code(),
            Self::Admissions(error) => error.code(),
            Self::Claim(error) => error.code(),
            Self::Join(error) => error.code(),
            Self::Door(error) => error.code(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("watching: {0}")]
    struct Watching(#[source] kube::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("client error (Connect)")]
    struct Connecting(#[source] io::Error);

    #[test]
    fn the_words_of_the_client_library_are_made_readable() {
        let status = kube::core::Status::failure("nodes is forbidden", "Forbidden").with_code(403).boxed();
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let connecting = kube::Error::Service(Box::new(Connecting(refused)));
        assert_eq!(why(&Watching(kube::Error::Api(status))), "nodes is forbidden");
        assert_eq!(why(&Watching(connecting)), "watching: ServiceError: client error (Connect): connection refused");
        assert_eq!(why(&io::Error::other("odd")), "odd");
    }

    #[test]
    fn one_problem_stays_itself_and_several_are_reported_together() {
        let problem = |why: &str| AgentError::Output { command: "ip".into(), why: why.into() };
        assert!(AgentError::unless_empty(vec![]).is_ok());
        let one = AgentError::unless_empty(vec![problem("a")]).unwrap_err();
        assert_eq!((one.code(), one.to_string().as_str()), (codes::OUTPUT, "unexpected output of `ip`: a"));
        let two = AgentError::unless_empty(vec![problem("a"), problem("b")]).unwrap_err();
        assert_eq!(two.code(), codes::SEVERAL);
        assert!(two.to_string().ends_with("`ip`: a; unexpected output of `ip`: b"), "{two}");
    }
}
