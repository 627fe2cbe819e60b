//! What of a reply is words, and what is not: thoughts and other hidden passages are told apart while they stream (C19,
//! S4.70 to S4.72).
//!
//! A passage begins with its tag at the start of a line and ends with the closing tag, or with the reply. A tag in the
//! middle of a line is words: people and characters may talk about tags. The mark that ends an episode is a passage by
//! itself, wherever it stands (S4.22).

/// A stretch of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Passage {
    Words,
    /// What a reasoning model said to itself.
    Thoughts,
    Metrics,
    Keyframe,
    Reminder,
    /// [`EPISODE_END`].
    EpisodeEnd,
}

/// What a model writes where an episode of the story is over, in capitals or not.
pub const EPISODE_END: &str = "#NEXT EPISODE#";

/// Tags of hidden passages, as models and other apps spell them.
const TAGS: [(&str, Passage); 7] = [
    ("think", Passage::Thoughts),
    ("thinking", Passage::Thoughts),
    ("thought", Passage::Thoughts),
    ("reasoning", Passage::Thoughts),
    ("metrics", Passage::Metrics),
    ("keyframe", Passage::Keyframe),
    ("reminder", Passage::Reminder),
];

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub passage: Passage,
    /// Without tags.
    pub text: String,
    /// As the model wrote it; the raws of all pieces are the reply.
    pub raw: String,
}

/// Splits a reply into passages however it arrives; holds back only what may still become a tag.
#[derive(Debug, Default)]
pub struct PassageFilter {
    inside: Option<(&'static str, Passage)>,
    held: String,
    /// Something other than blanks stands on the line already.
    mid_line: bool,
}

impl PassageFilter {
    /// For a reply whose prompt ends with the opening tag of its thoughts.
    pub fn thinking() -> Self {
        Self { inside: Some(TAGS[0]), ..Self::default() }
    }

    /// Takes the next text of the reply and gives what is certain by now.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        self.held.push_str(text);
        let mut pieces = Vec::new();
        while self.step(&mut pieces) {}
        pieces
    }

    /// What is still held when the reply ends.
    pub fn finish(&mut self) -> Option<Piece> {
        let held = std::mem::take(&mut self.held);
        let passage = self.inside.map_or(Passage::Words, |(_, passage)| passage);
        (!held.is_empty()).then(|| Piece { passage, text: held.clone(), raw: held })
    }

    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        match self.inside {
            None => self.words(pieces),
            Some((tag, passage)) => self.hidden(tag, passage, pieces),
        }
    }

    /// True if a passage opened, so that there is more to do.
    fn words(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let (at, opening) = self.next_opening();
        let words: String = self.held.drain(..at).collect();
        self.mid_line = mid_line(&words, self.mid_line);
        if !words.is_empty() {
            pieces.push(Piece { passage: Passage::Words, text: words.clone(), raw: words });
        }
        let Some((tag, passage)) = opening else { return false };
        let ends_at_once = passage == Passage::EpisodeEnd;
        let length = if ends_at_once { tag.len() } else { tag.len() + "<>".len() };
        let raw: String = self.held.drain(..length).collect();
        pieces.push(Piece { passage, text: String::new(), raw });
        self.inside = (!ends_at_once).then_some((tag, passage));
        true
    }

    /// Where words end: at an opening tag or a mark, at what may become one, or at the end.
    fn next_opening(&self) -> (usize, Option<(&'static str, Passage)>) {
        for (at, first) in self.held.match_indices(['<', '#']) {
            if first == "#" {
                let rest = &self.held[at..];
                if starts_with(rest, EPISODE_END) {
                    return (at, Some((EPISODE_END, Passage::EpisodeEnd)));
                }
                if starts_with(EPISODE_END, rest) {
                    return (at, None);
                }
                continue;
            }
            if mid_line(&self.held[..at], self.mid_line) {
                continue;
            }
            let rest = &self.held[at..];
            if let Some(found) = TAGS.iter().find(|(tag, _)| starts_with(rest, &format!("<{tag}>"))) {
                return (at, Some(*found));
            }
            if TAGS.iter().any(|(tag, _)| starts_with(&format!("<{tag}>"), rest)) {
                return (at, None);
            }
        }
        (self.held.len(), None)
    }

    /// True if the passage ended, so that there is more to do.
    fn hidden(&mut self, tag: &'static str, passage: Passage, pieces: &mut Vec<Piece>) -> bool {
        let closing = format!("</{tag}>");
        let end = self.held.match_indices('<').find(|(at, _)| {
            let rest = &self.held[*at..];
            starts_with(rest, &closing) || starts_with(&closing, rest)
        });
        let (at, closed) = match end {
            Some((at, _)) => (at, self.held.len() - at >= closing.len()),
            None => (self.held.len(), false),
        };
        let text: String = self.held.drain(..at).collect();
        let mut raw = text.clone();
        if closed {
            raw.extend(self.held.drain(..closing.len()));
            (self.inside, self.mid_line) = (None, false);
        }
        if !raw.is_empty() {
            pieces.push(Piece { passage, text, raw });
        }
        closed
    }
}

/// `text` begins with `start`, in whatever case; tags are ASCII.
fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn mid_line(text: &str, before: bool) -> bool {
    let (line, before) = text.rsplit_once('\n').map_or((text, before), |(_, line)| (line, false));
    before || !line.trim().is_empty()
}

/// A stored text as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Display {
    pub shown: String,
    pub thoughts: String,
    pub has_thoughts: bool,
    pub has_metrics: bool,
    pub has_keyframe: bool,
    pub ends_episode: bool,
}

/// How the character's `text` is shown; `None` where it is shown as it is.
pub fn display(text: &str) -> Option<Display> {
    // What neither tag nor mark can stand in is words, as most replies are.
    memchr::memchr2(b'<', b'#', text.as_bytes())?;
    let mut filter = PassageFilter::default();
    let mut pieces = filter.push(text);
    pieces.extend(filter.finish());
    if pieces.iter().all(|piece| piece.passage == Passage::Words) {
        return None;
    }
    let join = |wanted| {
        let texts = pieces.iter().filter(|piece| piece.passage == wanted).map(|piece| piece.text.as_str());
        texts.collect::<String>().trim().to_owned()
    };
    let has = |wanted| pieces.iter().any(|piece| piece.passage == wanted);
    Some(Display {
        shown: join(Passage::Words),
        thoughts: join(Passage::Thoughts),
        has_thoughts: has(Passage::Thoughts),
        has_metrics: has(Passage::Metrics),
        has_keyframe: has(Passage::Keyframe),
        ends_episode: has(Passage::EpisodeEnd),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> (String, String) {
        display(text).map_or((text.to_owned(), String::new()), |display| (display.shown, display.thoughts))
    }

    #[test]
    fn thoughts_are_held_apart_closed_or_not() {
        assert_eq!(
            shown("<think>She is cold.</think>\n\nCome in."),
            ("Come in.".to_owned(), "She is cold.".to_owned())
        );
        assert_eq!(shown("<THINK>never\nclosed"), (String::new(), "never\nclosed".to_owned()));
        assert_eq!(
            shown("Come in.\n<reasoning>Why?</reasoning> Sit."),
            ("Come in.\n Sit.".to_owned(), "Why?".to_owned())
        );
    }

    #[test]
    fn words_about_tags_are_words() {
        for words in ["Write <think> first.", "a < b <3 <thin", "<b>bold</b>", "`</think>`"] {
            assert_eq!(display(words), None, "{words}");
        }
    }

    #[test]
    fn metrics_keyframes_and_reminders_are_hidden_and_flagged() {
        let display = display("<metrics>joy 3</metrics>Hello.\n<keyframe>They met.</keyframe>").unwrap();
        assert_eq!((display.shown.as_str(), display.has_metrics, display.has_keyframe), ("Hello.", true, true));
    }

    /// S4.71: each flag on its own fixture, and none on plain words.
    #[test]
    fn flags_say_what_is_hidden() {
        let flags = |text| {
            let found = display(text).unwrap();
            [found.has_thoughts, found.has_metrics, found.has_keyframe, found.ends_episode]
        };
        assert_eq!(flags("<think></think>Hello."), [true, false, false, false]);
        assert_eq!(flags("<metrics>joy 3</metrics>Hello."), [false, true, false, false]);
        assert_eq!(flags("<keyframe>They met.</keyframe>"), [false, false, true, false]);
        assert_eq!(flags("Good night. #NEXT EPISODE#"), [false, false, false, true]);
        assert_eq!(display("Hello."), None);
    }

    #[test]
    fn the_end_of_an_episode_is_hidden_wherever_it_stands() {
        assert_eq!(shown("Good night.\n\n#NEXT EPISODE#").0, "Good night.");
        assert_eq!(shown("So #next episode# it ends.").0, "So  it ends.");
        for words in ["#1 of 2", "the #NEXT EPISODE", "##"] {
            assert_eq!(display(words), None, "{words}");
        }
    }

    #[test]
    fn a_prompt_that_opened_the_thoughts_is_gone_on_with() {
        let mut filter = PassageFilter::thinking();
        let pieces = filter.push("Hm.</think>Yes.");
        assert_eq!(pieces[0].passage, Passage::Thoughts);
        assert_eq!((pieces[1].passage, pieces[1].text.as_str()), (Passage::Words, "Yes."));
    }

    proptest! {
        /// However the reply is cut into chunks, nothing hidden flashes up and nothing is lost (S1.9's rule for S4.72).
        #[test]
        fn any_cut_gives_the_same_passages(
            parts in proptest::collection::vec(
                prop_oneof![Just("<think>"), Just("</think>"), Just("<metrics>"), Just("</metrics>"), Just("\n"), Just("wörds "), Just("<"), Just("</"), Just("#"), Just("#NEXT EPISODE#")],
                0..12,
            ),
            cut in 1_usize..5,
        ) {
            let text: String = parts.concat();
            let mut filter = PassageFilter::default();
            let letters: Vec<char> = text.chars().collect();
            let mut pieces = Vec::new();
            for chunk in letters.chunks(cut) {
                pieces.extend(filter.push(&chunk.iter().collect::<String>()));
            }
            pieces.extend(filter.finish());
            let raw: String = pieces.iter().map(|piece| piece.raw.as_str()).collect();
            prop_assert_eq!(&raw, &text);
            let words = |pieces: &[Piece]| -> String {
                pieces.iter().filter(|piece| piece.passage == Passage::Words).map(|piece| piece.text.as_str()).collect()
            };
            let mut whole = PassageFilter::default();
            let mut at_once = whole.push(&text);
            at_once.extend(whole.finish());
            prop_assert_eq!(words(&pieces), words(&at_once));
        }
    }
}
