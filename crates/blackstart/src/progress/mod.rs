//! How a run is shown: live on a terminal, plain lines elsewhere, JSON lines for scripts. All three only listen to the
//! engine's events.

mod busy;
mod json;
mod labels;
mod live;
mod plain;

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

pub(crate) use busy::{busy, busy_counting};
use engine::Sink;
pub(crate) use labels::{between, duration};

use crate::Output;

/// The form that fits where the output goes.
pub(crate) fn sink(out: Output) -> Arc<dyn Sink> {
    if out.is_json() {
        Arc::new(json::Json)
    } else if io::stderr().is_terminal() {
        Arc::new(live::Live::new(out.color_errors()))
    } else {
        Arc::new(plain::Plain::default())
    }
}
