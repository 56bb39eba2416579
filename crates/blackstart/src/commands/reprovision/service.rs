//! What runs until it is stopped: on the node, in the pod of the `DaemonSet`, in the pod of the Deployment.

use std::{io, path::Path, sync::Arc};

use operations::slots::Limit;
use tracing_subscriber::EnvFilter;
use upgrades::controller;

use crate::{
    Failure, codes,
    context::{Context, Ended, block_on},
    output::print,
};

pub(super) fn node(context: &Context, node: &str, kubeconfig: Option<&Path>, boot: bool) -> Result<(), Ended> {
    log(::reprovision::door::LOG_FILTER);
    let options = ::reprovision::node::Options { node: node.to_owned(), kubeconfig: kubeconfig.map(Path::to_path_buf) };
    block_on(async {
        if boot {
            ::reprovision::node::boot(&context.host, &options).await
        } else {
            ::reprovision::node::follow(&context.host, &options).await
        }
    })??;
    Ok(())
}

pub(super) fn pod(node: &str) -> Result<(), Ended> {
    log(::reprovision::door::LOG_FILTER);
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(codes::NO_RUNTIME, format!("cannot find this program: {error}")))?;
    let say = Arc::new(|line: &str| {
        // A log without a reader is no reason to stop the work.
        let _ = print(format!("{line}\n").as_bytes());
    });
    block_on(::reprovision::door::run(node, &program, say))??;
    Ok(())
}

pub(super) fn controller(identity: &str, max_unavailable: &str) -> Result<(), Ended> {
    log(controller::LOG_FILTER);
    let Some(max_unavailable) = Limit::parse(max_unavailable) else {
        let message = format!("`{max_unavailable}` is neither a number from 1 nor a percentage");
        return Err(Failure::usage(codes::BAD_LIMIT, message).into());
    };
    let options = controller::Options { identity: identity.to_owned(), max_unavailable, commits: false };
    block_on(controller::run(options))??;
    Ok(())
}

/// A log viewer has a clock, and colours make it hard to search.
fn log(filter: &str) {
    let filter = EnvFilter::try_from_env("BLACKSTART_LOG").unwrap_or_else(|_| EnvFilter::new(filter));
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_env_filter(filter);
    log.without_time().with_ansi(false).with_target(false).init();
    tls::install_provider();
}
