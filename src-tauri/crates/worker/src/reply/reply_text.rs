//! The text of one reply: filtered, then sent in frames together with the probabilities of its
//! tokens.

use std::time::Instant;

use worker::frame::FrameError;
use worker::protocol::{Generate, WorkerReply};
use worker::token_rules::TokenChoice;

use crate::inbox::ReplyWriter;
use crate::reply::text_filter::TextFilter;
use crate::reply::text_frame::TextFrame;
use crate::reply::token_choices::ChoiceLog;

/// The text of a reply on its way to the supervisor.
pub(crate) struct ReplyText<'a> {
    id: u64,
    pub(crate) filter: TextFilter,
    /// Absent if the request wants no alternatives.
    pub(crate) choices: Option<ChoiceLog>,
    frame: TextFrame,
    pub(crate) replies: &'a ReplyWriter,
}

impl<'a> ReplyText<'a> {
    pub(crate) fn new(request: &Generate, replies: &'a ReplyWriter) -> Self {
        Self {
            id: request.id,
            filter: TextFilter::new(&request.stop, &request.rules.banned_strings),
            choices: (request.rules.alternatives > 0).then(ChoiceLog::default),
            frame: TextFrame::default(),
            replies,
        }
    }

    /// Adds text that is final, with the tokens that it completes, to the next frame.
    pub(crate) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let tokens = self.choices.as_mut().map(|log| log.release(text));
        self.frame.push(text, tokens.unwrap_or_default());
    }

    /// Sends the next frame if it is due at `now`. To be called before a computation, during which
    /// nothing is sent.
    pub(crate) fn send_due(&mut self, now: Instant) -> Result<(), FrameError> {
        let due = self.frame.take_due(now);
        self.send(due)
    }

    /// Sends all text that is final.
    pub(crate) fn flush(&mut self) -> Result<(), FrameError> {
        let rest = self.frame.take(Instant::now());
        self.send(rest)
    }

    fn send(&self, frame: Option<(String, Vec<TokenChoice>)>) -> Result<(), FrameError> {
        let id = self.id;
        frame.map_or(Ok(()), |(text, tokens)| {
            self.replies.send(&WorkerReply::Text { id, text, tokens })
        })
    }

    /// Drops `token` and all later tokens.
    pub(crate) fn roll_back(&mut self, token: usize) {
        self.filter.roll_back(token);
        self.choices.iter_mut().for_each(|log| log.roll_back(token));
    }

    /// Sends the held text when the reply ends without a stop text.
    pub(crate) fn finish(mut self) -> Result<(), FrameError> {
        let held = std::mem::replace(&mut self.filter, TextFilter::new(&[], &[])).finish();
        self.push(&held);
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use worker::frame;
    use worker::protocol::WireSampling;

    use super::*;
    use crate::reply::text_filter::Found;

    /// A pipe whose bytes the test reads.
    #[derive(Clone, Default)]
    struct Pipe(Arc<Mutex<Vec<u8>>>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Pipe {
        /// The text of each frame so far, and the texts of its tokens.
        fn frames(&self) -> Vec<(String, Vec<String>)> {
            let bytes = self.0.lock().unwrap().clone();
            let (mut pipe, mut frames) = (bytes.as_slice(), Vec::new());
            while let Some(WorkerReply::Text { text, tokens, .. }) = frame::read(&mut pipe).unwrap()
            {
                frames.push((text, tokens.into_iter().map(|token| token.text).collect()));
            }
            frames
        }
    }

    fn request(stop: &str) -> Generate {
        let mut request = Generate {
            id: 1,
            cache_key: String::new(),
            background: false,
            segments: Vec::new(),
            pictures: Vec::new(),
            sampling: WireSampling::default(),
            stop: vec![stop.to_owned()],
            max_tokens: 100,
            rules: Box::default(),
        };
        request.rules.alternatives = 1;
        request
    }

    /// Handles one token like a reply, 5 ms after the one before it. Returns whether a stop text
    /// is complete.
    fn write(text: &mut ReplyText<'_>, now: &mut Instant, piece: &str) -> bool {
        *now += Duration::from_millis(5);
        if let Some(log) = &mut text.choices {
            log.push(piece.as_bytes(), -1.0, Vec::new());
        }
        let released = text.filter.push(piece.as_bytes());
        text.push(&released.text);
        let stops = released.found == Some(Found::Stop);
        if !stops {
            text.send_due(*now).unwrap();
        }
        stops
    }

    fn frame_of(text: &str, tokens: &[&str]) -> (String, Vec<String>) {
        let tokens = tokens.iter().map(|token| (*token).to_owned()).collect();
        (text.to_owned(), tokens)
    }

    #[test]
    fn frames_hold_the_tokens_of_their_text() {
        let (pipe, mut now) = (Pipe::default(), Instant::now());
        let (request, replies) = (request("\nUser:"), ReplyWriter::new(pipe.clone()));
        let mut text = ReplyText::new(&request, &replies);
        for piece in ["One", ",", " two", ",", " three", ",", " four"] {
            assert!(!write(&mut text, &mut now, piece));
        }
        let first = frame_of("One", &["One"]);
        let second = frame_of(", two, three,", &[",", " two", ",", " three", ","]);
        assert_eq!(pipe.frames(), [first.clone(), second.clone()]);
        text.finish().unwrap();
        assert_eq!(
            pipe.frames(),
            [first, second, frame_of(" four", &[" four"])]
        );
    }

    #[test]
    fn text_before_a_stop_text_is_sent() {
        let (pipe, mut now) = (Pipe::default(), Instant::now());
        let (request, replies) = (request("\nUser:"), ReplyWriter::new(pipe.clone()));
        let mut text = ReplyText::new(&request, &replies);
        for piece in ["Hi", " you", "\nUs"] {
            assert!(!write(&mut text, &mut now, piece));
        }
        assert!(write(&mut text, &mut now, "er:"));
        text.flush().unwrap();
        assert_eq!(
            pipe.frames(),
            [frame_of("Hi", &["Hi"]), frame_of(" you", &[" you"])]
        );
    }

    #[test]
    fn rollback_keeps_the_text_of_the_frame() {
        let (pipe, mut now) = (Pipe::default(), Instant::now());
        let (request, replies) = (request("\nUser:"), ReplyWriter::new(pipe.clone()));
        let mut text = ReplyText::new(&request, &replies);
        for piece in ["A", " voice", "\nUs"] {
            write(&mut text, &mut now, piece);
        }
        text.roll_back(2);
        write(&mut text, &mut now, "!");
        text.finish().unwrap();
        let rest = frame_of(" voice!", &[" voice", "!"]);
        assert_eq!(pipe.frames(), [frame_of("A", &["A"]), rest]);
    }
}
