//! The embedding model: a small sentence encoder in a worker process of its own, which exits when
//! idle.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use domain::Timestamp;
use domain::document::MAX_PASSAGE;
use domain::embedding::Embedding;
use local::{LocalHost, gguf};
use provider::ProviderError;
use recall::neighbour_pooling;
use recall::similarity::bytes;
use store::{MessageContent, NewVector, QueuedText};

use crate::base::records::convert::Speakers;
use crate::recall_service::messages::recent::Recent;
use crate::settings::models::files::gguf_files;

/// Idle time after which the worker exits. A restart takes a tenth of a second.
const IDLE: Duration = Duration::from_secs(60);
/// Maximum characters of a speaker's name. A longer name in a card would leave no room for the
/// message.
const NAME: usize = 60;
/// Special tokens of the tokenizer, one at each end of a text.
const SPECIAL_TOKENS: usize = 2;
/// Maximum tokens per word of a text in a known language. English has 1.1 to 1.5, punctuation
/// included; German and Spanish have more than two, and scripts without spaces far more.
const TOKENS_PER_WORD: f32 = 1.8;
const APOSTROPHES: [char; 2] = ['\'', '\u{2019}'];
/// Maximum milliseconds between two messages of one conversation.
const MAX_GAP: i64 = 8 * 3_600_000;

/// An encoder: the one that is bundled with the app, or one that the user chose.
#[derive(Debug, Clone)]
pub struct Encoder {
    host: LocalHost,
    path: PathBuf,
    model: String,
    /// The bundled encoder reads only English. Others may read every language.
    refuses_unknown_languages: bool,
    /// Recent embeddings. A passage is needed again as the neighbour of others.
    lately: Arc<Recent<Arc<Embedding>>>,
}

impl Encoder {
    /// The first encoder in `folders`, run by the worker executable next to this program; `None` if
    /// there is none.
    ///
    /// # Errors
    /// The operating system cannot start a thread.
    pub fn find(folders: &[PathBuf]) -> std::io::Result<Option<Self>> {
        Self::run_by(&local::WorkerSettings::default(), folders)
    }

    /// [`Encoder::find`] with other settings of the worker.
    ///
    /// # Errors
    /// The operating system cannot start a thread.
    pub fn run_by(
        settings: &local::WorkerSettings,
        folders: &[PathBuf],
    ) -> std::io::Result<Option<Self>> {
        Ok(Self::find_in(&Self::host(settings)?, folders))
    }

    /// The host of encoders, whose worker exits when idle.
    pub(crate) fn host(settings: &local::WorkerSettings) -> std::io::Result<LocalHost> {
        let settings = local::WorkerSettings {
            task: "embeddings",
            idle: Some(IDLE),
            state_dir: None,
            ..settings.clone()
        };
        LocalHost::new(settings)
    }

    /// The first encoder in `folders`, run by `host`.
    pub(crate) fn find_in(host: &LocalHost, folders: &[PathBuf]) -> Option<Self> {
        let is_encoder = |path: &PathBuf| {
            gguf::read(path).is_ok_and(|header| header.architecture.contains("bert"))
        };
        let path = folders
            .iter()
            .flat_map(|folder| gguf_files(folder))
            .find(is_encoder)?;
        let bytes = std::fs::metadata(&path).ok()?.len();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let bundled = Self::of_file(host, &path, &format!("{name}, {bytes} bytes"));
        Some(Self {
            refuses_unknown_languages: true,
            ..bundled
        })
    }

    /// The encoder at `path`. `identity` names its weights, and begins with the name of the file
    /// and a comma.
    pub(crate) fn of_file(host: &LocalHost, path: &Path, identity: &str) -> Self {
        // The name includes the format of the input, so that texts embedded in an older format are
        // embedded again.
        let model = format!("{identity}, with speakers, neighbours by half");
        let host = host.clone();
        let path = path.to_owned();
        Self {
            host,
            model,
            path,
            refuses_unknown_languages: false,
            lately: Arc::default(),
        }
    }

    /// Identifies the model and the format of its input. Vectors of different models cannot be
    /// compared.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The embedding of a question; `None` if its language is unknown to the model.
    ///
    /// # Errors
    /// The file is no model, or the worker fails.
    pub async fn understand(&self, text: &str) -> Result<Option<Embedding>, ProviderError> {
        let asked = self.host.embed(&self.path, text).await?;
        let is_known =
            !self.refuses_unknown_languages || knows_the_language(text, asked.tokens.len());
        Ok(is_known.then_some(asked))
    }

    /// Embeds the passages of a message, each by itself and pooled with its neighbours. Each
    /// passage is prefixed with the current name of its speaker. A long message is split, because
    /// it has several topics and the model reads a page at most. Returns `None` if `stop`, which is
    /// called between passages, returns true.
    pub(crate) async fn read(
        &self,
        unread: &QueuedText,
        speakers: &Speakers,
        stop: impl Fn() -> bool,
    ) -> Result<Option<Vec<NewVector>>, ProviderError> {
        let [before, behind] = beside(
            &unread.content,
            [unread.previous.as_ref(), unread.next.as_ref()],
            speakers,
        );
        let here = passages(&unread.content, speakers);
        let mut lines = Vec::with_capacity(here.len() + 2);
        for line in before.iter().chain(&here).chain(&behind) {
            if stop() {
                return Ok(None);
            }
            lines.push(self.line(line).await?);
        }
        let behind = behind.and_then(|_| lines.pop());
        let before = before.map(|_| lines.remove(0));
        Ok(Some(
            lines
                .iter()
                .map(|line| kept(line, [before.as_deref(), behind.as_deref()]))
                .collect(),
        ))
    }

    /// The embedding of one passage, from the cache if it was a neighbour just before.
    async fn line(&self, line: &str) -> Result<Arc<Embedding>, ProviderError> {
        if let Some(known) = self.lately.of(line) {
            return Ok(known);
        }
        let made = Arc::new(self.host.embed(&self.path, line).await?);
        self.lately.put(line, Arc::clone(&made));
        Ok(made)
    }

    /// The mean vector of a text, with length 1.
    ///
    /// # Errors
    /// The file is no model, or the worker fails.
    pub(crate) async fn mean(&self, text: &str) -> Result<Vec<f32>, ProviderError> {
        Ok(self.embed(text).await?.mean)
    }

    /// The embedding of a text as it is.
    ///
    /// # Errors
    /// The file is no model, or the worker fails.
    pub(crate) async fn embed(&self, text: &str) -> Result<Embedding, ProviderError> {
        self.host.embed(&self.path, text).await
    }

    /// Ends the worker.
    pub async fn shutdown(&self) {
        self.host.shutdown().await;
    }
}

/// The stored vectors: the token vectors of the passage, for late interaction, and the
/// neighbour-pooled vector, for cosine similarity.
fn kept(passage: &Embedding, beside: [Option<&Embedding>; 2]) -> NewVector {
    let (vector, scale) = bytes(&neighbour_pooling::among(passage, beside));
    let pieces = passage
        .tokens
        .iter()
        .map(|piece| u16::try_from(*piece).unwrap_or(u16::MAX))
        .collect();
    NewVector {
        vector,
        scale,
        token_ids: pieces,
        token_vectors: passage.vectors.clone(),
    }
}

/// The adjacent passages of the messages before and after, if they belong to the same conversation.
fn beside(
    said: &MessageContent,
    neighbours: [Option<&MessageContent>; 2],
    speakers: &Speakers,
) -> [Option<String>; 2] {
    let same_talk = |beside: &&MessageContent| is_same_conversation(beside.created, said.created);
    let [before, behind] = neighbours.map(|beside| {
        beside
            .filter(same_talk)
            .map_or_else(Vec::new, |beside| passages(beside, speakers))
    });
    [before.into_iter().next_back(), behind.into_iter().next()]
}

fn passages(said: &MessageContent, speakers: &Speakers) -> Vec<String> {
    let text = said.text.trim();
    let passages = match text.len() {
        0 => Vec::new(),
        1..=MAX_PASSAGE => vec![text.to_owned()],
        _ => documents::passages(text)
            .into_iter()
            .map(|passage| passage.text)
            .collect(),
    };
    passages
        .iter()
        .map(|passage| line(said, passage, speakers))
        .collect()
}

fn line(said: &MessageContent, text: &str, speakers: &Speakers) -> String {
    match speakers.of(said.message, said.role) {
        "" => text.to_owned(),
        speaker => format!("{}: {text}", first_letters(speaker, NAME)),
    }
}

/// Messages of different days usually have different topics.
fn is_same_conversation(one: Timestamp, other: Timestamp) -> bool {
    (one.0 - other.0).abs() <= MAX_GAP
}

/// Whether the model knows the language of a text. The tokenizer splits unknown words into letters,
/// and then the nearest texts are those with similar spelling.
fn knows_the_language(text: &str, pieces: usize) -> bool {
    // The apostrophe in "sister's" is a token of its own and no word.
    let endings = text.matches(APOSTROPHES).count();
    let words = recall::tokens::words(text).count();
    pieces.saturating_sub(SPECIAL_TOKENS + endings) as f32 <= TOKENS_PER_WORD * words as f32
}

fn first_letters(text: &str, letters: usize) -> &str {
    text.char_indices()
        .nth(letters)
        .map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use domain::MessageId;
    use domain::chat::Role;
    use uuid::Uuid;

    use super::*;

    fn said(role: Role, hours: i64, text: &str) -> MessageContent {
        let created = Timestamp(hours * 3_600_000);
        MessageContent {
            message: MessageId(Uuid::nil()),
            role,
            text: text.to_owned(),
            created,
        }
    }

    fn speakers() -> Speakers {
        Speakers {
            character: "Mira".to_owned(),
            persona: "Tom".to_owned(),
            others: Default::default(),
        }
    }

    #[test]
    fn rejects_text_in_unknown_language() {
        for (text, pieces, known) in [
            ("What did my sister name the parrot?", 8, true),
            ("Wie hat meine Schwester ihren Kater genannt?", 16, false),
            ("我妹妹养的那只鹦鹉叫什么名字？", 15, false),
            ("", 0, true),
        ] {
            assert_eq!(
                knows_the_language(text, pieces + SPECIAL_TOKENS),
                known,
                "{text}"
            );
        }
    }

    #[test]
    fn neighbours_are_of_the_same_conversation() {
        let read = |hours: i64| {
            let [yes, boat] = [
                said(Role::Character, 0, "Yes."),
                said(Role::User, hours, " A boat? "),
            ];
            beside(&yes, [Some(&boat), None], &speakers())
        };
        assert_eq!(
            [-8, 8].map(read),
            [
                [Some("Tom: A boat?".to_owned()), None],
                [Some("Tom: A boat?".to_owned()), None]
            ]
        );
        assert_eq!([-9, 9].map(read), [[None, None], [None, None]]);
    }

    #[test]
    fn uses_adjacent_passages_of_long_neighbours() {
        let long = said(
            Role::User,
            0,
            &format!(
                "{}It ends.",
                "It rained, and the boats stayed in. ".repeat(100)
            ),
        );
        let yes = said(Role::Character, 0, "Yes.");
        let [before, behind] =
            beside(&yes, [Some(&long), Some(&long)], &speakers()).map(Option::unwrap_or_default);
        assert!(
            before.starts_with("Tom: ") && before.ends_with("It ends."),
            "{before}"
        );
        assert!(
            behind.starts_with("Tom: It rained") && !behind.contains("It ends."),
            "{behind}"
        );
    }

    #[test]
    fn every_passage_starts_with_its_speaker() {
        let long = "It rained, and the boats stayed in. ".repeat(100);
        let read = |text: &str| passages(&said(Role::Character, 0, text), &speakers());
        assert!(
            read(&long).len() > 1
                && read(&long)
                    .iter()
                    .all(|passage| passage.starts_with("Mira: It rained"))
        );
        assert_eq!(read("  "), [""; 0]);
        let told = said(Role::Narrator, 0, "Night falls.");
        assert_eq!(
            passages(&told, &speakers()),
            ["Night falls."],
            "a narrator has no name"
        );
        let endless = Speakers {
            character: "M".repeat(1_000_000),
            ..speakers()
        };
        let yes = passages(&said(Role::Character, 0, "Yes."), &endless);
        assert_eq!(yes, [format!("{}: Yes.", "M".repeat(NAME))]);
    }
}
