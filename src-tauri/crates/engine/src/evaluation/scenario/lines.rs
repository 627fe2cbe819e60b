//! Messages and turns of a scenario. Messages are stored many at once, as an import does.

use domain::chat::{Chat, MessageSource, Role, Speaker, SwipeState};
use domain::persona::Persona;
use domain::{ChatId, MessageId, SwipeId, Timestamp};
use store::{NewMessage, NewSwipe, StoreError, WriteTransaction};
use uuid::Uuid;

use super::stage::Stage;
use super::step::{Say, Turn};
use crate::api::{Figures, TurnOptions};
use crate::base::error::ApiResult;
use crate::library::groups::scene::NextSpeaker as Speaking;
use crate::turn::commands::tell::{CommandMessage, obey};
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::prepared::PreparedTurn;
use crate::turn::replies::target::Target;
use crate::turn::sending::send::Sender;

/// Number of messages in one transaction.
const AT_ONCE: usize = 2_000;

/// A message that is not stored yet.
pub(super) struct Line {
    chat: ChatId,
    message: NewMessage,
    speaker: Option<Speaker>,
}

impl Line {
    fn keep(
        &self,
        store: &mut WriteTransaction<'_>,
        chat: &Chat,
        persona: &Persona,
    ) -> Result<(), StoreError> {
        let message = store.messages_mut().append(&self.message)?;
        if let Some(speaker) = &self.speaker {
            store.groups_mut().set_speaker(message.id, speaker)?;
        }
        if message.role == Role::User {
            let id = message.id;
            let text = message.text();
            let now = message.created;
            obey(
                store,
                &CommandMessage {
                    chat,
                    persona,
                    message: id,
                    text,
                    now,
                    limited: false,
                },
            )?;
        }
        Ok(())
    }
}

impl Stage {
    /// Adds a message. It is stored with others, at the latest by [`Stage::settle`].
    pub(super) async fn say(&mut self, said: Say, number: usize) -> ApiResult<()> {
        let Say {
            pair,
            chat,
            who,
            text,
            id,
        } = said;
        let chat = self.chat(&pair, &chat).await?;
        let speaker = |role| (role, None);
        let (role, speaker) = match who.as_str() {
            "user" => speaker(Role::User),
            "character" => speaker(Role::Character),
            "narrator" => speaker(Role::Narrator),
            _ => (Role::Character, Some(self.somebody(&who).await?)),
        };
        let message = new(chat, role, text, self.engine.base.now());
        self.known
            .call(id.unwrap_or_else(|| number.to_string()), message.id);
        self.known.waiting.push(Line {
            chat,
            message,
            speaker,
        });
        if self.known.waiting.len() >= AT_ONCE {
            self.settle().await
        } else {
            Ok(())
        }
    }

    async fn somebody(&self, name: &str) -> ApiResult<Speaker> {
        let names = self
            .engine
            .base
            .store()
            .read(|store| store.characters().names())
            .await?;
        let character = names
            .into_iter()
            .find(|(_, known)| known == name)
            .map(|(id, _)| id);
        Ok(Speaker {
            character,
            name: name.to_owned(),
        })
    }

    /// Stores the messages that were added.
    pub(super) async fn settle(&mut self) -> ApiResult<()> {
        let lines = std::mem::take(&mut self.known.waiting);
        let mut ids: Vec<ChatId> = lines.iter().map(|line| line.chat).collect();
        ids.sort_unstable_by_key(|id| id.0);
        ids.dedup();
        let mut chats = Vec::with_capacity(ids.len());
        for id in ids {
            let chat = self.engine.library.chat_lookup.chat(id).await?;
            let persona = self
                .engine
                .library
                .personas
                .persona_of(chat.persona)
                .await?;
            chats.push((chat, persona));
        }
        let kept = self.engine.base.store().write(move |store| {
            for line in &lines {
                let of = chats.iter().find(|(chat, _)| chat.id == line.chat);
                of.map(|(chat, persona)| line.keep(store, chat, persona))
                    .transpose()?;
            }
            Ok(())
        });
        Ok(kept.await?)
    }

    /// A turn as in the app, except that no model writes the reply.
    pub(super) async fn turn(&mut self, turn: Turn, number: usize) -> ApiResult<()> {
        let Turn {
            pair,
            chat,
            text,
            reply,
            id,
        } = turn;
        let name = id.unwrap_or_else(|| number.to_string());
        let chat = self.chat(&pair, &chat).await?;
        let snapshot = self.engine.library.snapshots.snapshot_of(chat).await?;
        let sender = Sender {
            source: MessageSource::Typed,
            limited: false,
        };
        let sent = self
            .engine
            .turns
            .sending
            .commit(&snapshot, text, Vec::new(), sender)
            .await?;
        self.known.call(name.clone(), sent.id);
        let chat = snapshot.chat;
        let PreparedTurn {
            model_handle,
            turn: activated,
            made,
        } = self
            .engine
            .turns
            .generation
            .prepare(&chat, ReplyTo::Last, &TurnOptions::default())
            .await?;
        self.engine
            .turns
            .reply_store
            .keep_plan(&activated, &made)
            .await?;
        let message = MessageId(Uuid::now_v7());
        let swipe = SwipeId(Uuid::now_v7());
        let groups = &self.engine.library.groups;
        let scene = groups.group(&chat).await?;
        let turns: Vec<Speaking> = groups.next_turns(&chat, &scene).await?;
        let turn = turns.into_iter().next().unwrap_or(Speaking::OWN);
        let target = Target::NewMessage {
            message,
            swipe,
            turn,
        };
        let model = model_handle.name.clone();
        let now = self.engine.base.now();
        let kept = self.engine.base.store().write(move |store| {
            target.insert(store, &chat, &reply, &model, now)?;
            store
                .swipes_mut()
                .set_text(swipe, &reply, SwipeState::Finished)
        });
        kept.await?;
        self.known.call(format!("{name}.reply"), message);
        self.engine
            .turns
            .reply_store
            .record(swipe, &Figures::default(), &activated, &made, &model_handle)
            .await
    }

    /// Adds another reply to a message, as regenerating does.
    pub(super) async fn swipe(&self, message: MessageId, text: String) -> ApiResult<()> {
        let message = self.engine.library.chat_lookup.message(message).await?;
        let chat = self.engine.library.chat_lookup.chat(message.chat).await?;
        let now = self.engine.base.now();
        let target = Target::NewSwipe {
            message,
            swipe: SwipeId(Uuid::now_v7()),
        };
        let added = self.engine.base.store().write(move |store| {
            target.insert(store, &chat, &text, "", now)?;
            store
                .swipes_mut()
                .set_text(target.swipe(), &text, SwipeState::Finished)
        });
        Ok(added.await?)
    }

    /// Copies the messages of `from` up to `after` to the chat `to`, as an imported branch has
    /// them. A copy has the scenario's name of the original with `@branch` appended.
    pub(super) async fn copy(
        &mut self,
        from: ChatId,
        after: MessageId,
        to: ChatId,
        branch: &str,
    ) -> ApiResult<()> {
        let copied = self.engine.base.store().write(move |store| {
            let mut copied = Vec::new();
            for message in store.messages().page(from, None, u32::MAX)? {
                let copy = new(to, message.role, message.text().to_owned(), message.created);
                store.messages_mut().append(&copy)?;
                copied.push((message.id, copy.id));
                if message.id == after {
                    break;
                }
            }
            Ok(copied)
        });
        for (message, copy) in copied.await? {
            let name = self.known.name_of(&message.to_string());
            self.known.call(format!("{name}@{branch}"), copy);
        }
        Ok(())
    }
}

fn new(chat: ChatId, role: Role, text: String, created: Timestamp) -> NewMessage {
    NewMessage {
        id: MessageId(Uuid::now_v7()),
        chat,
        role,
        created,
        swipes: vec![swipe(text, created)],
        selected: 0,
        context_block: None,
    }
}

fn swipe(text: String, created: Timestamp) -> NewSwipe {
    NewSwipe {
        id: SwipeId(Uuid::now_v7()),
        text,
        state: SwipeState::Finished,
        created,
        model: None,
    }
}
