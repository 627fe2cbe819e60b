//! Requests that arrive during a reply.

use worker::protocol::{Pixels, WorkerRequest};

use super::{GenerationSession, ReplyError};
use crate::engine;
use crate::inbox::{Arrived, Inbox, ReplyWriter};

impl GenerationSession<'_> {
    /// Answers requests that can be answered between two steps, and detects a cancel.
    pub(super) fn check_inbox(
        &mut self,
        id: u64,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<(), ReplyError> {
        loop {
            match inbox.arrived() {
                Arrived::Nothing => return Ok(()),
                arrived => drop(self.accept(id, arrived, inbox, replies)?),
            }
        }
    }

    /// Answers, queues or obeys one request. Returns the pixels that it brings.
    pub(super) fn accept(
        &mut self,
        id: u64,
        arrived: Arrived,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<Option<Pixels>, ReplyError> {
        let request = match arrived {
            Arrived::Nothing => return Ok(None),
            Arrived::End => return Err(ReplyError::Closed),
            Arrived::Request(request) => *request,
        };
        match request {
            WorkerRequest::Cancel { id: cancelled } if cancelled == id => {
                return Err(ReplyError::Cancelled);
            }
            WorkerRequest::Cancel { id: waiting } => {
                if inbox.unqueue(waiting) {
                    replies.send(&engine::cancelled_before_start(waiting))?;
                }
            }
            WorkerRequest::Shutdown => {
                inbox.queue_first(WorkerRequest::Shutdown);
                return Err(ReplyError::Cancelled);
            }
            WorkerRequest::Count { id, texts } => engine::count(self.vocab, id, &texts, replies)?,
            WorkerRequest::CountPictures { id, sizes } => {
                replies.send(&self.count_pictures(id, &sizes))?
            }
            WorkerRequest::Tokenize { id, texts } => {
                engine::tokenize(self.vocab, id, &texts, replies)?
            }
            WorkerRequest::Pixels(pixels) => return Ok(Some(pixels)),
            request => inbox.queue(request),
        }
        Ok(None)
    }
}
