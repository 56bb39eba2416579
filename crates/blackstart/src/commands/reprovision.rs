//! `blackstart reprovision`: nodes worked on in place.

mod preflight;
mod service;
mod start;
mod status;

use std::{collections::BTreeMap, path::Path, time::Duration};

use kubeapi::{ApiError, Client};
use tokio::time::timeout;
use upgrades::manifests;

use crate::{
    Failure,
    cli::ReprovisionCommand,
    codes,
    commands::kubeconfig,
    context::{Context, Ended, block_on},
    output::print,
    progress::busy,
};

/// Silence has to end somewhere.
const LIMIT: Duration = Duration::from_secs(30);

pub(super) fn run(context: &Context, command: &ReprovisionCommand) -> Result<(), Ended> {
    match command {
        ReprovisionCommand::Start { node, secret, kubeconfig } => {
            start::run(context, node, secret.as_deref(), kubeconfig.as_deref())
        }
        ReprovisionCommand::Status { node, kubeconfig } => status::run(context, node.as_deref(), kubeconfig.as_deref()),
        ReprovisionCommand::Abort { node, kubeconfig } => start::abort(context, node, kubeconfig.as_deref()),
        ReprovisionCommand::Preflight { driver, secret } => preflight::run(context, *driver, secret),
        ReprovisionCommand::Manifests { agents } => {
            let manifests = if *agents { manifests::by_agents() } else { manifests::by_pods() };
            Ok(print(manifests.as_bytes())?)
        }
        ReprovisionCommand::Node { node, kubeconfig, boot } => {
            service::node(context, node, kubeconfig.as_deref(), *boot)
        }
        ReprovisionCommand::Pod { node } => service::pod(node),
        ReprovisionCommand::Controller { identity, max_unavailable } => service::controller(identity, max_unavailable),
    }
}

/// The keys of a Secret: a file for each.
fn keys(dir: &Path) -> Result<BTreeMap<String, String>, Failure> {
    ::reprovision::read_keys(dir).map_err(|error| {
        Failure::new(codes::NO_SECRET_FILES, format!("cannot read the keys in {}: {error}", dir.display()))
    })
}

/// Asks the cluster, and gives up in time.
fn ask<T>(
    context: &Context,
    given: Option<&Path>,
    question: impl AsyncFnOnce(Client) -> Result<T, ApiError>,
) -> Result<T, Ended> {
    let kubeconfig = kubeconfig::find(context, given)?;
    let asked = busy(context.out, "asking the cluster", || {
        block_on(async {
            tls::install_provider();
            let client = kubeapi::connect(&kubeconfig).await?;
            timeout(LIMIT, question(client)).await.unwrap_or_else(|_| {
                let why = format!("no answer within {} s", LIMIT.as_secs());
                Err(ApiError::Unreachable { doing: "ask the cluster".to_owned(), why })
            })
        })
    });
    Ok(asked?.map_err(Failure::from)?)
}
