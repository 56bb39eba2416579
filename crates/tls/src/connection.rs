//! An accepted connection: ends when it is idle for too long, and then makes room for others.

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

use crate::crowd::Place;

/// A connection that is closed after a time without a byte in either direction.
#[derive(Debug)]
pub struct Connection<S = TlsStream<TcpStream>> {
    stream: S,
    patience: Duration,
    limit: Pin<Box<Sleep>>,
    _place: Option<Place>,
}

impl<S> Connection<S> {
    pub(crate) fn new(stream: S, place: Option<Place>, patience: Duration) -> Self {
        Self { stream, patience, limit: Box::pin(sleep(patience)), _place: place }
    }

    /// Passes progress on and counts it; without any, fails once the time is up.
    fn watched<T>(&mut self, cx: &mut Context<'_>, progress: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            let limit = Instant::now() + self.patience;
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
        let patience = Duration::from_millis(200);
        let (mut far, near) = duplex(64);
        let mut near = Connection::new(near, None, patience);
        let begun = Instant::now();
        for _ in 0..4 {
            tokio::time::sleep(patience / 2).await;
            far.write_all(b"x").await.unwrap();
            assert_eq!(near.read_u8().await.unwrap(), b'x');
        }
        assert!(begun.elapsed() > patience, "alive for longer than it may be idle");
        assert_eq!(near.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
