//! Collects the text of a reply, so that a fast model does not wake the supervisor for every token.

use std::time::{Duration, Instant};

use worker::token_rules::TokenChoice;

/// Least time between two text frames of a reply.
const INTERVAL: Duration = Duration::from_millis(25);

/// Final text that is not sent yet, with the tokens that end in it.
#[derive(Default)]
pub(crate) struct TextFrame {
    text: String,
    tokens: Vec<TokenChoice>,
    /// When the last frame was taken.
    last: Option<Instant>,
}

impl TextFrame {
    pub(crate) fn push(&mut self, text: &str, tokens: Vec<TokenChoice>) {
        self.text.push_str(text);
        self.tokens.extend(tokens);
    }

    /// Takes the frame at `now` if it has text and is due: the first text at once, later text
    /// [`INTERVAL`] after the frame before it.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<(String, Vec<TokenChoice>)> {
        let is_due = self
            .last
            .is_none_or(|last| now.duration_since(last) >= INTERVAL);
        is_due.then(|| self.take(now)).flatten()
    }

    /// Takes the frame at `now` if it has text.
    pub(crate) fn take(&mut self, now: Instant) -> Option<(String, Vec<TokenChoice>)> {
        if self.text.is_empty() {
            return None;
        }
        self.last = Some(now);
        Some((
            std::mem::take(&mut self.text),
            std::mem::take(&mut self.tokens),
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn token(text: &str) -> TokenChoice {
        TokenChoice {
            text: text.to_owned(),
            logprob: -1.0,
            alternatives: Vec::new(),
        }
    }

    /// Pushes each text at its time in milliseconds. Returns the frames by the time of their
    /// sending; the rest is sent at the end.
    fn frames(pushes: &[(u64, &str)]) -> Vec<(u64, String)> {
        let (start, mut frame, mut sent) = (Instant::now(), TextFrame::default(), Vec::new());
        for (at, text) in pushes {
            frame.push(text, vec![token(text)]);
            if let Some((text, tokens)) = frame.take_due(start + Duration::from_millis(*at)) {
                let texts: String = tokens.iter().map(|token| token.text.as_str()).collect();
                assert_eq!(texts, text, "the tokens are those of the text");
                sent.push((*at, text));
            }
        }
        let end = pushes.last().map_or(0, |(at, _)| *at);
        let rest = frame.take(start + Duration::from_millis(end));
        sent.extend(rest.map(|(text, _)| (end, text)));
        sent
    }

    fn text_at(at: u64, text: &str) -> (u64, String) {
        (at, text.to_owned())
    }

    #[test]
    fn first_text_is_sent_at_once() {
        assert_eq!(frames(&[(700, "Hi")]), [text_at(700, "Hi")]);
    }

    #[test]
    fn text_within_the_interval_shares_a_frame() {
        let sent = frames(&[(0, "a"), (8, "b"), (16, "c"), (25, "d"), (33, "e")]);
        let expected = [text_at(0, "a"), text_at(25, "bcd"), text_at(33, "e")];
        assert_eq!(sent, expected);
    }

    #[test]
    fn text_of_a_slow_model_is_sent_at_once() {
        let sent = frames(&[(0, "a"), (30, "b"), (60, "c")]);
        let expected = [text_at(0, "a"), text_at(30, "b"), text_at(60, "c")];
        assert_eq!(sent, expected);
    }

    #[test]
    fn held_text_sends_no_empty_frame() {
        assert_eq!(frames(&[(0, "a"), (30, ""), (40, "b")]).len(), 2);
        assert!(frames(&[(0, ""), (50, "")]).is_empty());
    }

    proptest! {
        /// Every text is in exactly one frame, and no two frames before the end are closer than
        /// the interval.
        #[test]
        fn frames_form_the_reply(
            pushes in proptest::collection::vec((0u64..40, "[aé🦀]{0,2}"), 0..40),
        ) {
            let mut at = 0;
            let timed: Vec<(u64, &str)> = pushes
                .iter()
                .map(|(step, text)| {
                    at += step;
                    (at, text.as_str())
                })
                .collect();
            let sent = frames(&timed);
            let joined: String = sent.iter().map(|(_, text)| text.as_str()).collect();
            let whole: String = pushes.iter().map(|(_, text)| text.as_str()).collect();
            prop_assert_eq!(joined, whole);
            let ends = sent.len().saturating_sub(1);
            for pair in sent[..ends].windows(2) {
                prop_assert!(pair[1].0 - pair[0].0 >= 25, "{:?}", sent);
            }
        }
    }
}
