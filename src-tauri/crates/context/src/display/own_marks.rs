//! Marks around the thoughts of a model that a user names. They are rewritten to the tag that
//! replies are stored with, while the reply streams.

/// Maximum number of pairs. More are ignored.
const MAX_PAIRS: usize = 8;
/// Maximum length of a mark, in bytes. Longer ones are ignored.
const MAX_MARK: usize = 100;
/// The tags that replace the marks.
const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Rewrites the marks of a reply. An opening mark counts at the start of a line, a closing mark
/// only after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnMarks {
    pairs: Vec<(String, String)>,
    /// The pair whose opening mark was the last one.
    inside: Option<usize>,
    /// The current line has text, so that no opening mark can follow.
    line_begun: bool,
    /// The end of the text, which may become a mark.
    held: String,
}

impl OwnMarks {
    /// Reads one pair per line: the opening mark, a space, the closing mark. Other lines are
    /// ignored.
    pub fn read(lines: &str) -> Self {
        let pair = |line: &str| {
            let (open, close) = line.trim().split_once(char::is_whitespace)?;
            let close = close.trim();
            let fits = |mark: &str| {
                !mark.is_empty() && mark.len() <= MAX_MARK && !mark.contains(char::is_whitespace)
            };
            (fits(open) && fits(close) && open != close)
                .then(|| (open.to_owned(), close.to_owned()))
        };
        Self {
            pairs: lines.lines().filter_map(pair).take(MAX_PAIRS).collect(),
            ..Self::default()
        }
    }

    /// For a reply whose prompt ends with `opened`, which may be an opening mark. Returns whether
    /// it is one.
    pub fn begin(&mut self, opened: &str) -> bool {
        let opened = opened.trim_end();
        self.inside = self
            .pairs
            .iter()
            .position(|(open, _)| opened.ends_with(open.as_str()));
        self.inside.is_some()
    }

    /// For a reply that continues a stored text, which may end within thoughts.
    pub fn go_on(&mut self, stored: &str) {
        let is_open = stored.rfind(OPEN) > stored.rfind(CLOSE);
        self.inside = (is_open && !self.pairs.is_empty()).then_some(0);
        self.line_begun = !stored.is_empty() && !stored.ends_with('\n');
    }

    /// Takes the next text of the reply and returns what is certain.
    pub fn push(&mut self, text: &str) -> String {
        if self.pairs.is_empty() {
            return text.to_owned();
        }
        self.held.push_str(text);
        let mut certain = String::new();
        while let Some((at, pair)) = self.find() {
            let mark = if self.inside.is_some() {
                &self.pairs[pair].1
            } else {
                &self.pairs[pair].0
            };
            let end = at + mark.len();
            certain.push_str(&self.held[..at]);
            self.held.drain(..end);
            certain.push_str(if self.inside.is_some() { CLOSE } else { OPEN });
            self.inside = if self.inside.is_some() {
                None
            } else {
                Some(pair)
            };
            self.line_begun = false;
        }
        let rest = self.held.len() - self.undecided();
        let decided: String = self.held.drain(..rest).collect();
        self.read_line(&decided);
        certain + &decided
    }

    /// Returns the text that is still held when the reply ends.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// The place of the next mark in the held text, and its pair.
    fn find(&self) -> Option<(usize, usize)> {
        match self.inside {
            Some(pair) => Some((self.held.find(self.pairs[pair].1.as_str())?, pair)),
            None => self
                .openings()
                .min_by_key(|(at, pair)| (*at, usize::MAX - self.pairs[*pair].0.len())),
        }
    }

    fn openings(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.pairs
            .iter()
            .enumerate()
            .filter_map(|(pair, (open, _))| {
                let mut places = self.held.match_indices(open.as_str()).map(|(at, _)| at);
                Some((places.find(|at| self.begins_line(*at))?, pair))
            })
    }

    fn begins_line(&self, at: usize) -> bool {
        let before = &self.held[..at];
        match before.rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => !self.line_begun && before.trim().is_empty(),
        }
    }

    /// Length of the end of the held text that may become a mark.
    fn undecided(&self) -> usize {
        let marks = self
            .pairs
            .iter()
            .enumerate()
            .filter_map(|(pair, (open, close))| match self.inside {
                Some(inside) => (inside == pair).then_some(close),
                None => Some(open),
            });
        let begun = |mark: &String| {
            let ends = mark
                .char_indices()
                .map(|(at, _)| at)
                .filter(|at| self.held.ends_with(&mark[..*at]));
            ends.max().unwrap_or_default()
        };
        marks.map(begun).max().unwrap_or_default()
    }

    fn read_line(&mut self, text: &str) {
        self.line_begun = match text.rsplit_once('\n') {
            Some((_, line)) => !line.trim().is_empty(),
            None => self.line_begun || !text.trim().is_empty(),
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewritten(pairs: &str, pieces: &[&str]) -> String {
        let mut marks = OwnMarks::read(pairs);
        let mut text: String = pieces.iter().map(|piece| marks.push(piece)).collect();
        text.push_str(&marks.finish());
        text
    }

    #[test]
    fn own_marks_become_the_stored_tag() {
        let pairs = "<plan> </plan>\n§§ §/§";
        assert_eq!(
            rewritten(pairs, &["<plan>Cold.</plan>Come in."]),
            "<think>Cold.</think>Come in."
        );
        assert_eq!(
            rewritten(pairs, &["<pl", "an>Co", "ld.</", "plan>Come", " in."]),
            "<think>Cold.</think>Come in."
        );
        assert_eq!(
            rewritten(pairs, &["\n§§Cold.§/§", "Come in."]),
            "\n<think>Cold.</think>Come in."
        );
    }

    #[test]
    fn marks_in_a_line_are_text() {
        for text in ["Write <plan> first.", "</plan>Come in.", "a <pla", "<plan"] {
            assert_eq!(rewritten("<plan> </plan>", &[text]), text);
        }
    }

    #[test]
    fn prompt_can_open_the_thoughts() {
        let mut marks = OwnMarks::read("<plan> </plan>");
        assert!(marks.begin("<|assistant|><plan>\n"));
        assert_eq!(marks.push("Cold.</plan>Come in."), "Cold.</think>Come in.");
        assert!(!OwnMarks::read("<plan> </plan>").begin("<|assistant|>"));
    }

    #[test]
    fn continued_thoughts_can_end() {
        let mut marks = OwnMarks::read("<plan> </plan>");
        marks.go_on("<think>Cold");
        assert_eq!(marks.push(" out.</plan>Come in."), " out.</think>Come in.");
        marks.go_on("<think>Cold.</think>Come");
        assert_eq!(marks.push(" in.</plan>"), " in.</plan>");
    }

    #[test]
    fn odd_pairs_are_ignored() {
        for pairs in [
            "",
            "<plan>",
            "*** ***",
            "a b c",
            &format!("{} x", "y".repeat(200)),
        ] {
            assert_eq!(OwnMarks::read(pairs), OwnMarks::default(), "{pairs}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_change_the_result(pieces in prop::collection::vec("(<plan>|</plan>|<pl|an>|ä|\n| |x){0,4}", 0..12)) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            prop_assert_eq!(rewritten("<plan> </plan>", &pieces), rewritten("<plan> </plan>", &[&whole]));
        }
    }
}
