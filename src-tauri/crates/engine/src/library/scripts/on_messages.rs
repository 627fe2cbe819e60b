//! Runs regex scripts: the user's own, and those of a card if they are allowed.

use std::sync::Arc;

use context::macros::MacroState;
use context::regex_script::{Channel, CompiledScripts, ScriptContext};
use domain::chat::{Chat, Message, Role};
use domain::regex_script::{self, RegexScript, ScriptTarget};
use domain::{CharacterId, ChatId, MessageId};
use serde_json::Value;
use store::{Preset, PresetKind, ReadTransaction, StoreError};

use crate::api;
use crate::base::error::ApiResult;
use crate::library::groups::scene::NextSpeaker;
use crate::library::scripts::Scripts;
use crate::library::scripts::list::{self, listed};
use crate::library::scripts::run::{ActiveScripts, ScriptRun, hash};
use crate::library::snapshots::macro_changes::VariableChanges;
use crate::library::snapshots::macro_scope::{MacroMoment, MacroNames};
use crate::library::snapshots::snapshot::ChatSnapshot;

/// A text that is stored when it is sent.
pub(crate) const SAID: ScriptContext = ScriptContext {
    placement: ScriptTarget::AiOutput,
    channel: Channel::Stored,
    depth: None,
    edited: false,
};
/// A text that replaces a stored one.
const EDITED: ScriptContext = ScriptContext {
    edited: true,
    ..SAID
};

/// The stored scripts that may apply in a chat.
pub(crate) struct ScriptRows {
    own: Vec<Preset>,
    /// The characters whose card's scripts may run.
    allowed: Vec<CharacterId>,
}

impl ScriptRows {
    pub(crate) fn read(store: &ReadTransaction<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            own: store.presets().list(PresetKind::RegexScript)?,
            allowed: list::allowed(store)?,
        })
    }
}

impl Scripts {
    /// The scripts that apply in a chat of `character`: the user's own, then those of the card.
    pub(crate) async fn scripts(
        &self,
        character: CharacterId,
        words: &MacroNames<'_>,
        state: &MacroState,
    ) -> ApiResult<Arc<ActiveScripts>> {
        let rows = self.base().store().read(ScriptRows::read).await?;
        Ok(self.scripts_among(&rows, character, words, state))
    }

    /// The scripts that apply in the chat of a snapshot, with its own character's names and
    /// scripts.
    pub(crate) fn scripts_in(
        &self,
        snapshot: &ChatSnapshot,
        state: &MacroState,
    ) -> Arc<ActiveScripts> {
        self.scripts_among(
            &snapshot.scripts,
            snapshot.chat.character,
            &snapshot.macro_names(),
            state,
        )
    }

    /// The scripts that apply to the texts of one speaker, with the speaker's names and scripts.
    fn scripts_of(
        &self,
        snapshot: &ChatSnapshot,
        speaker: &NextSpeaker,
        state: &MacroState,
    ) -> Arc<ActiveScripts> {
        let member = snapshot
            .group
            .member(speaker)
            .map_or(snapshot.chat.character, |member| member.id);
        self.scripts_among(
            &snapshot.scripts,
            member,
            &snapshot.macro_names_of(speaker),
            state,
        )
    }

    fn scripts_among(
        &self,
        rows: &ScriptRows,
        character: CharacterId,
        words: &MacroNames<'_>,
        state: &MacroState,
    ) -> Arc<ActiveScripts> {
        let own = &rows.own;
        let of_card = listed(words.card).filter(|_| rows.allowed.contains(&character));
        let texts: Vec<&str> = own.iter().map(|preset| preset.json.as_str()).collect();
        let names = (words.name(), &words.persona.name, words.chat());
        let key = hash((texts, of_card.map(Value::to_string), names));
        let mut cache = self.script_cache();
        if let Some((_, known)) = cache.last.as_ref().filter(|(known, _)| *known == key) {
            return known.clone();
        }
        let mut scripts: Vec<RegexScript> = own
            .iter()
            .filter_map(|preset| serde_json::from_str(&preset.json).ok())
            .collect();
        scripts.extend(
            of_card
                .into_iter()
                .flat_map(|listed| regex_script::read(listed).0),
        );
        let moment = MacroMoment::default();
        let set = CompiledScripts::new(&scripts, &words.scope(None, &moment), state);
        let compiled = Arc::new(ActiveScripts {
            set,
            ..ActiveScripts::default()
        });
        cache.last = Some((key, compiled.clone()));
        compiled
    }
}

impl Scripts {
    /// Applies the scripts that change the stored text to a reply. They have already processed
    /// `base`, the text that the reply continues. Returns the changes that they make to variables
    /// as well.
    pub(crate) async fn stored_reply(
        &self,
        (chat, reply): (ChatId, MessageId),
        base: &str,
        text: String,
    ) -> ApiResult<(String, VariableChanges)> {
        let Some(new) = text.strip_prefix(base) else {
            return Ok((text, VariableChanges::default()));
        };
        // The turn's own texts may have changed variables since it began.
        let snapshot = self.snapshots.snapshot_of(chat).await?;
        let speaker = snapshot.group.who_said(reply, Role::Character);
        let changed = self.with_scripts(&snapshot, &speaker, |run, state| {
            let before = state.clone();
            let text = run.reply(base, new, SAID, state);
            (text, VariableChanges::between(&before, state))
        });
        Ok(changed)
    }

    /// Applies the scripts for edits to `text`, which replaces the text of `message`. Returns the
    /// changes that they make to variables as well. The scripts run on the old text too, because
    /// what it changes was counted before.
    pub(crate) async fn stored_edit(
        &self,
        message: &Message,
        text: String,
    ) -> ApiResult<(String, VariableChanges)> {
        let snapshot = self.snapshots.snapshot_of(message.chat).await?;
        let id = message.chat;
        let last = self
            .base()
            .store()
            .read(move |store| store.messages().last(id))
            .await?;
        let depth = last.and_then(|last| u32::try_from(last.position - message.position).ok());
        let edited = ScriptContext { depth, ..EDITED };
        let typed = ScriptContext {
            placement: ScriptTarget::UserInput,
            ..edited
        };
        let speaker = snapshot.group.who_said(message.id, Role::Character);
        let changed = self.with_scripts(&snapshot, &speaker, |run, state| {
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
        });
        Ok(changed)
    }

    /// Applies the display scripts to messages, each given with its position in the chat.
    pub(crate) async fn dress(
        &self,
        chat: &Chat,
        messages: &mut [(i64, api::Message)],
    ) -> ApiResult<()> {
        if messages.is_empty() {
            return Ok(());
        }
        let id = chat.id;
        let read = self.base().store().read(move |store| {
            let scripts = ScriptRows::read(store)?;
            let none = scripts.own.is_empty() && scripts.allowed.is_empty();
            if none {
                Ok(None)
            } else {
                Ok(Some(store.messages().last(id)?))
            }
        });
        let Some(last) = read.await? else {
            return Ok(());
        };
        let last = last.map_or(0, |last| last.position);
        let snapshot = self.snapshots.snapshot(chat.clone()).await?;
        let speaker_of =
            |message: &api::Message| snapshot.group.who_said(message.id, Role::Character);
        let mut speakers: Vec<NextSpeaker> = Vec::new();
        for speaker in messages.iter().map(|(_, message)| speaker_of(message)) {
            if !speakers.contains(&speaker) {
                speakers.push(speaker);
            }
        }
        // The scripts are compiled once for each speaker.
        for speaker in &speakers {
            self.with_scripts(&snapshot, speaker, |run, state| {
                for (position, message) in messages
                    .iter_mut()
                    .filter(|(_, message)| speaker_of(message) == *speaker)
                {
                    let depth = u32::try_from(last - *position).ok();
                    dress_message(message, depth, run, state);
                }
            });
        }
        Ok(())
    }

    fn with_scripts<T>(
        &self,
        snapshot: &ChatSnapshot,
        speaker: &NextSpeaker,
        work: impl FnOnce(&mut ScriptRun<'_>, &mut MacroState) -> T,
    ) -> T {
        let words = snapshot.macro_names_of(speaker);
        let mut state = snapshot.variables.clone();
        let scripts = self.scripts_of(snapshot, speaker, &state);
        let mut run = ScriptRun::new(&scripts, &words, MacroMoment::default());
        work(&mut run, &mut state)
    }
}

/// Applies the display scripts to all versions of a message.
fn dress_message(
    message: &mut api::Message,
    depth: Option<u32>,
    run: &mut ScriptRun<'_>,
    state: &mut MacroState,
) {
    let own = message.role == api::Role::User;
    let words = if own {
        ScriptTarget::UserInput
    } else {
        ScriptTarget::AiOutput
    };
    let occasion = |placement| ScriptContext {
        placement,
        channel: Channel::Display,
        depth,
        edited: false,
    };
    for swipe in &mut message.swipes {
        let (text, thoughts) = match &swipe.display {
            Some(display) => (display.text.clone(), display.thoughts.clone()),
            None => (swipe.text.clone(), String::new()),
        };
        let shown = run.apply(&text, occasion(words), state).text;
        let thought = run
            .apply(&thoughts, occasion(ScriptTarget::Reasoning), state)
            .text;
        if shown != text || thought != thoughts {
            let known = swipe.display.take().unwrap_or_default();
            swipe.display = Some(api::Display {
                text: shown,
                thoughts: thought,
                ..known
            });
        }
    }
}
