//! `blackstart operator`: what the pod of the Deployment `cluster-version-operator` does. It runs until it is stopped.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::context::{Ended, block_on};

pub(super) fn run(masters: usize, hosts: &[(String, String)]) -> Result<(), Ended> {
    let filter = EnvFilter::try_from_env("BLACKSTART_LOG").unwrap_or_else(|_| EnvFilter::new(operators::LOG_FILTER));
    // `kubectl logs --timestamps` has the time, and colours make a log hard to search.
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_env_filter(filter);
    log.without_time().with_ansi(false).with_target(false).init();
    tls::install_provider();
    block_on(operators::run(masters, hosts))??;
    Ok(())
}
