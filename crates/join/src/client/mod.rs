//! The node's side: finds a master, proves itself, comes back with certificates.
//!
//! Masters are tried in turn. What one of them cannot do at the moment, another may; a refusal that would be the same
//! everywhere ends the attempt. The client does not wait and try again by itself: [`JoinError::is_retryable`] informs
//! the caller, who shows for whom the node is waiting, and since when.

mod applicant;
mod call;
mod error;
mod hold;
mod introduction;
mod keys;
mod leave;
mod member;
mod reached;

use std::{net::SocketAddr, time::Duration};

use ceph::Handed;
use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, join_all},
    stream::FuturesUnordered,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use spec::Token;
use tokio::{sync::OnceCell, time::timeout};

pub use self::{
    applicant::{Applicant, Credential},
    error::{JoinError, Refused, Unreached},
    keys::{Pair, Renewed, Whose},
    member::Member,
};
use self::{call::get, keys::JoinKeys, reached::Reached};
use crate::{
    Claim, MasterKeys, ceph_keys, codes,
    wire::{self, CephAnswer, Hello, HelloQuery, JoinAnswer, MasterAnswer},
};

/// Whom the node believes.
#[derive(Debug, Clone)]
pub enum Trust {
    /// A master whose certificate this CA (PEM) signed.
    Ca(String),
    /// A master that knows this token, from which the CA is then learnt. Less secure: another holder of the
    /// token can pose as a master.
    Token(Token),
}

/// What a node gets.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The master that granted it.
    pub master: SocketAddr,
    /// The cluster's CA, PEM.
    pub ca_pem: String,
    /// For the kubelet.
    pub kubelet: Pair,
    /// For kube-proxy.
    pub kube_proxy: Pair,
    /// For the agent.
    pub agent: Pair,
    /// Where API servers are, or will be.
    pub api_servers: Vec<SocketAddr>,
}

/// Talks to the join services of a cluster's masters.
#[derive(Debug)]
pub struct Client {
    masters: Vec<SocketAddr>,
    trust: Trust,
    shows: Option<(String, SecretString)>,
    http: OnceCell<reqwest::Client>,
    reached: Reached,
}

impl Client {
    /// For the join services at these addresses, tried in this order.
    pub fn new(masters: Vec<SocketAddr>, trust: Trust) -> Self {
        Self { masters, trust, shows: None, http: OnceCell::new(), reached: Reached::default() }
    }

    /// Shows a certificate of the cluster (certificate and key, PEM), for which a master answers more.
    #[must_use]
    pub fn showing(mut self, certificate: String, key: SecretString) -> Self {
        self.shows = Some((certificate, key));
        self
    }

    /// Asks all masters at once who they are, and whether another node has this machine id. The first that can let nodes in
    /// is the answer; where none can, any that is there.
    pub async fn hello(&self, machine_id: Option<&str>) -> Result<(SocketAddr, Hello), JoinError> {
        let mut round = self.reached.round();
        let mut other = None;
        let ask = |master: &SocketAddr| {
            let master = *master;
            async move { (master, self.hello_of(master, machine_id).await) }
        };
        let mut asked: FuturesUnordered<_> = self.masters.iter().map(ask).collect();
        while let Some((master, outcome)) = asked.next().await {
            match outcome {
                Ok(hello) if hello.admits => return Ok((master, round.reached(master, hello))),
                Ok(hello) => other = Some((master, round.reached(master, hello))),
                Err(error) => round.failed(master, error)?,
            }
        }
        other.map_or_else(|| Err(round.verdict()), Ok)
    }

    /// What each master says of itself, all asked at once; those that do not answer in time are listed with since when.
    pub async fn survey(&self, limit: Duration) -> Vec<(SocketAddr, Result<Hello, JoinError>)> {
        let ask = |master: &SocketAddr| {
            let master = *master;
            async move {
                let late = |_| Err(JoinError::unreached(master, "no answer in time".to_owned()));
                let outcome = timeout(limit, self.hello_of(master, None)).await.unwrap_or_else(late);
                let mut round = self.reached.round();
                let outcome = match outcome {
                    Ok(hello) => Ok(round.reached(master, hello)),
                    Err(error) => Err(round.failed(master, error).err().unwrap_or_else(|| round.verdict())),
                };
                (master, outcome)
            }
        };
        join_all(self.masters.iter().map(ask)).await
    }

    /// Joins the cluster.
    pub async fn join(&self, applicant: &Applicant) -> Result<Joined, JoinError> {
        let keys = JoinKeys::generate(&applicant.node)?;
        let answered = self.in_turn(|master| self.join_at(master, applicant, &keys).boxed()).await;
        answered.map(|(master, answer)| keys.joined(master, answer))
    }

    /// Gets the cluster's keys, for a master. The claim must be on its disk by now.
    pub async fn master_keys(
        &self,
        applicant: &Applicant,
        claim: &Claim,
    ) -> Result<(SocketAddr, MasterKeys), JoinError> {
        self.in_turn(|master| self.master_keys_at(master, applicant, claim).boxed()).await
    }

    /// Gets what this node's roles need of Ceph's keys. `is_initialized` says that it has seen a quorum of Ceph's monitors.
    pub async fn ceph_keys(
        &self,
        applicant: &Applicant,
        is_initialized: bool,
    ) -> Result<(SocketAddr, Handed), JoinError> {
        self.in_turn(|master| self.ceph_keys_at(master, applicant, is_initialized).boxed()).await
    }

    /// Reports how this node is, before it has joined.
    pub async fn report(&self, applicant: &Applicant, status: &Value) -> Result<(), JoinError> {
        let status = status.to_string();
        self.in_turn(|master| self.report_at(master, applicant, &status).boxed()).await.map(drop)
    }

    /// The answer of the first master that gives one; those that can let nodes in are asked before the others.
    async fn in_turn<'a, T>(
        &self,
        ask: impl Fn(SocketAddr) -> BoxFuture<'a, Result<T, JoinError>>,
    ) -> Result<(SocketAddr, T), JoinError> {
        let (best, _) = self.hello(None).await?;
        let mut order = self.reached.order(&self.masters);
        order.sort_by_key(|master| *master != best);
        let mut round = self.reached.round();
        for master in order {
            let mut outcome = ask(master).await;
            if outcome.as_ref().is_err_and(JoinError::is_stale_challenge) {
                // The master was restarted between the two requests, or this machine was asleep.
                outcome = ask(master).await;
            }
            match outcome {
                Ok(answer) => return Ok((master, round.reached(master, answer))),
                Err(error) => round.failed(master, error)?,
            }
        }
        Err(round.verdict())
    }

    async fn hello_of(&self, master: SocketAddr, machine_id: Option<&str>) -> Result<Hello, JoinError> {
        let query = HelloQuery { machine_id: machine_id.map(str::to_owned) };
        get(self.http(master).await?, master, wire::HELLO, &query).await
    }

    async fn join_at(
        &self,
        master: SocketAddr,
        applicant: &Applicant,
        keys: &JoinKeys,
    ) -> Result<JoinAnswer, JoinError> {
        let challenge = self.challenge_of(master, applicant).await?;
        let mut request = applicant.request(challenge, keys.csrs());
        applicant.credential.with_secret(|secret| request.prove(secret));
        call::post(self.http(master).await?, master, wire::JOIN, &request).await
    }

    async fn master_keys_at(
        &self,
        master: SocketAddr,
        applicant: &Applicant,
        claim: &Claim,
    ) -> Result<MasterKeys, JoinError> {
        let challenge = self.challenge_of(master, applicant).await?;
        let mut request = applicant.master_request(challenge, claim);
        applicant.credential.with_secret(|secret| request.prove(secret));
        let MasterAnswer { envelope } = call::post(self.http(master).await?, master, wire::MASTER, &request).await?;
        let opened = applicant.credential.with_secret(|secret| MasterKeys::open(&envelope, secret, &request));
        opened.map_err(|_| JoinError::Envelope { master })
    }

    async fn ceph_keys_at(
        &self,
        master: SocketAddr,
        applicant: &Applicant,
        is_initialized: bool,
    ) -> Result<Handed, JoinError> {
        let challenge = self.challenge_of(master, applicant).await?;
        let mut request = applicant.ceph_request(challenge, is_initialized);
        applicant.credential.with_secret(|secret| request.prove(secret));
        let CephAnswer { envelope } = call::post(self.http(master).await?, master, wire::CEPH, &request).await?;
        let opened = applicant.credential.with_secret(|secret| ceph_keys::open(&envelope, secret, &request));
        opened.map_err(|_| JoinError::Envelope { master })
    }

    async fn report_at(&self, master: SocketAddr, applicant: &Applicant, status: &str) -> Result<(), JoinError> {
        let challenge = self.challenge_of(master, applicant).await?;
        let mut report = applicant.report(challenge, status.to_owned());
        applicant.credential.with_secret(|secret| report.prove(secret));
        call::post(self.http(master).await?, master, wire::EARLY_REPORT, &report).await
    }

    async fn challenge_of(&self, master: SocketAddr, applicant: &Applicant) -> Result<String, JoinError> {
        let hello = self.hello_of(master, None).await?;
        if hello.cluster != applicant.cluster {
            let expected = applicant.cluster.clone();
            return Err(JoinError::WrongCluster { master, found: hello.cluster, expected });
        }
        Ok(hello.challenge)
    }

    /// The HTTP client, made once the CA is known.
    async fn http(&self, master: SocketAddr) -> Result<&reqwest::Client, JoinError> {
        let make = || async {
            let ca = match &self.trust {
                Trust::Ca(pem) => pem.clone(),
                Trust::Token(token) => introduction::ca(master, token).await?,
            };
            let shows = self.shows.as_ref().map(|(certificate, key)| (certificate.as_str(), key.expose_secret()));
            Ok(tls::client(&ca, shows)?)
        };
        self.http.get_or_try_init(make).await
    }
}

impl JoinError {
    fn is_stale_challenge(&self) -> bool {
        matches!(self, Self::Refused(refused) if refused.diagnostic.code == codes::CHALLENGE && refused.retryable)
    }
}

/// The bytes a token's proofs are made with.
fn token_secret(token: &Token) -> &[u8] {
    token.secret.expose_secret().as_bytes()
}
