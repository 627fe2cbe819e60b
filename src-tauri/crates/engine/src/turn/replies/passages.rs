//! Splits a reply, while it streams, into stored text, shown text and thoughts.

use context::display::{OwnMarks, PassageFilter, ReplyPassage, ReplyPiece};
use context::emotion_tag::EmotionFilter;
use domain::settings::ContinuePostfix;

use crate::turn::replies::joint::Joint;
use crate::turn::replies::opening::Opening;

/// Opening tag to store for a reply whose prompt opened the thoughts, so that the stored text marks
/// them too.
const OPENED: &str = "<think>\n";

/// Splits the pieces of a reply as the model writes them.
pub(crate) struct Passages {
    own_marks: OwnMarks,
    filter: PassageFilter,
    emotion: EmotionFilter,
    opening: Opening,
    speaker: String,
    /// Text to store before the next piece.
    owed: &'static str,
    /// Text that may be needed between the earlier text and the next one.
    joint: Joint,
}

/// A piece of a reply, split by kind.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplyPart {
    pub(crate) stored: String,
    pub(crate) words: String,
    pub(crate) thoughts: String,
    /// All text before this part was thoughts, because the endpoint's own template contained the
    /// opening tag.
    pub(crate) closes_thoughts: bool,
}

impl ReplyPart {
    /// Appends the shown text to that of earlier parts.
    pub(crate) fn add_to(&self, words: &mut String) {
        if self.closes_thoughts {
            words.clear();
        }
        words.push_str(&self.words);
    }
}

/// Inserts the opening tag of thoughts after `base`, so that the stored text separates them from
/// the reply.
pub(crate) fn opened(base: &str, text: &mut String) {
    let line = if base.is_empty() || base.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    text.insert_str(base.len().min(text.len()), &format!("{line}{OPENED}"));
}

impl Passages {
    /// For a reply by `speaker`. `opened` is the control text at the end of the prompt.
    pub(crate) fn new(speaker: &str, opened: &str) -> Self {
        let thinking = opened.trim_end().ends_with("<think>");
        Self {
            own_marks: OwnMarks::default(),
            filter: if thinking {
                PassageFilter::thinking()
            } else {
                PassageFilter::default()
            },
            emotion: EmotionFilter::default(),
            opening: Opening::new(speaker),
            speaker: speaker.to_owned(),
            owed: if thinking { OPENED } else { "" },
            joint: Joint::Nothing,
        }
    }

    /// For a reply that continues `base`.
    pub(crate) fn going_on(base: &str, postfix: ContinuePostfix) -> Self {
        let mut filter = PassageFilter::default();
        let in_words = filter
            .push(base)
            .last()
            .is_none_or(|piece| piece.passage == ReplyPassage::Words);
        Self {
            own_marks: OwnMarks::default(),
            filter,
            emotion: EmotionFilter::default(),
            opening: Opening::passed(),
            speaker: String::new(),
            owed: "",
            joint: if in_words {
                Joint::behind(base, postfix)
            } else {
                Joint::Nothing
            },
        }
    }

    /// Adds the marks that the user named for the thoughts of this model. `opened` is the control
    /// text at the end of the prompt.
    pub(crate) fn with_marks(mut self, mut marks: OwnMarks, opened: &str) -> Self {
        if marks.begin(opened) {
            (self.filter, self.owed) = (PassageFilter::thinking(), OPENED);
        }
        self.own_marks = marks;
        self
    }

    /// Works like [`Self::with_marks`], for a reply that continues `base`.
    pub(crate) fn with_marks_behind(self, mut own_marks: OwnMarks, base: &str) -> Self {
        own_marks.go_on(base);
        Self { own_marks, ..self }
    }

    /// For a continuation of `base` that the model writes as a separate message. It starts like any
    /// reply, and its text is appended to `base`.
    pub(crate) fn behind(
        base: &str,
        speaker: &str,
        opened: &str,
        postfix: ContinuePostfix,
    ) -> Self {
        Self {
            joint: Joint::of_message(base, postfix),
            ..Self::new(speaker, opened)
        }
    }

    /// Returns the parts that are final. There are several only if thoughts end.
    pub(crate) fn push(&mut self, text: &str) -> Vec<ReplyPart> {
        let text = self.own_marks.push(text);
        let pieces = self.filter.push(&text);
        self.parts(pieces)
    }

    /// Returns the text that is still held when the reply ends.
    pub(crate) fn finish(&mut self) -> Vec<ReplyPart> {
        let mut held = self.filter.push(&self.own_marks.finish());
        held.extend(self.filter.finish());
        let mut parts = self.parts(held);
        let words = self.held();
        let words = self.joined(words);
        if let Some(last) = parts.last_mut() {
            last.stored.push_str(&words);
            last.words.push_str(&words);
        }
        parts
    }

    /// The emotion that the reply's own tag names, as written.
    pub(crate) fn emotion(&self) -> Option<&str> {
        self.emotion.label()
    }

    /// Returns the words that were held back because they could become a tag or the speaker's name.
    fn held(&mut self) -> String {
        let held = self.emotion.finish();
        let mut words = self.opening.push(held);
        words.push_str(&self.opening.finish());
        words
    }

    /// Returns `words` with what must stand between them and the earlier text.
    fn joined(&mut self, words: String) -> String {
        if words.is_empty() {
            return words;
        }
        match std::mem::take(&mut self.joint).before(&words) {
            "" => words,
            joint => format!("{joint}{words}"),
        }
    }

    fn parts(&mut self, pieces: Vec<ReplyPiece>) -> Vec<ReplyPart> {
        let mut parts = vec![ReplyPart::default()];
        for piece in pieces {
            if piece.passage == ReplyPassage::ThoughtsClosed {
                let mut words = self.held();
                words.push_str(&piece.raw);
                self.emotion = EmotionFilter::default();
                self.opening = Opening::new(&self.speaker);
                parts.push(ReplyPart {
                    stored: words,
                    closes_thoughts: true,
                    ..ReplyPart::default()
                });
                continue;
            }
            let Some(part) = parts.last_mut() else {
                continue;
            };
            part.stored.push_str(std::mem::take(&mut self.owed));
            if piece.passage != ReplyPassage::Words {
                // A tag does not span a hidden passage.
                let held = self.emotion.finish();
                let words = self.opening.push(held);
                let words = self.joined(words);
                part.stored.push_str(&words);
                part.words.push_str(&words);
            }
            match piece.passage {
                ReplyPassage::Words => {
                    let words = self.emotion.push(&piece.text);
                    let words = self.opening.push(words);
                    let words = self.joined(words);
                    part.stored.push_str(&words);
                    part.words.push_str(&words);
                }
                ReplyPassage::Thoughts => {
                    part.stored.push_str(&piece.raw);
                    part.thoughts.push_str(&piece.text);
                }
                ReplyPassage::ThoughtsClosed
                | ReplyPassage::Metrics
                | ReplyPassage::Keyframe
                | ReplyPassage::Reminder
                | ReplyPassage::EpisodeEnd => part.stored.push_str(&piece.raw),
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(mut passages: Passages, texts: &[&str]) -> (String, String, String) {
        let mut parts: Vec<ReplyPart> = texts.iter().flat_map(|text| passages.push(text)).collect();
        parts.extend(passages.finish());
        let mut stored = String::new();
        let mut words = String::new();
        let mut thoughts = String::new();
        for part in parts {
            if part.closes_thoughts {
                opened("", &mut stored);
                thoughts.push_str(&std::mem::take(&mut words));
            }
            stored.push_str(&part.stored);
            words.push_str(&part.words);
            thoughts.push_str(&part.thoughts);
        }
        (stored, words, thoughts)
    }

    #[test]
    fn a_closing_tag_alone_turns_text_into_thoughts() {
        let (stored, words, thoughts) = whole(
            Passages::new("Mira", ""),
            &[
                "She wants in. I should",
                " open.\n",
                "</th",
                "ink>\n\n",
                "Mira: Come in.",
            ],
        );
        assert_eq!(
            (words.as_str(), thoughts.as_str()),
            ("Come in.", "She wants in. I should open.\n")
        );
        assert_eq!(
            stored,
            "<think>\nShe wants in. I should open.\n</think>Come in."
        );
    }

    #[test]
    fn thoughts_after_a_base_keep_its_text() {
        let mut text = "Come in. Hm.".to_owned();
        opened("Come in.", &mut text);
        text.push_str("</think>Sit.");
        let display = context::display::display(&text).unwrap();
        assert_eq!(
            (display.text.as_str(), display.thoughts.as_str()),
            ("Come in.\nSit.", "Hm.")
        );
    }

    #[test]
    fn channel_marks_are_not_stored() {
        let sent = "<|channel|>analysis<|message|>Cold.<|end|><|start|>assistant<|channel|>final<|message|>Mira: Come in.";
        let (stored, words, thoughts) = whole(Passages::new("Mira", ""), &[sent]);
        assert_eq!((words.as_str(), thoughts.as_str()), ("Come in.", "Cold."));
        assert_eq!(
            context::display::display(&stored)
                .map(|display| display.text)
                .as_deref(),
            Some("Come in.")
        );
    }

    #[test]
    fn own_marks_are_thoughts() {
        let marks = || OwnMarks::read("<plan> </plan>");
        let (stored, words, thoughts) = whole(
            Passages::new("Mira", "").with_marks(marks(), ""),
            &["<pl", "an>Cold.</pl", "an>Come in."],
        );
        assert_eq!((words.as_str(), thoughts.as_str()), ("Come in.", "Cold."));
        assert_eq!(stored, "<think>Cold.</think>Come in.");
        let (stored, words, _) = whole(
            Passages::new("Mira", "").with_marks(marks(), "<plan>\n"),
            &["Cold.</plan>", "Come in."],
        );
        assert_eq!(
            (words.as_str(), stored.as_str()),
            ("Come in.", "<think>\nCold.</think>Come in.")
        );
    }

    /// Thoughts never appear in the shown text, and the speaker's name after them is removed as
    /// well.
    #[test]
    fn thoughts_are_stored_but_not_shown() {
        let (stored, words, thoughts) = whole(
            Passages::new("Mira", ""),
            &[
                "<thi",
                "nk>Cold out",
                ".</th",
                "ink>\n\nMi",
                "ra: Come",
                " in.",
            ],
        );
        assert_eq!(
            (words.as_str(), thoughts.as_str()),
            ("Come in.", "Cold out.")
        );
        assert_eq!(stored, "<think>Cold out.</think>Come in.");
    }

    #[test]
    fn thoughts_opened_by_the_prompt_are_stored_tagged() {
        let (stored, words, _) = whole(
            Passages::new("Mira", "<|assistant|><think>\n"),
            &["Hm.</think>", "Yes."],
        );
        assert_eq!(
            (stored.as_str(), words.as_str()),
            ("<think>\nHm.</think>Yes.", "Yes.")
        );
        assert_eq!(
            context::display::display(&stored)
                .map(|display| display.text)
                .as_deref(),
            Some("Yes.")
        );
    }

    #[test]
    fn emotion_tag_is_neither_stored_nor_shown() {
        let mut passages = Passages::new("Mira", "");
        let mut parts: Vec<ReplyPart> = [
            "<think>Hm.</think>\n<emo",
            "tion=ha",
            "ppy> Mi",
            "ra: Come in. <emo",
        ]
        .iter()
        .flat_map(|text| passages.push(text))
        .collect();
        parts.extend(passages.finish());
        let stored: String = parts.iter().map(|part| part.stored.as_str()).collect();
        let words: String = parts.iter().map(|part| part.words.as_str()).collect();
        assert_eq!(
            (stored.as_str(), words.as_str()),
            ("<think>Hm.</think>Come in. <emo", "Come in. <emo")
        );
        assert_eq!(passages.emotion(), Some("happy"));
    }

    fn going_on(base: &str) -> Passages {
        Passages::going_on(base, ContinuePostfix::Auto)
    }

    #[test]
    fn continuation_is_joined_to_the_earlier_text() {
        let behind = |base, texts: &[&str]| {
            whole(
                Passages::behind(base, "Mira", "", ContinuePostfix::Auto),
                texts,
            )
            .1
        };
        assert_eq!(behind("Once upon", &["Mira: a", " time."]), " a time.");
        assert_eq!(behind("Once upon ", &["a time."]), "a time.");
        assert_eq!(behind("Once upon a time", &[", there was"]), ", there was");
    }

    #[test]
    fn reply_cut_in_thoughts_continues_them() {
        let (_, words, thoughts) = whole(going_on("<think>Cold."), &[" out.</think>Come in."]);
        assert_eq!((words.as_str(), thoughts.as_str()), ("Come in.", " out."));
        let (_, words, _) = whole(going_on("<think>Cold.</think>Come in."), &["Sit", " down."]);
        assert_eq!(words, " Sit down.");
    }
}
