//! Whether a process still listens, for parts that are given up.

use std::{net::SocketAddr, time::Duration};

use tokio::{net::TcpStream, time::timeout};

const LIMIT: Duration = Duration::from_secs(1);

/// Whether anything accepts connections there.
pub(super) async fn is_open(address: SocketAddr) -> bool {
    matches!(timeout(LIMIT, TcpStream::connect(address)).await, Ok(Ok(_)))
}
