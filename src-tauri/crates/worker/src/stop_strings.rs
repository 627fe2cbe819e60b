//! Converts token bytes to text: whole characters only, and no part of a stop text.

/// Text released by one token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Released {
    pub(crate) text: String,
    /// A stop text is complete; `text` ends before it.
    pub(crate) stopped: bool,
}

/// Holds back unfinished characters and text that may start a stop text.
pub(crate) struct StopStringFilter {
    stops: Vec<String>,
    bytes: Vec<u8>,
    held: String,
}

impl StopStringFilter {
    pub(crate) fn new(stops: &[String]) -> Self {
        let stops = stops.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        Self { stops, bytes: Vec::new(), held: String::new() }
    }

    pub(crate) fn push(&mut self, piece: &[u8]) -> Released {
        self.bytes.extend_from_slice(piece);
        self.take_whole_characters();
        // The first complete stop text wins, so that the result does not depend on token boundaries.
        let complete =
            self.stops.iter().filter_map(|stop| self.held.find(stop.as_str()).map(|at| (at + stop.len(), at)));
        if let Some((_, at)) = complete.min() {
            self.held.truncate(at);
            return Released { text: std::mem::take(&mut self.held), stopped: true };
        }
        let safe = self.held.len() - self.stops.iter().map(|stop| overlap(&self.held, stop)).max().unwrap_or(0);
        Released { text: self.held.drain(..safe).collect(), stopped: false }
    }

    /// Returns the held text when the reply ends without a stop text. An unfinished character is lost.
    pub(crate) fn finish(self) -> String {
        self.held
    }

    fn take_whole_characters(&mut self) {
        let mut rest = self.bytes.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.held.push_str(text);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (valid, tail) = rest.split_at(error.valid_up_to());
                    self.held.push_str(&String::from_utf8_lossy(valid));
                    rest = tail;
                    let Some(broken) = error.error_len() else { break };
                    self.held.push(char::REPLACEMENT_CHARACTER);
                    rest = &rest[broken..];
                }
            }
        }
        self.bytes = rest.to_vec();
    }
}

/// Returns the number of bytes at the end of `text` that are a prefix of `stop`.
fn overlap(text: &str, stop: &str) -> usize {
    (1..stop.len().min(text.len() + 1))
        .rev()
        .find(|&length| stop.is_char_boundary(length) && text.ends_with(&stop[..length]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pushes `pieces` and joins the results; `|` marks a stop, and the last item is the result of `finish`.
    fn check(stops: &[&str], pieces: &[&[u8]]) -> String {
        let stops: Vec<String> = stops.iter().map(|&stop| stop.into()).collect();
        let mut outlet = StopStringFilter::new(&stops);
        let mut shown = Vec::new();
        for piece in pieces {
            let Released { text, stopped } = outlet.push(piece);
            shown.push(if stopped { format!("{text}|") } else { text });
            if stopped {
                return shown.join(",");
            }
        }
        shown.push(outlet.finish());
        shown.join(",")
    }

    #[test]
    fn releases_a_split_character_when_complete() {
        let crab = "🦀".as_bytes();
        assert_eq!(check(&[], &[b"a", &crab[..3], &crab[3..], b"b"]), "a,,🦀,b,");
    }

    #[test]
    fn replaces_invalid_utf8() {
        assert_eq!(check(&[], &[b"a\xFFb", b"\xF0\x9F"]), "a\u{FFFD}b,,");
    }

    #[test]
    fn holds_a_partial_stop_text() {
        assert_eq!(check(&["\nUser:"], &[b"Hi\nUs", b"ually"]), "Hi,\nUsually,");
        assert_eq!(check(&["\nUser:"], &[b"Hi\nUs", b"er", b": you"]), "Hi,,|");
        assert_eq!(check(&["\nUser:"], &[b"Hi\nUs"]), "Hi,\nUs");
    }

    #[test]
    fn first_complete_stop_text_wins() {
        assert_eq!(check(&["END", "stop", ""], &[b"a stop END"]), "a |");
    }

    proptest! {
        #[test]
        fn result_is_independent_of_token_boundaries(
            text in "[aébc🦀\n]{0,40}",
            stops in proptest::collection::vec("[aéb\n]{1,4}", 0..3),
            cuts in proptest::collection::vec(1usize..5, 0..60),
        ) {
            let at_once = {
                let mut outlet = StopStringFilter::new(&stops);
                let Released { text: mut out, stopped } = outlet.push(text.as_bytes());
                if !stopped {
                    out += &outlet.finish();
                }
                out
            };
            let mut outlet = StopStringFilter::new(&stops);
            let (mut rest, mut out, mut ended) = (text.as_bytes(), String::new(), false);
            for cut in cuts.into_iter().chain([usize::MAX]) {
                let (piece, tail) = rest.split_at(cut.min(rest.len()));
                rest = tail;
                let Released { text, stopped } = outlet.push(piece);
                out += &text;
                if stopped {
                    ended = true;
                    break;
                }
            }
            if !ended {
                out += &outlet.finish();
            }
            prop_assert_eq!(out, at_once);
        }
    }
}
