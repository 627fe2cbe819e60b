//! Extracts facts from messages with a model: every few exchanges, at most four facts at a time.
//! Rules decide what is kept, not the model: a fact must be grounded in the messages and important
//! enough.

use std::collections::BTreeSet;

use context::frozen;
use domain::chat::Role;
use domain::memory::{Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::{ChatId, MemoryId, MessageId, Timestamp};
use recall::tokens;
use serde::Deserialize;
use store::{Query, ReadTransaction, SourceText, StoreError, WriteTransaction};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::api::{Changed, Event};
use crate::base::error::ApiResult;
use crate::learn::background_job::{JobOutcome, JobTask, Learner};
use crate::learn::grounding::SpokenWords;
use crate::learn::handle::Learning;
use crate::learn::response_schema;
use crate::learn::summaries::names;
use crate::library::memories::memory;
use crate::recall_service::messages::branches::Branches;
use crate::recall_service::recall::scopes;

/// Messages read back from the end, per exchange; a group chat has many messages per exchange.
/// Older messages were imported, or there was never idle time for them.
const REACH: u32 = 20;
/// Positions read on each side of a reworded message: the message that it answers, and the answer
/// to it.
const AROUND: i64 = 2;
/// Maximum number of facts in an answer.
const MOST: usize = 4;
/// Maximum characters of a fact.
const LONGEST: usize = 200;
/// Minimum content words of a fact; fewer are small talk.
const TELLING: usize = 2;
/// Minimum importance of a fact, 1 to 10.
const IMPORTANT: u8 = 3;
/// Maximum number of source messages of a fact.
const SOURCES: usize = 3;
/// Number of memories that are checked for one that says the same.
const LOOKED_AT: u32 = 10;
/// Confidence of a fact, 1 to 10: from a model, and from a tiny model. The latter is too low for
/// the digest, so such a fact waits until a question matches it.
const CONFIDENCE: u8 = 7;
const TINY: u8 = 3;

/// The types that a model may give to a fact.
pub(crate) const KINDS: [MemoryType; 8] = [
    MemoryType::Note,
    MemoryType::Fact,
    MemoryType::Event,
    MemoryType::Relationship,
    MemoryType::Personality,
    MemoryType::Preference,
    MemoryType::Rule,
    MemoryType::Outcome,
];

/// A fact in a model's answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Fact {
    text: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    importance: f64,
    #[serde(default)]
    person: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FactsAnswer {
    List(Vec<Fact>),
    Object { facts: Vec<Fact> },
}

fn read(answer: &str) -> Option<Vec<Fact>> {
    let (FactsAnswer::List(facts) | FactsAnswer::Object { facts }) =
        serde_json::from_str(answer).ok()?;
    Some(facts)
}

/// The messages of the first `many` exchanges of `told`, and those around them; `None` if there are
/// fewer exchanges.
fn exchanges(told: &[SourceText], many: u32) -> Option<&[SourceText]> {
    let answered = told.iter().zip(told.iter().skip(1));
    let ends = (1..)
        .zip(answered)
        .filter(|(_, (said, next))| said.role == Role::User && next.role != Role::User);
    let at = ends.map(|(at, _)| at).nth(many.checked_sub(1)? as usize)?;
    told.get(..=at)
}

/// The text of a fact. The person's name is put in front if the text lacks it.
fn sentence(fact: &Fact) -> String {
    let text = fact.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let named =
        tokens::words(&fact.person).all(|name| tokens::words(&text).any(|word| word == name));
    if named {
        text
    } else {
        format!("{}: {text}", fact.person.trim())
    }
}

/// The messages that a fact was made from: the one with most of its terms, then those with the
/// missing terms.
fn sources(terms: &[String], told: &[SourceText]) -> Vec<MessageId> {
    let mut left = terms.to_vec();
    let mut sources = BTreeSet::new();
    for _ in 0..SOURCES {
        let says = |text: &SourceText| SpokenWords::new([text.text.as_str()]).count(&left);
        // Ties go to the newest message.
        let Some(best) = told
            .iter()
            .max_by_key(|text| says(text))
            .filter(|text| says(text) > 0)
        else {
            break;
        };
        let said = SpokenWords::new([best.text.as_str()]);
        left.retain(|term| said.count(std::slice::from_ref(term)) == 0);
        sources.insert((best.position, best.message));
    }
    sources.into_iter().map(|(_, message)| message).collect()
}

/// The memories that were recalled for these messages. A model that repeats them has learned
/// nothing.
fn recalled(told: &[SourceText]) -> Vec<SpokenWords> {
    let blocks = told
        .iter()
        .filter_map(|text| text.context_block.as_deref())
        .flat_map(frozen::read);
    blocks
        .map(|block| SpokenWords::new([block.text.as_str()]))
        .collect()
}

/// The messages to extract facts from.
#[derive(Debug, Clone, Copy)]
enum ExtractionScope {
    /// Everything since the last extraction.
    New,
    /// A message whose text was changed.
    Anew(MessageId),
}

impl ExtractionScope {
    fn wants(self, memory: &Memory) -> bool {
        match self {
            Self::New => true,
            Self::Anew(message) => memory.sources.contains(&message),
        }
    }
}

/// Checks facts against the messages that they were made from.
struct Gate<'a> {
    learner: &'a Learner,
    told: &'a [SourceText],
    said: SpokenWords,
    recalled: Vec<SpokenWords>,
    now: Timestamp,
}

impl<'a> Gate<'a> {
    fn new(learner: &'a Learner, told: &'a [SourceText], now: Timestamp) -> Self {
        let said = SpokenWords::new(
            told.iter()
                .map(|text| text.text.as_str())
                .chain(names(learner, told)),
        );
        Self {
            learner,
            told,
            said,
            recalled: recalled(told),
            now,
        }
    }

    /// Turns each grounded and important fact into a memory, without repetitions.
    fn pass(&self, facts: Vec<Fact>) -> Vec<Memory> {
        let mut passed: Vec<Memory> = Vec::new();
        for memory in facts
            .into_iter()
            .take(MOST)
            .filter_map(|fact| self.memory(fact))
        {
            let terms = self.terms(&memory.text);
            if !passed
                .iter()
                .any(|other| SpokenWords::new([other.text.as_str()]).repeats(&terms))
            {
                passed.push(memory);
            }
        }
        passed
    }

    /// The content words of a fact, without the names of the participants.
    fn terms(&self, text: &str) -> Vec<String> {
        tokens::terms(text, &self.learner.names())
    }

    /// The words of those messages and the names of the participants.
    fn heard_in(&self, messages: &[MessageId]) -> SpokenWords {
        let texts = self
            .told
            .iter()
            .filter(|text| messages.contains(&text.message))
            .map(|text| text.text.as_str());
        SpokenWords::new(texts.chain(names(self.learner, self.told)))
    }

    fn memory(&self, fact: Fact) -> Option<Memory> {
        let text = sentence(&fact);
        let terms = self.terms(&text);
        let importance = fact.importance.clamp(0.0, 10.0) as u8;
        let telling =
            importance >= IMPORTANT && terms.len() >= TELLING && text.chars().count() <= LONGEST;
        let echo = self
            .recalled
            .iter()
            .any(|recalled| recalled.repeats(&terms));
        if !telling || echo || !self.said.supports(&terms) {
            return None;
        }
        let sources = sources(&terms, self.told);
        if !self.heard_in(&sources).has_names(&text) {
            return None;
        }
        // A fact is as old as its newest source: of two facts that contradict each other, the one
        // said last must win, not the one extracted last.
        let said = self
            .told
            .iter()
            .filter(|text| sources.contains(&text.message))
            .map(|text| text.created)
            .max()?;
        Some(Memory {
            id: MemoryId(Uuid::now_v7()),
            kind: MemoryType::of(&fact.kind),
            scope: self.learner.scope(),
            sources,
            text,
            importance,
            origin: MemoryOrigin::Model,
            confidence: if self.learner.model_handle.tiny {
                TINY
            } else {
                CONFIDENCE
            },
            merged_sources: Vec::new(),
            archived: None,
            pinned: false,
            created: said,
            updated: self.now,
        })
    }
}

/// Whether a memory of these scopes says this already in that chat.
fn known(
    store: &ReadTransaction<'_>,
    chat: ChatId,
    scopes: &[MemoryScope],
    terms: &[String],
) -> Result<bool, StoreError> {
    let query = Query::any_word(terms.iter().map(String::as_str));
    let found = store.memories().search(scopes, &query, LOOKED_AT)?;
    // An outdated memory may become true again, so archived ones are not treated as known.
    let found = found
        .iter()
        .map(|found| &found.memory)
        .filter(|memory| memory.archived.is_none());
    let branches = Branches::of(store, chat)?;
    for memory in found.filter(|memory| SpokenWords::new([memory.text.as_str()]).repeats(terms)) {
        if !branches.have_left(store, memory)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Stores the new memories and marks the messages as read, unless the messages have changed
/// meanwhile.
fn keep(
    store: &mut WriteTransaction<'_>,
    (chat, scopes): (ChatId, [MemoryScope; 4]),
    (sought, told): (ExtractionScope, &[SourceText]),
    memories: Vec<(Memory, Vec<String>)>,
) -> Result<Vec<Memory>, StoreError> {
    let mut kept = Vec::new();
    if !store.message_texts().all_unchanged(told)? {
        return Ok(kept);
    }
    for (memory, terms) in memories
        .into_iter()
        .filter(|(memory, _)| sought.wants(memory))
    {
        if !known(store, chat, &scopes, &terms)? {
            store.memories_mut().insert(&memory)?;
            kept.push(memory);
        }
    }
    match (sought, told.last()) {
        (ExtractionScope::Anew(message), _) => store.messages_mut().finish_reextraction(message)?,
        (ExtractionScope::New, Some(last)) => {
            store.messages_mut().extracted_up_to(chat, last.position)?
        }
        (ExtractionScope::New, None) => {}
    }
    Ok(kept)
}

impl Learning {
    /// Extracts facts from the messages since the last extraction; returns false if it was
    /// interrupted.
    pub(crate) async fn extract_facts(
        &self,
        learner: &Learner,
        leave: &CancellationToken,
    ) -> ApiResult<bool> {
        let chat = learner.chat.id;
        let many = learner.model_handle.values.memory_extract_every_exchanges;
        loop {
            let unread = move |store: &ReadTransaction<'_>| {
                let learned = store.message_texts().extracted_up_to(chat)?;
                store
                    .message_texts()
                    .texts_after(chat, learned, REACH * many.max(5))
            };
            let told = self.base().store().read(unread).await?;
            let Some(told) = exchanges(&told, many) else {
                break;
            };
            if !self
                .extract_from(learner, (ExtractionScope::New, told), leave)
                .await?
            {
                return Ok(false);
            }
        }
        self.extract_anew(learner, leave).await
    }

    /// Extracts facts from messages that were reworded long after they were read; returns false if
    /// it was interrupted.
    async fn extract_anew(&self, learner: &Learner, leave: &CancellationToken) -> ApiResult<bool> {
        let chat = learner.chat.id;
        loop {
            let next = move |store: &ReadTransaction<'_>| {
                let Some((message, position)) = store.message_texts().next_reextraction(chat)?
                else {
                    return Ok(None);
                };
                let told = store.message_texts().texts_between(
                    chat,
                    position - AROUND,
                    position + AROUND,
                )?;
                Ok(Some((message, told)))
            };
            let Some((message, told)) = self.base().store().read(next).await? else {
                return Ok(true);
            };
            if !self
                .extract_from(learner, (ExtractionScope::Anew(message), &told), leave)
                .await?
            {
                return Ok(false);
            }
        }
    }

    /// Returns false if it was interrupted.
    async fn extract_from(
        &self,
        learner: &Learner,
        (sought, told): (ExtractionScope, &[SourceText]),
        leave: &CancellationToken,
    ) -> ApiResult<bool> {
        let task = JobTask {
            template: "fact-extraction",
            words: 0,
            told,
            shape: &response_schema::FACTS,
        };
        let facts = match self.ask(learner, &task, read, leave).await? {
            JobOutcome::Said(facts) => facts,
            JobOutcome::Nothing => {
                tracing::info!(chat = %learner.chat.id, "no facts were extracted from some exchanges");
                Vec::new()
            }
            JobOutcome::Interrupted => return Ok(false),
        };
        self.keep_facts(learner, (sought, told.to_vec()), facts)
            .await?;
        Ok(true)
    }

    async fn keep_facts(
        &self,
        learner: &Learner,
        (sought, told): (ExtractionScope, Vec<SourceText>),
        facts: Vec<Fact>,
    ) -> ApiResult<()> {
        let gate = Gate::new(learner, &told, self.base().now());
        let passed: Vec<(Memory, Vec<String>)> = gate
            .pass(facts)
            .into_iter()
            .map(|memory| {
                let terms = gate.terms(&memory.text);
                (memory, terms)
            })
            .collect();
        drop(gate);
        let of = (learner.chat.id, scopes(&learner.chat, learner.persona.id));
        let kept = self
            .base()
            .store()
            .write(move |store| keep(store, of, (sought, &told), passed))
            .await?;
        if !kept.is_empty() {
            self.base()
                .events()
                .changed(Changed::Memories, Some(learner.chat.character.to_string()));
        }
        for memory in kept {
            let chat = learner.chat.id;
            let memory = memory::shown(memory, None);
            self.base()
                .events()
                .announce(Event::Remembered { chat, memory });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
