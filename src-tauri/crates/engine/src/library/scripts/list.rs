//! Lists the regex scripts of the user and of cards, changes the user's, and tries a script on a
//! sample.

use std::time::{Duration, Instant};

use context::macros::{MacroScope, MacroState};
use context::regex_script::{Channel, CompiledScripts, ScriptBudget, ScriptContext};
use domain::card::Card;
use domain::regex_script::{self, RegexScript, ScriptTarget};
use domain::{CharacterId, ChatId};
use serde_json::Value;
use store::{Preset, PresetKind, ReadTransaction, StoreError};
use uuid::Uuid;

use crate::api::{CardScripts, Changed, DraftKind, RegexScriptRow, ScriptTrial};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::library::characters::cards::card_of;
use crate::library::scripts::Scripts;
use crate::library::snapshots::macro_scope::{MacroMoment, MacroNames};

/// Row of the settings table: characters whose scripts may run.
const ALLOWED: &str = "card_scripts";
/// Time limit of a trial, because the user is waiting for it.
const TRIAL: Duration = Duration::from_secs(1);

impl Scripts {
    pub(crate) async fn list_regex_scripts(&self) -> ApiResult<Vec<RegexScriptRow>> {
        let own = self
            .base()
            .store()
            .read(|store| store.presets().list(PresetKind::RegexScript))
            .await?;
        Ok(own
            .into_iter()
            .map(|preset| row(preset.key, preset.json))
            .collect())
    }

    pub(crate) async fn save_regex_script(
        &self,
        script: RegexScriptRow,
    ) -> ApiResult<RegexScriptRow> {
        let read: RegexScript = serde_json::from_str(&script.json).map_err(|error| {
            bad_input(
                format!("The script cannot be read: {error}."),
                "Correct it, then save again.",
            )
        })?;
        let id = if script.id.is_empty() {
            Uuid::now_v7().to_string()
        } else {
            script.id
        };
        let named = if script.name.trim().is_empty() {
            read.script_name.clone()
        } else {
            script.name
        };
        let read = RegexScript {
            id: id.clone(),
            script_name: named.clone(),
            ..read
        };
        let json = serde_json::to_string(&read).map_err(|error| internal(&error.to_string()))?;
        let saved = row(id.clone(), json.clone());
        if let Some(problem) = &saved.problem {
            return Err(bad_input(
                format!("The script \"{named}\": {problem}."),
                "Correct the pattern.",
            ));
        }
        let updated = self.base().now();
        self.base()
            .store()
            .write(move |store| {
                let known = store.presets().list(PresetKind::RegexScript)?;
                let behind = known.last().map_or(0, |last| last.position + 1);
                let position = known
                    .iter()
                    .find(|preset| preset.key == id)
                    .map_or(behind, |preset| preset.position);
                store.presets_mut().put(&Preset {
                    kind: PresetKind::RegexScript,
                    key: id,
                    character: None,
                    name: named,
                    position,
                    json,
                    source: None,
                    updated,
                })
            })
            .await?;
        self.base().events().changed(Changed::Presets, None);
        Ok(saved)
    }

    pub(crate) async fn delete_regex_script(&self, id: String) -> ApiResult<()> {
        let delete = self.base().store().write(move |store| {
            store
                .drafts_mut()
                .forget(&DraftKind::Script.name(), "", &id)?;
            store.presets_mut().delete(PresetKind::RegexScript, &id)
        });
        delete.await?;
        self.base().events().changed(Changed::Presets, None);
        Ok(())
    }

    /// Sets the order of the scripts, in which each works on the result of the previous one.
    /// Scripts that `ids` does not name go last.
    pub(crate) async fn order_regex_scripts(
        &self,
        ids: Vec<String>,
    ) -> ApiResult<Vec<RegexScriptRow>> {
        self.base()
            .store()
            .write(move |store| {
                let mut all = store.presets().list(PresetKind::RegexScript)?;
                let place = |key: &str| ids.iter().position(|id| id == key).unwrap_or(ids.len());
                all.sort_by_key(|preset| place(&preset.key));
                for (position, preset) in (0..).zip(all) {
                    if preset.position != position {
                        store.presets_mut().put(&Preset { position, ..preset })?;
                    }
                }
                Ok(())
            })
            .await?;
        self.base().events().changed(Changed::Presets, None);
        self.list_regex_scripts().await
    }

    /// Applies the script to `sample`, regardless of where it is meant to run. Macros use the names
    /// of `chat`.
    ///
    /// # Errors
    /// `BadInput` if `script` is not valid JSON; `NotFound` if the chat does not exist. The result
    /// reports a script that fails.
    pub(crate) async fn try_regex_script(
        &self,
        script: String,
        sample: String,
        chat: Option<ChatId>,
    ) -> ApiResult<ScriptTrial> {
        let read: RegexScript = serde_json::from_str(&script).map_err(|error| {
            bad_input(
                format!("The script cannot be read: {error}."),
                "Correct it.",
            )
        })?;
        let (persona, card, id) = match chat {
            Some(id) => {
                let chat = self.chat_lookup.chat(id).await?;
                let card = self.characters.chat_card(&chat).await?.card;
                (self.personas.persona_in(&chat).await?, Some(card), chat.id)
            }
            None => (
                self.personas.persona_of(None).await?,
                None,
                domain::ChatId(Uuid::nil()),
            ),
        };
        let work = move || match card {
            Some(card) => trial(
                &read,
                &sample,
                &MacroNames::new(&card, &persona, id).scope(None, &MacroMoment::default()),
            ),
            None => trial(
                &read,
                &sample,
                &MacroScope {
                    user: &persona.name,
                    ..MacroScope::default()
                },
            ),
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| internal(&error.to_string()))
    }

    pub(crate) async fn card_scripts(&self, id: CharacterId) -> ApiResult<CardScripts> {
        let card = card_of(&self.characters.character(id).await?)?;
        let json = |script: &RegexScript| serde_json::to_string(script).unwrap_or_default();
        let listed = listed(&card)
            .map(|value| regex_script::read(value).0)
            .unwrap_or_default();
        let scripts = listed
            .iter()
            .map(|script| row(script.id.clone(), json(script)))
            .collect();
        Ok(CardScripts {
            allowed: self.allowed().await?.contains(&id),
            scripts,
        })
    }

    /// Allows or forbids the scripts of a card. They change messages, so they run only if the user
    /// agrees.
    pub(crate) async fn allow_card_scripts(&self, id: CharacterId, allowed: bool) -> ApiResult<()> {
        let mut all = self.allowed().await?;
        all.retain(|known| *known != id);
        if allowed {
            all.push(id);
        }
        let json = serde_json::to_string(&all).map_err(|error| internal(&error.to_string()))?;
        self.base()
            .store()
            .write(move |store| store.settings_mut().set(ALLOWED, &json))
            .await?;
        self.base()
            .events()
            .changed(Changed::Presets, Some(id.to_string()));
        Ok(())
    }

    pub(crate) async fn allowed(&self) -> ApiResult<Vec<CharacterId>> {
        Ok(self.base().store().read(allowed).await?)
    }
}

/// The characters whose card's scripts may run.
pub(crate) fn allowed(store: &ReadTransaction<'_>) -> Result<Vec<CharacterId>, StoreError> {
    let json = store.settings().get(ALLOWED)?;
    Ok(json
        .and_then(|json| serde_json::from_str(&json).ok())
        .unwrap_or_default())
}

/// The scripts of a card, in its own form.
pub(crate) fn listed(card: &Card) -> Option<&Value> {
    card.extensions()?.get("regex_scripts")
}

fn trial(script: &RegexScript, sample: &str, scope: &MacroScope<'_>) -> ScriptTrial {
    let anywhere = RegexScript {
        disabled: false,
        placement: vec![ScriptTarget::AiOutput],
        markdown_only: false,
        prompt_only: false,
        min_depth: None,
        max_depth: None,
        ..script.clone()
    };
    let set = CompiledScripts::new(&[anywhere], scope, &MacroState::default());
    let occasion = ScriptContext {
        placement: ScriptTarget::AiOutput,
        channel: Channel::Stored,
        depth: None,
        edited: false,
    };
    let until = Instant::now() + TRIAL;
    let late = move || Instant::now() >= until;
    let mut budget = ScriptBudget::default().until(&late);
    let applied = set.apply(
        sample,
        &occasion,
        scope,
        &mut MacroState::default(),
        &mut budget,
    );
    let failure = set.failed().iter().chain(&applied.failed).next();
    ScriptTrial {
        hits: applied.ran.iter().map(|ran| ran.hits as u32).sum(),
        problem: failure.map(|failure| failure.why.to_string()),
        overrun: failure.is_some_and(|failure| failure.why.is_overrun()),
        text: applied.text.into_owned(),
    }
}

fn row(id: String, json: String) -> RegexScriptRow {
    let read: Result<RegexScript, _> = serde_json::from_str(&json);
    let problem = match &read {
        Ok(script) => {
            let on = RegexScript {
                disabled: false,
                ..script.clone()
            };
            let set = CompiledScripts::new(&[on], &Default::default(), &MacroState::default());
            set.failed().first().map(|failure| failure.why.to_string())
        }
        Err(error) => Some(error.to_string()),
    };
    let (name, enabled) = read.map_or((String::new(), false), |script| {
        (script.script_name, !script.disabled)
    });
    RegexScriptRow {
        id,
        name,
        json,
        enabled,
        problem,
    }
}
