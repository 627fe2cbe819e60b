//! Splits text into passages. Keeps paragraphs whole if they fit.

use domain::document::{MAX_PASSAGE, Passage};

/// Maximum length of a heading, in characters.
const MAX_HEADING: usize = 100;

#[derive(Default)]
pub(super) struct PassageSplitter {
    passages: Vec<Passage>,
    heading: String,
    passage: String,
    paragraph: String,
}

impl PassageSplitter {
    /// Number of complete passages.
    pub(super) fn count(&self) -> usize {
        self.passages.len()
    }

    pub(super) fn begin(&mut self, heading: &str) {
        self.end_passage();
        self.heading = heading.chars().take(MAX_HEADING).collect();
    }

    pub(super) fn line(&mut self, line: &str) {
        if !self.paragraph.is_empty() {
            self.paragraph.push('\n');
        }
        self.paragraph.push_str(line);
    }

    pub(super) fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let mut rest = paragraph.trim_end();
        if self.passage.len() + 1 + rest.len() > MAX_PASSAGE {
            self.push();
        }
        while rest.len() > MAX_PASSAGE {
            let (first, others) = cut(rest);
            self.passage.push_str(first);
            self.push();
            rest = others;
        }
        if !self.passage.is_empty() && !rest.is_empty() {
            self.passage.push('\n');
        }
        self.passage.push_str(rest);
    }

    fn end_passage(&mut self) {
        self.end_paragraph();
        self.push();
    }

    fn push(&mut self) {
        let text = std::mem::take(&mut self.passage);
        if !text.trim().is_empty() {
            self.passages.push(Passage {
                heading: self.heading.clone(),
                text,
            });
        }
    }

    pub(super) fn finish(mut self) -> Vec<Passage> {
        self.end_passage();
        self.passages
    }
}

/// Splits off the first passage of a text that is too long for one. Prefers the end of a sentence,
/// then a word boundary.
fn cut(text: &str) -> (&str, &str) {
    let end = (0..=MAX_PASSAGE)
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or_default();
    let late = || {
        text[..end]
            .char_indices()
            .rev()
            .take_while(|(at, _)| *at >= end / 2)
    };
    let sentence = late()
        .find(|(at, letter)| ends_sentence(*letter, &text[at + letter.len_utf8()..]))
        .map(|(at, letter)| at + letter.len_utf8());
    let word = || {
        late()
            .find(|(_, letter)| letter.is_whitespace())
            .map(|(at, letter)| at + letter.len_utf8())
    };
    let (first, rest) = text.split_at(sentence.or_else(word).unwrap_or(end));
    (first.trim_end(), rest.trim_start())
}

fn ends_sentence(letter: char, rest: &str) -> bool {
    match letter {
        '\n' | '。' | '！' | '？' => true,
        '.' | '!' | '?' | '…' => rest.starts_with(char::is_whitespace),
        _ => false,
    }
}
