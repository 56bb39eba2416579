//! What a long change says of itself while it is made.

use std::pin::pin;

use host::Host;
use tokio::sync::mpsc::unbounded_channel;

use crate::StepError;

/// Works with a host whose messages become events.
pub(super) async fn listening<T, F: Future<Output = Result<T, StepError>>>(
    host: &Host,
    work: impl FnOnce(Host) -> F,
    emit: impl Fn(String),
) -> Result<T, StepError> {
    let (listener, mut output) = unbounded_channel();
    let mut work = pin!(work(Host { listener: Some(listener), ..host.clone() }));
    let done = loop {
        tokio::select! {
            biased;
            Some(what) = output.recv() => emit(what),
            done = &mut work => break done,
        }
    };
    while let Ok(what) = output.try_recv() {
        emit(what);
    }
    done
}
