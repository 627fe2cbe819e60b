//! Assembles the text of a reply. Endpoints send deltas, the whole text so far in each piece, or
//! the whole text again at the end.
//!
//! A model may repeat itself, so the client removes a repetition only on evidence. The evidence is
//! that each piece extends all earlier text, or that the text of several pieces comes again exactly
//! at the end.

/// Minimum length of a text for attributing one repetition of it to the endpoint instead of the
/// model.
const TELLING: usize = 12;
/// The same minimum if the endpoint ends the reply with the repetition.
const SHORT: usize = 8;
/// Consecutive pieces that must each extend the text before the client treats the stream as
/// cumulative.
const STEPS: usize = 3;
/// Enough such pieces if [`DeltaAssembler::proves_cumulative`] is true or the reply ends.
const FEW_STEPS: usize = 2;

/// Assembles the text of a reply.
#[derive(Debug, Default)]
pub(crate) struct DeltaAssembler {
    /// Text that was returned to the caller.
    whole: String,
    pieces: usize,
    /// At least one piece came as a delta.
    deltas: bool,
    /// Every piece contains the whole text so far.
    cumulative: bool,
    held: HeldText,
}

/// Pieces that may be repetitions.
#[derive(Debug, Default)]
enum HeldText {
    #[default]
    Nothing,
    /// The whole text once more. It is dropped if the reply ends here.
    Again(String),
    /// Each piece extends the previous one, and the first extends the whole text.
    Growing(Vec<String>),
}

impl DeltaAssembler {
    /// Takes a delta and returns the new text. `ends` says that the endpoint ended the reply with
    /// it.
    pub(crate) fn piece(&mut self, text: String, ends: bool) -> String {
        self.deltas = true;
        self.take(text, ends)
    }

    /// Takes a `message`: the whole reply after its deltas, or a piece from a server that does not
    /// send deltas.
    pub(crate) fn message(&mut self, text: String, ends: bool) -> String {
        if !self.deltas {
            return self.take(text, ends);
        }
        let before = self.rest();
        let whole = self.whole.trim();
        let text = text.trim_end();
        let more = text
            .strip_prefix(self.whole.as_str())
            .or_else(|| text.trim_start().strip_prefix(whole));
        let more = more.unwrap_or_default().to_owned();
        before + &self.add(more)
    }

    /// Returns the held text when the reply ends.
    pub(crate) fn rest(&mut self) -> String {
        match std::mem::take(&mut self.held) {
            HeldText::Nothing | HeldText::Again(_) => String::new(),
            HeldText::Growing(mut pieces) => {
                self.cumulative = pieces.len() >= FEW_STEPS || self.proves_cumulative();
                match pieces.pop() {
                    Some(last) if self.cumulative => self.replace(last),
                    last => self.add(pieces.into_iter().chain(last).collect()),
                }
            }
        }
    }

    /// Whether one piece that begins with the text so far proves a cumulative stream. A model does
    /// not repeat such text without a break.
    fn proves_cumulative(&self) -> bool {
        let mut letters: Vec<char> = self.whole.chars().take(TELLING).collect();
        let unbroken = |edge: Option<&char>| edge.is_some_and(|letter| letter.is_alphanumeric());
        if letters.len() == TELLING {
            return true;
        }
        let word = letters.len() > 3 && unbroken(letters.first()) && unbroken(letters.last());
        letters.sort_unstable();
        letters.dedup();
        word && letters.len() > 2
    }

    fn take(&mut self, text: String, ends: bool) -> String {
        if text.is_empty() {
            return text;
        }
        match std::mem::take(&mut self.held) {
            HeldText::Nothing => self.next(text, ends),
            HeldText::Again(again) => {
                let before = self.add(again);
                before + &self.next(text, ends)
            }
            HeldText::Growing(mut pieces) => {
                let last = pieces.last().map_or("", String::as_str);
                if !text.starts_with(last) {
                    self.held = HeldText::Growing(pieces);
                    let before = self.rest();
                    return before + &self.next(text, ends);
                }
                if text.len() > last.len() {
                    pieces.push(text.clone());
                }
                if pieces.len() >= STEPS || (pieces.len() >= FEW_STEPS && self.proves_cumulative())
                {
                    self.cumulative = true;
                    return self.replace(text);
                }
                self.held = HeldText::Growing(pieces);
                String::new()
            }
        }
    }

    fn next(&mut self, text: String, ends: bool) -> String {
        if self.cumulative {
            return if text.starts_with(&self.whole) {
                self.replace(text)
            } else if self.whole.starts_with(text.trim_end()) {
                String::new()
            } else {
                self.add(text)
            };
        }
        let again = !text.trim().is_empty() && text.trim() == self.whole.trim();
        if again && ends && text.len() >= SHORT {
            return String::new();
        }
        if again && self.pieces > 1 && text.len() >= TELLING {
            self.held = HeldText::Again(text);
            return String::new();
        }
        if self.pieces > 0 && !self.whole.trim().is_empty() && extends(&text, &self.whole) {
            self.held = HeldText::Growing(vec![text]);
            return String::new();
        }
        self.add(text)
    }

    fn add(&mut self, text: String) -> String {
        self.pieces += 1;
        self.whole.push_str(&text);
        text
    }

    fn replace(&mut self, whole: String) -> String {
        let new = whole.get(self.whole.len()..).unwrap_or_default().to_owned();
        self.whole = whole;
        new
    }
}

fn extends(text: &str, before: &str) -> bool {
    text.len() > before.len() && text.starts_with(before)
}

/// Removes the unfinished reply if an endpoint repeats it before the continuation.
#[derive(Debug, Default)]
pub(crate) struct EchoFilter {
    base: String,
    /// Received text while it may still be the base.
    held: Option<String>,
    /// Bytes of the base received so far.
    matched: usize,
    /// Bytes of whitespace before the base.
    blanks: usize,
    /// The base has come once and may follow a second time without a break.
    again: bool,
}

/// Minimum length in characters. A shorter base could be the start of the continuation.
const SHORTEST_ECHO: usize = 5;
/// Minimum length in bytes at which whitespace may precede the repetition and a partial repetition
/// is dropped.
const LONG_ECHO: usize = 24;

impl EchoFilter {
    /// Creates the filter for a reply that continues `base`.
    pub(crate) fn of(base: &str) -> Self {
        let base = base.trim_end().to_owned();
        let held = (base.chars().count() >= SHORTEST_ECHO).then(String::new);
        Self {
            base,
            held,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, text: String) -> String {
        let Some(held) = &mut self.held else {
            return text;
        };
        held.push_str(&text);
        if !self.again
            && self.matched == 0
            && self.base.len() >= LONG_ECHO
            && !self.base.starts_with(char::is_whitespace)
        {
            self.blanks = held.len() - held.trim_start().len();
        }
        let came = held.get(self.blanks + self.matched..).unwrap_or_default();
        let expected = self.base.get(self.matched..).unwrap_or_default();
        if let Some(new) = came.strip_prefix(expected) {
            let new = new.to_owned();
            if self.again {
                self.held = None;
                return new;
            }
            (self.held, self.matched, self.blanks, self.again) = (Some(String::new()), 0, 0, true);
            return if new.is_empty() { new } else { self.push(new) };
        }
        if expected.starts_with(came) {
            self.matched += came.len();
            return String::new();
        }
        self.held.take().unwrap_or_default()
    }

    /// Returns the held text when the reply ends.
    pub(crate) fn rest(&mut self) -> String {
        self.held
            .take()
            .filter(|_| self.again || self.matched < LONG_ECHO)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(pieces: &[&str]) -> String {
        let mut joined = DeltaAssembler::default();
        let last = pieces.len() - 1;
        let mut text: String = pieces
            .iter()
            .enumerate()
            .map(|(at, piece)| joined.piece((*piece).to_owned(), at == last))
            .collect();
        text += &joined.rest();
        text
    }

    #[test]
    fn joins_cumulative_deltas() {
        for (sent, expected) in [
            (
                &["Come", "Come in,", "Come in, it is", "Come in, it is cold."][..],
                "Come in, it is cold.",
            ),
            (&["Come", "Come in."], "Come in."),
            (
                &["Come in, it is", "Come in, it is cold."],
                "Come in, it is cold.",
            ),
            (
                &["C", "Co", "Com", "Come", "Come", "Come in", "Come in."],
                "Come in.",
            ),
            (
                &["Hi", "Hi there", "Hi there, you", "Hi there, you", " Sit."],
                "Hi there, you Sit.",
            ),
        ] {
            assert_eq!(pieces(sent), expected, "{sent:?}");
        }
    }

    #[test]
    fn drops_the_whole_text_repeated_at_the_end() {
        assert_eq!(
            pieces(&["Come in, ", "it is cold.", "Come in, it is cold."]),
            "Come in, it is cold."
        );
        assert_eq!(pieces(&["Come in.", "Come in."]), "Come in.");
        assert_eq!(
            pieces(&["Come in, ", "it is cold.", "Come in, it is cold.\n", ""]),
            "Come in, it is cold."
        );
    }

    #[test]
    fn keeps_repetitions_by_the_model() {
        for sent in [
            &["ha", "ha", "ha", "ha"][..],
            &["No", "No", " no", " no."],
            &["*", "**", "She", " nods", "**"],
            &["Knock. ", "Knock. ", "Knock. Knock. ", "Who is there?"],
            &[
                "I love ",
                "you. ",
                "I love you. ",
                "I love you. ",
                "Always.",
            ],
            &["a", "ab", "c"],
            &["\n", "\n\n", "Come in."],
            &["ha", "haha", "!"],
        ] {
            assert_eq!(pieces(sent), sent.concat(), "{sent:?}");
        }
    }

    #[test]
    fn message_adds_only_the_missing_text() {
        let mut joined = DeltaAssembler::default();
        let mut text =
            joined.piece("Come in, ".into(), false) + &joined.piece("it is".into(), false);
        text += &joined.message("Come in, it is cold.".into(), true);
        text += &joined.message("Something else entirely.".into(), true);
        assert_eq!(text, "Come in, it is cold.");
        let mut alone = DeltaAssembler::default();
        assert_eq!(
            alone.message("Come ".into(), false) + &alone.message("in.".into(), true),
            "Come in."
        );
    }

    fn echoed(base: &str, sent: &[&str]) -> String {
        let mut echo = EchoFilter::of(base);
        let text: String = sent
            .iter()
            .map(|piece| echo.push((*piece).to_owned()))
            .collect();
        text + &echo.rest()
    }

    #[test]
    fn drops_an_echoed_beginning() {
        for (base, sent, expected) in [
            ("Come in.", &["Come in. and went on."][..], " and went on."),
            ("Come in. ", &["Co", "me in", ". and", " on."], " and on."),
            (
                "She opens the door and smiles.",
                &["\n", "She opens the door and smiles. Then"],
                " Then",
            ),
            ("Come in.", &["Come in.", "Come in. Sit."], " Sit."),
            ("Come in.", &["Come", " back."], "Come back."),
            ("Come in.", &[" Come in, I say."], " Come in, I say."),
            ("Ha", &["Ha", "ha"], "Haha"),
            ("Come in.", &["Come"], "Come"),
            ("", &["Come in."], "Come in."),
        ] {
            assert_eq!(echoed(base, sent), expected, "{base}: {sent:?}");
        }
    }
}
