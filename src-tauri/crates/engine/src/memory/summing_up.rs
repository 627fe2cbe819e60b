//! Keyframes that a model writes (S4.31). Each is kept as a memory too, so that the pair's other chats can recall it (S4.33,
//! S4.64).

use context::prompt_template::sentences;
use domain::MemoryId;
use domain::keyframe::Keyframe;
use domain::memory::{Memory, MemoryOrigin, MemoryType};
use serde::Deserialize;
use store::{StoreError, Told, Write};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::beside::{Heard, Learner, Task};
use super::keyframes::{TOKENS, every, tokens};
use super::shapes;
use super::support::Said;
use crate::Engine;
use crate::api::Changed;
use crate::error::Answer;

/// Words that a summary is asked for: what fits into [`TOKENS`].
const WORDS: u32 = 70;
/// Letters of a summary, and what is tried where they are too many tokens.
const LETTERS: [usize; 4] = [480, 360, 240, 120];
/// Letters of where things stand.
const ANALYSIS: usize = 400;
/// Letters of a memory (S4.33).
const MEMORY: usize = 200;
/// Names in a keyframe.
const NAMES: usize = 8;
/// Of a summary whose names and numbers were all said.
const CONFIDENCE: u8 = 6;

/// What a model answers.
#[derive(Deserialize)]
struct Answered {
    summary: String,
    #[serde(default)]
    analysis: String,
    #[serde(default)]
    rating: f64,
    #[serde(default)]
    characters: Vec<String>,
}

/// `keyframe` as the model has it; `None` if that says what was not said.
fn read(answer: &str, keyframe: &Keyframe, said: &Said) -> Option<Keyframe> {
    let answered: Answered = serde_json::from_str(answer).ok()?;
    let fitting = LETTERS.iter().map(|letters| sentences(&answered.summary, *letters));
    let summary = fitting.into_iter().find(|summary| tokens(summary) <= TOKENS)?;
    if summary.is_empty() || !said.has_names(&summary) {
        return None;
    }
    let analysis = sentences(&answered.analysis, ANALYSIS);
    let characters = answered.characters.into_iter().filter(|name| !name.trim().is_empty() && said.has_names(name));
    Some(Keyframe {
        summary,
        analysis: if said.has_names(&analysis) { analysis } else { String::new() },
        rating: answered.rating.clamp(1.0, 10.0) as u8,
        characters: characters.take(NAMES).collect(),
        fallback: false,
        ..keyframe.clone()
    })
}

/// Keeps what a model made of `told`, unless that has changed meanwhile.
fn keep(store: &mut Write<'_>, keyframe: &Keyframe, told: &[Told], memory: &Memory) -> Result<bool, StoreError> {
    if !store.message_texts().still_say(told)? || !store.keyframes_mut().rewrite(keyframe)? {
        return Ok(false);
    }
    store.memories_mut().insert(memory)?;
    Ok(true)
}

impl Engine {
    /// Lets the model read what only first sentences tell of, the newest first; false if somebody waits.
    pub(super) async fn sum_up(&self, learner: &Learner, since: i64, leave: &CancellationToken) -> Answer<bool> {
        let (chat, whole) = (learner.chat.id, every(&learner.answerer.values) as u32);
        while let Some(keyframe) = self.store().read(move |store| store.keyframes().unread(chat, since, whole)).await? {
            let (first, last) = (keyframe.first, keyframe.last);
            let told = self.store().read(move |store| store.message_texts().told_between(chat, first, last)).await?;
            let told: Vec<Told> = told.into_iter().filter(|text| keyframe.messages.contains(&text.message)).collect();
            let said = Said::new(told.iter().map(|text| text.text.as_str()).chain(names(learner, &told)));
            let task = Task { template: "keyframe", words: WORDS, told: &told, shape: &shapes::KEYFRAME };
            match self.ask(learner, &task, |answer| read(answer, &keyframe, &said), leave).await? {
                Heard::Said(read) => self.keep_keyframe(learner, read, told).await?,
                Heard::Nothing => self.store().write(move |store| store.keyframes_mut().give_up(keyframe.id)).await?,
                Heard::Interrupted => return Ok(false),
            }
        }
        Ok(true)
    }

    async fn keep_keyframe(&self, learner: &Learner, keyframe: Keyframe, told: Vec<Told>) -> Answer<()> {
        let now = self.now();
        let memory = Memory {
            id: MemoryId(Uuid::now_v7()),
            kind: MemoryType::Event,
            scope: learner.scope(),
            text: sentences(&keyframe.summary, MEMORY),
            importance: keyframe.rating,
            origin: MemoryOrigin::Keyframe,
            confidence: CONFIDENCE,
            echoes: Vec::new(),
            archived: None,
            pinned: false,
            sources: keyframe.messages.clone(),
            created: told.last().map_or(now, |text| text.created),
            updated: now,
        };
        let kept = self.store().write(move |store| keep(store, &keyframe, &told, &memory)).await?;
        if kept {
            self.events().changed(Changed::Memories, Some(learner.chat.character.to_string()));
        }
        Ok(())
    }
}

/// Of all who speak.
pub(super) fn names<'n>(learner: &'n Learner, told: &'n [Told]) -> impl Iterator<Item = &'n str> {
    learner.names().into_iter().chain(told.iter().map(|text| learner.name_of(text)))
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

    fn said() -> Said {
        Said::new(["I sold the Zebulon in Lisbon.", "Tom", "Mira"])
    }

    #[test]
    fn a_summary_is_taken_with_what_was_said() {
        let answer = r#"{"summary": "Tom sold the Zebulon.", "analysis": "Mira is sad. Anna laughs.", "rating": 11,
            "characters": ["Tom", "Anna", ""]}"#;
        let read = read(answer, &keyframe(), &said()).unwrap();
        assert_eq!((read.summary.as_str(), read.analysis.as_str()), ("Tom sold the Zebulon.", ""));
        assert_eq!((read.rating, read.fallback), (10, false));
        assert_eq!(read.characters, ["Tom"]);
    }

    #[test]
    fn what_was_not_said_or_cannot_be_read_is_none() {
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
    fn a_long_summary_ends_with_a_sentence() {
        let answer =
            serde_json::json!({ "summary": "Tom sold the boat in Lisbon and was sad. ".repeat(40) }).to_string();
        let read = read(&answer, &keyframe(), &said()).unwrap();
        assert!(tokens(&read.summary) <= TOKENS && read.summary.ends_with("sad."), "{}", read.summary);
    }
}
