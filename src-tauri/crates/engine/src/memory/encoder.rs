//! The model that understands what was said: a small encoder in a worker of its own, which leaves when it is not needed.

use std::path::PathBuf;
use std::time::Duration;

use context::similarity::bytes;
use domain::Timestamp;
use domain::document::MAX_PASSAGE;
use local::{Embedding, LocalHost, gguf};
use provider::ProviderError;
use store::{NewVector, SaidText, UnreadText};

use crate::convert::Speakers;
use crate::models::gguf_files;

/// A worker without work leaves after so long: it is back in a tenth of a second.
const IDLE: Duration = Duration::from_secs(60);
/// Letters of a name: a card may have one that would leave no room for what was said.
const NAME: usize = 60;
/// Letters of a neighbour that a passage is read with.
const BESIDE: usize = 240;
/// Pieces that are no word's: one at each end.
const MARKS: usize = 2;
/// Of a text in English, signs and all, the mean is 1.1 to 1.5; of one in German or Spanish it is above two, and where words are
/// not parted far above.
const PIECES_A_WORD: f32 = 1.8;
/// Milliseconds within which two messages are of one talk.
const TALK: i64 = 8 * 3_600_000;

/// The encoder that comes with the app.
#[derive(Debug, Clone)]
pub struct Encoder {
    host: LocalHost,
    path: PathBuf,
    model: String,
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
        // Texts were read without their speakers once; those are read anew.
        let model = format!("{name}, {bytes} bytes, with speakers");
        Ok(Some(Self { host: LocalHost::new(settings)?, model, path }))
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
        let asked = self.host.embed(&self.path, &[text.to_owned()]).await?.pop();
        Ok(asked.filter(|asked| knows_the_words(text, asked.tokens.len())))
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
        let passages = passages(&unread.said, speakers);
        let beside = [unread.before.as_ref(), unread.behind.as_ref()];
        let windows = windows(&passages, &unread.said, beside, speakers);
        let mut read = Vec::with_capacity(passages.len());
        for (window, passage) in windows.into_iter().zip(passages) {
            if stop() {
                return Ok(None);
            }
            let both = self.host.embed(&self.path, &[passage, window]).await?;
            read.extend(<[Embedding; 2]>::try_from(both).map(kept));
        }
        Ok(Some(read))
    }

    /// Ends the worker.
    pub async fn shutdown(&self) {
        self.host.shutdown().await;
    }
}

/// Of a passage its pieces, of its window the whole: one says what was said, the other what it was about.
fn kept([passage, window]: [Embedding; 2]) -> NewVector {
    let (vector, scale) = bytes(&window.mean);
    let pieces = passage.tokens.iter().map(|piece| u16::try_from(*piece).unwrap_or(u16::MAX)).collect();
    NewVector { vector, scale, pieces, vectors: passage.vectors }
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

/// Each passage among its neighbours.
fn windows(passages: &[String], said: &SaidText, beside: [Option<&SaidText>; 2], speakers: &Speakers) -> Vec<String> {
    let same_talk = |beside: &&SaidText| is_same_talk(beside.created, said.created);
    let beside = beside.map(|beside| beside.filter(same_talk).map(|beside| line(beside, beside.text.trim(), speakers)));
    passages.iter().map(|passage| among(passage, beside.each_ref().map(Option::as_deref))).collect()
}

/// What was said on another day is of another matter.
fn is_same_talk(one: Timestamp, other: Timestamp) -> bool {
    (one.0 - other.0).abs() <= TALK
}

/// A passage between the ends of its neighbours that are next to it: whole ones would crowd it out (memory.md, section 3,
/// item 5).
fn among(passage: &str, [before, behind]: [Option<&str>; 2]) -> String {
    let (before, behind) =
        (before.map(|text| last_letters(text, BESIDE)), behind.map(|text| first_letters(text, BESIDE)));
    [before, Some(passage), behind].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A model spells out words that it has not learned. What it says of a text that it spells is of no use: the nearest of such
/// texts are those that are spelled alike.
fn knows_the_words(text: &str, pieces: usize) -> bool {
    let words = super::terms::words(text).count();
    pieces.saturating_sub(MARKS) as f32 <= PIECES_A_WORD * words as f32
}

fn first_letters(text: &str, letters: usize) -> &str {
    text.char_indices().nth(letters).map_or(text, |(end, _)| &text[..end])
}

fn last_letters(text: &str, letters: usize) -> &str {
    text.char_indices().rev().nth(letters.saturating_sub(1)).map_or(text, |(start, _)| &text[start..])
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
    fn a_passage_stands_between_the_ends_that_are_next_to_it() {
        assert_eq!(among("Yes.", [Some("A boat?"), Some("Good.")]), "A boat?\nYes.\nGood.");
        assert_eq!(among("Yes.", [None, None]), "Yes.");
        let long = format!("é{}é", "a".repeat(400));
        let [before, behind] = [format!("{}é", "a".repeat(239)), format!("é{}", "a".repeat(239))];
        assert_eq!(among("Yes.", [Some(&long), Some(&long)]), format!("{before}\nYes.\n{behind}"));
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
            let (yes, boat) = (said(Role::Character, 0, "Yes."), said(Role::User, hours, " A boat? "));
            windows(&passages(&yes, &speakers()), &yes, [Some(&boat), None], &speakers())
        };
        assert_eq!([-1, 8].map(read), [["Tom: A boat?\nMira: Yes."], ["Tom: A boat?\nMira: Yes."]]);
        assert_eq!([-9, 9].map(read), [["Mira: Yes."], ["Mira: Yes."]]);
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
