//! `blackstart prep pod`: what a pod of the `DaemonSet` does. It runs until it is stopped.

use std::{io, sync::Arc};

use ::prep::{Prep, pod};
use tracing_subscriber::EnvFilter;

use crate::{
    Failure, codes,
    context::{Context, Ended, block_on},
    output::print,
};

pub(super) fn run(_context: &Context, prep: Prep) -> Result<(), Ended> {
    let filter = EnvFilter::try_from_env("BLACKSTART_LOG").unwrap_or_else(|_| EnvFilter::new(pod::LOG_FILTER));
    // A log viewer has a clock, and colours make it hard to search.
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_env_filter(filter);
    log.without_time().with_ansi(false).with_target(false).init();
    tls::install_provider();
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(codes::NO_RUNTIME, format!("cannot find this program: {error}")))?;
    let say = Arc::new(|line: &str| {
        // A log without a reader is no reason to stop the work.
        let _ = print(format!("{line}\n").as_bytes());
    });
    block_on(pod::run(prep, &program, say))??;
    Ok(())
}
