//! Benchmarks recall on any corpus: runs the search of a turn, without its token budget.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use context::{CountTokens as _, Estimate};
use domain::chat::{Chat, MessageRange, Role, Speaker, SwipeState, WindowState};
use domain::prompt::Segment;
use domain::{CharacterId, ChatId, MessageId, SwipeId, Timestamp};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use recall::hints::{QueryHints, without_names};
use recall::possessions::possessions;
use recall::query_embedding::QueryEmbedding;
use recall::tokens;
use serde::{Deserialize, Serialize};
use store::{Character, NewMessage, NewSwipe, Store, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::base::clock::Clock;
use crate::base::error::{ApiResult, bad_input};
use crate::base::records::convert::Speakers;
use crate::recall_service::embeddings::encoder::Encoder;
use crate::recall_service::embeddings::text_cache::TextCache;
use crate::recall_service::embeddings::vector_cache::VectorCache;
use crate::recall_service::messages::lexical::LexicalSearch;
use crate::recall_service::messages::older::{self, Question};

/// Maximum number of ids in a ranking.
const RANKED: usize = 200;

/// A message of a corpus. The messages of a conversation come in order.
#[derive(Debug, Clone, Deserialize)]
pub struct CorpusMessage {
    pub conversation_id: String,
    pub id: String,
    pub speaker: String,
    pub text: String,
    /// When it was said, as ISO 8601 without a zone; a value that cannot be parsed is ignored.
    #[serde(default)]
    pub time: Option<String>,
    /// Description of a picture in it.
    #[serde(default)]
    pub caption: Option<String>,
}

/// A question about a conversation.
#[derive(Debug, Clone, Deserialize)]
pub struct CorpusQuery {
    pub conversation_id: String,
    pub question_id: String,
    pub question: String,
}

/// The messages that match a query, best first. If few match, the newest of the others fill the
/// list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CorpusRanking {
    pub conversation_id: String,
    pub question_id: String,
    pub ranked_ids: Vec<String>,
    /// Duration of the search, without the embedding of the question.
    #[serde(skip)]
    pub took: Duration,
}

struct Conversation {
    chat: ChatId,
    /// The user comes first.
    speakers: Vec<String>,
    /// The speakers of messages that neither of the first two says.
    others: HashMap<MessageId, Speaker>,
    ids: HashMap<MessageId, String>,
    newest_first: Vec<MessageId>,
}

/// Ranks the messages of each query's conversation as a turn in that chat would recall them.
/// Without an `encoder` the search is lexical only. The user of a conversation is the speaker in
/// `users`, else the first speaker.
///
/// # Errors
/// `BadInput` if a query names a conversation without messages.
pub async fn rank(
    messages: Vec<CorpusMessage>,
    queries: Vec<CorpusQuery>,
    users: &[String],
    encoder: Option<&Encoder>,
) -> ApiResult<Vec<CorpusRanking>> {
    let store = Store::in_memory()?;
    let of_users = users.to_vec();
    let conversations = store
        .write(move |store| fill(store, messages, &of_users))
        .await?;
    let cache = Arc::new(VectorCache::default());
    let texts = Arc::new(TextCache::default());
    if let Some(encoder) = encoder {
        let heard = conversations
            .values()
            .map(|conversation| (conversation.chat, conversation.named_speakers()));
        crate::recall_service::embeddings::queue::read_all(&store, encoder, &heard.collect())
            .await?;
    }
    let mut rankings = Vec::with_capacity(queries.len());
    for query in queries {
        let Some(conversation) = conversations.get(&query.conversation_id) else {
            let what = format!(
                "Query {}: there is no conversation {}.",
                query.question_id, query.conversation_id
            );
            return Err(bad_input(what, "Add messages of that conversation."));
        };
        let (words, asked) = conversation.asked(&query.question, encoder).await?;
        let stretch = MessageRange {
            chat: conversation.chat,
            before: i64::MAX,
        };
        let cache = Arc::clone(&cache);
        let texts = Arc::clone(&texts);
        let started = Instant::now();
        let find = move |store: &store::ReadTransaction<'_>| {
            let words = LexicalSearch::of(store, &texts, &[stretch], &words)?;
            older::find(
                store,
                &words,
                &asked,
                (&cache, &Clock::stopped(Timestamp(0))),
            )
        };
        let found = store.read(find).await?;
        let took = started.elapsed();
        let found = found.hits.into_iter().map(|hit| hit.message.id);
        let others = conversation.newest_first.iter().copied();
        let mut seen = HashSet::new();
        let all = found.chain(others).filter(|id| seen.insert(*id));
        let ranked_ids = all
            .filter_map(|id| conversation.ids.get(&id).cloned())
            .take(RANKED)
            .collect();
        let CorpusQuery {
            conversation_id,
            question_id,
            ..
        } = query;
        rankings.push(CorpusRanking {
            conversation_id,
            question_id,
            ranked_ids,
            took,
        });
    }
    Ok(rankings)
}

/// Keeps of each ranking the messages that fit into `budget` tokens, best first. A message that is
/// too long is skipped, and the next one is tried. A message costs its line, by an estimate,
/// because there is no model to count.
pub fn within(rankings: &mut [CorpusRanking], messages: &[CorpusMessage], budget: u32) {
    let cost = |message: &CorpusMessage| {
        let caption = message
            .caption
            .as_ref()
            .map_or_else(String::new, |caption| format!("\n{caption}"));
        let text = format!("{}: {}{caption}", message.speaker, message.text);
        Estimate
            .count(&Segment {
                text,
                control: false,
            })
            .unwrap_or_default()
    };
    let costs: HashMap<(&str, &str), u32> = messages
        .iter()
        .map(|message| {
            (
                (message.conversation_id.as_str(), message.id.as_str()),
                cost(message),
            )
        })
        .collect();
    for ranking in rankings {
        let mut room = budget;
        let conversation = ranking.conversation_id.as_str();
        ranking.ranked_ids.retain(|id| {
            let left = costs
                .get(&(conversation, id.as_str()))
                .and_then(|cost| room.checked_sub(*cost));
            room = left.unwrap_or(room);
            left.is_some()
        });
    }
}

impl Conversation {
    fn named_speakers(&self) -> Speakers {
        let name = |place: usize| self.speakers.get(place).cloned().unwrap_or_default();
        Speakers {
            persona: name(0),
            character: name(1),
            others: self.others.clone(),
        }
    }

    async fn asked(
        &self,
        question: &str,
        encoder: Option<&Encoder>,
    ) -> ApiResult<(Vec<String>, Question)> {
        let names: Vec<&str> = self.speakers.iter().map(String::as_str).collect();
        let words = tokens::sought(question, &names);
        let (user, others) = names.split_at(names.len().min(1));
        let meaning = match encoder {
            Some(encoder) => {
                let embedding = encoder
                    .understand(&without_names(question, user, others))
                    .await?;
                embedding.map(|embedding| Arc::new(QueryEmbedding::new(embedding, encoder.model())))
            }
            None => None,
        };
        let possessions = possessions(question, Role::User);
        Ok((
            words,
            Question {
                about: QueryHints::of(question, user, others),
                possessions,
                several: false,
                meaning,
            },
        ))
    }
}

fn fill(
    store: &mut WriteTransaction<'_>,
    messages: Vec<CorpusMessage>,
    users: &[String],
) -> Result<HashMap<String, Conversation>, StoreError> {
    let of_user: HashMap<String, String> = messages
        .iter()
        .filter(|message| users.contains(&message.speaker))
        .map(|message| (message.conversation_id.clone(), message.speaker.clone()))
        .collect();
    let character = CharacterId(Uuid::now_v7());
    store.characters_mut().insert(&nobody(character))?;
    let mut conversations: HashMap<String, Conversation> = HashMap::new();
    for message in messages {
        let conversation = match conversations.remove(&message.conversation_id) {
            Some(known) => known,
            None => {
                let chat = ChatId(Uuid::now_v7());
                store.chats_mut().insert(&empty(chat, character))?;
                let speakers = of_user
                    .get(&message.conversation_id)
                    .cloned()
                    .into_iter()
                    .collect();
                Conversation {
                    chat,
                    speakers,
                    others: HashMap::new(),
                    ids: HashMap::new(),
                    newest_first: Vec::new(),
                }
            }
        };
        let key = message.conversation_id.clone();
        let conversation = say(store, conversation, message)?;
        conversations.insert(key, conversation);
    }
    for conversation in conversations.values_mut() {
        conversation.newest_first.reverse();
    }
    Ok(conversations)
}

/// Stores a message. The first of the speakers is the user.
fn say(
    store: &mut WriteTransaction<'_>,
    mut of: Conversation,
    message: CorpusMessage,
) -> Result<Conversation, StoreError> {
    let speaker = of
        .speakers
        .iter()
        .position(|speaker| *speaker == message.speaker)
        .unwrap_or_else(|| {
            of.speakers.push(message.speaker.clone());
            of.speakers.len() - 1
        });
    let text = match message.caption {
        Some(caption) => format!("{}\n{caption}", message.text),
        None => message.text,
    };
    let said = message.time.and_then(|time| time.parse::<DateTime>().ok());
    let zoned = said.and_then(|said| said.to_zoned(TimeZone::UTC).ok());
    let created = Timestamp(zoned.map_or(0, |zoned| zoned.timestamp().as_millisecond()));
    let id = MessageId(Uuid::now_v7());
    if speaker > 1 {
        of.others.insert(
            id,
            Speaker {
                character: None,
                name: message.speaker,
            },
        );
    }
    let swipe = NewSwipe {
        id: SwipeId(Uuid::now_v7()),
        text,
        state: SwipeState::Finished,
        created,
        model: None,
    };
    store.messages_mut().append(&NewMessage {
        id,
        chat: of.chat,
        role: if speaker == 0 {
            Role::User
        } else {
            Role::Character
        },
        created,
        swipes: vec![swipe],
        selected: 0,
        context_block: None,
    })?;
    of.ids.insert(id, message.id);
    of.newest_first.push(id);
    Ok(of)
}

pub(crate) fn nobody(id: CharacterId) -> Character {
    Character {
        id,
        name: "Corpus".to_owned(),
        card_json: "{}".to_owned(),
        spec: "chara_card_v3".to_owned(),
        picture: None,
        source: None,
        created: Timestamp(0),
        updated: Timestamp(0),
    }
}

pub(crate) fn empty(id: ChatId, character: CharacterId) -> Chat {
    Chat {
        id,
        character,
        persona: None,
        title: String::new(),
        model: None,
        draft: String::new(),
        window: WindowState::default(),
        scene_after: None,
        variables: "{}".to_owned(),
        created: Timestamp(0),
        updated: Timestamp(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(conversation: &str, id: &str, speaker: &str, text: &str) -> CorpusMessage {
        let [conversation_id, id, speaker, text] =
            [conversation, id, speaker, text].map(str::to_owned);
        CorpusMessage {
            conversation_id,
            id,
            speaker,
            text,
            time: None,
            caption: None,
        }
    }

    fn query(conversation: &str, question: &str) -> CorpusQuery {
        let [conversation_id, question] = [conversation, question].map(str::to_owned);
        CorpusQuery {
            conversation_id,
            question_id: "q".to_owned(),
            question,
        }
    }

    #[tokio::test]
    async fn ranks_all_messages_of_own_conversation_only() {
        let corpus = vec![
            message("a", "1", "Ann", "My parrot is called Zebulon."),
            message("b", "1b", "Ann", "A parrot, a parrot, a parrot!"),
            message("a", "2", "Bea", "What a name."),
            message("a", "3", "Ann", "It rained."),
            message("a", "4", "Bea", "It did."),
        ];
        let ranked = rank(
            corpus.clone(),
            vec![query("a", "What is the parrot called?")],
            &[],
            None,
        )
        .await
        .unwrap();
        assert_eq!(
            ranked[0].ranked_ids,
            ["1", "2", "3", "4"],
            "the hit, its neighbours (the longer first), then the others"
        );
        assert!(
            rank(corpus, vec![query("c", "Parrot?")], &[], None)
                .await
                .is_err()
        );
    }

    #[test]
    fn cuts_ranking_to_budget_and_skips_long_messages() {
        // A message costs "A: " plus its text, at one token for four characters.
        let corpus = [("1", 17), ("2", 97), ("3", 13), ("4", 1)];
        let corpus = corpus.map(|(id, letters)| message("a", id, "A", &"x".repeat(letters)));
        let ranked_ids = ["1", "2", "3", "4"].map(str::to_owned).to_vec();
        let conversation_id = "a".to_owned();
        let question_id = "q".to_owned();
        let mut rankings = [CorpusRanking {
            conversation_id,
            question_id,
            ranked_ids,
            took: Duration::ZERO,
        }];
        within(&mut rankings, &corpus, 10);
        assert_eq!(rankings[0].ranked_ids, ["1", "3", "4"]);
        within(&mut rankings, &corpus, 9);
        assert_eq!(rankings[0].ranked_ids, ["1", "3"]);
    }
}
