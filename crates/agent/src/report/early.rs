//! Reports of a node that has not joined: it proves itself as it will when it joins, and gets nothing for it.

use std::{convert::Infallible, time::Duration};

use join::{Applicant, Client, Credential, JoinError, Trust, seal::Sealed, wire::ClaimedRole};
use operations::outage::Outage;
use serde_json::json;
use spec::ports;
use tokio::time::sleep;

use super::{interval, status};
use crate::{Agent, AgentError};

/// After a refusal that will not go away by itself. Each counts as a failed attempt of this address on the master, and
/// must not use up those of the bootstrap, whose own refusal is the one that is read.
const AFTER_REFUSAL: Duration = Duration::from_mins(1);

/// Between two checks for something to prove oneself with.
const NOTHING: Duration = Duration::from_secs(5);

/// Reports until it is dropped.
pub(super) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let mut outage = Outage::new("report to the masters before this node has joined");
    loop {
        // Read again after each refusal: the right directory may have been brought.
        match credential(agent) {
            Ok(Some((credential, trust))) => {
                let Err(error) = report(agent, credential, trust, &mut outage).await?;
                outage.failed(&explain::chain(&error));
                sleep(AFTER_REFUSAL).await;
            }
            // The token may have been given to the bootstrap alone.
            Ok(None) => sleep(NOTHING).await,
            Err(error) => {
                outage.failed(&explain::chain(&error));
                sleep(AFTER_REFUSAL).await;
            }
        }
    }
}

/// Reports until it is refused for good.
async fn report(
    agent: &Agent,
    credential: Credential,
    trust: Trust,
    outage: &mut Outage,
) -> Result<Result<Infallible, JoinError>, AgentError> {
    let client = Client::new(agent.masters(ports::JOIN), trust);
    let applicant = Applicant {
        cluster: agent.cluster.name().to_owned(),
        node: agent.node.name.clone(),
        role: ClaimedRole::of(&agent.node),
        machine_id: None,
        credential,
    };
    loop {
        let status = status::check(agent, outage).await?;
        match client.report(&applicant, &json!(status)).await {
            Ok(()) => outage.over(),
            Err(error) if error.is_retryable() => outage.failed(&explain::chain(&error)),
            Err(error) => return Ok(Err(error)),
        }
        interval::until_changed_or_due(|| status::last_run(agent), &status.run).await;
    }
}

/// What this node proves itself with, and whom it believes.
fn credential(agent: &Agent) -> Result<Option<(Credential, Trust)>, join::seal::SealError> {
    if let Some(sealed) = Sealed::read(&*agent.host.disk, &agent.paths.config_dir)? {
        return Ok(Some((Credential::NodeSecret(sealed.secret), Trust::Ca(sealed.ca_pem))));
    }
    let embedded = agent.cluster.bootstrap().token.clone();
    Ok(embedded.map(|token| (Credential::Token(token.clone()), Trust::Token(token))))
}
