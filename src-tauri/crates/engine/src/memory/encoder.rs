//! The model that understands what was said: a small encoder in a worker of its own, which leaves when it is not needed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use context::similarity::bytes;
use domain::Timestamp;
use domain::document::MAX_PASSAGE;
use local::{Embedding, LocalHost, gguf};
use provider::ProviderError;
use store::{NewVector, SaidText, UnreadText};

use super::recent::Recent;
use super::window;
use crate::convert::Speakers;
use crate::models::gguf_files;

/// A worker without work leaves after so long: it is back in a tenth of a second.
const IDLE: Duration = Duration::from_secs(60);
/// Letters of a name: a card may have one that would leave no room for what was said.
const NAME: usize = 60;
/// Pieces that are no word's: one at each end.
const MARKS: usize = 2;
/// Of a text in English, signs and all, the mean is 1.1 to 1.5; of one in German or Spanish it is above two, and where words are
/// not parted far above.
const PIECES_A_WORD: f32 = 1.8;
const APOSTROPHES: [char; 2] = ['\'', '\u{2019}'];
/// Milliseconds within which two messages are of one talk.
const TALK: i64 = 8 * 3_600_000;

/// The encoder that comes with the app.
#[derive(Debug, Clone)]
pub struct Encoder {
    host: LocalHost,
    path: PathBuf,
    model: String,
    /// A passage stands beside others, and counts with each of them.
    lately: Arc<Recent<Arc<Embedding>>>,
}

impl Encoder {
    /// The first encoder in `folders`, run by the worker beside this program; `None` if there is none.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub fn find(folders: &[PathBuf]) -> std::io::Result<Option<Self>> {
        Self::run_by(&local::Settings::default(), folders)
    }

    /// [`Encoder::find`] with a worker of one's own.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub fn run_by(settings: &local::Settings, folders: &[PathBuf]) -> std::io::Result<Option<Self>> {
        let is_encoder = |path: &PathBuf| gguf::read(path).is_ok_and(|header| header.architecture.contains("bert"));
        let Some(path) = folders.iter().flat_map(|folder| gguf_files(folder)).find(is_encoder) else { return Ok(None) };
        let bytes = std::fs::metadata(&path)?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let settings = local::Settings { task: "embeddings", idle: Some(IDLE), state_dir: None, ..settings.clone() };
        // What was read without speakers once, or among its neighbours in one piece, is read anew.
        let model = format!("{name}, {bytes} bytes, with speakers, neighbours by half");
        Ok(Some(Self { host: LocalHost::new(settings)?, model, path, lately: Arc::default() }))
    }

    /// Whose vectors these are. Those of another say nothing to them.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// What is asked; `None` if it is in no language of the model's.
    ///
    /// # Errors
    /// The file is no model, or the worker fails.
    pub async fn understand(&self, text: &str) -> Result<Option<Embedding>, ProviderError> {
        let asked = self.host.embed(&self.path, text).await?;
        Ok(knows_the_words(text, asked.tokens.len()).then_some(asked))
    }

    /// The passages of a text, by themselves and among what was said around them, each line with who said it, as they are called
    /// now (memory.md, section 3, item 1): a long text says several things, and the model reads a page at the most. `None` if it
    /// was told to `stop` before it was done, which it asks between two of them.
    pub(crate) async fn read(
        &self,
        unread: &UnreadText,
        speakers: &Speakers,
        stop: impl Fn() -> bool,
    ) -> Result<Option<Vec<NewVector>>, ProviderError> {
        let [before, behind] = beside(&unread.said, [unread.before.as_ref(), unread.behind.as_ref()], speakers);
        let here = passages(&unread.said, speakers);
        let mut lines = Vec::with_capacity(here.len() + 2);
        for line in before.iter().chain(&here).chain(&behind) {
            if stop() {
                return Ok(None);
            }
            lines.push(self.line(line).await?);
        }
        let behind = behind.and_then(|_| lines.pop());
        let before = before.map(|_| lines.remove(0));
        Ok(Some(lines.iter().map(|line| kept(line, [before.as_deref(), behind.as_deref()])).collect()))
    }

    /// What it makes of a line, which stands beside the next one too.
    async fn line(&self, line: &str) -> Result<Arc<Embedding>, ProviderError> {
        if let Some(known) = self.lately.of(line) {
            return Ok(known);
        }
        let made = Arc::new(self.host.embed(&self.path, line).await?);
        self.lately.put(line, Arc::clone(&made));
        Ok(made)
    }

    /// Ends the worker.
    pub async fn shutdown(&self) {
        self.host.shutdown().await;
    }
}

/// Of a passage its pieces, of its window the whole: one says what was said, the other what it was about.
fn kept(passage: &Embedding, beside: [Option<&Embedding>; 2]) -> NewVector {
    let (vector, scale) = bytes(&window::among(passage, beside));
    let pieces = passage.tokens.iter().map(|piece| u16::try_from(*piece).unwrap_or(u16::MAX)).collect();
    NewVector { vector, scale, pieces, vectors: passage.vectors.clone() }
}

/// Of what was said before and behind a text, the passages that are next to it.
fn beside(said: &SaidText, neighbours: [Option<&SaidText>; 2], speakers: &Speakers) -> [Option<String>; 2] {
    let same_talk = |beside: &&SaidText| is_same_talk(beside.created, said.created);
    let [before, behind] =
        neighbours.map(|beside| beside.filter(same_talk).map_or_else(Vec::new, |beside| passages(beside, speakers)));
    [before.into_iter().next_back(), behind.into_iter().next()]
}

fn passages(said: &SaidText, speakers: &Speakers) -> Vec<String> {
    let text = said.text.trim();
    let passages = match text.len() {
        0 => Vec::new(),
        1..=MAX_PASSAGE => vec![text.to_owned()],
        _ => domain::document::passages(text).into_iter().map(|passage| passage.text).collect(),
    };
    passages.iter().map(|passage| line(said, passage, speakers)).collect()
}

fn line(said: &SaidText, text: &str, speakers: &Speakers) -> String {
    match speakers.of(said.message, said.role) {
        "" => text.to_owned(),
        speaker => format!("{}: {text}", first_letters(speaker, NAME)),
    }
}

/// What was said on another day is of another matter.
fn is_same_talk(one: Timestamp, other: Timestamp) -> bool {
    (one.0 - other.0).abs() <= TALK
}

/// A model spells out words that it has not learned. What it says of a text that it spells is of no use: the nearest of such
/// texts are those that are spelled alike.
fn knows_the_words(text: &str, pieces: usize) -> bool {
    // The sign in "sister's" is a piece of its own, and no word.
    let endings = text.matches(APOSTROPHES).count();
    let words = super::terms::words(text).count();
    pieces.saturating_sub(MARKS + endings) as f32 <= PIECES_A_WORD * words as f32
}

fn first_letters(text: &str, letters: usize) -> &str {
    text.char_indices().nth(letters).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use domain::MessageId;
    use domain::chat::Role;
    use uuid::Uuid;

    use super::*;

    fn said(role: Role, hours: i64, text: &str) -> SaidText {
        let created = Timestamp(hours * 3_600_000);
        SaidText { message: MessageId(Uuid::nil()), role, text: text.to_owned(), created }
    }

    fn speakers() -> Speakers {
        Speakers { character: "Mira".to_owned(), persona: "Tom".to_owned(), others: Default::default() }
    }

    #[test]
    fn a_text_that_is_spelled_out_is_not_understood() {
        for (text, pieces, known) in [
            ("What did my sister name the parrot?", 8, true),
            ("Wie hat meine Schwester ihren Kater genannt?", 16, false),
            ("我妹妹养的那只鹦鹉叫什么名字？", 15, false),
            ("", 0, true),
        ] {
            assert_eq!(knows_the_words(text, pieces + MARKS), known, "{text}");
        }
    }

    #[test]
    fn what_was_said_on_another_day_is_not_beside_it() {
        let read = |hours: i64| {
            let [yes, boat] = [said(Role::Character, 0, "Yes."), said(Role::User, hours, " A boat? ")];
            beside(&yes, [Some(&boat), None], &speakers())
        };
        assert_eq!(
            [-8, 8].map(read),
            [[Some("Tom: A boat?".to_owned()), None], [Some("Tom: A boat?".to_owned()), None]]
        );
        assert_eq!([-9, 9].map(read), [[None, None], [None, None]]);
    }

    #[test]
    fn of_long_neighbours_the_passages_that_are_next_to_it_are_beside_it() {
        let long = said(Role::User, 0, &format!("{}It ends.", "It rained, and the boats stayed in. ".repeat(100)));
        let yes = said(Role::Character, 0, "Yes.");
        let [before, behind] = beside(&yes, [Some(&long), Some(&long)], &speakers()).map(Option::unwrap_or_default);
        assert!(before.starts_with("Tom: ") && before.ends_with("It ends."), "{before}");
        assert!(behind.starts_with("Tom: It rained") && !behind.contains("It ends."), "{behind}");
    }

    #[test]
    fn every_passage_of_a_long_text_says_who_said_it() {
        let long = "It rained, and the boats stayed in. ".repeat(100);
        let read = |text: &str| passages(&said(Role::Character, 0, text), &speakers());
        assert!(read(&long).len() > 1 && read(&long).iter().all(|passage| passage.starts_with("Mira: It rained")));
        assert_eq!(read("  "), [""; 0]);
        let told = said(Role::Narrator, 0, "Night falls.");
        assert_eq!(passages(&told, &speakers()), ["Night falls."], "nobody says that");
        let endless = Speakers { character: "M".repeat(1_000_000), ..speakers() };
        let yes = passages(&said(Role::Character, 0, "Yes."), &endless);
        assert_eq!(yes, [format!("{}: Yes.", "M".repeat(NAME))]);
    }
}
