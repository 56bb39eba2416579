//! Who wants to join, and with what.

use secrecy::ExposeSecret;
use spec::Token;

use super::token_secret;
use crate::{
    Claim, NodeSecret,
    secret::seconds,
    wire::{CephRequest, ClaimedCredential, ClaimedRole, EarlyReport, JoinCsrs, JoinRequest, MasterRequest},
};

/// What a node proves itself with.
#[derive(Debug, Clone)]
pub enum Credential {
    /// Its own secret, from its sealed directory.
    NodeSecret(NodeSecret),
    /// A bootstrap token.
    Token(Token),
}

/// A node that wants to join.
#[derive(Debug, Clone)]
pub struct Applicant {
    /// The cluster it wants into.
    pub cluster: String,
    /// Its name.
    pub node: String,
    /// What it is in its cluster.yaml.
    pub role: ClaimedRole,
    /// See [`crate::machine_id`].
    pub machine_id: Option<String>,
    /// What it proves itself with.
    pub credential: Credential,
}

impl Applicant {
    /// The request, still without its proof.
    pub(super) fn request(&self, challenge: String, csrs: JoinCsrs) -> JoinRequest {
        JoinRequest {
            cluster: self.cluster.clone(),
            node: self.node.clone(),
            role: self.role,
            credential: self.credential.claimed(),
            challenge,
            csrs,
            machine_id: self.machine_id.clone(),
            proof: String::new(),
        }
    }

    /// A master's request, still without its proof.
    pub(super) fn master_request(&self, challenge: String, claim: &Claim) -> MasterRequest {
        MasterRequest {
            cluster: self.cluster.clone(),
            node: self.node.clone(),
            credential: self.credential.claimed(),
            challenge,
            machine_id: self.machine_id.clone(),
            claim: claim.hash(),
            proof: String::new(),
        }
    }

    /// A request for Ceph's keys, still without its proof.
    pub(super) fn ceph_request(&self, challenge: String, is_initialized: bool) -> CephRequest {
        CephRequest {
            cluster: self.cluster.clone(),
            node: self.node.clone(),
            credential: self.credential.claimed(),
            challenge,
            machine_id: self.machine_id.clone(),
            is_initialized,
            proof: String::new(),
        }
    }

    /// A report, still without its proof.
    pub(super) fn report(&self, challenge: String, status: String) -> EarlyReport {
        EarlyReport {
            cluster: self.cluster.clone(),
            node: self.node.clone(),
            credential: self.credential.claimed(),
            challenge,
            status,
            proof: String::new(),
        }
    }
}

impl NodeSecret {
    /// Which secret it is; nothing of what is secret.
    pub fn claimed(&self) -> ClaimedCredential {
        let Self { node, generation, expires, .. } = self;
        ClaimedCredential::NodeSecret { node: node.clone(), generation: *generation, expires: seconds(*expires) }
    }
}

impl Credential {
    fn claimed(&self) -> ClaimedCredential {
        match self {
            Self::NodeSecret(secret) => secret.claimed(),
            Self::Token(token) => ClaimedCredential::Token { id: token.id.clone() },
        }
    }

    pub(super) fn with_secret<T>(&self, then: impl FnOnce(&[u8]) -> T) -> T {
        match self {
            Self::NodeSecret(secret) => then(secret.bytes().expose_secret()),
            Self::Token(token) => then(token_secret(token)),
        }
    }
}
