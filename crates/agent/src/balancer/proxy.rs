//! One client's connection: find a master for it, then copy bytes both ways until either end or the master goes.

use std::{io, sync::Arc, time::Duration};

use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::copy_bidirectional,
    net::TcpStream,
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};

use super::{
    backends::{Backends, Lease},
    health::Outcome,
    heard::Heard,
    seats::{Activity, Seat},
};

/// A client speaks first, and at once: its greeting is on the way before the connection is made.
const FIRST_WORD: Duration = Duration::from_secs(10);

/// Clients of the API that wait for events say something every thirty seconds. No live client is silent for so long.
const IDLE: Duration = Duration::from_hours(1);

/// How long a client is kept waiting while there is no master. Clients that are refused fall into a back-off that is
/// longer than most waits; those that are held start to work at once when a master appears.
const HOLD: Duration = Duration::from_secs(8);

/// A master on the same network answers a SYN in far less.
const CONNECT: Duration = Duration::from_secs(2);

/// Before masters that failed a moment ago are tried once more.
const PAUSE: Duration = Duration::from_millis(100);

/// Bytes that stay unacknowledged this long, and silence with as much keepalive, mean that the master is gone.
const SILENCE: Duration = Duration::from_secs(10);

/// Serves one client to its end, or until another client needs its place.
pub(super) async fn proxy(client: TcpStream, backends: Arc<Backends>, seat: Seat) {
    tokio::select! {
        () = serve(client, backends, &seat.activity) => {}
        () = seat.needed.cancelled() => tracing::debug!("closed an idle connection to make room for another"),
    }
}

async fn serve(client: TcpStream, backends: Arc<Backends>, activity: &Arc<Activity>) {
    if !matches!(timeout(FIRST_WORD, client.peek(&mut [0])).await, Ok(Ok(1..))) {
        tracing::debug!("a client left, or sent nothing");
        return;
    }
    let Some((mut master, lease)) = find(&backends).await else {
        tracing::debug!("a client was held until its time was over: no master is healthy");
        return;
    };
    // Without it an interactive request waits for the acknowledgement of the one before.
    if let Err(error) = client.set_nodelay(true).and_then(|()| prepare(&master)) {
        tracing::debug!(%error, "a connection could not be prepared");
        return;
    }
    let mut client = Heard { stream: client, activity: Arc::clone(activity) };
    tokio::select! {
        () = lease.lost.cancelled() => tracing::debug!(master = %lease.address, "a connection was closed: its master is down"),
        () = until_idle(activity) => tracing::debug!(master = %lease.address, "closed an idle connection"),
        end = copy_bidirectional(&mut client, &mut master) => {
            if let Err(error) = end {
                tracing::debug!(master = %lease.address, %error, "a connection broke");
            }
        }
    }
}

/// Returns when nothing has passed for too long.
async fn until_idle(activity: &Activity) {
    while activity.last().elapsed() < IDLE {
        sleep_until(activity.last() + IDLE).await;
    }
}

/// A connection to a healthy master: the best one, then the others, then whichever appears.
async fn find(backends: &Arc<Backends>) -> Option<(TcpStream, Lease)> {
    let deadline = Instant::now() + HOLD;
    let mut usable = backends.usable();
    let mut tried = Vec::new();
    while Instant::now() < deadline {
        match backends.lease(&tried) {
            Some(lease) => match timeout(CONNECT, TcpStream::connect(lease.address)).await {
                Ok(Ok(master)) => return Some((master, lease)),
                failed => {
                    let refused = matches!(failed, Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused);
                    backends.seen(lease.index, if refused { Outcome::Refused } else { Outcome::Unsure });
                    tried.push(lease.index);
                }
            },
            None if tried.is_empty() => {
                timeout_at(deadline, usable.wait_for(|&usable| usable > 0)).await.ok()?.ok()?;
            }
            None => {
                tried.clear();
                sleep(PAUSE).await;
            }
        }
    }
    None
}

fn prepare(master: &TcpStream) -> io::Result<()> {
    master.set_nodelay(true)?;
    let socket = SockRef::from(master);
    let keepalive = TcpKeepalive::new().with_time(SILENCE / 2).with_interval(SILENCE / 10).with_retries(5);
    socket.set_tcp_keepalive(&keepalive)?;
    socket.set_tcp_user_timeout(Some(SILENCE))
}
