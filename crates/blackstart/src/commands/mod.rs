//! One file per command. Each takes what was typed and ends with `Ok` or with how it ended instead.

mod agent;
mod backup;
mod bootstrap;
mod boxes;
mod bundle;
mod ceph;
mod check;
mod config;
mod diagnose;
mod etcd;
mod explain;
mod gather;
mod generate;
mod ignition;
mod kubeconfig;
mod lab;
mod line;
mod meter;
mod node;
mod operator;
mod pki;
mod plan;
mod prep;
mod reprovision;
mod schema;
mod token;
mod watch;

use std::process::ExitCode;

use crate::{
    Exit, Failure,
    cli::{Cli, Command, ConfigCommand, NodeCommand, PkiCommand},
    codes,
    context::{Context, Ended},
};

/// Runs what was typed and says how it ended.
pub fn run(cli: &Cli) -> ExitCode {
    let context = Context::new(&cli.global);
    let exit = match dispatch(&context, &cli.command) {
        Ok(()) => Exit::Done,
        Err(Ended::Reported(exit)) => exit,
        Err(Ended::Failure(failure)) => {
            context.out.failure(&failure);
            failure.exit
        }
    };
    ExitCode::from(exit.code())
}

fn dispatch(context: &Context, command: &Command) -> Result<(), Ended> {
    let is_drawn = matches!(command, Command::Node(NodeCommand::Timeline { list: false, .. }));
    if context.out.is_svg() && !is_drawn {
        return Err(Failure::usage(codes::NO_PICTURE, "only `blackstart node timeline` is drawn as a picture").into());
    }
    match command {
        Command::Check { dir } => check::run(context, dir.as_deref()),
        Command::Plan { dir, node, verbose } => plan::run(context, dir.as_deref(), node.as_deref(), *verbose),
        Command::Node(NodeCommand::Detect { node }) => node::detect(context, node.as_deref()),
        Command::Node(NodeCommand::Role { node }) => node::role(context, node.as_deref()),
        Command::Node(NodeCommand::Up(options)) => node::up(context, options),
        Command::Node(NodeCommand::Install { bundle, config, now }) => {
            node::install(context, bundle.as_deref(), config.as_deref(), *now)
        }
        Command::Node(NodeCommand::Preflight { node, list, skip }) => {
            node::preflight(context, node.as_deref(), *list, skip)
        }
        Command::Node(NodeCommand::Status { node }) => node::status(context, node.as_deref()),
        Command::Node(NodeCommand::Timeline { run, list }) => node::timeline(context, run.as_deref(), *list),
        Command::Node(NodeCommand::Reset(options)) => node::reset(context, options),
        Command::Node(NodeCommand::Remove(options)) => node::remove(context, options),
        Command::Node(NodeCommand::Rearm { name }) => node::rearm(context, name),
        Command::Watch(options) => watch::run(context, options),
        Command::Diagnose { node, list } => diagnose::run(context, node.as_deref(), *list),
        Command::Gather { to, lab } => gather::run(context, to.as_deref(), lab.as_deref()),
        Command::Agent { node } => agent::run(context, node.as_deref()),
        Command::Operator { masters, hosts } => operator::run(*masters, hosts),
        Command::Config(ConfigCommand::Seal(options)) => config::seal(context, options),
        Command::Config(ConfigCommand::Revoke(options)) => config::revoke(context, options),
        Command::Ignition(command) => ignition::run(context, command),
        Command::Token(command) => token::run(context, command),
        Command::Pki(PkiCommand::Init { node }) => pki::init(context, node.as_deref()),
        Command::Pki(PkiCommand::Show) => pki::show(context),
        Command::Pki(PkiCommand::Renew { name, all, node, dry_run, yes }) => {
            let ask = pki::Ask { dry_run: *dry_run, yes: *yes };
            pki::renew(context, pki::which(name.as_deref(), *all), node.as_deref(), ask)
        }
        Command::Pki(PkiCommand::Rotate { subjects, all, stop_after, yes }) => {
            pki::rotate(context, &pki::Asked { subjects, all: *all, stop_after: *stop_after, yes: *yes })
        }
        Command::Etcd(command) => etcd::run(context, command),
        Command::Bootstrap(command) => bootstrap::run(context, command),
        Command::Ceph(command) => ceph::run(context, command),
        Command::Prep(command) => prep::run(context, command),
        Command::Reprovision(command) => reprovision::run(context, command),
        Command::Backup(command) => backup::run(context, command),
        Command::Lab(command) => lab::run(context, command),
        Command::Bundle(command) => bundle::run(context, command),
        Command::Schema { file } => schema::run(context, *file),
        Command::Explain { code } => explain::run(context, code.as_deref()),
        Command::Completions { shell } => generate::completions(*shell),
        Command::Man { dir } => generate::man(context, dir),
    }
}
