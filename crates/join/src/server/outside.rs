//! What the join service needs from outside, as traits: the agent provides them, tests play them.

use std::{
    path::PathBuf,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
};

use explain::{Code, Explain};
use host::{Clock, Disk, HostError};
use jiff::Timestamp;
use pki::{PkiErrors, Request, Subject};

use crate::admit::StoredToken;

/// An answer that takes its time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, NotReady>> + Send + 'a>>;

/// The cluster's API does not answer, so it is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cluster's API is not ready")]
pub struct NotReady;

/// Where tokens are kept.
pub trait Credentials: Send + Sync {
    /// The token of that id. Those of cluster.yaml are known without the API.
    fn token<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredToken>>;
}

/// Which machine is which node.
pub trait KnownMachines: Send + Sync {
    /// The nodes whose machine has this id (see [`crate::machine_id`]), as they say themselves.
    fn owners<'a>(&'a self, machine_id: &'a str) -> Answer<'a, Vec<String>>;

    /// The machine of a node, asked at this moment; `None` if there is no Node object of this name.
    fn of<'a>(&'a self, node: &'a str) -> Answer<'a, Option<KnownMachine>>;
}

/// A node's machine, as the cluster knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownMachine {
    /// See [`crate::machine_id`]; empty where its kubelet does not know it.
    pub id: String,
    /// Since when its kubelet says that all is well; `None` if it does not.
    pub ready_since: Option<Timestamp>,
}

/// Signs for nodes.
pub trait Signer: Send + Sync {
    /// The cluster's CA, PEM.
    fn ca(&self) -> Result<String, SigningError>;

    /// A client certificate (PEM) for the key of the request, made out to the subject, for at most so many days.
    fn sign(&self, request: &Request, subject: &Subject, days: i64) -> Result<String, SigningError>;
}

/// Nothing could be signed.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The CA could not be read.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The CA is not fit for signing.
    #[error(transparent)]
    Pki(#[from] PkiErrors),
}

impl Explain for SigningError {
    fn code(&self) -> Code {
        match self {
            Self::Host(error) => error.code(),
            Self::Pki(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Host(error) => error.hint(),
            Self::Pki(error) => error.hint(),
        }
    }
}

/// Signs with the CA on this master's disk. It is read again each time: signing is rare, and a CA that was
/// exchanged is then noticed at once.
pub struct DiskSigner {
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    root: PathBuf,
    cluster: String,
}

impl DiskSigner {
    /// With the CA below `root`, which is `/etc/kubernetes` on a real master.
    pub fn new(
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
        root: impl Into<PathBuf>,
        cluster: impl Into<String>,
    ) -> Self {
        Self { disk, clock, root: root.into(), cluster: cluster.into() }
    }

    fn signer(&self) -> Result<pki::Signer, SigningError> {
        let existing = pki::Existing::read(&*self.disk, &self.root)?;
        Ok(pki::Signer::new(&existing, &self.cluster, self.clock.now())?)
    }
}

impl Signer for DiskSigner {
    fn ca(&self) -> Result<String, SigningError> {
        Ok(String::from_utf8_lossy(self.signer()?.ca_pem()).into_owned())
    }

    fn sign(&self, request: &Request, subject: &Subject, days: i64) -> Result<String, SigningError> {
        Ok(self.signer()?.client_certificate(request, subject, days, self.clock.now())?)
    }
}

/// What the other side of a lock is; nothing in this crate panics while it holds one.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
