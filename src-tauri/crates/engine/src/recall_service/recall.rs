//! Recall: everything in a prompt that is not in its window. That is memories (`facts`), earlier
//! messages (`older`), and passages of the documents of the chat, its character and its lorebooks
//! (`passages`).
//!
//! Guarantees
//! - Recall never fails a turn and delays it only briefly. A part that fails or takes too long is
//!   skipped, and the turn's notices say so.
//! - It reads only memories that apply in this chat, none of another character (`scopes`) or
//!   another world (`MemoryScopes::everywhere`).
//! - With memory switched off, no memory is read. Pinned and important messages that left the
//!   window still stay in the prompt, because trimming the window keeps them verbatim. Documents
//!   are still searched, because the user attached them for that.

use std::collections::HashSet;
use std::time::Duration;

use context::frame::{BlockKind, Candidate, Source};
use context::importance::{IMPORTANT, judge};
use context::reason::BlockReason;
use domain::chat::Chat;
use domain::document::DocumentOwner;
use domain::memory::MemoryScope;
use domain::settings::Values;
use domain::{MessageId, PersonaId};
use recall::command_parser;
use recall::excerpt::ExcerptTerms;
use recall::query_embedding::Understood;
use store::{ChatParticipants, EmbeddingGroup, Query, StoreError};
use tokio::time::timeout;

use crate::base::error::ApiResult;
use crate::library::chats::chat::said;
use crate::library::groups::presence::Knowledge;
use crate::recall_service::facts::{Facts, StandingFacts};
use crate::recall_service::handle::RecallService;
use crate::recall_service::memory_scopes::MemoryScopes;
use crate::recall_service::messages::older::Older;
use crate::recall_service::messages::{duplicates, older, passages};
use crate::recall_service::query::TurnQuery;
use crate::recall_service::recalled::{Late, Recalled};
use crate::recall_service::{hit, query_terms};

/// Maximum number of messages before the window that are kept verbatim. A tenth of the history
/// budget holds fewer.
const EXCERPTS: u32 = 200;
/// Maximum time that a turn waits for each part of recall.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum time that a turn waits for the embedding of its question; the encoder may have to start.
/// After that the search is lexical only.
const EMBED_TIMEOUT: Duration = Duration::from_millis(250);

/// A read that was started before its result is needed.
pub(crate) trait StartedRead<T>: Future<Output = Result<T, StoreError>> + Send {}

impl<T, F: Future<Output = Result<T, StoreError>> + Send> StartedRead<T> for F {}

/// Results of searches that run in parallel; each has its own timeout.
struct SearchResults {
    /// Candidates made of memories.
    facts: Recalled,
    /// Messages that those memories repeat.
    repeated: HashSet<MessageId>,
    older: Late<Older>,
}

impl RecallService {
    /// Recalls everything for a turn. The standing facts (`None` if memory is off) and the owners
    /// of the documents are reads that were started earlier.
    pub(crate) async fn recall(
        &self,
        turn: &TurnQuery<'_>,
        (standing, documents): (
            Option<impl StartedRead<StandingFacts>>,
            impl StartedRead<Vec<DocumentOwner>>,
        ),
    ) -> Recalled {
        let _asking = self.reading().ask();
        let find = async {
            match standing {
                Some(standing) => Some(self.find(turn, standing).await),
                None => None,
            }
        };
        let keyframes = async {
            if turn.values.memory {
                Some(timeout(TIMEOUT, self.keyframes_near(turn)).await)
            } else {
                None
            }
        };
        let passages = timeout(TIMEOUT, self.passages(turn, documents));
        let (pinned, found, keyframes, passages) =
            tokio::join!(self.pinned(turn), find, keyframes, passages);
        let digest = pinned.unwrap_or_else(|error| {
            tracing::warn!(?error, "pinned messages could not be read");
            Vec::new()
        });
        let mut recalled = Recalled {
            digest,
            ..Recalled::default()
        };
        if let Some(SearchResults {
            facts,
            repeated,
            older,
        }) = found
        {
            recalled.add(facts);
            let older = recalled
                .unless_late("Older messages", older)
                .unwrap_or_default();
            recalled
                .context
                .extend(self.excerpts(turn, &repeated, older));
        }
        if let Some(keyframes) =
            keyframes.and_then(|found| recalled.unless_late("Summaries", found))
        {
            recalled.tell_story(keyframes);
        }
        let passages = recalled.unless_late("Documents", passages);
        let passages = passages.unwrap_or_default();
        // A document may belong to the speaker alone.
        if turn.known.is_scene {
            recalled
                .private
                .extend(passages.iter().map(|passage| passage.source.clone()));
        }
        recalled.context.extend(passages);
        recalled
    }

    /// The document passages that match this turn.
    async fn passages(
        &self,
        turn: &TurnQuery<'_>,
        documents: impl StartedRead<Vec<DocumentOwner>>,
    ) -> ApiResult<Vec<Candidate>> {
        let owners = documents.await?;
        if owners.is_empty() {
            return Ok(Vec::new());
        }
        // The words of the message before help only if this turn's own words find nothing;
        // otherwise they hide the matches.
        let queries = [
            query_terms::own_words(turn),
            query_terms::telling_words(turn),
        ]
        .map(|words| query_terms::query(&words));
        let told = passages::told(turn.history);
        let groups: Vec<EmbeddingGroup> = owners
            .iter()
            .copied()
            .map(EmbeddingGroup::Passages)
            .collect();
        let understood = self.understood_for(turn, groups.clone()).await;
        let cache = self.reading().near();
        let find = move |store: &store::ReadTransaction<'_>| {
            let mut near = Vec::new();
            for (asked, among) in understood
                .iter()
                .flat_map(|asked| groups.iter().map(move |among| (asked, among)))
            {
                near.extend(cache.near(store, *among, asked, passages::PASSAGES)?);
            }
            near.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
            passages::find(store, &owners, &queries, &near, &told)
        };
        Ok(self.base().store().read(find).await?)
    }

    async fn find(
        &self,
        turn: &TurnQuery<'_>,
        standing: impl StartedRead<StandingFacts>,
    ) -> SearchResults {
        let words = query_terms::telling_words(turn);
        // Both searches run in parallel on reader threads of the store.
        let facts = self.facts(turn, standing, query_terms::query(&words));
        let older = timeout(TIMEOUT, self.older(turn, words));
        let ((facts, repeated), older) = tokio::join!(facts, older);
        SearchResults {
            facts,
            repeated,
            older,
        }
    }

    async fn facts(
        &self,
        turn: &TurnQuery<'_>,
        standing: impl StartedRead<StandingFacts>,
        words: Query,
    ) -> (Recalled, HashSet<MessageId>) {
        let standing = async { Ok(standing.await?) };
        let (standing, called) = tokio::join!(
            timeout(TIMEOUT, standing),
            timeout(TIMEOUT, self.called(turn, words))
        );
        let mut recalled = Recalled::default();
        let mut standing = recalled
            .unless_late("Memories", standing)
            .unwrap_or_default();
        let mut called = recalled.unless_late("Memories", called).unwrap_or_default();
        if let Some(reply) = turn.replaced {
            standing.leave_out(reply);
            called.retain(|called| !called.is_of(reply));
        }
        let facts = Facts::new(standing, called, &turn.persona.name);
        let now = turn
            .history
            .last()
            .map_or_else(|| self.base().now(), |message| message.created);
        recalled.digest = facts.digest(now, self.base().clock());
        recalled.context = facts.context(now, self.base().clock());
        recalled.keep_private(facts.private(turn.known));
        (recalled, facts.repeated())
    }

    /// Starts reading the memories that apply in every turn; `None` if memory is off.
    pub(crate) fn standing_facts(
        &self,
        (chat, known): (&Chat, &Knowledge),
        persona: PersonaId,
        values: &Values,
    ) -> Option<impl StartedRead<StandingFacts> + use<>> {
        let counting = counting((chat, known), persona, values);
        values.memory.then(|| {
            self.base()
                .store()
                .read(move |store| StandingFacts::read(store, &counting))
        })
    }

    /// The embedding of the question, and whether the encoder failed to make one in time.
    pub(crate) async fn meaning(&self, question: &str) -> (Option<Understood>, bool) {
        let Some(encoder) = self.reading().encoder() else {
            return (None, false);
        };
        if let Some(known) = self.reading().lately().of(question, encoder.model()) {
            return (Some(known), false);
        }
        let understood = timeout(EMBED_TIMEOUT, self.understand(&encoder, question)).await;
        match understood {
            Ok(Ok(understood)) => (understood, false),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a question could not be embedded");
                (None, true)
            }
            Err(_) => (None, true),
        }
    }

    /// Candidates made of earlier messages, without those that the facts repeat.
    fn excerpts(
        &self,
        turn: &TurnQuery<'_>,
        repeated: &HashSet<MessageId>,
        Older {
            mut hits,
            lacking,
            talk,
        }: Older,
    ) -> Vec<Candidate> {
        duplicates::stand_in(&mut hits, talk, turn.history, turn.speakers);
        hits.retain(|hit| {
            !repeated.contains(&hit.message.id) || command_parser::says_more(&hit.text)
        });
        older::leave_the_best(&mut hits);
        let sought = ExcerptTerms::of(&query_terms::telling_words(turn));
        let excerpt = |hit| hit::candidate(hit, &sought, turn.speakers, self.base().clock());
        let mut excerpts: Vec<Candidate> = hits.into_iter().filter_map(excerpt).collect();
        if lacking {
            older::only_a_few(&mut excerpts);
        }
        excerpts
    }

    /// Messages that left the window and stay verbatim, because the user pinned them or because
    /// they are important.
    async fn pinned(&self, turn: &TurnQuery<'_>) -> ApiResult<Vec<Candidate>> {
        let Some(first) = turn.history.first() else {
            return Ok(Vec::new());
        };
        let chat = turn.chat.id;
        let first = first.id;
        let marked = self
            .base()
            .store()
            .read(move |store| {
                store
                    .messages()
                    .marked_before(chat, first, IMPORTANT, EXCERPTS)
            })
            .await?;
        let after = turn.chat.scene_after.unwrap_or(-1);
        let candidate = |message: store::WindowMessage| {
            let speaker = turn.speakers.of(message.id, message.role);
            let source = Source::Message {
                id: message.id,
                speaker: speaker.to_owned(),
            };
            let names = [turn.persona.name.as_str(), speaker];
            let (reason, score) = match message.importance.filter(|_| !message.pinned) {
                Some(importance) => (
                    judge(&message.text, names).reason(),
                    f32::from(importance.min(9)),
                ),
                None => (BlockReason::PinnedByYou, 10.0),
            };
            Candidate::new(
                BlockKind::Pinned,
                source,
                reason,
                said(message.role, message.text),
            )
            .with_score(score)
            .with_title(speaker)
            .with_source_messages(vec![message.id])
        };
        let known = marked
            .into_iter()
            .filter(|message| !turn.known.missed(&message.id));
        Ok(known
            .filter(|message| message.position > after)
            .map(candidate)
            .collect())
    }
}

pub(crate) fn counting(
    (chat, known): (&Chat, &Knowledge),
    persona: PersonaId,
    values: &Values,
) -> MemoryScopes {
    let company = ChatParticipants {
        character: known.character(chat),
        chat: chat.id,
        persona,
    };
    let scopes = known.scopes(chat, persona);
    MemoryScopes {
        company,
        scopes,
        known: known.clone(),
        others: values.memory_other_chats,
    }
}

/// The scopes that apply in this chat, whatever its lorebooks.
pub(crate) fn scopes(chat: &Chat, persona: PersonaId) -> [MemoryScope; 4] {
    [
        MemoryScope::Chat(chat.id),
        pair(chat, persona),
        MemoryScope::Character(chat.character),
        MemoryScope::Profile,
    ]
}

/// The scope of the character with that persona.
pub(crate) fn pair(chat: &Chat, persona: PersonaId) -> MemoryScope {
    MemoryScope::Pair {
        character: chat.character,
        persona: Some(persona).filter(|id| !id.0.is_nil()),
    }
}
