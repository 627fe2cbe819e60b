//! A client's connection, and the moment when the client closes it.
//!
//! Hyper does not read while it writes a response, so that a request is executed even if its client
//! is gone. A model that writes for nobody must stop nevertheless. This watches the socket next to
//! hyper.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// Pause between two looks at a socket with unread data.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection that hyper and the watcher share.
pub(crate) struct PeerStream(Arc<TcpStream>);

/// Watches a connection without reading from it.
pub(crate) struct PeerWatch(Arc<TcpStream>);

/// Splits a connection into the part for hyper and the watcher. Small writes are sent at once:
/// every piece of a reply is one.
pub(crate) fn watched(stream: TcpStream) -> (PeerStream, PeerWatch) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "small writes may be delayed");
    }
    let stream = Arc::new(stream);
    (PeerStream(Arc::clone(&stream)), PeerWatch(stream))
}

impl PeerWatch {
    /// Resolves when the client has closed its side, or the connection has failed.
    pub(crate) async fn closed(&self) {
        while let Ok(ready) = self.0.ready(Interest::READABLE).await {
            if ready.is_read_closed() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl AsyncRead for PeerStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read(buffer.initialize_unfilled()) {
                Ok(count) => {
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl PeerStream {
    fn poll_with(
        &self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match write(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }
}

impl AsyncWrite for PeerStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_with(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_with(cx, |stream| stream.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// The socket is closed when both parts are dropped.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
