//! `blackstart bootstrap`: a temporary bootstrap node, and how far the masters are in taking over. One file per command.

mod checklist;
mod follow;
mod remove;
mod status;
mod wait;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::ConfigMap,
    kube::{Api, ResourceExt},
};
use nodekit::{
    milestones::{self, COMPLETE, Progress},
    run_record::RunRecord,
};
use render::objects::{BOOTSTRAP_NAME, BOOTSTRAP_NAMESPACE};
use spec::Role;

use crate::{
    Failure,
    cli::{BootstrapCommand, BootstrapFrom as From},
    codes,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, command: &BootstrapCommand) -> Result<(), Ended> {
    match command {
        BootstrapCommand::Status { checklist, from } => status::run(context, *checklist, from),
        BootstrapCommand::Wait { what, timeout, from } => wait::run(context, *what, timeout.as_deref(), from),
        BootstrapCommand::Follow => follow::run(context),
        BootstrapCommand::Remove { dry_run, yes } => remove::run(context, *dry_run, *yes),
    }
}

/// Who knows how far it is.
enum Source {
    /// This machine is the bootstrap node.
    Own,
    /// The API, by this kubeconfig.
    Api(PathBuf),
}

impl Source {
    fn find(context: &Context, from: &From) -> Result<Self, Ended> {
        if let Some(kubeconfig) = &from.kubeconfig {
            // One that is given is not waited for; a master's own appears while it joins.
            read(kubeconfig)?;
            return Ok(Self::Api(kubeconfig.clone()));
        }
        let cluster = context.cluster(None)?;
        let Some(bootstrap) = cluster.bootstrap_node() else {
            return Err(
                Failure::usage(codes::NO_BOOTSTRAP_NODE, "cluster.yaml has no node of the role `bootstrap`").into()
            );
        };
        let node = context.node(&cluster, None)?;
        if node.name == bootstrap.name {
            return Ok(Self::Own);
        }
        if node.has(Role::Master) {
            return Ok(Self::Api(context.real_path(&context.layout.kubernetes_dir.join("super-admin.conf"))));
        }
        let message = format!("`{}` is neither the bootstrap node nor a master", node.name);
        Err(Failure::usage(codes::ONLY_ON_MASTERS, message).into())
    }

    async fn progress(&self, context: &Context) -> Result<Vec<Progress>, Failure> {
        match self {
            Self::Own => Ok(milestones::progress(&records(context)?)),
            Self::Api(kubeconfig) => {
                let text = read(kubeconfig)?;
                tls::install_provider();
                published(kubeapi::connect_with_short_timeout(&text).await?).await
            }
        }
    }
}

fn read(kubeconfig: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(kubeconfig).map_err(|error| {
        let message = format!("cannot read {}: {error}", kubeconfig.display());
        Failure::new(kubeapi::codes::KUBECONFIG, message)
    })
}

/// The runs of this machine, the newest first.
fn records(context: &Context) -> Result<Vec<RunRecord>, Failure> {
    Ok(RunRecord::all(&*context.host.disk, &context.layout.state_dir)?)
}

/// What the bootstrap node has published in the API. That it is complete has no time of its own but that of the last change.
pub(super) async fn published(client: Client) -> Result<Vec<Progress>, Failure> {
    let configs = Api::<ConfigMap>::namespaced(client, BOOTSTRAP_NAMESPACE);
    let found = configs.get_opt(BOOTSTRAP_NAME).await.map_err(ApiError::of("see how far the bootstrap is"))?;
    let data = found.as_ref().and_then(|found| found.data.clone()).unwrap_or_default();
    let mut progress = milestones::published(&data);
    if is_complete(&data)
        && let Some(last) = progress.iter_mut().find(|one| one.milestone.id == COMPLETE)
    {
        let changes = found.as_ref().map(ResourceExt::managed_fields).into_iter().flatten();
        last.reached = changes.filter_map(|change| change.time.as_ref()).map(|time| time.0).max();
    }
    Ok(progress)
}

fn is_complete(data: &BTreeMap<String, String>) -> bool {
    data.get("status").is_some_and(|status| status == "complete")
}
