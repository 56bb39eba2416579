//! How a node proves itself to the masters, and whom it believes.
//!
//! In this order: a token given on the command line, the secret of its sealed directory, the token of cluster.yaml.

use std::{net::SocketAddr, path::Path};

use engine::StepError;
use host::{Disk, Host, HostError};
use join::{Applicant, Client, Credential, JoinError, Trust, seal::Sealed, wire::ClaimedRole};
use spec::{Node, Token, ValidatedCluster};
use tokio::sync::OnceCell;

use crate::codes;
use nodekit::Layout;

const MACHINE_ID: &str = "/etc/machine-id";

/// A node on its way into the cluster.
pub(crate) struct Membership {
    pub(crate) cluster: String,
    pub(crate) node: String,
    pub(crate) masters: Vec<SocketAddr>,
    /// Given by hand.
    token: Option<Token>,
    /// Of cluster.yaml.
    embedded: Option<Token>,
    layout: Layout,
    client: OnceCell<Client>,
    known: OnceCell<Client>,
}

impl Membership {
    pub(crate) fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout, token: Option<&Token>) -> Self {
        Self {
            cluster: cluster.name().to_owned(),
            node: node.name.clone(),
            masters: cluster.control_plane().map(|master| SocketAddr::new(master.ip, spec::ports::JOIN)).collect(),
            token: token.cloned(),
            embedded: cluster.bootstrap().token.clone(),
            layout: layout.clone(),
            client: OnceCell::new(),
            known: OnceCell::new(),
        }
    }

    /// What this node proves itself with, and whom it believes.
    pub(crate) fn credential(&self, disk: &dyn Disk) -> Result<(Credential, Trust), StepError> {
        let sealed = Sealed::read(disk, &self.layout.config_dir).map_err(|error| StepError::from_explained(&error))?;
        let believe = |token: &Token| match &sealed {
            Some(sealed) => Trust::Ca(sealed.ca_pem.clone()),
            None => Trust::Token(token.clone()),
        };
        if let Some(token) = &self.token {
            return Ok((Credential::Token(token.clone()), believe(token)));
        }
        if let Some(sealed) = &sealed {
            return Ok((Credential::NodeSecret(sealed.secret.clone()), Trust::Ca(sealed.ca_pem.clone())));
        }
        if let Some(token) = &self.embedded {
            return Ok((Credential::Token(token.clone()), believe(token)));
        }
        let message = format!("node `{}` has neither a sealed secret nor a token", self.node);
        Err(StepError::new(codes::NO_CREDENTIAL, message))
    }

    /// This node as it introduces itself, and whom it believes.
    pub(crate) fn applicant(&self, disk: &dyn Disk, role: ClaimedRole) -> Result<(Applicant, Trust), StepError> {
        let (credential, trust) = self.credential(disk)?;
        let (cluster, node) = (self.cluster.clone(), self.node.clone());
        Ok((Applicant { cluster, node, role, machine_id: machine_id(disk)?, credential }, trust))
    }

    /// The client, which remembers since when it cannot reach whom.
    pub(crate) async fn client(&self, trust: Trust) -> &Client {
        self.client.get_or_init(async || Client::new(self.masters.clone(), trust)).await
    }

    /// One that also shows who this machine is, where it can: masters report little to strangers.
    pub(crate) async fn known(&self, host: &Host, trust: Trust) -> &Client {
        let make = async || {
            let client = Client::new(self.masters.clone(), trust);
            match crate::shown(&*host.disk, &self.layout, host.clock.now()) {
                Some((certificate, key)) => client.showing(certificate, key),
                None => client,
            }
        };
        self.known.get_or_init(make).await
    }
}

/// Which machine this is, as it is sent to masters; `None` if it has no id.
pub(crate) fn machine_id(disk: &dyn Disk) -> Result<Option<String>, HostError> {
    let id = disk.read_optional(Path::new(MACHINE_ID))?;
    Ok(id.map(|id| join::machine_id(String::from_utf8_lossy(&id).trim())))
}

/// A failure of the join service's, which passes if it is retryable.
pub(crate) fn failed(error: &JoinError) -> StepError {
    let failed = StepError::from_explained(error);
    if error.is_retryable() { failed.retryable() } else { failed }
}
