//! `blackstart ignition`: configs for machines that are set up at their first boot. One file per command.

mod kubeconfig;
mod render;
mod serve;
mod validate;

use crate::{
    cli::IgnitionCommand,
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, command: &IgnitionCommand) -> Result<(), Ended> {
    match command {
        IgnitionCommand::Render(options) => render::run(context, options),
        IgnitionCommand::Serve(options) => serve::run(context, options),
        IgnitionCommand::Validate { files } => validate::run(context, files),
    }
}
