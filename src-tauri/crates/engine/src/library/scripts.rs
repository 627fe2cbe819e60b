//! Runs regex scripts: the user's own, and those of a card if they are allowed.

use crate::library::script_run::{ScriptRun, Scripts, hash};
use std::sync::Arc;

use context::macros::MacroState;
use context::regex_script::{Channel, CompiledScripts, Occasion};
use domain::chat::{Chat, Message, Role};
use domain::regex_script::{self, RegexScript, ScriptTarget};
use domain::{CharacterId, ChatId};
use serde_json::Value;
use store::{Preset, PresetKind, StoreError};

use crate::api;
use crate::base::error::ApiResult;
use crate::library::chat_macros::StoredMacroState;
use crate::library::handle::Library;
use crate::library::macro_changes::VariableChanges;
use crate::library::macro_scope::{MacroMoment, MacroNames};
use crate::library::script_library::listed;

/// A text that is stored when it is sent.
pub(crate) const SAID: Occasion =
    Occasion { placement: ScriptTarget::AiOutput, channel: Channel::Stored, depth: None, edited: false };
/// A text that replaces a stored one.
const EDITED: Occasion = Occasion { edited: true, ..SAID };

impl Library {
    /// The scripts that apply in a chat of `character`: the user's own, then those of the card.
    pub(crate) async fn scripts(
        &self,
        character: CharacterId,
        words: &MacroNames<'_>,
        state: &MacroState,
    ) -> ApiResult<Arc<Scripts>> {
        self.scripts_among(self.own_scripts().await?, character, words, state).await
    }

    /// Starts to read the user's own scripts.
    pub(crate) fn own_scripts(&self) -> impl Future<Output = Result<Vec<Preset>, StoreError>> + Send + use<> {
        self.base().store().read(|store| store.presets().list(PresetKind::RegexScript))
    }

    /// Works like [`Self::scripts`], with the user's own scripts already loaded.
    pub(crate) async fn scripts_among(
        &self,
        own: Vec<Preset>,
        character: CharacterId,
        words: &MacroNames<'_>,
        state: &MacroState,
    ) -> ApiResult<Arc<Scripts>> {
        let of_card = listed(words.card);
        let of_card = if of_card.is_some() && self.allowed().await?.contains(&character) { of_card } else { None };
        let texts: Vec<&str> = own.iter().map(|preset| preset.json.as_str()).collect();
        let names = (words.card.display_name(), &words.persona.name, words.chat());
        let key = hash((texts, of_card.map(Value::to_string), names));
        let mut cache = self.script_cache();
        if let Some((_, known)) = cache.last.as_ref().filter(|(known, _)| *known == key) {
            return Ok(known.clone());
        }
        let mut scripts: Vec<RegexScript> =
            own.iter().filter_map(|preset| serde_json::from_str(&preset.json).ok()).collect();
        scripts.extend(of_card.into_iter().flat_map(|listed| regex_script::read(listed).0));
        let moment = MacroMoment::default();
        let set = CompiledScripts::new(&scripts, &words.scope(None, &moment), state);
        let compiled = Arc::new(Scripts { set, ..Scripts::default() });
        cache.last = Some((key, compiled.clone()));
        Ok(compiled)
    }
}

impl Library {
    /// Applies the scripts that change the stored text to a reply. They have already processed `base`, the text that
    /// the reply continues. Returns the changes that they make to variables as well.
    pub(crate) async fn stored_reply(
        &self,
        chat: ChatId,
        base: &str,
        text: String,
    ) -> ApiResult<(String, VariableChanges)> {
        let Some(new) = text.strip_prefix(base) else { return Ok((text, VariableChanges::default())) };
        // The turn's own texts may have changed variables since it began.
        let chat = self.chat(chat).await?;
        self.with_scripts(&chat, |run, state| {
            let before = state.clone();
            let text = run.reply(base, new, SAID, state);
            (text, VariableChanges::between(&before, state))
        })
        .await
    }

    /// Applies the scripts for edits to `text`, which replaces the text of `message`. Returns the changes that they make
    /// to variables as well. The scripts run on the old text too, because what it changes was counted before.
    pub(crate) async fn stored_edit(&self, message: &Message, text: String) -> ApiResult<(String, VariableChanges)> {
        let chat = self.chat(message.chat).await?;
        let id = chat.id;
        let last = self.base().store().read(move |store| store.messages().last(id)).await?;
        let depth = last.and_then(|last| u32::try_from(last.position - message.position).ok());
        let edited = Occasion { depth, ..EDITED };
        let typed = Occasion { placement: ScriptTarget::UserInput, ..edited };
        self.with_scripts(&chat, |run, state| {
            let before = state.clone();
            let mut edit = |text: &str| {
                let mut after = before.clone();
                let text = match message.role {
                    Role::User => run.apply(text, typed, &mut after).text,
                    _ => run.reply("", text, edited, &mut after),
                };
                (text, VariableChanges::between(&before, &after))
            };
            let (_, earlier) = edit(message.text());
            let (text, changes) = edit(&text);
            (text, changes.without(&earlier))
        })
        .await
    }

    /// Applies the display scripts to messages, each given with its position in the chat.
    pub(crate) async fn dress(&self, chat: &Chat, messages: &mut [(i64, api::Message)]) -> ApiResult<()> {
        if messages.is_empty()
            || self.base().store().read(|store| store.presets().list(PresetKind::RegexScript)).await?.is_empty()
                && self.allowed().await?.is_empty()
        {
            return Ok(());
        }
        let id = chat.id;
        let last =
            self.base().store().read(move |store| store.messages().last(id)).await?.map_or(0, |last| last.position);
        self.with_scripts(chat, |run, state| {
            for (position, message) in messages {
                let depth = u32::try_from(last - *position).ok();
                let own = message.role == api::Role::User;
                for swipe in &mut message.swipes {
                    let (text, thoughts) = match &swipe.display {
                        Some(display) => (display.text.clone(), display.thoughts.clone()),
                        None => (swipe.text.clone(), String::new()),
                    };
                    let occasion = |placement| Occasion { placement, channel: Channel::Display, depth, edited: false };
                    let words = if own { ScriptTarget::UserInput } else { ScriptTarget::AiOutput };
                    let shown = run.apply(&text, occasion(words), state).text;
                    let thought = run.apply(&thoughts, occasion(ScriptTarget::Reasoning), state).text;
                    if shown != text || thought != thoughts {
                        let known = swipe.display.take().unwrap_or_default();
                        swipe.display = Some(api::Display { text: shown, thoughts: thought, ..known });
                    }
                }
            }
        })
        .await
    }

    async fn with_scripts<T>(
        &self,
        chat: &Chat,
        work: impl FnOnce(&mut ScriptRun<'_>, &mut MacroState) -> T,
    ) -> ApiResult<T> {
        let card = self.chat_card(chat).await?.card;
        let (persona, group) = tokio::try_join!(self.persona_in(chat), self.group(chat))?;
        let words = MacroNames::new(&card, &persona, chat.id).among(&group);
        let mut state =
            MacroState { local: StoredMacroState::of(chat).variables, global: self.global_variables().await? };
        let scripts = self.scripts(chat.character, &words, &state).await?;
        let mut run = ScriptRun::new(&scripts, &words, MacroMoment::default());
        Ok(work(&mut run, &mut state))
    }
}
