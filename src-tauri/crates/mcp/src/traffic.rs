//! Limits what a process may send.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use crate::nesting::shortened;
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
            Some(McpError::TooMuch {
                megabytes: megabytes(self.message_most),
                one_message: true,
            })
        } else if self.received.load(Ordering::Relaxed) > self.most {
            Some(McpError::TooMuch {
                megabytes: megabytes(self.most),
                one_message: false,
            })
        } else {
            None
        }
    }
}

/// Reads messages, one per line, and ends with an error when a limit is exceeded. Shortens messages
/// that are nested too deeply.
pub(crate) struct Bounded<R> {
    reader: R,
    traffic: Arc<Traffic>,
    /// The bytes since the last line break.
    line: Vec<u8>,
    /// Complete lines that the caller has not read yet.
    ready: Vec<u8>,
    /// Bytes of `ready` that the caller has read.
    taken: usize,
}

/// Bytes of one read.
const PIECE: usize = 16 << 10;

impl<R> Bounded<R> {
    pub(crate) fn new(reader: R, traffic: Arc<Traffic>) -> Self {
        Self {
            reader,
            traffic,
            line: Vec::new(),
            ready: Vec::new(),
            taken: 0,
        }
    }

    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.ready.extend_from_slice(&shortened(&self.line));
                self.line.clear();
            }
        }
        let received = self
            .traffic
            .received
            .fetch_add(bytes.len(), Ordering::Relaxed)
            + bytes.len();
        let is_endless = self.line.len() > self.traffic.message_most;
        if is_endless {
            self.traffic.message_exceeded.store(true, Ordering::Relaxed);
        }
        if is_endless || received > self.traffic.most {
            Err(io::Error::other("the server sent too much"))
        } else {
            Ok(())
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.taken == self.ready.len() {
            (self.taken, self.ready) = (0, Vec::new());
            let mut piece = [0; PIECE];
            let mut read = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut self.reader).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                // The last line may lack its line break.
                self.ready = std::mem::take(&mut self.line);
                if self.ready.is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
            self.count(read.filled())?;
        }
        let more = &self.ready[self.taken..];
        let length = more.len().min(buf.remaining());
        buf.put_slice(&more[..length]);
        self.taken += length;
        Poll::Ready(Ok(()))
    }
}
