//! How a node proves itself to the masters, and whom it believes.
//!
//! In this order: a token given on the command line, the secret of its sealed directory, the token of cluster.yaml.

use std::{net::SocketAddr, path::PathBuf};

use engine::StepError;
use host::Disk;
use join::{Client, Credential, Trust, seal::Sealed};
use spec::{Node, Token, ValidatedCluster};
use tokio::sync::OnceCell;

use crate::{Layout, codes};

/// A node on its way into the cluster.
pub(super) struct Membership {
    pub(super) cluster: String,
    pub(super) node: String,
    pub(super) masters: Vec<SocketAddr>,
    /// Given by hand.
    token: Option<Token>,
    /// Of cluster.yaml.
    embedded: Option<Token>,
    config_dir: PathBuf,
    client: OnceCell<Client>,
}

impl Membership {
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout, token: Option<&Token>) -> Self {
        Self {
            cluster: cluster.name().to_owned(),
            node: node.name.clone(),
            masters: cluster.masters().map(|master| SocketAddr::new(master.ip, spec::ports::JOIN)).collect(),
            token: token.cloned(),
            embedded: cluster.bootstrap().token.clone(),
            config_dir: layout.config_dir.clone(),
            client: OnceCell::new(),
        }
    }

    /// What this node proves itself with, and whom it believes.
    pub(super) fn credential(&self, disk: &dyn Disk) -> Result<(Credential, Trust), StepError> {
        let sealed = Sealed::read(disk, &self.config_dir).map_err(|error| StepError::from_explained(&error))?;
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

    /// The client, which remembers since when it cannot reach whom.
    pub(super) async fn client(&self, trust: Trust) -> &Client {
        self.client.get_or_init(async || Client::new(self.masters.clone(), trust)).await
    }
}
