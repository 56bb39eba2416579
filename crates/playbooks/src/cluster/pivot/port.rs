//! Whether a process still listens, for parts that are given up.

use std::{net::SocketAddr, time::Duration};

use engine::StepError;
use tokio::{
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

use crate::codes;

/// How long a machine may take to accept a connection to itself.
const LIMIT: Duration = Duration::from_secs(1);
/// The kubelet ends a static pod within seconds, and kills what hangs after 30.
const DEADLINE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(100);

/// Whether anything accepts connections there.
pub(super) async fn is_open(address: SocketAddr) -> bool {
    matches!(timeout(LIMIT, TcpStream::connect(address)).await, Ok(Ok(_)))
}

/// Waits until a process is gone whose manifest was removed.
pub(super) async fn until_closed(process: &str, address: SocketAddr) -> Result<(), StepError> {
    let until = Instant::now() + DEADLINE;
    while is_open(address).await {
        if Instant::now() > until {
            let seconds = DEADLINE.as_secs();
            let message = format!("{process} still listens at {address}, {seconds} s after its manifest was removed");
            return Err(StepError::new(codes::POD_STAYS, message).retryable());
        }
        sleep(PAUSE).await;
    }
    Ok(())
}
