//! Limits what a process may send.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use crate::{Limits, McpError};

/// Counts the bytes since the last request.
#[derive(Debug)]
pub(crate) struct Traffic {
    most: usize,
    message_most: usize,
    received: AtomicUsize,
    message_exceeded: AtomicBool,
}

impl Traffic {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            most: limits.traffic_bytes,
            message_most: limits.message_bytes,
            received: AtomicUsize::new(0),
            message_exceeded: AtomicBool::new(false),
        })
    }

    /// A request begins.
    pub(crate) fn restart(&self) {
        self.received.store(0, Ordering::Relaxed);
    }

    /// Why the reader has ended the connection, if it has.
    pub(crate) fn excess(&self) -> Option<McpError> {
        let megabytes = |bytes: usize| bytes >> 20;
        if self.message_exceeded.load(Ordering::Relaxed) {
            Some(McpError::TooMuch { megabytes: megabytes(self.message_most), one_message: true })
        } else if self.received.load(Ordering::Relaxed) > self.most {
            Some(McpError::TooMuch { megabytes: megabytes(self.most), one_message: false })
        } else {
            None
        }
    }
}

/// Reads messages, one per line, and ends with an error when a limit is exceeded.
pub(crate) struct Bounded<R> {
    reader: R,
    traffic: Arc<Traffic>,
    /// Bytes since the last line break.
    line: usize,
}

impl<R> Bounded<R> {
    pub(crate) fn new(reader: R, traffic: Arc<Traffic>) -> Self {
        Self { reader, traffic, line: 0 }
    }

    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.line = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => bytes.len() - end - 1,
            None => self.line + bytes.len(),
        };
        let received = self.traffic.received.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
        if self.line > self.traffic.message_most {
            self.traffic.message_exceeded.store(true, Ordering::Relaxed);
        }
        match self.line > self.traffic.message_most || received > self.traffic.most {
            true => Err(io::Error::other("the server sent too much")),
            false => Ok(()),
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(cx, buf))?;
        Poll::Ready(self.count(&buf.filled()[before..]))
    }
}
