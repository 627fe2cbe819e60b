//! Keyframes that a model writes. Each is stored as a memory as well, so that other chats of the
//! pair can recall it.

use context::prompt_template::sentences;
use domain::MemoryId;
use domain::keyframe::Keyframe;
use domain::memory::{Memory, MemoryOrigin, MemoryType};
use serde::Deserialize;
use store::{SourceText, StoreError, WriteTransaction};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::api::Changed;
use crate::base::error::ApiResult;
use crate::learn::background_job::{JobOutcome, JobTask, Learner};
use crate::learn::grounding::SpokenWords;
use crate::learn::handle::Learning;
use crate::learn::response_schema;
use crate::recall_service::messages::keyframes::{TOKENS, every, tokens};

/// Number of words that the model is asked for: they fit into [`TOKENS`].
const WORDS: u32 = 70;
/// Character limits of a summary. They are tried in order until it fits into [`TOKENS`].
const LETTERS: [usize; 4] = [480, 360, 240, 120];
/// Maximum characters of the analysis, which describes the state of the story.
const ANALYSIS: usize = 400;
/// Maximum characters of the memory.
const MEMORY: usize = 200;
/// Maximum number of names in a keyframe.
const NAMES: usize = 8;
/// Confidence, 1 to 10, of a summary whose names and numbers all occur in the messages.
const CONFIDENCE: u8 = 6;

/// The answer of the model.
#[derive(Deserialize)]
struct SummaryAnswer {
    summary: String,
    #[serde(default)]
    analysis: String,
    #[serde(default)]
    rating: f64,
    #[serde(default)]
    characters: Vec<String>,
}

/// `keyframe` with the model's answer. `None` if the answer is unreadable, or if its summary has a
/// name or number that the messages lack.
fn read(answer: &str, keyframe: &Keyframe, said: &SpokenWords) -> Option<Keyframe> {
    let answered: SummaryAnswer = serde_json::from_str(answer).ok()?;
    let fitting = LETTERS
        .iter()
        .map(|letters| sentences(&answered.summary, *letters));
    let summary = fitting
        .into_iter()
        .find(|summary| tokens(summary) <= TOKENS)?;
    if summary.is_empty() || !said.has_names(&summary) {
        return None;
    }
    let analysis = sentences(&answered.analysis, ANALYSIS);
    let characters = answered
        .characters
        .into_iter()
        .filter(|name| !name.trim().is_empty() && said.has_names(name));
    Some(Keyframe {
        summary,
        analysis: if said.has_names(&analysis) {
            analysis
        } else {
            String::new()
        },
        rating: answered.rating.clamp(1.0, 10.0) as u8,
        characters: characters.take(NAMES).collect(),
        fallback: false,
        ..keyframe.clone()
    })
}

/// Stores the summary of `told`, unless these messages have changed meanwhile.
fn keep(
    store: &mut WriteTransaction<'_>,
    keyframe: &Keyframe,
    told: &[SourceText],
    memory: &Memory,
) -> Result<bool, StoreError> {
    if !store.message_texts().all_unchanged(told)? || !store.keyframes_mut().rewrite(keyframe)? {
        return Ok(false);
    }
    store.memories_mut().insert(memory)?;
    Ok(true)
}

impl Learning {
    /// Lets the model summarize keyframes that are made of first sentences, newest first; returns
    /// false if it was interrupted.
    pub(crate) async fn sum_up(
        &self,
        learner: &Learner,
        since: i64,
        leave: &CancellationToken,
    ) -> ApiResult<bool> {
        let chat = learner.chat.id;
        let whole = every(&learner.model_handle.values) as u32;
        while let Some(keyframe) = self
            .base()
            .store()
            .read(move |store| store.keyframes().next_to_summarize(chat, since, whole))
            .await?
        {
            let first = keyframe.first;
            let last = keyframe.last;
            let told = self
                .base()
                .store()
                .read(move |store| store.message_texts().texts_between(chat, first, last))
                .await?;
            let told: Vec<SourceText> = told
                .into_iter()
                .filter(|text| keyframe.messages.contains(&text.message))
                .collect();
            let said = SpokenWords::new(
                told.iter()
                    .map(|text| text.text.as_str())
                    .chain(names(learner, &told)),
            );
            let task = JobTask {
                template: "keyframe",
                words: WORDS,
                told: &told,
                shape: &response_schema::KEYFRAME,
            };
            match self
                .ask(
                    learner,
                    &task,
                    |answer| read(answer, &keyframe, &said),
                    leave,
                )
                .await?
            {
                JobOutcome::Said(read) => self.keep_keyframe(learner, read, told).await?,
                JobOutcome::Nothing => {
                    self.base()
                        .store()
                        .write(move |store| store.keyframes_mut().mark_failed(keyframe.id))
                        .await?
                }
                JobOutcome::Interrupted => return Ok(false),
            }
        }
        Ok(true)
    }

    async fn keep_keyframe(
        &self,
        learner: &Learner,
        keyframe: Keyframe,
        told: Vec<SourceText>,
    ) -> ApiResult<()> {
        let now = self.base().now();
        let memory = Memory {
            id: MemoryId(Uuid::now_v7()),
            kind: MemoryType::Event,
            scope: learner.scope(),
            text: sentences(&keyframe.summary, MEMORY),
            importance: keyframe.rating,
            origin: MemoryOrigin::Keyframe,
            confidence: CONFIDENCE,
            merged_sources: Vec::new(),
            archived: None,
            pinned: false,
            sources: keyframe.messages.clone(),
            created: told.last().map_or(now, |text| text.created),
            updated: now,
        };
        let kept = self
            .base()
            .store()
            .write(move |store| keep(store, &keyframe, &told, &memory))
            .await?;
        if kept {
            self.base()
                .events()
                .changed(Changed::Memories, Some(learner.chat.character.to_string()));
        }
        Ok(())
    }
}

/// The names of all speakers.
pub(crate) fn names<'n>(
    learner: &'n Learner,
    told: &'n [SourceText],
) -> impl Iterator<Item = &'n str> {
    learner
        .names()
        .into_iter()
        .chain(told.iter().map(|text| learner.name_of(text)))
}

#[cfg(test)]
mod tests {
    use domain::{ChatId, KeyframeId, Timestamp};

    use super::*;

    fn keyframe() -> Keyframe {
        Keyframe {
            id: KeyframeId(Uuid::nil()),
            chat: ChatId(Uuid::nil()),
            messages: Vec::new(),
            first: 0,
            last: 19,
            summary: "Tom: I own a boat.".into(),
            analysis: String::new(),
            rating: 3,
            characters: Vec::new(),
            fallback: true,
            created: Timestamp(0),
        }
    }

    fn said() -> SpokenWords {
        SpokenWords::new(["I sold the Zebulon in Lisbon.", "Tom", "Mira"])
    }

    #[test]
    fn keeps_grounded_parts_of_summary() {
        let answer = r#"{"summary": "Tom sold the Zebulon.", "analysis": "Mira is sad. Anna laughs.", "rating": 11,
            "characters": ["Tom", "Anna", ""]}"#;
        let read = read(answer, &keyframe(), &said()).unwrap();
        assert_eq!(
            (read.summary.as_str(), read.analysis.as_str()),
            ("Tom sold the Zebulon.", "")
        );
        assert_eq!((read.rating, read.fallback), (10, false));
        assert_eq!(read.characters, ["Tom"]);
    }

    #[test]
    fn rejects_invented_or_unreadable_summary() {
        for answer in [
            r#"{"summary": "Tom sold the Titanic."}"#,
            r#"{"summary": "Tom sold 3 boats."}"#,
            r#"{"summary": ""}"#,
            r#"{"analysis": "Tom is here."}"#,
            "[]",
            "Tom sold it.",
        ] {
            assert!(read(answer, &keyframe(), &said()).is_none(), "{answer}");
        }
    }

    #[test]
    fn long_summary_ends_with_a_sentence() {
        let answer =
            serde_json::json!({ "summary": "Tom sold the boat in Lisbon and was sad. ".repeat(40) }).to_string();
        let read = read(&answer, &keyframe(), &said()).unwrap();
        assert!(
            tokens(&read.summary) <= TOKENS && read.summary.ends_with("sad."),
            "{}",
            read.summary
        );
    }
}
