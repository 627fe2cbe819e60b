//! The engine of a scenario, and the scenario's names of what is in it.

use std::collections::HashMap;

use domain::card::Card;
use domain::lorebook::{Binding, Book};
use domain::{CharacterId, ChatId, MessageId, PersonaId};
use serde_json::json;

use super::lines::Line;
use super::probe::Probed;
use super::step::{
    Branch, Character, Chat, Informed, Lorebook, Noted, Pair, Presence, Rewritten, Set, Step, Where,
};
use crate::api::{self, MemoryDraft, MemoryScope, SettingOwner};
use crate::base::error::{ApiResult, bad_input};
use crate::library::chats::manifest;
use crate::library::personas::persona::new_persona;
use crate::{Engine, OpenError, Options};

/// Importance of a memory that a step writes.
const IMPORTANCE: u32 = 5;

pub(super) struct Stage {
    pub(super) engine: Engine,
    pub(super) known: Known,
}

/// The ids behind the names of the scenario.
#[derive(Default)]
pub(super) struct Known {
    pairs: HashMap<String, (CharacterId, PersonaId)>,
    chats: HashMap<(String, String), ChatId>,
    messages: HashMap<String, MessageId>,
    names: HashMap<MessageId, String>,
    /// Messages that are not stored yet.
    pub(super) waiting: Vec<Line>,
    /// The retrieval limit of each chat as of its last probe.
    pub(super) budgets: HashMap<ChatId, Option<u32>>,
}

impl Known {
    pub(super) fn call(&mut self, name: String, message: MessageId) {
        self.names.insert(message, name.clone());
        self.messages.insert(name, message);
    }

    /// The scenario's name of a message, or its id if it has none.
    pub(super) fn name_of(&self, message: &str) -> String {
        let id = message.parse::<MessageId>().ok();
        id.and_then(|id| self.names.get(&id))
            .cloned()
            .unwrap_or_else(|| message.to_owned())
    }

    pub(super) fn message(&self, name: &str) -> ApiResult<MessageId> {
        self.messages
            .get(name)
            .copied()
            .ok_or_else(|| unknown("message", name))
    }

    pub(super) fn pair(&self, name: &str) -> ApiResult<(CharacterId, PersonaId)> {
        self.pairs
            .get(name)
            .copied()
            .ok_or_else(|| unknown("pair", name))
    }
}

fn unknown(what: &str, name: &str) -> api::ApiError {
    bad_input(
        format!("There is no {what} \"{name}\"."),
        "Add a step before this one that names it.",
    )
}

impl Stage {
    pub(super) fn new(engine: Engine) -> Self {
        Self {
            engine,
            known: Known::default(),
        }
    }

    /// Ends the engine, which frees the folder, and opens another one there.
    pub(super) async fn reopen(self, options: &Options) -> Result<Self, OpenError> {
        let Self { engine, known } = self;
        engine.shutdown().await;
        drop(engine);
        Ok(Self {
            engine: Engine::open(options.clone()).await?,
            known,
        })
    }

    /// Runs one step; `number` names its message if the step does not.
    pub(super) async fn take(&mut self, step: Step, number: usize) -> ApiResult<Option<Probed>> {
        if let Step::Say(said) = step {
            self.say(said, number).await?;
            return Ok(None);
        }
        self.settle().await?;
        match step {
            Step::Probe(probe) => return self.probe(probe).await.map(Some),
            Step::Character(Character { name, description }) => {
                _ = self.character(&name, &description).await?
            }
            Step::Pair(pair) => self.pair(pair).await?,
            Step::Chat(chat) => self.members(chat).await?,
            Step::Presence(Presence {
                pair,
                chat,
                character,
                away,
            }) => {
                let (chat, member) = self.member(&pair, &chat, &character).await?;
                self.engine.set_member(chat, member, false, away).await?;
            }
            Step::Inform(Informed {
                pair,
                chat,
                character,
            }) => {
                let (chat, member) = self.member(&pair, &chat, &character).await?;
                self.engine.let_member_know(chat, member).await?;
            }
            Step::Turn(turn) => self.turn(turn, number).await?,
            Step::Edit(Rewritten { message, text }) => {
                _ = self
                    .engine
                    .edit_message(self.known.message(&message)?, text)
                    .await?;
            }
            Step::Swipe(Rewritten { message, text }) => {
                self.swipe(self.known.message(&message)?, text).await?
            }
            Step::Delete(deleted) => {
                self.engine
                    .delete_message(self.known.message(&deleted.message)?)
                    .await?;
            }
            Step::Branch(branch) => self.branch(branch).await?,
            Step::DeleteChat(Where { pair, chat }) => {
                let id = self.chat(&pair, &chat).await?;
                self.engine.delete_chat(id).await?;
                self.known.chats.remove(&(pair, chat));
            }
            Step::Remember(noted) => self.remember(noted).await?,
            Step::Forget(noted) => self.forget(noted).await?,
            Step::Share(noted) => self.share(noted).await?,
            Step::Lorebook(book) => self.lorebook(book).await?,
            Step::Setting(set) => self.set(set).await?,
            Step::Learn => _ = self.engine.learn().await?,
            Step::Consolidate => _ = self.engine.consolidate_memories().await?,
            Step::Compact => {
                let now = self.engine.base.now();
                self.engine
                    .base
                    .store()
                    .purge(store::Before::all(now), manifest::without_words)
                    .await?;
            }
            Step::Say(_) | Step::Reopen => {}
        }
        Ok(None)
    }

    async fn character(&self, name: &str, description: &str) -> ApiResult<CharacterId> {
        let known = self
            .engine
            .base
            .store()
            .read(|store| store.characters().names())
            .await?;
        if let Some((id, _)) = known.into_iter().find(|(_, known)| known == name) {
            return Ok(id);
        }
        let mut card = Card::new(name)?;
        card.set_description(description);
        Ok(self
            .engine
            .library
            .characters
            .add_character(&card, None, None)
            .await?
            .id)
    }

    async fn pair(
        &mut self,
        Pair {
            pair,
            persona,
            character,
        }: Pair,
    ) -> ApiResult<()> {
        let character = self.character(&character, "").await?;
        let known = self
            .engine
            .base
            .store()
            .read(|store| store.personas().list())
            .await?;
        let persona = match known.into_iter().find(|known| known.name == persona) {
            Some(known) => known.id,
            None => {
                let new = new_persona(&persona);
                self.engine.save_persona(new).await?.id
            }
        };
        self.known.pairs.insert(pair, (character, persona));
        Ok(())
    }

    /// The chat with that name, which is created if it is missing. The title contains the name, so
    /// that another run in the same folder finds the chat.
    pub(super) async fn chat(&mut self, pair: &str, chat: &str) -> ApiResult<ChatId> {
        let key = (pair.to_owned(), chat.to_owned());
        if let Some(id) = self.known.chats.get(&key) {
            return Ok(*id);
        }
        let (character, persona) = self.known.pair(pair)?;
        let title = format!("{pair}: {chat}");
        let named = title.clone();
        let there = self
            .engine
            .base
            .store()
            .read(|store| store.chats().list())
            .await?;
        let id = match there
            .into_iter()
            .find(|known| known.character == character && known.title == named)
        {
            Some(known) => known.id,
            None => {
                let id = self.engine.library.chats.start_chat(character).await?;
                self.engine.set_chat_persona(id, persona).await?;
                self.engine.rename_chat(id, title).await?;
                id
            }
        };
        self.known.chats.insert(key, id);
        Ok(id)
    }

    async fn members(
        &mut self,
        Chat {
            pair,
            chat,
            members,
        }: Chat,
    ) -> ApiResult<()> {
        let id = self.chat(&pair, &chat).await?;
        let mut characters = Vec::with_capacity(members.len());
        for name in &members {
            characters.push(self.character(name, "").await?);
        }
        self.engine.set_members(id, characters).await
    }

    /// The ids of a chat and of a participant.
    async fn member(
        &mut self,
        pair: &str,
        chat: &str,
        name: &str,
    ) -> ApiResult<(ChatId, CharacterId)> {
        Ok((
            self.chat(pair, chat).await?,
            self.character(name, "").await?,
        ))
    }

    async fn branch(
        &mut self,
        Branch {
            pair,
            chat,
            after,
            to,
        }: Branch,
    ) -> ApiResult<()> {
        let from = self.chat(&pair, &chat).await?;
        let after = self.known.message(&after)?;
        let branch = self.chat(&pair, &to).await?;
        self.copy(from, after, branch, &to).await
    }

    async fn remember(&self, Noted { pair, text }: Noted) -> ApiResult<()> {
        let (character, persona) = self.known.pair(&pair)?;
        let draft = MemoryDraft {
            id: None,
            kind: "note".to_owned(),
            text,
            importance: IMPORTANCE,
            pinned: false,
            scope: MemoryScope::Pair,
            world: None,
            character,
            persona: Some(persona),
            chat: None,
        };
        self.engine.save_memory(draft).await.map(|_| ())
    }

    async fn forget(&self, noted: Noted) -> ApiResult<()> {
        for memory in self.noted(&noted).await? {
            self.engine.delete_memory(memory.id).await?;
        }
        Ok(())
    }

    async fn share(&self, noted: Noted) -> ApiResult<()> {
        let (character, _) = self.known.pair(&noted.pair)?;
        for memory in self.noted(&noted).await? {
            let draft = MemoryDraft {
                id: Some(memory.id),
                kind: memory.kind,
                text: memory.text,
                importance: memory.importance,
                pinned: memory.pinned,
                scope: MemoryScope::Profile,
                world: None,
                character,
                persona: None,
                chat: None,
            };
            self.engine.save_memory(draft).await?;
        }
        Ok(())
    }

    /// The memories that contain the text.
    async fn noted(&self, Noted { pair, text }: &Noted) -> ApiResult<Vec<api::Memory>> {
        let (character, persona) = self.known.pair(pair)?;
        let mut all = self.engine.every_memory(character).await?;
        let of_pair = |memory: &api::Memory| memory.persona.is_none_or(|id| id == persona);
        all.retain(|memory| of_pair(memory) && memory.text.contains(text));
        Ok(all)
    }

    async fn lorebook(
        &mut self,
        Lorebook {
            pair,
            chat,
            name,
            entries,
        }: Lorebook,
    ) -> ApiResult<()> {
        let binding = match chat {
            Some(chat) => Binding::Chat(self.chat(&pair, &chat).await?),
            None => Binding::Character(self.known.pair(&pair)?.0),
        };
        let entry = |(at, entry): (usize, &super::step::ScenarioEntry)| {
            let value = json!({ "uid": at, "key": entry.keys, "keysecondary": [], "comment": "", "content": entry.text,
                "constant": entry.keys.is_empty(), "order": 100, "position": 0, "disable": false });
            (at.to_string(), value)
        };
        let entries: serde_json::Map<_, _> = entries.iter().enumerate().map(entry).collect();
        let (book, _) = Book::from_value(json!({ "entries": entries }))
            .map_err(|error| bad_input(error.to_string(), "Write entries with a text."))?;
        let json = book.to_value().to_string();
        self.engine
            .library
            .lorebooks
            .add_lorebook(name, json, None, vec![binding])
            .await
            .map(|_| ())
    }

    async fn set(
        &mut self,
        Set {
            pair,
            chat,
            key,
            value,
        }: Set,
    ) -> ApiResult<()> {
        let owner = match (pair, chat) {
            (Some(pair), Some(chat)) => SettingOwner::Chat {
                id: self.chat(&pair, &chat).await?,
            },
            (Some(pair), None) => SettingOwner::Character {
                id: self.known.pair(&pair)?.0,
            },
            _ => SettingOwner::Global,
        };
        self.engine
            .set_setting_in_words(owner, key, value)
            .await
            .map(|_| ())
    }
}
