//! `blackstart node up`: the whole bootstrap of this machine.

use std::{io::Read, path::Path, sync::Arc};

use ::host::Surroundings;
use engine::Playbook;
use playbooks::{
    cluster::{self, Options},
    progress::ProgressFile,
};
use render::{Cgroup, Machine};
use spec::{Node, ValidatedCluster};

use crate::{
    Failure, codes,
    context::{Context, Ended},
};

pub(in crate::commands) fn up(
    context: &Context,
    name: Option<&str>,
    skip: &[String],
    token_file: Option<&Path>,
) -> Result<(), Ended> {
    if !context.host.is_live {
        return Err(Failure::usage(codes::NOT_LIVE, "this is not a machine that systemd has booted").into());
    }
    let progress = Arc::new(ProgressFile::new(&context.host.disk, &context.layout.state_dir));
    let prepared = prepare(context, name, skip, token_file).inspect_err(|ended| {
        let why = match ended {
            Ended::Failure(failure) => format!("{}: {}", failure.code, failure.message),
            Ended::Told(_) => "the configuration has errors; `blackstart check` shows them".to_owned(),
        };
        progress.never_began(&why, context.host.clock.now());
    })?;
    let Prepared { cluster, node, playbook } = &prepared;
    let report = context.run_telling(&context.layout.state_dir, &node.name, playbook, vec![progress])?;
    if context.out.is_json() {
        return Ok(());
    }
    let role = cluster.bootstrap_role(node);
    let text = if report.changed.is_empty() { "is a Ready node; nothing was changed" } else { "is a Ready node" };
    Ok(context.out.text(&format!("{} ({role}) {text}\n", node.name))?)
}

/// Everything that is known before the first step.
struct Prepared {
    cluster: Arc<ValidatedCluster>,
    node: Node,
    playbook: Playbook,
}

fn prepare(
    context: &Context,
    name: Option<&str>,
    skip: &[String],
    token_file: Option<&Path>,
) -> Result<Prepared, Ended> {
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, name)?;
    let token = token_file.map(read_token).transpose()?;
    let options = Options { skip: skip.to_vec(), token, ..options(context)? };
    let playbook = cluster::playbook(&cluster, node, &context.layout, &options)?;
    Ok(Prepared { node: node.clone(), cluster, playbook })
}

/// What the playbook has to know of the machine and its bundle.
pub(in crate::commands) fn options(context: &Context) -> Result<Options, Ended> {
    let surroundings = Surroundings::read(&*context.host.disk)?;
    let bundle = cluster::installed_bundle(&context.host)?;
    let image = |name: &str| bundle.as_ref().and_then(|bundle| bundle.image(name)).unwrap_or_default().to_owned();
    Ok(Options {
        machine: Machine {
            cgroup: if surroundings.cgroup_v2 { Cgroup::V2 } else { Cgroup::V1 },
            may_raise_limits: surroundings.may_raise_limits,
            may_size_conntrack: surroundings.may_set_conntrack,
            has_own_disk: surroundings.has_own_disk,
            resolv_conf: if surroundings.has_resolved {
                "/run/systemd/resolve/resolv.conf"
            } else {
                "/etc/resolv.conf"
            }
            .into(),
        },
        pause_image: image("pause"),
        dns_image: image("coredns"),
        skip: Vec::new(),
        token: None,
    })
}

fn read_token(path: &Path) -> Result<spec::Token, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::usage(codes::NO_TOKEN, format!("cannot read a token from {}: {error}", path.display()))
    };
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
    } else {
        text = std::fs::read_to_string(path).map_err(unreadable)?;
    }
    join::token::parse(&text).map_err(|error| Failure::usage(codes::NO_TOKEN, error.to_string()))
}
