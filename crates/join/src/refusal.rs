//! Every way to be refused. One code each, the same in the master's journal and on the node.

use std::{net::IpAddr, time::Duration};

use explain::{Code, Diagnostic, Explain};
use jiff::Timestamp;

use crate::{
    Generation, Living, Purpose, Sign, codes,
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
    /// Made for another node.
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
    #[error("this master belongs to cluster `{own}`, and the node asks to join `{wanted}`")]
    WrongCluster {
        /// The master's.
        own: String,
        /// The node's.
        wanted: String,
    },
    /// After several failures.
    #[error("too many attempts from {who} failed; retry in {} s", wait.as_secs().max(1))]
    TooMany {
        /// An address, or the name in a certificate.
        who: String,
        /// How long it has to wait.
        wait: Duration,
    },
    /// Faster than any honest node.
    #[error("requests from {who} come too fast; retry in {} s", wait.as_secs().max(1))]
    TooFast {
        /// An address, or the name in a certificate.
        who: String,
        /// How long it has to wait.
        wait: Duration,
    },
    /// No room for what is sent.
    #[error("the master is busy with other requests")]
    Busy,
    /// Its Node object must not go.
    #[error("the Node object `{node}` stays, because of what was set on it: {}", by.join(", "))]
    Held {
        /// The node.
        node: String,
        /// What was set.
        by: Vec<String>,
    },
    /// A token for anybody is no way to a name that a machine bears.
    #[error("the token is good for any node that is not there yet, and the name `{node}` is taken: {by}")]
    NameTaken {
        /// The node.
        node: String,
        /// What shows it.
        by: &'static str,
    },
    /// Not JSON, not a query, too slow.
    #[error("malformed join request: {why}")]
    Malformed {
        /// What is wrong with it.
        why: String,
    },
    /// Only masters that hold it can check nodes' secrets.
    #[error("this master has no join key")]
    NoJoinKey,
    /// Its holder may be any node, and the cluster's keys are for masters only, Ceph's for its nodes.
    #[error("the token is good for any node, and `{node}` wants to be a master, or asks for keys, with it")]
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
    /// A newer one was used, or it was revoked.
    #[error("the secret of node `{node}` is of generation {generation}, and only those from {minimum} on are accepted")]
    OldSecret {
        /// The node.
        node: String,
        /// Of which generation its secret is.
        generation: Generation,
        /// The lowest that is good.
        minimum: Generation,
    },
    /// They go to one machine per arming.
    #[error("the cluster's keys went to {} as `{node}` at {when}, and this is another machine", known_as(machine.as_deref()))]
    KeysGiven {
        /// The node.
        node: String,
        /// When they were given.
        when: Timestamp,
        /// To which machine.
        machine: Option<String>,
    },
    /// Another machine is the node, and is alive.
    #[error("node `{node}` is alive: {} {}; {} wants to be it", known_as(Some(&living.machine)), sign(living.sign), known_as(machine.as_deref()))]
    Alive {
        /// The node.
        node: String,
        /// Who is.
        living: Living,
        /// Who wants to be.
        machine: Option<String>,
    },
    /// `config revoke` came after it.
    #[error("the certificate of node `{node}` was issued before everything of that node was revoked at {since}")]
    Revoked {
        /// The node.
        node: String,
        /// When it was revoked.
        since: Timestamp,
    },
    /// Nothing was rendered for the node.
    #[error("there is no config of node `{node}`")]
    NoConfig {
        /// The node.
        node: String,
    },
    /// No certificate, or another node's.
    #[error("{why}")]
    NotAllowed {
        /// What is missing.
        why: String,
    },
    /// The master's own fault.
    #[error("the master failed to handle the request: {why}")]
    Failure {
        /// What happened.
        why: String,
    },
}

/// The beginning of a machine's id is enough to find it by.
fn known_as(machine: Option<&str>) -> String {
    match machine {
        Some(id) => format!("machine {}", id.get(..12).unwrap_or(id)),
        None => "a machine that gives no machine-id".to_owned(),
    }
}

fn sign(sign: Sign) -> String {
    match sign {
        Sign::Reported(when) => format!("reported at {when:.0}"),
        Sign::Ready(since) => format!("is Ready since {since:.0}"),
    }
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
            // Of the last two: an operator may arm the node, and a machine that is gone is seen to be gone.
            Self::NotReady
            | Self::NoConfig { .. }
            | Self::TooMany { .. }
            | Self::TooFast { .. }
            | Self::Busy
            | Self::NoJoinKey
            | Self::Failure { .. }
            | Self::KeysGiven { .. }
            | Self::Alive { .. } => true,
            _ => false,
        }
    }

    /// True if it counts as a failed attempt of its source: whatever is not the master's own fault, or another node's. Who
    /// has proved itself and is to wait has not failed.
    pub(crate) fn is_suspicious(&self) -> bool {
        !matches!(
            self,
            Self::NotReady
                | Self::NoConfig { .. }
                | Self::TooMany { .. }
                | Self::TooFast { .. }
                | Self::Busy
                | Self::Held { .. }
                | Self::KeysGiven { .. }
                | Self::Alive { .. }
                | Self::NoJoinKey
                | Self::Failure { .. }
        )
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
            | Self::OldSecret { .. }
            | Self::Revoked { .. }
            | Self::NotAllowed { .. } => 403,
            Self::KeysGiven { .. }
            | Self::Alive { .. }
            | Self::Challenge(_)
            | Self::DuplicateMachine { .. }
            | Self::WrongCluster { .. }
            | Self::Held { .. }
            | Self::NameTaken { .. } => 409,
            Self::TooLarge { .. } => 413,
            Self::BadRequest { .. } => 422,
            Self::TooMany { .. } | Self::TooFast { .. } => 429,
            Self::Busy | Self::NotReady | Self::NoConfig { .. } | Self::NoJoinKey | Self::Failure { .. } => 503,
        }
    }

    pub(crate) fn wire(&self) -> Refused {
        let diagnostic = Diagnostic { message: self.to_string(), ..self.diagnostic() };
        Refused { diagnostic: diagnostic.recorded(), retryable: self.is_retryable() }
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
            Self::TooFast { .. } => codes::TOO_FAST,
            Self::Busy => codes::BUSY,
            Self::Held { .. } => codes::HELD,
            Self::NameTaken { .. } => codes::NAME_TAKEN,
            Self::Malformed { .. } => codes::MALFORMED,
            Self::NoJoinKey => codes::NO_JOIN_KEY,
            Self::SharedCredential { .. } => codes::SHARED_CREDENTIAL,
            Self::NoCephRole { .. } => codes::NO_CEPH_ROLE,
            Self::OldSecret { .. } => codes::OLD_SECRET,
            Self::KeysGiven { .. } => codes::KEYS_GIVEN,
            Self::Alive { .. } => codes::ALIVE,
            Self::Revoked { .. } => codes::REVOKED,
            Self::NoConfig { .. } => codes::NO_CONFIG,
            Self::NotAllowed { .. } => codes::NOT_ALLOWED,
            Self::Failure { .. } => codes::FAILURE,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Held { node, .. } => Some(format!(
                "if the node is not to come back, `kubectl delete node {node}` or `blackstart node remove {node}` on a master removes it with all that was set; if it is, nothing: it will find its Node as it was (`kubectl uncordon {node}` lets pods onto it again)"
            )),
            Self::NameTaken { node, .. } => Some(format!(
                "make a token for this node on a master, `blackstart token create --node {node}`, or seal the configuration; if the old machine is gone for good, `kubectl delete node {node}` frees the name"
            )),
            Self::KeysGiven { node, .. } => Some(format!(
                "if this machine replaces that one, run `blackstart node rearm {node}` on a master, and it continues by itself; \
                 if not, a copy of {node}'s secret is in use: `blackstart config revoke {node}`"
            )),
            Self::OldSecret { node, .. } => Some(format!(
                "bring the newest sealed directory of {node}; if there is none, make one with `blackstart config seal --renew \
                 {node}`, and check the clock of the computer that seals"
            )),
            Self::Revoked { node, .. } => Some(format!(
                "`blackstart config seal --renew {node}`, bring the new directory, and on the node `blackstart node reset`, then `blackstart node up`"
            )),
            _ => None,
        }
    }
}
