//! The text of one reply: filtered, then sent together with the probabilities of its tokens.

use worker::frame::FrameError;
use worker::protocol::{Generate, WorkerReply};

use crate::inbox::ReplyWriter;
use crate::text_filter::TextFilter;
use crate::token_choices::ChoiceLog;

/// The text of a reply on its way to the supervisor.
pub(crate) struct ReplyText<'a> {
    id: u64,
    pub(crate) filter: TextFilter,
    /// Absent if the request wants no alternatives.
    pub(crate) choices: Option<ChoiceLog>,
    pub(crate) replies: &'a ReplyWriter,
}

impl<'a> ReplyText<'a> {
    pub(crate) fn new(request: &Generate, replies: &'a ReplyWriter) -> Self {
        Self {
            id: request.id,
            filter: TextFilter::new(&request.stop, &request.rules.banned_strings),
            choices: (request.rules.alternatives > 0).then(ChoiceLog::default),
            replies,
        }
    }

    /// Sends text that is final, with the tokens that it completes.
    pub(crate) fn send(&mut self, text: String) -> Result<(), FrameError> {
        if text.is_empty() {
            return Ok(());
        }
        let id = self.id;
        let tokens = self
            .choices
            .as_mut()
            .map(|log| log.release(&text))
            .unwrap_or_default();
        self.replies.send(&WorkerReply::Text { id, text })?;
        if tokens.is_empty() {
            Ok(())
        } else {
            self.replies.send(&WorkerReply::Choices { id, tokens })
        }
    }

    /// Drops `token` and all later tokens.
    pub(crate) fn roll_back(&mut self, token: usize) {
        self.filter.roll_back(token);
        self.choices.iter_mut().for_each(|log| log.roll_back(token));
    }

    /// Sends the held text when the reply ends without a stop text.
    pub(crate) fn finish(mut self) -> Result<(), FrameError> {
        let held = std::mem::replace(&mut self.filter, TextFilter::new(&[], &[])).finish();
        self.send(held)
    }
}
