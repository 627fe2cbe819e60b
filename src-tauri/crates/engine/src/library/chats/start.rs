//! Starts chats: the first message, variables and persona.

use std::collections::BTreeMap;

use context::macros::MacroState;
use domain::card::Card;
use domain::chat::{Chat, Role, SwipeState, WindowState};
use domain::persona::Persona;
use domain::settings::StartMode;
use domain::{CharacterId, ChatId, MessageId, SwipeId};
use store::{NewMessage, NewSwipe};
use uuid::Uuid;

use crate::api;
use crate::api::Changed;
use crate::base::error::{ApiResult, bad_input};
use crate::library::chats::Chats;
use crate::library::personas::persona;
use crate::library::scripts::on_messages::SAID;
use crate::library::scripts::run::ScriptRun;
use crate::library::snapshots::chat_macros::StoredMacroState;
use crate::library::snapshots::macro_scope;
use crate::library::snapshots::macro_scope::{MacroMoment, MacroNames};

impl Chats {
    /// Starts a chat with the card's greetings as the swipes of its first message.
    pub(crate) async fn new_chat(&self, character: CharacterId) -> ApiResult<api::Chat> {
        let chat = self.start_chat(character).await?;
        self.open_chat(chat).await
    }

    pub(crate) async fn start_chat(&self, character: CharacterId) -> ApiResult<ChatId> {
        let (chat, greeting) = self.first_state(character).await?;
        let id = chat.id;
        self.base()
            .store()
            .write(move |store| {
                store.chats_mut().insert(&chat)?;
                if !greeting.swipes.is_empty() {
                    store.messages_mut().append(&greeting)?;
                }
                Ok(())
            })
            .await?;
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        Ok(id)
    }

    /// A new chat with the character, and its greeting with a swipe for each greeting of the card.
    /// Stores nothing.
    pub(crate) async fn first_state(
        &self,
        character: CharacterId,
    ) -> ApiResult<(Chat, NewMessage)> {
        let greetings = |card: &Card| card.greetings().into_iter().map(str::to_owned).collect();
        let persona = self.personas.persona_of_new_chat(&[character]).await?;
        self.first_state_with(character, (&persona, &[]), greetings)
            .await
    }

    /// Like [`Self::first_state`], with the card's greetings for groups before the others.
    /// `members` are the names of all members, for macros.
    pub(crate) async fn first_state_in_group(
        &self,
        character: CharacterId,
        persona: &Persona,
        members: &[String],
    ) -> ApiResult<(Chat, NewMessage)> {
        let greetings = |card: &'_ Card| -> Vec<String> {
            let all = card
                .group_only_greetings()
                .into_iter()
                .chain(card.greetings());
            all.filter(|greeting| !greeting.trim().is_empty())
                .map(str::to_owned)
                .collect()
        };
        self.first_state_with(character, (persona, members), greetings)
            .await
    }

    pub(super) async fn first_state_with(
        &self,
        character: CharacterId,
        (persona, members): (&Persona, &[String]),
        greetings: impl Fn(&Card) -> Vec<String>,
    ) -> ApiResult<(Chat, NewMessage)> {
        let character = self.characters.character(character).await?;
        let (card, _) = self.characters.card(&character)?;
        let mode = self
            .config()
            .setting_layers
            .resolved_before_chat(Some(character.id))
            .await?
            .values
            .start_mode;
        let greetings = if mode == StartMode::Character {
            greetings(&card)
        } else {
            Vec::new()
        };
        let now = self.base().now();
        let id = ChatId(Uuid::now_v7());
        let words = MacroNames::new(&card, persona, id).among_names(members);
        let moment = MacroMoment {
            clock: Some(self.base().clock().macros(now, None)),
            seed: macro_scope::seed(id, None),
            ..MacroMoment::default()
        };
        let fresh = MacroState {
            local: BTreeMap::new(),
            global: self.snapshots.global_variables().await?,
        };
        let scripts = self.scripts.scripts(character.id, &words, &fresh).await?;
        let mut run = ScriptRun::new(&scripts, &words, moment);
        let mut greet = |text: &str| {
            let mut state = fresh.clone();
            let text = run.reply("", text, SAID, &mut state);
            (words.expand(&text, &moment, &mut state).text, state.local)
        };
        let (greetings, variables): (Vec<String>, Vec<_>) =
            greetings.iter().map(|greeting| greet(greeting)).unzip();
        let swipe = move |text| NewSwipe {
            id: SwipeId(Uuid::now_v7()),
            text,
            state: SwipeState::Finished,
            created: now,
            model: None,
        };
        let swipes: Vec<NewSwipe> = greetings.into_iter().map(swipe).collect();
        let shown = variables.first().cloned().unwrap_or_default();
        let by_greeting = swipes
            .iter()
            .map(|swipe| swipe.id.to_string())
            .zip(variables);
        let by_greeting = by_greeting.filter(|(_, set)| !set.is_empty()).collect();
        let chat = Chat {
            id,
            character: character.id,
            persona: Some(persona.id).filter(|id| !id.0.is_nil()),
            title: character.name.clone(),
            model: None,
            draft: String::new(),
            window: WindowState::default(),
            scene_after: None,
            variables: StoredMacroState {
                variables: shown,
                greetings: by_greeting,
                ..StoredMacroState::default()
            }
            .to_json(),
            created: now,
            updated: now,
        };
        let greeting = NewMessage {
            id: MessageId(Uuid::now_v7()),
            chat: id,
            role: Role::Character,
            created: now,
            swipes,
            selected: 0,
            context_block: None,
        };
        Ok((chat, greeting))
    }

    /// Assigns a persona with the user's name in an imported chat to the chat. Creates it if there
    /// is none.
    ///
    /// # Errors
    /// `BadInput` if the chat has a persona, or no name to create one from.
    pub(crate) async fn persona_from_chat(&self, chat: ChatId) -> ApiResult<api::Persona> {
        let chat = self.chat_lookup.chat(chat).await?;
        let name = self.personas.name_kept_in(&chat).await?.ok_or_else(|| {
            bad_input(
                "This chat has no user name that could become a persona.",
                "Choose a persona in the chat's settings.",
            )
        })?;
        let known = self
            .personas
            .list_personas()
            .await?
            .into_iter()
            .find(|persona| persona.name == name);
        let persona = match known {
            Some(persona) => persona,
            None => {
                self.personas
                    .save_persona(persona::new_persona(&name))
                    .await?
            }
        };
        self.set_chat_persona(chat.id, persona.id).await?;
        Ok(persona)
    }
}
