//! What a turn remembers beyond its window: facts of the people (`facts`), what was said earlier (`older`), and what is in
//! the documents of the chat, its character and its books (`passages`).
//!
//! Promises
//! - It never stops a turn and never makes it wait long: what fails, or takes too long, is told in the turn's notices (S2.31).
//! - Of the memories it reads those that count in this chat, and no other character's (`scopes`) nor another world's
//!   (`Counting::everywhere`).
//! - Memory switched off asks the store for no memory (S3.24). Messages of the chat that left the window and are pinned, or
//!   matter, stay all the same: that is how a window is cut (requirements, section 2.3, rule 4). So do documents: who attaches
//!   one wants it read.

pub mod corpus;
pub mod scenario;

mod about;
mod asking;
mod attributes;
mod beside;
mod branches;
mod by_words;
mod consolidating;
mod consolidation;
mod diversity;
mod encoder;
mod excerpt;
mod extraction;
mod facts;
mod hit;
mod interaction;
mod keyframes;
mod learning;
mod looking;
mod many;
mod naming;
mod nearness;
mod news;
mod older;
mod panel;
mod passages;
mod reading;
mod reading_things;
mod receipts;
mod recent;
mod request;
mod saying;
mod scores;
mod sense;
mod shapes;
mod signals;
mod spoken;
mod story;
mod summing_up;
mod support;
mod taking;
mod terms;
mod texts;
mod things;
mod trial;
mod twins;
mod typed;
mod unremembered;
mod untold;
mod variety;
mod vectors;
mod window;
mod wishes;
mod withdrawal;

use std::collections::HashSet;
use std::time::Duration;

use context::frame::{BlockKind, Candidate, Share, Source};
use context::importance::{IMPORTANT, judge};
use domain::chat::Chat;
use domain::document::DocumentOwner;
use domain::keyframe::Keyframe;
use domain::memory::MemoryScope;
use domain::settings::Values;
use domain::{MessageId, PersonaId};
use store::{Among, Company, Query, StoreError};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::Engine;
use crate::answer::Answerer;
use crate::collect::Collected;
use crate::error::Answer;
use crate::history::said;
pub(crate) use asking::last_said;
pub use encoder::Encoder;
use excerpt::Sought;
pub(crate) use facts::Standing;
use facts::{Called, Counting, Facts};
pub(crate) use keyframes::Cover;
pub(crate) use keyframes::keep as keep_covers;
pub(crate) use nearness::Asked;
use older::Older;
pub(crate) use reading::Reading;
use sense::Understood;
pub(crate) use wishes::{Said, obey, obey_edit};
pub(crate) use withdrawal::{
    reworded, switched, withdraw, withdraw_book, withdraw_chat, withdraw_document, withdraw_recalled,
};

/// Messages before the window that are kept word for word at the most. A tenth of the history holds fewer.
const EXCERPTS: u32 = 200;
/// A turn waits no longer for its memories.
const PATIENCE: Duration = Duration::from_millis(500);
/// The encoder may have to start. Behind that words alone must do (S2.31).
const UNDERSTANDING: Duration = Duration::from_millis(250);

/// What was asked of the store before it was needed.
pub(crate) trait Ahead<T>: Future<Output = Result<T, StoreError>> + Send {}

impl<T, F: Future<Output = Result<T, StoreError>> + Send> Ahead<T> for F {}

/// What a search brought in time.
type Late<T> = Result<Answer<T>, Elapsed>;

/// What was looked for side by side: one that is late does not take the others with it.
struct Found {
    /// What the facts are told as.
    facts: Recalled,
    /// Messages whose words the facts say.
    repeated: HashSet<MessageId>,
    older: Late<Older>,
}

/// What was found for one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recalled {
    /// What the digest may be made of.
    pub(crate) digest: Vec<Candidate>,
    /// What this turn's context block may be made of.
    pub(crate) context: Vec<Candidate>,
    /// Of messages in the window and right before it, oldest first.
    pub(crate) keyframes: Vec<Keyframe>,
    /// Those among them that are to be kept with the window as it is cut now.
    pub(crate) covers: Vec<Cover>,
    /// Why something is missing.
    pub(crate) notices: Vec<String>,
}

impl Recalled {
    /// Memories, not excerpts of this chat.
    pub(crate) fn count(&self) -> usize {
        self.each().filter(|candidate| candidate.kind.share() == Some(Share::Memory)).count()
    }

    fn add(&mut self, facts: Self) {
        self.digest.extend(facts.digest);
        self.context.extend(facts.context);
        self.notices.extend(facts.notices);
    }

    /// What was found in time; else the turn tells that `what` is missing, and why.
    fn unless_late<T>(&mut self, what: &str, they: &str, found: Late<T>) -> Option<T> {
        let notice = match found {
            Ok(Ok(found)) => return Some(found),
            Ok(Err(error)) => {
                tracing::warn!(?error, "nothing could be recalled");
                format!("{what} skipped: {they} could not be read.")
            }
            Err(_) => format!("{what} skipped: too slow."),
        };
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
        None
    }

    /// What may stand in the digest as well as in the context block is one.
    fn each(&self) -> impl Iterator<Item = &Candidate> {
        let standing: HashSet<&Source> = self.digest.iter().map(|candidate| &candidate.source).collect();
        let called = self.context.iter().filter(move |candidate| !standing.contains(&candidate.source));
        self.digest.iter().chain(called)
    }

    /// The texts of some kinds, a line each.
    pub(crate) fn joined(&self, kinds: &[BlockKind]) -> String {
        let texts =
            self.each().filter(|candidate| kinds.contains(&candidate.kind)).map(|candidate| candidate.text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The passages of documents, each behind its source. They are what somebody wrote elsewhere, so no macro of theirs runs.
    pub(crate) fn citations(&self) -> String {
        let passages = self.each().filter(|candidate| candidate.kind == BlockKind::Document);
        let cited = passages.map(|passage| format!("{}: {}", passage.title, passage.text).replace("{{", "{ {"));
        cited.collect::<Vec<_>>().join("\n")
    }
}

impl Engine {
    /// What there is to remember. `standing` facts, unless memory is off, and whose documents count were asked for before.
    pub(crate) async fn recall(
        &self,
        collected: &Collected,
        answerer: &Answerer,
        (standing, documents): (Option<impl Ahead<Standing>>, impl Ahead<Vec<DocumentOwner>>),
    ) -> Recalled {
        let _asking = self.reading().ask();
        let find = async {
            match standing {
                Some(standing) => Some(self.find(collected, answerer, standing).await),
                None => None,
            }
        };
        let keyframes = async {
            match collected.values.memory {
                true => Some(timeout(PATIENCE, self.keyframes_near(collected)).await),
                false => None,
            }
        };
        let passages = timeout(PATIENCE, self.passages(collected, documents));
        let (pinned, found, keyframes, passages) = tokio::join!(self.pinned(collected), find, keyframes, passages);
        let digest = pinned.unwrap_or_else(|error| {
            tracing::warn!(?error, "pinned messages could not be read");
            Vec::new()
        });
        let mut recalled = Recalled { digest, ..Recalled::default() };
        if let Some(Found { facts, repeated, older }) = found {
            recalled.add(facts);
            let older = recalled.unless_late("What was said before", "it", older).unwrap_or_default();
            recalled.context.extend(self.excerpts(collected, &repeated, older));
        }
        if let Some(keyframes) = keyframes.and_then(|found| recalled.unless_late("The story so far", "it", found)) {
            recalled.tell_story(keyframes);
        }
        let passages = recalled.unless_late("Documents", "they", passages);
        recalled.context.extend(passages.unwrap_or_default());
        recalled
    }

    /// What the documents that count in the chat say to the words of this turn.
    async fn passages(
        &self,
        collected: &Collected,
        documents: impl Ahead<Vec<DocumentOwner>>,
    ) -> Answer<Vec<Candidate>> {
        let owners = documents.await?;
        if owners.is_empty() {
            return Ok(Vec::new());
        }
        // What was said before helps where this turn's own words find nothing, and drowns them where they do.
        let queries =
            [asking::own_words(collected), asking::telling_words(collected)].map(|words| asking::query(&words));
        let told = passages::told(&collected.history);
        let groups: Vec<Among> = owners.iter().copied().map(Among::Passages).collect();
        let (understood, cache) = (self.understood_for(collected, groups.clone()).await, self.reading().near());
        let find = move |store: &store::Read<'_>| {
            let mut near = Vec::new();
            for (asked, among) in understood.iter().flat_map(|asked| groups.iter().map(move |among| (asked, among))) {
                near.extend(cache.near(store, *among, asked, passages::PASSAGES)?);
            }
            near.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
            passages::find(store, &owners, &queries, &near, &told)
        };
        Ok(self.store().read(find).await?)
    }

    async fn find(&self, collected: &Collected, answerer: &Answerer, standing: impl Ahead<Standing>) -> Found {
        let words = asking::telling_words(collected);
        // Threads of the store look side by side, and what is known of the people is laid out meanwhile.
        let facts = self.facts(collected, standing, asking::query(&words));
        let older = timeout(PATIENCE, self.older(collected, answerer, words));
        let ((facts, repeated), older) = tokio::join!(facts, older);
        Found { facts, repeated, older }
    }

    async fn facts(
        &self,
        collected: &Collected,
        standing: impl Ahead<Standing>,
        words: Query,
    ) -> (Recalled, HashSet<MessageId>) {
        let standing = async { Ok(standing.await?) };
        let (standing, called) =
            tokio::join!(timeout(PATIENCE, standing), timeout(PATIENCE, self.called(collected, words)));
        let mut recalled = Recalled::default();
        let mut standing = recalled.unless_late("Memory", "it", standing).unwrap_or_default();
        let mut called = recalled.unless_late("Memory", "it", called).unwrap_or_default();
        if let Some(reply) = collected.replaced {
            standing.leave_out(reply);
            called.retain(|called| !called.is_of(reply));
        }
        let facts = Facts::new(standing, called, &collected.persona.name);
        let now = collected.history.last().map_or_else(|| self.now(), |message| message.created);
        recalled.digest = facts.digest(now, self.clock());
        recalled.context = facts.context(now, self.clock());
        (recalled, facts.repeated())
    }

    /// What is remembered of the people whatever is said, read at once; `None` where memory is off.
    pub(crate) fn standing_facts(
        &self,
        chat: &Chat,
        persona: PersonaId,
        values: &Values,
    ) -> Option<impl Ahead<Standing> + use<>> {
        let counting = counting(chat, persona, values);
        values.memory.then(|| self.store().read(move |store| Standing::read(store, &counting)))
    }

    /// What of it this turn calls up.
    async fn called(&self, collected: &Collected, words: Query) -> Answer<Vec<Called>> {
        let counting = counting(&collected.chat, collected.persona.id, &collected.values);
        let understood = self.understood_for(collected, vec![Among::Memories]).await;
        let cache = self.reading().near();
        let find = move |store: &store::Read<'_>| {
            let near =
                understood.map(|asked| cache.near(store, Among::Memories, &asked, facts::LOOKED_AT)).transpose()?;
            facts::called(store, &counting, &words, &near.unwrap_or_default())
        };
        Ok(self.store().read(find).await?)
    }

    /// The question as the encoder understands it, and whether it should have and did not.
    async fn meaning(&self, question: &str) -> (Option<Understood>, bool) {
        let Some(encoder) = self.reading().encoder() else { return (None, false) };
        if let Some(known) = self.reading().lately().of(question) {
            return (Some(known), false);
        }
        let understood = timeout(UNDERSTANDING, self.understand(encoder, question)).await;
        match understood {
            Ok(Ok(understood)) => (understood, false),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a question was not understood");
                (None, true)
            }
            Err(_) => (None, true),
        }
    }

    /// What was said before, as the lines of a prompt; but for what the facts say already.
    fn excerpts(
        &self,
        collected: &Collected,
        repeated: &HashSet<MessageId>,
        Older { mut hits, lacking, talk }: Older,
    ) -> Vec<Candidate> {
        twins::stand_in(&mut hits, talk, &collected.history, &collected.speakers);
        hits.retain(|hit| !repeated.contains(&hit.message.id) || spoken::says_more(&hit.text));
        older::leave_the_best(&mut hits);
        let sought = Sought::of(&asking::telling_words(collected));
        let excerpt = |hit| hit::candidate(hit, &sought, &collected.speakers, self.clock());
        let mut excerpts: Vec<Candidate> = hits.into_iter().filter_map(excerpt).collect();
        if lacking {
            older::only_a_few(&mut excerpts);
        }
        excerpts
    }

    /// Messages that left the window and that the user, or their importance, keeps word for word.
    async fn pinned(&self, collected: &Collected) -> Answer<Vec<Candidate>> {
        let Some(first) = collected.history.first() else { return Ok(Vec::new()) };
        let (chat, first) = (collected.chat.id, first.id);
        let marked =
            self.store().read(move |store| store.messages().marked_before(chat, first, IMPORTANT, EXCERPTS)).await?;
        let after = collected.chat.scene_after.unwrap_or(-1);
        let candidate = |message: store::WindowMessage| {
            let speaker = collected.speakers.of(message.id, message.role);
            let source = Source::Message { id: message.id, speaker: speaker.to_owned() };
            let names = [collected.persona.name.as_str(), speaker];
            let (reason, score) = match message.importance.filter(|_| !message.pinned) {
                Some(importance) => (judge(&message.text, names).words(), f32::from(importance.min(9))),
                None => ("pinned by you".to_owned(), 10.0),
            };
            Candidate::new(BlockKind::Pinned, source, reason, said(message.role, message.text))
                .scored(score)
                .titled(speaker)
                .about(vec![message.id])
        };
        Ok(marked.into_iter().filter(|message| message.position > after).map(candidate).collect())
    }
}

fn counting(chat: &Chat, persona: PersonaId, values: &Values) -> Counting {
    let company = Company { character: chat.character, chat: chat.id, persona };
    Counting { company, scopes: scopes(chat, persona), others: values.memory_other_chats }
}

/// Where memories count in this chat, whatever its books (S4.62).
pub(crate) fn scopes(chat: &Chat, persona: PersonaId) -> [MemoryScope; 4] {
    [MemoryScope::Chat(chat.id), pair(chat, persona), MemoryScope::Character(chat.character), MemoryScope::Profile]
}

/// The character with whom the user plays.
pub(crate) fn pair(chat: &Chat, persona: PersonaId) -> MemoryScope {
    MemoryScope::Pair { character: chat.character, persona: Some(persona).filter(|id| !id.0.is_nil()) }
}
