//! Splits a streamed reply into visible text and hidden passages, such as the thoughts of a
//! reasoning model.
//!
//! A passage begins with its tag at the start of a line and ends with the closing tag or with the
//! reply. A tag in the middle of a line is visible text, because people and characters may talk
//! about tags. The mark that ends an episode is a passage at any position. `(Metrics`, `(KeyFrame`
//! and `(Reminder` at the start of a line begin passages that end with their parenthesis. [`marks`]
//! lists the spellings of models and servers.
//!
//! If the template of the server opened the thoughts, only their closing tag arrives. All text
//! before it was thoughts, which [`ReplyPassage::ThoughtsClosed`] reports.

mod marks;
mod own_marks;

use marks::{Marked, Open, TagMark};
pub use own_marks::OwnMarks;

/// The kind of a part of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReplyPassage {
    /// Visible text.
    Words,
    /// Reasoning of the model.
    Thoughts,
    /// All visible text so far was thoughts, which end here.
    ThoughtsClosed,
    Metrics,
    Keyframe,
    Reminder,
    /// [`EPISODE_END`].
    EpisodeEnd,
}

/// The mark that ends an episode of the story, in any letter case.
pub const EPISODE_END: &str = "#NEXT EPISODE#";

/// A part of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyPiece {
    pub passage: ReplyPassage,
    /// Without tags.
    pub text: String,
    /// The text as the model wrote it. The `raw` texts of all pieces together are the reply.
    pub raw: String,
}

/// Splits a reply into passages, for any division into chunks. It holds back only text that may
/// still become a tag.
#[derive(Debug, Default)]
pub struct PassageFilter {
    inside: Option<Open>,
    held: String,
    line: DisplayLine,
    /// Thoughts were opened earlier, so a lone closing tag has no effect.
    thought: bool,
    /// The reply uses channels, whose marks are not text.
    channels: bool,
}

/// Context before the held text.
#[derive(Debug, Clone, Copy, Default)]
struct DisplayLine {
    /// The line already contains something other than blanks.
    begun: bool,
    /// The last character, and the last one that is not blank.
    last: Option<char>,
    last_visible: Option<char>,
}

impl DisplayLine {
    fn pass(&mut self, text: &str) {
        let (line, begun) = text
            .rsplit_once('\n')
            .map_or((text, self.begun), |(_, line)| (line, false));
        self.begun = begun || !line.trim().is_empty();
        self.last = text.chars().next_back().or(self.last);
        self.last_visible = text
            .chars()
            .rfind(|letter| !letter.is_whitespace())
            .or(self.last_visible);
    }

    fn quotes(&self) -> bool {
        matches!(self.last, Some('`' | '"' | '\'' | '“' | '‘' | '„' | '«'))
    }

    /// Whether the text mentions a tag instead of using it. `next` is the character after the tag.
    fn mentions(&self, next: Option<char>) -> bool {
        let ends_a_sentence = |letter: char| ".!?…*)]}\"”’»。！？".contains(letter);
        let spaced = self.begun && self.last.is_some_and(|last| last.is_whitespace());
        self.quotes()
            || (spaced
                && !self.last_visible.is_some_and(ends_a_sentence)
                && next.is_some_and(|next| next != '\n'))
    }
}

impl PassageFilter {
    /// For a reply whose prompt ends with the opening tag of its thoughts.
    pub fn thinking() -> Self {
        Self {
            inside: Some(Open::thoughts()),
            thought: true,
            ..Self::default()
        }
    }

    /// Appends text and returns the pieces that are certain.
    pub fn push(&mut self, text: &str) -> Vec<ReplyPiece> {
        self.held.push_str(text);
        let mut pieces = Vec::new();
        while self.step(&mut pieces, false) {}
        pieces
    }

    /// Returns the text that is still held when the reply ends.
    pub fn finish(&mut self) -> Vec<ReplyPiece> {
        let mut pieces = Vec::new();
        while self.step(&mut pieces, true) {}
        let held = std::mem::take(&mut self.held);
        let passage = self
            .inside
            .as_ref()
            .map_or(ReplyPassage::Words, |open| open.passage);
        if !held.is_empty() {
            pieces.push(ReplyPiece {
                passage,
                text: held.clone(),
                raw: held,
            });
        }
        pieces
    }

    /// Returns true if another step is needed. `whole` says that the reply is complete.
    fn step(&mut self, pieces: &mut Vec<ReplyPiece>, whole: bool) -> bool {
        match self.inside.take() {
            None => self.take_text(pieces, whole),
            Some(open) => self.hidden(open, pieces),
        }
    }

    /// Returns true if it consumed a mark, so that another step is needed.
    fn take_text(&mut self, pieces: &mut Vec<ReplyPiece>, whole: bool) -> bool {
        let (at, mark) = self.next_mark(whole);
        let words: String = self.held.drain(..at).collect();
        self.line.pass(&words);
        if !words.is_empty() {
            pieces.push(ReplyPiece {
                passage: ReplyPassage::Words,
                text: words.clone(),
                raw: words,
            });
        }
        let Some((length, mark)) = mark else {
            return false;
        };
        let raw: String = self.held.drain(..length).collect();
        let passage = match mark {
            TagMark::Opens(open) => {
                let passage = open.passage;
                self.thought |= passage == ReplyPassage::Thoughts;
                self.inside = Some(open);
                passage
            }
            TagMark::Closes if !self.thought => {
                self.thought = true;
                ReplyPassage::ThoughtsClosed
            }
            TagMark::Closes | TagMark::Nothing => ReplyPassage::Words,
            TagMark::EpisodeEnd => ReplyPassage::EpisodeEnd,
        };
        self.channels |= raw.starts_with("<|channel");
        if passage != ReplyPassage::EpisodeEnd {
            self.line = DisplayLine::default();
        } else {
            self.line.pass(&raw);
        }
        pieces.push(ReplyPiece {
            passage,
            text: String::new(),
            raw,
        });
        true
    }

    /// Finds where the words end: at a mark, at a possible mark, or at the end.
    fn next_mark(&self, whole: bool) -> (usize, Option<(usize, TagMark)>) {
        let mut line = self.line;
        let mut passed = 0;
        for (at, _) in self.held.match_indices(marks::FIRST) {
            line.pass(&self.held[passed..at]);
            passed = at;
            let rest = &self.held[at..];
            match marks::look(rest, !line.begun, self.channels) {
                Marked::No => {}
                Marked::Maybe if whole => {}
                Marked::Maybe => return (at, None),
                Marked::Yes(_, TagMark::Opens(_) | TagMark::Nothing) if line.quotes() => {}
                Marked::Yes(length, TagMark::Closes) => {
                    let next = rest[length..].chars().next();
                    if next.is_none() && !whole && line.mentions(Some(' ')) && !line.quotes() {
                        return (at, None);
                    }
                    let second = self.thought && line.begun && rest.starts_with("</");
                    if !line.mentions(next) && !second {
                        return (at, Some((length, TagMark::Closes)));
                    }
                }
                Marked::Yes(length, mark) => return (at, Some((length, mark))),
            }
        }
        (self.held.len(), None)
    }

    /// True if the passage ended, so that there is more to do.
    fn hidden(&mut self, mut open: Open, pieces: &mut Vec<ReplyPiece>) -> bool {
        let (at, closed) = open.end(&self.held);
        let text: String = self.held.drain(..at).collect();
        let mut raw = text.clone();
        if let Some(closing) = closed {
            raw.extend(self.held.drain(..closing));
            self.line = DisplayLine::default();
        }
        if !raw.is_empty() {
            pieces.push(ReplyPiece {
                passage: open.passage,
                text,
                raw,
            });
        }
        if closed.is_none() {
            self.inside = Some(open);
        }
        closed.is_some()
    }
}

/// A stored text, split for display.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Display {
    pub text: String,
    pub thoughts: String,
    pub has_thoughts: bool,
    pub has_metrics: bool,
    pub has_keyframe: bool,
    pub ends_episode: bool,
}

fn may_have_marks(text: &str) -> bool {
    memchr::memchr3(b'<', b'#', b'[', text.as_bytes()).is_some()
        || text.contains('◁')
        || text
            .split('(')
            .skip(1)
            .any(|rest| rest.starts_with(['m', 'M', 'k', 'K', 'r', 'R']))
}

/// Splits the character's `text` for display. `None` means that it is shown unchanged.
pub fn display(text: &str) -> Option<Display> {
    // Most replies contain no character that begins a mark, so they are shown unchanged.
    if !may_have_marks(text) {
        return None;
    }
    let mut filter = PassageFilter::default();
    let mut pieces = filter.push(text);
    pieces.extend(filter.finish());
    if pieces
        .iter()
        .all(|piece| piece.passage == ReplyPassage::Words && piece.text == piece.raw)
    {
        return None;
    }
    let closed = pieces
        .iter()
        .position(|piece| piece.passage == ReplyPassage::ThoughtsClosed);
    for piece in &mut pieces[..closed.unwrap_or(0)] {
        if piece.passage == ReplyPassage::Words {
            piece.passage = ReplyPassage::Thoughts;
        }
    }
    let join = |wanted| {
        let texts = pieces
            .iter()
            .filter(|piece| piece.passage == wanted)
            .map(|piece| piece.text.as_str());
        texts.collect::<String>().trim().to_owned()
    };
    let has = |wanted| pieces.iter().any(|piece| piece.passage == wanted);
    Some(Display {
        text: join(ReplyPassage::Words),
        thoughts: join(ReplyPassage::Thoughts),
        has_thoughts: has(ReplyPassage::Thoughts) || closed.is_some(),
        has_metrics: has(ReplyPassage::Metrics),
        has_keyframe: has(ReplyPassage::Keyframe),
        ends_episode: has(ReplyPassage::EpisodeEnd),
    })
}

#[cfg(test)]
mod tests;
