//! Removes emotion tags such as `<emotion=joy>` from a streamed reply and keeps the last one.
//!
//! A tag may be split over any number of chunks. Everything that is not a complete, short tag stays
//! ordinary text, and so does a tag in backticks, which a character only mentions.

/// Maximum number of characters of a label.
pub const MAX_LABEL: usize = 40;
/// Maximum number of characters of a tag. Longer ones are ordinary text, so that little text is
/// ever held back.
const MAX_TAG: usize = MAX_LABEL + 24;
const NAME: &str = "emotion";

/// Holds back only text that may still become a tag.
#[derive(Debug, Default)]
pub struct EmotionFilter {
    held: String,
    /// The last character that was passed on.
    last: Option<char>,
    /// A tag was removed behind a blank or at the start, so that blanks behind it are removed too.
    after_tag: bool,
    label: Option<String>,
}

enum Look {
    No,
    Maybe,
    /// Length in bytes, and label.
    Tag(usize, String),
}

impl EmotionFilter {
    /// Appends text and returns the part that is certain.
    pub fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let mut passed = String::new();
        while let Some(at) = self.held.find('<') {
            self.pass(at, &mut passed);
            match look(&self.held) {
                _ if self.last == Some('`') => self.pass(1, &mut passed),
                Look::No => self.pass(1, &mut passed),
                Look::Maybe => return passed,
                Look::Tag(length, label) => {
                    self.held.drain(..length);
                    self.label = Some(label);
                    self.after_tag = self.last.is_none_or(char::is_whitespace);
                }
            }
        }
        self.pass(self.held.len(), &mut passed);
        passed
    }

    /// Returns the text that is still held when the reply ends.
    pub fn finish(&mut self) -> String {
        let mut passed = String::new();
        self.pass(self.held.len(), &mut passed);
        passed
    }

    /// The label of the last tag, as written.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Passes on the first `length` bytes.
    fn pass(&mut self, length: usize, passed: &mut String) {
        let text: String = self.held.drain(..length).collect();
        let text = if self.after_tag {
            text.trim_start()
        } else {
            &text
        };
        if let Some(last) = text.chars().next_back() {
            (self.last, self.after_tag) = (Some(last), false);
        }
        passed.push_str(text);
    }
}

/// Looks at text that begins with `<`.
fn look(text: &str) -> Look {
    let body = &text[1..];
    if body.len() < NAME.len() {
        let begins = NAME
            .get(..body.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(body));
        return if begins { Look::Maybe } else { Look::No };
    }
    if !body
        .get(..NAME.len())
        .is_some_and(|name| name.eq_ignore_ascii_case(NAME))
    {
        return Look::No;
    }
    let rest = &body[NAME.len()..];
    match rest.find('>') {
        // The same conditions as for a tag that has not ended yet, so that chunks make no
        // difference.
        Some(end) if may_become(&rest[..end]) => {
            label(&rest[..end]).map_or(Look::No, |label| Look::Tag(1 + NAME.len() + end + 1, label))
        }
        None if may_become(rest) => Look::Maybe,
        _ => Look::No,
    }
}

/// The label in `="joy" /`; `None` if it is none.
fn label(rest: &str) -> Option<String> {
    let rest = rest.trim_start().strip_prefix('=')?.trim();
    let rest = rest.strip_suffix('/').unwrap_or(rest).trim();
    let bare = ['"', '\'']
        .iter()
        .find_map(|quote| rest.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(rest)
        .trim();
    let length = bare.chars().count();
    ((1..=MAX_LABEL).contains(&length) && bare.chars().all(is_of_label)).then(|| bare.to_owned())
}

fn may_become(rest: &str) -> bool {
    if rest.chars().count() > MAX_TAG {
        return false;
    }
    let rest = rest.trim_start_matches([' ', '\t']);
    let Some(value) = rest.strip_prefix('=') else {
        return rest.is_empty();
    };
    value
        .chars()
        .all(|letter| is_of_label(letter) || matches!(letter, '"' | '\'' | '/'))
}

fn is_of_label(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, ' ' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filtered(chunks: &[&str]) -> (String, Option<String>) {
        let mut filter = EmotionFilter::default();
        let mut text: String = chunks.iter().map(|chunk| filter.push(chunk)).collect();
        text.push_str(&filter.finish());
        (text, filter.label().map(str::to_owned))
    }

    #[test]
    fn tag_split_over_chunks_never_shows() {
        let expected = ("Come in.".to_owned(), Some("happy".to_owned()));
        assert_eq!(filtered(&["<emo", "tion=ha", "ppy>\nCome in."]), expected);
        assert_eq!(
            filtered(&["<", "EMOTION", " = \"happy\" ", "/>", " ", "Come", " in."]),
            expected
        );
    }

    #[test]
    fn last_of_several_tags_is_the_emotion() {
        let text = "<emotion=joy> Hello. <emotion=fear> What was that?";
        assert_eq!(
            filtered(&[text]),
            ("Hello. What was that?".to_owned(), Some("fear".to_owned()))
        );
    }

    #[test]
    fn malformed_and_long_tags_are_ordinary_text() {
        let long = format!("<emotion={}>", "x".repeat(MAX_LABEL + 1));
        for text in [
            "joy",
            "<emotion>",
            "<emotion=>",
            "<emotion joy>",
            "<emotion=joy",
            "<emotions=joy>",
            "< emotion=joy>",
            "<emotion=a<b>",
            "<emotion=joy\nand more>",
            "<emotion=\njoy>",
            "<emotion\u{a0}=joy>",
            &format!("<emotion={}joy>", " ".repeat(MAX_TAG)),
            "a < b",
            "`<emotion=joy>`",
            "<em>joy</em>",
            "<Ä",
            &long,
        ] {
            assert_eq!(filtered(&[text]), (text.to_owned(), None));
        }
    }

    #[test]
    fn holds_back_at_most_one_tag() {
        let mut filter = EmotionFilter::default();
        let passed = filter.push(&format!("<emotion={}", "x".repeat(4_000)));
        assert!(
            passed.len() > 4_000,
            "an endless tag must not hold the reply back"
        );
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_text(
            parts in proptest::collection::vec(
                prop_oneof![Just("<emotion=joy>"), Just("<emotion="), Just("fear"), Just(">"), Just("<"), Just(" "), Just("\n"), Just("`"), Just("wörd"), Just("</emotion>")],
                0..12,
            ),
            cut in 1_usize..5,
        ) {
            let text: String = parts.concat();
            let letters: Vec<char> = text.chars().collect();
            let chunks: Vec<String> = letters.chunks(cut).map(|chunk| chunk.iter().collect()).collect();
            let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
            prop_assert_eq!(filtered(&chunks), filtered(&[&text]));
        }
    }
}
