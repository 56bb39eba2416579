//! `blackstart node install`: everything that makes a machine a node at its next boot.

use std::path::Path;

use ::host::Cmd;
use playbooks::cluster::{self, Installation};

use crate::{
    Failure, codes,
    context::{Context, Ended, block_on},
};

/// Our units, in the order in which they are started by hand.
const UNITS: [&str; 3] = ["cluster-detect.service", "blackstart-agent.service", "cluster-bootstrap.service"];

pub(in crate::commands) fn install(
    context: &Context,
    bundle: Option<&Path>,
    config: Option<&Path>,
    now: bool,
) -> Result<(), Ended> {
    if let Some(dir) = config {
        context.cluster(Some(dir))?; // prints every problem with its place
    }
    if now && !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "--now needs a machine booted by systemd").into());
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(codes::NO_RUNTIME, format!("cannot find this program: {error}")))?;
    let installation = Installation { program: Some(&program), bundle, config, layout: &context.layout };
    let playbook = cluster::install(&installation)?;
    let report = context.run_in(&context.layout.state_dir, "node", &playbook)?;
    if context.host.is_live && !report.changed.is_empty() {
        run(context, &["daemon-reload"])?;
    }
    if now {
        // The bootstrap waits for other machines; an installer does not have to. A machine that is a node already is
        // looked at again, with what was installed now.
        let start: Vec<&str> = ["restart", "--no-block"].into_iter().chain(UNITS).collect();
        run(context, &start)?;
    }
    if context.out.is_json() {
        return Ok(());
    }
    let text = match (report.changed.is_empty(), now) {
        (_, true) => "installed and started; `journalctl -fu cluster-bootstrap` shows how far it is\n",
        (true, false) => "everything was installed already\n",
        (false, false) => "installed; the machine becomes a node at its next boot\n",
    };
    Ok(context.out.text(text)?)
}

fn run(context: &Context, arguments: &[&str]) -> Result<(), Ended> {
    let command = Cmd::new("systemctl").args(arguments.iter().copied());
    block_on(context.host.commands.run(&command))??;
    Ok(())
}
