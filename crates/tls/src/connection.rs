//! An accepted connection: ends when it is idle for too long, or its client is not believed any more, and then makes room
//! for others.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, sleep},
};
use tokio_rustls::server::TlsStream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::connection_limit::Slot;

/// A connection that is closed after a time without a byte in either direction, or from outside.
#[derive(Debug)]
pub struct Connection<S = TlsStream<TcpStream>> {
    stream: S,
    deadline: Duration,
    limit: Pin<Box<Sleep>>,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
    speaks_h2: bool,
    _slot: Option<Slot>,
}

impl<S> Connection<S> {
    /// Closed with its slot, where it has one, and with `closed`.
    pub(crate) fn new(
        stream: S,
        slot: Option<Slot>,
        deadline: Duration,
        closed: CancellationToken,
        speaks_h2: bool,
    ) -> Self {
        let closed = slot.as_ref().map_or(closed, |slot| slot.over().clone());
        let (limit, closed) = (Box::pin(sleep(deadline)), Box::pin(closed.cancelled_owned()));
        Self { stream, deadline, limit, closed, speaks_h2, _slot: slot }
    }

    /// Whether both sides have agreed on HTTP/2.
    pub fn speaks_h2(&self) -> bool {
        self.speaks_h2
    }

    /// Passes progress on and counts it; without any, fails once the time is up. Fails in any case once it is closed.
    fn watched<T>(&mut self, cx: &mut Context<'_>, progress: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if self.closed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        if progress.is_ready() {
            let limit = Instant::now() + self.deadline;
            self.limit.as_mut().reset(limit);
            return progress;
        }
        self.limit.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.watched(cx, progress)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watched(cx, progress)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn ends_when_idle_and_not_while_there_is_traffic() {
        let deadline = Duration::from_millis(200);
        let (mut far, near) = duplex(64);
        let mut near = Connection::new(near, None, deadline, CancellationToken::new(), false);
        let begun = Instant::now();
        for _ in 0..4 {
            tokio::time::sleep(deadline / 2).await;
            far.write_all(b"x").await.unwrap();
            assert_eq!(near.read_u8().await.unwrap(), b'x');
        }
        assert!(begun.elapsed() > deadline, "alive for longer than it may be idle");
        assert_eq!(near.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn ends_when_it_is_closed_also_while_there_is_traffic() {
        let (mut far, near) = duplex(64);
        let closed = CancellationToken::new();
        let mut near = Connection::new(near, None, Duration::from_mins(1), closed.clone(), false);
        far.write_all(b"xy").await.unwrap();
        assert_eq!(near.read_u8().await.unwrap(), b'x');
        closed.cancel();
        assert_eq!(near.read_u8().await.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }
}
