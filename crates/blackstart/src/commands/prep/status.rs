//! `blackstart prep status`: how far every node is, as the Nodes themselves say.

mod overview;
mod row;
mod same_name;

use std::{collections::BTreeMap, path::Path, time::Duration};

use ::prep::{Prep, Reported, names};
use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::{apps::v1::DaemonSet, core::v1::Node},
    kube::{Api, api::ListParams},
};
use operations::readiness::Readiness;
use tokio::time::timeout;

use self::{overview::Overview, row::Row};
use crate::{
    Exit, Failure,
    commands::kubeconfig,
    context::{Context, Ended, block_on},
    progress::busy,
};

/// Nodes are large; so many at once.
const PAGE: u32 = 200;
/// Silence has to end somewhere.
const LIMIT: Duration = Duration::from_secs(30);

pub(super) fn run(context: &Context, kubeconfig: Option<&Path>) -> Result<(), Ended> {
    let kubeconfig = kubeconfig::find(context, kubeconfig)?;
    let overview = busy(context.out, "asking the cluster", || block_on(ask(context, &kubeconfig)))??;
    if context.out.is_json() {
        context.out.json(&overview)?;
    } else {
        context.out.text(&overview.text(context.out.color()))?;
    }
    if overview.is_fine() { Ok(()) } else { Err(Ended::Reported(Exit::Failed)) }
}

async fn ask(context: &Context, kubeconfig: &str) -> Result<Overview, Failure> {
    tls::install_provider();
    let client = kubeapi::connect(kubeconfig).await?;
    let now = context.host.clock.now();
    let asked = timeout(LIMIT, async {
        let mut wanted = BTreeMap::new();
        for prep in Prep::ALL {
            wanted.insert(prep, is_deployed(&client, prep).await?);
        }
        Ok::<_, ApiError>(Overview::of(rows(&client).await?, &wanted, now))
    });
    let silent = |_| {
        let why = format!("no answer within {} s", LIMIT.as_secs());
        ApiError::Unreachable { doing: "list the nodes".to_owned(), why }
    };
    Ok(asked.await.map_err(silent)??)
}

/// Whether a node without a report should have one. A user who may not see that is not shown it as missing.
async fn is_deployed(client: &Client, prep: Prep) -> Result<bool, ApiError> {
    let sets: Api<DaemonSet> = Api::namespaced(client.clone(), names::NAMESPACE);
    match sets.get_metadata_opt(&names::daemon_set(prep)).await.map_err(ApiError::of("get the DaemonSets")) {
        Err(ApiError::Refused { status: 403, .. }) => Ok(false),
        found => Ok(found?.is_some()),
    }
}

async fn rows(client: &Client) -> Result<Vec<Row>, ApiError> {
    let nodes: Api<Node> = Api::all(client.clone());
    let mut page = ListParams::default().limit(PAGE);
    let mut rows = Vec::new();
    loop {
        let list = nodes.list(&page).await.map_err(ApiError::of("list the nodes"))?;
        rows.extend(list.items.into_iter().map(row));
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = ListParams::default().limit(PAGE).continue_token(&token),
            None => return Ok(rows),
        }
    }
}

fn row(node: Node) -> Row {
    let (labels, annotations) = (node.metadata.labels.as_ref(), node.metadata.annotations.as_ref());
    let reported = |prep| Reported::of(prep, labels, annotations);
    Row {
        iscsi: reported(Prep::Iscsi),
        gpu: reported(Prep::Gpu),
        answers: Readiness::of_node(&node).is_ready(),
        name: node.metadata.name.unwrap_or_default(),
    }
}
