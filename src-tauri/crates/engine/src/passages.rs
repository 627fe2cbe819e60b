//! What a reply's text becomes on its way: what is stored, what is shown, and what only who asks may see.

use context::display::{Passage, PassageFilter, Piece};

use crate::opening::Opening;

/// What stands before a reply whose prompt opened its thoughts, so that the stored text tells them apart as well.
const OPENED: &str = "<think>\n";

/// Takes the pieces of a reply as the model writes them.
pub(crate) struct Passages {
    filter: PassageFilter,
    opening: Opening,
    /// Stored before the next text.
    owed: &'static str,
    /// A blank belongs between what was there before and the first words.
    apart: bool,
}

/// A piece of a reply, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) stored: String,
    pub(crate) words: String,
    pub(crate) thoughts: String,
}

impl Passages {
    /// For a reply by `speaker` that answers a prompt ending in `opened`, the control text behind the last words.
    pub(crate) fn new(speaker: &str, opened: &str) -> Self {
        let thinking = opened.trim_end().ends_with("<think>");
        Self {
            filter: if thinking { PassageFilter::thinking() } else { PassageFilter::default() },
            opening: Opening::new(speaker),
            owed: if thinking { OPENED } else { "" },
            apart: false,
        }
    }

    /// For a reply that goes on after `base`.
    pub(crate) fn going_on(base: &str) -> Self {
        let mut filter = PassageFilter::default();
        filter.push(base);
        Self { filter, opening: Opening::passed(), owed: "", apart: false }
    }

    /// For a message of its own that goes on with `base`: it begins as any reply does, and its words belong behind the others.
    pub(crate) fn behind(base: &str, speaker: &str, opened: &str) -> Self {
        let apart = !base.is_empty() && !base.ends_with(char::is_whitespace);
        Self { apart, ..Self::new(speaker, opened) }
    }

    pub(crate) fn push(&mut self, text: &str) -> Part {
        let pieces = self.filter.push(text);
        self.part(pieces)
    }

    /// What is still held when the reply ends.
    pub(crate) fn finish(&mut self) -> Part {
        let held = self.filter.finish();
        let mut part = self.part(held);
        let words = self.opening.finish();
        let words = self.joined(words);
        part.stored.push_str(&words);
        part.words.push_str(&words);
        part
    }

    /// `words` with a blank in front of them where they would stick to what was there before.
    fn joined(&mut self, words: String) -> String {
        let Some(first) = words.chars().next() else { return words };
        if std::mem::take(&mut self.apart) && !".,;:!?…)]”’".contains(first) {
            return format!(" {words}");
        }
        words
    }

    fn part(&mut self, pieces: impl IntoIterator<Item = Piece>) -> Part {
        let mut part = Part::default();
        for piece in pieces {
            part.stored.push_str(std::mem::take(&mut self.owed));
            match piece.passage {
                Passage::Words => {
                    let words = self.opening.push(piece.text);
                    let words = self.joined(words);
                    part.stored.push_str(&words);
                    part.words.push_str(&words);
                }
                Passage::Thoughts => {
                    part.stored.push_str(&piece.raw);
                    part.thoughts.push_str(&piece.text);
                }
                Passage::Metrics | Passage::Keyframe | Passage::Reminder | Passage::EpisodeEnd => {
                    part.stored.push_str(&piece.raw);
                }
            }
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(mut passages: Passages, texts: &[&str]) -> (String, String, String) {
        let mut parts: Vec<Part> = texts.iter().map(|text| passages.push(text)).collect();
        parts.push(passages.finish());
        let join = |of: fn(&Part) -> &String| parts.iter().map(|part| of(part).as_str()).collect::<String>();
        (join(|part| &part.stored), join(|part| &part.words), join(|part| &part.thoughts))
    }

    /// S4.72: thoughts never flash in the bubble, and the speaker's name after them is a stage direction still.
    #[test]
    fn thoughts_are_stored_but_not_among_the_words() {
        let (stored, words, thoughts) =
            whole(Passages::new("Mira", ""), &["<thi", "nk>Cold out", ".</th", "ink>\n\nMi", "ra: Come", " in."]);
        assert_eq!((words.as_str(), thoughts.as_str()), ("Come in.", "Cold out."));
        assert_eq!(stored, "<think>Cold out.</think>Come in.");
    }

    #[test]
    fn thoughts_that_the_prompt_opened_are_told_apart_in_the_store_too() {
        let (stored, words, _) = whole(Passages::new("Mira", "<|assistant|><think>\n"), &["Hm.</think>", "Yes."]);
        assert_eq!((stored.as_str(), words.as_str()), ("<think>\nHm.</think>Yes.", "Yes."));
        assert_eq!(context::display::display(&stored).map(|display| display.shown).as_deref(), Some("Yes."));
    }

    #[test]
    fn a_message_that_goes_on_is_joined_to_what_was_there() {
        let behind = |base, texts: &[&str]| whole(Passages::behind(base, "Mira", ""), texts).1;
        assert_eq!(behind("Once upon", &["Mira: a", " time."]), " a time.");
        assert_eq!(behind("Once upon ", &["a time."]), "a time.");
        assert_eq!(behind("Once upon a time", &[", there was"]), ", there was");
    }

    #[test]
    fn a_reply_that_stopped_in_its_thoughts_goes_on_in_them() {
        let (_, words, thoughts) = whole(Passages::going_on("<think>Cold"), &[" out.</think>Come in."]);
        assert_eq!((words.as_str(), thoughts.as_str()), ("Come in.", " out."));
    }
}
