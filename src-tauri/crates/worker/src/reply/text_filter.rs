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
mod tests;
