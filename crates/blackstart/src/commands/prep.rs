//! `blackstart prep`: machines made ready for what runs on them, and how far the nodes of a cluster are.

mod image;
mod pod;
mod run;
mod status;
mod undo;

use ::prep::Prep;
use ::prep::playbook::{Goal, Task};

use crate::{
    cli::{PrepCommand, PrepName, PrepOptions},
    context::{Context, Ended},
};

pub(super) fn run(context: &Context, command: &PrepCommand) -> Result<(), Ended> {
    match command {
        PrepCommand::Iscsi { options, with_nfs } => {
            run::run(context, &task(options, Goal::Iscsi { with_nfs: *with_nfs }), options.dry_run)
        }
        PrepCommand::Gpu { options, even_without_gpu, add_non_free } => {
            let goal = Goal::Gpu { even_without_gpu: *even_without_gpu, add_non_free: *add_non_free };
            run::run(context, &task(options, goal), options.dry_run)
        }
        PrepCommand::Status { kubeconfig } => status::run(context, kubeconfig.as_deref()),
        PrepCommand::Undo { prep, dry_run, yes } => undo::run(context, name(*prep), *dry_run, *yes),
        PrepCommand::Image { to } => image::run(context, to),
        PrepCommand::Pod { prep } => pod::run(context, name(*prep)),
    }
}

fn name(typed: PrepName) -> Prep {
    match typed {
        PrepName::Iscsi => Prep::Iscsi,
        PrepName::Gpu => Prep::Gpu,
    }
}

/// A directory that was typed is the caller's: the ledger and apt need to know it by a path that stays.
fn task(options: &PrepOptions, goal: Goal) -> Task {
    // Without a current directory nothing relative can be read either, and reading it says so.
    let packages = options.packages.as_ref().map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.clone()));
    Task { packages, goal }
}
