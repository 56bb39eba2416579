//! `blackstart agent`: what keeps running.

use std::io;

use agent::{Agent, Ca};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing_subscriber::EnvFilter;

use crate::context::{Context, Ended, block_on};

pub(super) fn run(context: &Context, name: Option<&str>) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let node = context.node(&cluster, name)?.clone();
    let filter = EnvFilter::try_from_env("BLACKSTART_LOG").unwrap_or_else(|_| EnvFilter::new(agent::LOG_FILTER));
    // The journal has its own clock, and colours make it hard to search.
    tracing_subscriber::fmt().with_writer(io::stderr).with_env_filter(filter).without_time().with_ansi(false).init();
    let paths = context.layout.clone();
    let host = context.host.clone();
    let (ca, cancel, holds) = (Ca::default(), CancellationToken::new(), TaskTracker::new());
    let agent = Agent { host, cluster, node, paths, ca, cancel, holds };
    block_on(agent::run(agent))??;
    Ok(())
}
