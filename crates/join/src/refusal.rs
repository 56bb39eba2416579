//! Every way to be refused. One code each, the same in the master's journal and on the node.

use std::{net::IpAddr, time::Duration};

use explain::{Code, Explain};
use jiff::Timestamp;

use crate::{
    Purpose, codes,
    wire::{ClaimedRole, Refused},
};

/// Why a request is not granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No such token.
    #[error("there is no token `{id}`")]
    UnknownToken {
        /// The part before the dot.
        id: String,
    },
    /// The HMAC is of another secret, or of another request.
    #[error("the request was not made with the secret of its credential")]
    WrongProof,
    /// The secret's time is over.
    #[error("the credential expired at {when}, and it is {now}")]
    Expired {
        /// Its end.
        when: Timestamp,
        /// The master's time.
        now: Timestamp,
    },
    /// Made for somebody else.
    #[error("the credential belongs to node `{bound}`, not to `{claimed}`")]
    OtherNode {
        /// Whose it is.
        bound: String,
        /// Who wants to use it.
        claimed: String,
    },
    /// Not in cluster.yaml.
    #[error("there is no node `{node}` in this master's cluster.yaml")]
    UnknownNode {
        /// The name.
        node: String,
    },
    /// Not what cluster.yaml says.
    #[error("node `{node}` is a {configured} in this master's cluster.yaml and claims to be a {claimed}")]
    WrongRole {
        /// The node.
        node: String,
        /// What it is.
        configured: ClaimedRole,
        /// What it says it is.
        claimed: ClaimedRole,
    },
    /// Not where cluster.yaml says.
    #[error(
        "node `{node}` has the address {configured} in this master's cluster.yaml, and the request came from {seen}"
    )]
    WrongAddress {
        /// The node.
        node: String,
        /// Where it should be.
        configured: IpAddr,
        /// Where it is.
        seen: IpAddr,
    },
    /// Not what this node may have.
    #[error("the certificate request of the {purpose} cannot be granted: {why}")]
    BadRequest {
        /// Which one.
        purpose: Purpose,
        /// What is wrong with it.
        why: String,
    },
    /// Repeated, or too late.
    #[error("the challenge {0}")]
    Challenge(Challenge),
    /// A cloned machine.
    #[error("node `{owner}` has the same machine id as `{node}`")]
    DuplicateMachine {
        /// Who has it already.
        owner: String,
        /// Who came with it.
        node: String,
    },
    /// Larger than any honest body.
    #[error("the request is larger than {limit} bytes")]
    TooLarge {
        /// What is read at most.
        limit: usize,
    },
    /// Tokens are kept in the API.
    #[error("the cluster's API is not ready yet")]
    NotReady,
    /// Not this cluster.
    #[error("this is cluster `{own}`, and the node wants into `{wanted}`")]
    WrongCluster {
        /// The master's.
        own: String,
        /// The node's.
        wanted: String,
    },
    /// After several failures.
    #[error("too many attempts from {address} failed; the next one is heard in {} s", wait.as_secs().max(1))]
    TooMany {
        /// The source.
        address: IpAddr,
        /// How long it has to wait.
        wait: Duration,
    },
    /// Not JSON, not a query, too slow.
    #[error("the request cannot be understood: {why}")]
    Malformed {
        /// What is wrong with it.
        why: String,
    },
    /// Only masters that hold it can check nodes' secrets.
    #[error("this master has no join key")]
    NoJoinKey,
    /// Whoever has it may be any node, and the cluster's keys are for masters only, Ceph's for its nodes.
    #[error("the token is good for any node, and `{node}` asks for the keys of the cluster with it")]
    SharedCredential {
        /// The node.
        node: String,
    },
    /// Nothing of Ceph is for this node.
    #[error("node `{node}` has no role in Ceph in this master's cluster.yaml, and asks for Ceph's keys")]
    NoCephRole {
        /// The node.
        node: String,
    },
    /// No certificate, or that of somebody else.
    #[error("{why}")]
    NotAllowed {
        /// What is missing.
        why: String,
    },
    /// The master's own fault.
    #[error("the master could not do its part: {why}")]
    Trouble {
        /// What happened.
        why: String,
    },
}

/// What is wrong with a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    /// Not made by this master, or before it was restarted.
    Unknown,
    /// Older than a minute.
    Expired,
    /// A request with it was granted before.
    Used,
}

impl std::fmt::Display for Challenge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unknown => "is not one of this master",
            Self::Expired => "is too old",
            Self::Used => "was used before",
        })
    }
}

impl Refusal {
    /// True if the same request may be granted later, or by another master.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Challenge(why) => *why != Challenge::Used,
            Self::NotReady | Self::TooMany { .. } | Self::NoJoinKey | Self::Trouble { .. } => true,
            _ => false,
        }
    }

    /// True if it counts as a failed attempt of its source: whatever is not the master's own fault.
    pub(crate) fn is_suspicious(&self) -> bool {
        !matches!(self, Self::NotReady | Self::TooMany { .. } | Self::NoJoinKey | Self::Trouble { .. })
    }

    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Malformed { .. } => 400,
            Self::UnknownToken { .. } | Self::WrongProof | Self::Expired { .. } => 401,
            Self::OtherNode { .. }
            | Self::UnknownNode { .. }
            | Self::WrongRole { .. }
            | Self::WrongAddress { .. }
            | Self::SharedCredential { .. }
            | Self::NoCephRole { .. }
            | Self::NotAllowed { .. } => 403,
            Self::Challenge(_) | Self::DuplicateMachine { .. } | Self::WrongCluster { .. } => 409,
            Self::TooLarge { .. } => 413,
            Self::BadRequest { .. } => 422,
            Self::TooMany { .. } => 429,
            Self::NotReady | Self::NoJoinKey | Self::Trouble { .. } => 503,
        }
    }

    pub(crate) fn wire(&self) -> Refused {
        Refused {
            code: self.code().id.to_owned(),
            message: self.to_string(),
            hint: self.advice(),
            retryable: self.is_retryable(),
        }
    }
}

impl Explain for Refusal {
    fn code(&self) -> Code {
        match self {
            Self::UnknownToken { .. } => codes::UNKNOWN_TOKEN,
            Self::WrongProof => codes::WRONG_PROOF,
            Self::Expired { .. } => codes::EXPIRED,
            Self::OtherNode { .. } => codes::OTHER_NODE,
            Self::UnknownNode { .. } => codes::UNKNOWN_NODE,
            Self::WrongRole { .. } => codes::WRONG_ROLE,
            Self::WrongAddress { .. } => codes::WRONG_ADDRESS,
            Self::BadRequest { .. } => codes::BAD_REQUEST,
            Self::Challenge(_) => codes::CHALLENGE,
            Self::DuplicateMachine { .. } => codes::DUPLICATE_MACHINE,
            Self::TooLarge { .. } => codes::TOO_LARGE,
            Self::NotReady => codes::NOT_READY,
            Self::WrongCluster { .. } => codes::WRONG_CLUSTER,
            Self::TooMany { .. } => codes::TOO_MANY,
            Self::Malformed { .. } => codes::MALFORMED,
            Self::NoJoinKey => codes::NO_JOIN_KEY,
            Self::SharedCredential { .. } => codes::SHARED_CREDENTIAL,
            Self::NoCephRole { .. } => codes::NO_CEPH_ROLE,
            Self::NotAllowed { .. } => codes::NOT_ALLOWED,
            Self::Trouble { .. } => codes::TROUBLE,
        }
    }
}
