//! Converts token bytes to text: whole characters only, no part of a stop text, and no part of a
//! banned text.

/// Text released by one token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Released {
    pub(crate) text: String,
    pub(crate) found: Option<Found>,
}

/// A complete text in the reply that must not be shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The released text ends before a stop text.
    Stop,
    /// A banned text begins in this token, counted from 0. No text of that token was released.
    Banned { token: usize },
}

/// Holds back unfinished characters and text that may start a stop text or a banned text.
pub(crate) struct TextFilter {
    stops: Vec<String>,
    /// Folded to lower case, character by character.
    banned: Vec<Vec<char>>,
    bytes: Vec<u8>,
    held: String,
    /// Number of bytes that were released.
    released: usize,
    /// The end of the released text. After a rollback, other text can complete a banned text that
    /// begins in it.
    tail: String,
    /// Tokens that begin a character, with their place in the whole text in bytes. The first one
    /// may be partly released.
    starts: Vec<(usize, usize)>,
    tokens: usize,
}

impl TextFilter {
    pub(crate) fn new(stops: &[String], banned: &[String]) -> Self {
        let stops = stops
            .iter()
            .filter(|stop| !stop.is_empty())
            .cloned()
            .collect();
        let banned = banned
            .iter()
            .filter(|text| !text.is_empty())
            .map(|text| text.chars().map(fold).collect());
        Self {
            stops,
            banned: banned.collect(),
            bytes: Vec::new(),
            held: String::new(),
            released: 0,
            tail: String::new(),
            starts: Vec::new(),
            tokens: 0,
        }
    }

    pub(crate) fn push(&mut self, piece: &[u8]) -> Released {
        if self.bytes.is_empty() && !piece.is_empty() {
            self.starts
                .push((self.tokens, self.released + self.held.len()));
        }
        self.tokens += 1;
        self.bytes.extend_from_slice(piece);
        self.take_whole_characters();
        // The first complete text wins, so that the result does not depend on token boundaries.
        let stop = self
            .stops
            .iter()
            .filter_map(|stop| {
                self.held
                    .find(stop.as_str())
                    .map(|at| (at + stop.len(), at))
            })
            .min();
        if let Some(token) = self.completes_tail() {
            return Released {
                text: String::new(),
                found: Some(Found::Banned { token }),
            };
        }
        let banned = self.first_banned();
        match (stop, banned) {
            (Some((end, at)), banned) if banned.is_none_or(|(other, _)| end <= other) => {
                self.held.truncate(at);
                Released {
                    text: std::mem::take(&mut self.held),
                    found: Some(Found::Stop),
                }
            }
            (_, Some((_, at))) => {
                let (token, _) = self.token_at(at);
                Released {
                    text: String::new(),
                    found: Some(Found::Banned { token }),
                }
            }
            (_, None) => {
                let safe = self.safe();
                self.released += safe;
                let kept = self
                    .starts
                    .iter()
                    .rposition(|(_, start)| *start <= self.released)
                    .unwrap_or(0);
                self.starts.drain(..kept);
                let text: String = self.held.drain(..safe).collect();
                self.tail.push_str(&text);
                let longest = self.banned.iter().map(Vec::len).max().map_or(0, |longest| {
                    self.stops
                        .iter()
                        .map(String::len)
                        .max()
                        .unwrap_or(0)
                        .max(longest)
                });
                let kept = self
                    .tail
                    .char_indices()
                    .rev()
                    .take(longest)
                    .last()
                    .map_or(self.tail.len(), |(at, _)| at);
                self.tail.drain(..kept);
                Released { text, found: None }
            }
        }
    }

    /// Drops the text of `token` and of all later tokens. Their text must still be held.
    pub(crate) fn roll_back(&mut self, token: usize) {
        let start = self
            .starts
            .iter()
            .find(|(number, _)| *number >= token)
            .map(|(_, start)| *start);
        if let Some(start) = start {
            self.held.truncate(start.saturating_sub(self.released));
        }
        self.bytes.clear();
        self.starts.retain(|(number, _)| *number < token);
        self.tokens = token;
    }

    /// Returns the held text when the reply ends without a stop text. An unfinished character is
    /// lost.
    pub(crate) fn finish(self) -> String {
        self.held
    }

    /// Number of held bytes that can be released.
    fn safe(&self) -> usize {
        let stop = self
            .stops
            .iter()
            .map(|stop| overlap(&self.held, stop))
            .max()
            .unwrap_or(0);
        let whole = self.held.len();
        let banned = self
            .banned
            .iter()
            .filter_map(|text| may_begin(&self.held, text))
            .min()
            .unwrap_or(whole);
        // The token of an unfinished character stays whole, so that it can be taken back.
        let open = self
            .starts
            .last()
            .filter(|_| !self.bytes.is_empty() && !self.banned.is_empty());
        let open = open.map_or(whole, |(_, start)| start.saturating_sub(self.released));
        let safe = banned.min(whole - stop).min(open);
        if self.banned.is_empty() || safe == whole {
            return safe;
        }
        // A banned text is taken back by whole tokens.
        let (_, start) = self.token_at(safe);
        start.saturating_sub(self.released).min(safe)
    }

    /// The first token that is not released, if the held text completes a banned text that begins
    /// in the released text.
    fn completes_tail(&self) -> Option<usize> {
        let completes = |at: usize| {
            let joined = [&self.tail[at..], &self.held].concat();
            // A stop text cannot be cut any more, so it is avoided like a banned text.
            self.banned
                .iter()
                .any(|text| folded_prefix(&joined, text).is_some())
                || self
                    .stops
                    .iter()
                    .any(|stop| joined.starts_with(stop.as_str()))
        };
        self.tail
            .char_indices()
            .any(|(at, _)| completes(at))
            .then_some(())?;
        self.starts
            .iter()
            .find(|(_, start)| *start >= self.released)
            .map(|(token, _)| *token)
    }

    /// End and start in the held text of the banned text that is complete first.
    fn first_banned(&self) -> Option<(usize, usize)> {
        let begins = |at: usize| {
            self.banned
                .iter()
                .filter_map(move |text| Some((at + folded_prefix(&self.held[at..], text)?, at)))
        };
        self.held
            .char_indices()
            .flat_map(|(at, _)| begins(at))
            .min()
    }

    /// The token with the character at this place in the held text, and its start in the whole
    /// text.
    fn token_at(&self, held: usize) -> (usize, usize) {
        let at = self.released + held;
        self.starts
            .iter()
            .rev()
            .find(|(_, start)| *start <= at)
            .copied()
            .unwrap_or((0, 0))
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
                    let Some(broken) = error.error_len() else {
                        break;
                    };
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

/// Lower case of one character. Characters with a longer lower case compare by its first character.
fn fold(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

/// Length in bytes of the start of `text` that equals `banned`.
fn folded_prefix(text: &str, banned: &[char]) -> Option<usize> {
    let mut letters = text.char_indices();
    for wanted in banned {
        letters
            .next()
            .filter(|(_, letter)| fold(*letter) == *wanted)?;
    }
    Some(letters.offset())
}

/// The first place in `text` from which on everything is the start of `banned`.
fn may_begin(text: &str, banned: &[char]) -> Option<usize> {
    let matches = |at: usize| {
        text[at..]
            .chars()
            .zip(banned)
            .all(|(letter, wanted)| fold(letter) == *wanted)
    };
    let longest = banned.len().saturating_sub(1);
    let tail: Vec<usize> = text
        .char_indices()
        .rev()
        .take(longest)
        .map(|(at, _)| at)
        .collect();
    tail.into_iter().rev().find(|at| matches(*at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pushes `pieces` and joins the results; `|` marks a stop, and the last item is the result of
    /// `finish`.
    fn check(stops: &[&str], pieces: &[&[u8]]) -> String {
        let stops: Vec<String> = stops.iter().map(|&stop| stop.into()).collect();
        let mut outlet = TextFilter::new(&stops, &[]);
        let mut shown = Vec::new();
        for piece in pieces {
            let Released { text, found } = outlet.push(piece);
            let stopped = found.is_some();
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
        assert_eq!(
            check(&[], &[b"a", &crab[..3], &crab[3..], b"b"]),
            "a,,🦀,b,"
        );
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

    /// A scripted model: its tokens by place, and for each place the tokens it takes when earlier
    /// ones are banned.
    fn write(script: &[Vec<&[u8]>], stops: &[String], banned: &[String]) -> (Vec<String>, bool) {
        let mut filter = TextFilter::new(stops, banned);
        let mut refused = vec![0; script.len()];
        let (mut at, mut shown) = (0, Vec::new());
        while at < script.len() {
            let Some(piece) = script[at].get(refused[at]) else {
                return (shown, true);
            };
            let Released { text, found } = filter.push(piece);
            shown.push(text);
            at += 1;
            match found {
                Some(Found::Stop) => return (shown, true),
                Some(Found::Banned { token }) => {
                    filter.roll_back(token);
                    refused[token] += 1;
                    refused[token + 1..].fill(0);
                    at = token;
                }
                None => {}
            }
        }
        shown.push(filter.finish());
        (shown, false)
    }

    #[test]
    fn goes_back_to_the_token_of_a_banned_text() {
        let script: Vec<Vec<&[u8]>> = vec![
            vec![b"A"],
            vec![b" voice barely", b" shout"],
            vec![b" above", b" over"],
            vec![b" a whisper"],
        ];
        let (shown, _) = write(&script, &[], &["BARELY above".to_owned()]);
        assert_eq!(shown, ["A", "", "", " shout", " above", " a whisper", ""]);
    }

    #[test]
    fn earlier_end_wins_of_stop_and_ban() {
        let run = |text: &[u8]| {
            let mut filter = TextFilter::new(
                &["\nUser:".to_owned()],
                &["user: no".to_owned(), "x\nu".to_owned()],
            );
            filter.push(text).found
        };
        assert_eq!(run(b"Hm.\nUser: no"), Some(Found::Stop));
        assert_eq!(run(b"x\nUser:"), Some(Found::Banned { token: 0 }));
    }

    #[test]
    fn a_split_character_rolls_back_as_a_whole() {
        let crab = "🦀".as_bytes();
        let mut filter = TextFilter::new(&[], &["🦀!".to_owned()]);
        for piece in [b"a", &crab[..2], &crab[2..]] {
            assert_eq!(filter.push(piece).found, None);
        }
        assert_eq!(filter.push(b"!").found, Some(Found::Banned { token: 1 }));
        filter.roll_back(1);
        assert_eq!(filter.push(b"b").text, "b");
        assert_eq!(filter.finish(), "");
    }

    proptest! {
        #[test]
        fn result_is_independent_of_token_boundaries(
            text in "[aébc🦀\n]{0,40}",
            stops in proptest::collection::vec("[aéb\n]{1,4}", 0..3),
            cuts in proptest::collection::vec(1usize..5, 0..60),
        ) {
            let at_once = {
                let mut outlet = TextFilter::new(&stops, &[]);
                let Released { text: mut out, found } = outlet.push(text.as_bytes());
                if found.is_none() {
                    out += &outlet.finish();
                }
                out
            };
            let mut outlet = TextFilter::new(&stops, &[]);
            let (mut rest, mut out, mut ended) = (text.as_bytes(), String::new(), false);
            for cut in cuts.into_iter().chain([usize::MAX]) {
                let (piece, tail) = rest.split_at(cut.min(rest.len()));
                rest = tail;
                let Released { text, found } = outlet.push(piece);
                out += &text;
                if found.is_some() {
                    ended = true;
                    break;
                }
            }
            if !ended {
                out += &outlet.finish();
            }
            prop_assert_eq!(out, at_once);
        }

        /// No streamed prefix contains a banned text or a stop text, and nothing else is lost.
        #[test]
        fn banned_text_is_never_shown(
            script in proptest::collection::vec(proptest::collection::vec("[abAé🦀 ]{0,4}", 1..4), 0..25),
            cuts in proptest::collection::vec(0usize..6, 25),
            banned in proptest::collection::vec("[abé🦀]{1,4}", 0..3),
            stops in proptest::collection::vec("[aé ]{2,4}", 0..2),
        ) {
            // Tokens may end in the middle of a character; the next one then completes it.
            let mut bytes: Vec<Vec<Vec<u8>>> = Vec::new();
            for (place, cut) in script.iter().zip(cuts) {
                let split = place[0].len().saturating_sub(cut);
                if place.len() == 1 && cut > 0 && split > 0 {
                    bytes.push(vec![place[0].as_bytes()[..split].to_vec()]);
                    bytes.push(vec![place[0].as_bytes()[split..].to_vec()]);
                } else {
                    bytes.push(place.iter().map(|text| text.as_bytes().to_vec()).collect());
                }
            }
            let script: Vec<Vec<&[u8]>> =
                bytes.iter().map(|place| place.iter().map(Vec::as_slice).collect()).collect();
            let (shown, ended) = write(&script, &stops, &banned);
            let shown = shown.concat();
            let folded: String = shown.chars().map(fold).collect();
            for text in &banned {
                prop_assert!(!folded.contains(text), "{shown:?} contains {text:?}");
            }
            for stop in &stops {
                prop_assert!(!shown.contains(stop), "{shown:?} contains {stop:?}");
            }
            if banned.is_empty() && !ended {
                let whole: Vec<u8> = script.iter().flat_map(|place| place[0].iter().copied()).collect();
                prop_assert_eq!(shown, String::from_utf8_lossy(&whole));
            }
        }
    }
}
