//! Branches of a chat. A memory that a model learned on another branch does not apply in this one.
//! A memory that the user wrote or asked for applies on all branches.

use domain::memory::{Memory, MemoryOrigin};
use domain::{ChatId, MessageId};
use store::{ReadTransaction, StoreError};

/// A chat and the other chats that branched from the same beginning.
pub(crate) struct Branches {
    chat: ChatId,
    others: Vec<ChatId>,
}

impl Branches {
    pub(crate) fn of(store: &ReadTransaction<'_>, chat: ChatId) -> Result<Self, StoreError> {
        Ok(Self {
            chat,
            others: store.chats().branches(chat)?,
        })
    }

    pub(crate) fn are_none(&self) -> bool {
        self.others.is_empty()
    }

    /// Whether a model made the memory, at least in part, from messages that exist only on other
    /// branches. Echoes of it elsewhere keep it.
    pub(crate) fn have_left(
        &self,
        store: &ReadTransaction<'_>,
        memory: &Memory,
    ) -> Result<bool, StoreError> {
        if self.are_none() || !matches!(memory.origin, MemoryOrigin::Model | MemoryOrigin::Keyframe)
        {
            return Ok(false);
        }
        let left = |messages: &[MessageId]| -> Result<usize, StoreError> {
            let left = messages.iter().map(|message| {
                store
                    .chats()
                    .was_abandoned_in(self.chat, &self.others, *message)
            });
            Ok(left
                .collect::<Result<Vec<bool>, _>>()?
                .into_iter()
                .filter(|left| *left)
                .count())
        };
        Ok(left(&memory.sources)? > 0
            && left(&memory.merged_sources)? == memory.merged_sources.len())
    }
}

/// Whether the two memories come from different branches. Then the newer one does not contradict
/// the older.
pub(crate) fn are_apart(
    store: &ReadTransaction<'_>,
    older: &Memory,
    newer: &Memory,
) -> Result<bool, StoreError> {
    let Some(said) = older.sources.first() else {
        return Ok(false);
    };
    let Some(message) = store.messages().get(*said)? else {
        return Ok(false);
    };
    Branches::of(store, message.chat)?.have_left(store, newer)
}

#[cfg(test)]
mod tests {
    use domain::chat::{Role, SwipeState};
    use domain::memory::{MAX_CONFIDENCE, MemoryScope, MemoryType};
    use domain::{CharacterId, MemoryId, PersonaId, SwipeId, Timestamp};
    use store::{ChatParticipants, NewMessage, NewSwipe, Store, WriteTransaction};
    use uuid::Uuid;

    use super::*;
    use crate::Clock;
    use crate::evaluation::corpus::{empty, nobody};
    use crate::library::groups::presence::Knowledge;
    use crate::recall_service::facts::{Facts, StandingFacts};
    use crate::recall_service::memory_scopes::MemoryScopes;

    const OWN: ChatId = ChatId(Uuid::from_u128(1));
    const BRANCH: ChatId = ChatId(Uuid::from_u128(2));
    const CHARACTER: CharacterId = CharacterId(Uuid::from_u128(9));
    const STRANGER: ChatId = ChatId(Uuid::from_u128(3));

    fn message(number: u128) -> MessageId {
        MessageId(Uuid::from_u128(number))
    }

    fn say(store: &mut WriteTransaction<'_>, chat: ChatId, number: u128, created: i64, text: &str) {
        let id = SwipeId(Uuid::from_u128(number));
        let created = Timestamp(created);
        let swipe = NewSwipe {
            id,
            text: text.to_owned(),
            state: SwipeState::Finished,
            created,
            model: None,
        };
        let id = message(number);
        let swipes = vec![swipe];
        let new = NewMessage {
            id,
            chat,
            role: Role::User,
            created,
            swipes,
            selected: 0,
            context_block: None,
        };
        store.messages_mut().append(&new).unwrap();
    }

    fn learned(sources: &[u128], echoes: &[u128]) -> Memory {
        Memory {
            id: MemoryId(Uuid::nil()),
            kind: MemoryType::Fact,
            scope: MemoryScope::Profile,
            text: String::new(),
            importance: 5,
            origin: MemoryOrigin::Model,
            confidence: MAX_CONFIDENCE,
            pinned: false,
            sources: sources.iter().map(|number| message(*number)).collect(),
            merged_sources: echoes.iter().map(|number| message(*number)).collect(),
            archived: None,
            created: Timestamp(0),
            updated: Timestamp(0),
        }
    }

    /// The own chat has messages 11, 12, 13. The branch has the copies 21 and 22, then 23. An
    /// unrelated chat begins with the same words on another day: 31.
    async fn furnished() -> Store {
        let store = Store::in_memory().unwrap();
        let create_library = |store: &mut WriteTransaction<'_>| {
            store.characters_mut().insert(&nobody(CHARACTER))?;
            for chat in [OWN, BRANCH, STRANGER] {
                store.chats_mut().insert(&empty(chat, CHARACTER))?;
            }
            for (chat, first) in [(OWN, 11), (BRANCH, 21)] {
                say(store, chat, first, 100, "Good evening.");
                say(store, chat, first + 1, 200, "I have a boat.");
            }
            say(store, OWN, 13, 300, "It is blue.");
            say(store, BRANCH, 23, 300, "It is red.");
            say(store, STRANGER, 31, 900, "Good evening.");
            Ok(())
        };
        store.write(create_library).await.unwrap();
        store
    }

    async fn have_left(store: &Store, memory: Memory) -> bool {
        store
            .read(move |store| Branches::of(store, OWN)?.have_left(store, &memory))
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn memory_of_another_branch_does_not_apply() {
        let store = furnished().await;
        assert_eq!(
            store
                .read(|store| store.chats().branches(OWN))
                .await
                .unwrap(),
            [BRANCH]
        );
        assert_eq!(
            store
                .read(|store| store.chats().branches(STRANGER))
                .await
                .unwrap(),
            []
        );
        for (sources, echoes, left) in [
            (&[23][..], &[][..], true),
            (&[22], &[], false),
            (&[22, 23], &[], true),
            (&[13], &[], false),
            (&[23], &[13], false),
            (&[23], &[31], false),
            (&[31], &[], false),
            (&[], &[], false),
        ] {
            assert_eq!(
                have_left(&store, learned(sources, echoes)).await,
                left,
                "{sources:?} {echoes:?}"
            );
        }
        store
            .write(|store| store.messages_mut().edit(message(12), "I have a ship."))
            .await
            .unwrap();
        assert!(
            have_left(&store, learned(&[22], &[])).await,
            "this branch never had the edited text"
        );
    }

    #[tokio::test]
    async fn requested_memory_applies_on_every_branch() {
        let store = furnished().await;
        for origin in [MemoryOrigin::User, MemoryOrigin::Command] {
            assert!(
                !have_left(
                    &store,
                    Memory {
                        origin,
                        ..learned(&[23], &[])
                    }
                )
                .await,
                "{origin:?}"
            );
        }
        let summary = |sources| Memory {
            origin: MemoryOrigin::Keyframe,
            ..learned(sources, &[])
        };
        assert!(
            have_left(&store, summary(&[22, 23])).await,
            "it also covers later messages"
        );
        assert!(!have_left(&store, summary(&[21, 22])).await);
    }

    #[tokio::test]
    async fn other_branches_take_no_room_in_digest() {
        let store = furnished().await;
        let remember = |store: &mut WriteTransaction<'_>| {
            for number in 0..70 {
                let id = MemoryId(Uuid::from_u128(100 + number));
                let text = "The boat is red.".into();
                store.memories_mut().insert(&Memory {
                    id,
                    text,
                    importance: 8,
                    ..learned(&[23], &[])
                })?;
            }
            let id = MemoryId(Uuid::from_u128(99));
            store.memories_mut().insert(&Memory {
                id,
                text: "The boat is blue.".into(),
                ..learned(&[13], &[])
            })
        };
        store.write(remember).await.unwrap();
        let company = ChatParticipants {
            character: CHARACTER,
            chat: OWN,
            persona: PersonaId(Uuid::nil()),
        };
        let counting = MemoryScopes {
            company,
            scopes: vec![MemoryScope::Profile; 4],
            known: Knowledge::default(),
            others: true,
        };
        let standing = store
            .read(move |store| StandingFacts::read(store, &counting))
            .await
            .unwrap();
        let facts = Facts::new(standing, Vec::new(), "Tom");
        let told = facts.digest(Timestamp(0), &Clock::stopped(Timestamp(0)));
        assert!(
            !told.is_empty() && told.iter().all(|fact| fact.text == "The boat is blue."),
            "{told:?}"
        );
    }

    #[tokio::test]
    async fn branches_do_not_contradict_each_other() {
        let store = furnished().await;
        let apart = async |older: &'static [u128], newer: &'static [u128]| {
            let look = move |store: &ReadTransaction<'_>| {
                are_apart(store, &learned(older, &[]), &learned(newer, &[]))
            };
            store.read(look).await.unwrap()
        };
        assert!(apart(&[13], &[23]).await && apart(&[23], &[13]).await);
        assert!(
            !apart(&[12], &[13]).await && !apart(&[13], &[22]).await && !apart(&[31], &[23]).await
        );
    }
}
