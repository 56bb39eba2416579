//! `blackstart reprovision`: nodes worked on in place.

mod service;

use crate::{
    cli::ReprovisionCommand,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, command: &ReprovisionCommand) -> Result<(), Ended> {
    match command {
        ReprovisionCommand::Node { node, kubeconfig, boot } => {
            service::node(context, node, kubeconfig.as_deref(), *boot)
        }
        ReprovisionCommand::Pod { node } => service::pod(node),
        ReprovisionCommand::Controller { identity, max_unavailable } => service::controller(identity, max_unavailable),
    }
}
