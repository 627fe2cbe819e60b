//! Regex scripts: the user's own, those of a card once they are allowed, and where they are run.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use context::display::{Passage, PassageFilter};
use context::macros::MacroState;
use context::regex_script::{Budget, Channel, CompiledScripts, Occasion};
use domain::CharacterId;
use domain::card::Card;
use domain::chat::Chat;
use domain::regex_script::{self, Placement, RegexScript};
use serde_json::Value;
use store::{Preset, PresetKind};
use uuid::Uuid;

use crate::Engine;
use crate::api::{self, CardScripts, Changed, RegexScriptRow};
use crate::characters::card_of;
use crate::error::{Answer, bad_input, internal};
use crate::words::{Kept, Moment, Words};

/// What scripts may take of one turn altogether; what is left then stays as it was.
const PER_TURN: Duration = Duration::from_millis(500);
/// Results that are remembered, so that old messages are not searched again on every turn.
const REMEMBERED: usize = 20_000;

/// Row of the table of settings: characters whose scripts may run.
const ALLOWED: &str = "card_scripts";

/// The scripts that count in one chat.
pub(crate) struct Scripts {
    set: CompiledScripts,
    results: Mutex<HashMap<(u64, u64), Arc<str>>>,
}

/// The set that was compiled last: the next turn is likely of the same chat.
#[derive(Default)]
pub(crate) struct ScriptCache {
    last: Option<(u64, Arc<Scripts>)>,
}

/// One turn's run of scripts.
pub(crate) struct Run<'a> {
    pub(crate) scripts: &'a Scripts,
    pub(crate) words: &'a Words<'a>,
    pub(crate) moment: Moment<'a>,
    pub(crate) until: Instant,
    /// Names of the scripts that failed, with the reasons.
    pub(crate) failed: Vec<String>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(scripts: &'a Scripts, words: &'a Words<'a>, moment: Moment<'a>) -> Self {
        let known = scripts.set.failed().iter().map(|failure| format!("{}: {}", failure.name, failure.why));
        Self { scripts, words, moment, until: Instant::now() + PER_TURN, failed: known.collect() }
    }

    /// `text` after the scripts; as it was, where none has a say.
    pub(crate) fn apply(&mut self, text: &str, occasion: Occasion, state: &mut MacroState) -> String {
        if !self.scripts.set.concerns(&occasion) {
            return text.to_owned();
        }
        let key = self.scripts.set.fingerprint(&occasion).map(|set| (set, hash(text)));
        if let Some(known) = key.and_then(|key| self.scripts.results().get(&key).cloned()) {
            return known.to_string();
        }
        let until = self.until;
        let late = move || Instant::now() > until;
        let mut budget = Budget::default().until(&late);
        let scope = self.words.scope(None, &self.moment);
        let applied = self.scripts.set.apply(text, &occasion, &scope, state, &mut budget);
        if let Some(key) = key.filter(|_| applied.failed.is_empty()) {
            self.scripts.remember(key, &applied.text);
        }
        for failure in applied.failed {
            let line = format!("{}: {}", failure.name, failure.why);
            if !self.failed.contains(&line) {
                self.failed.push(line);
            }
        }
        applied.text.into_owned()
    }

    /// The words and thoughts of a reply, each by its own scripts; tags and the rest stay.
    pub(crate) fn reply(&mut self, text: &str, channel: Channel, depth: Option<u32>, state: &mut MacroState) -> String {
        let mut filter = PassageFilter::default();
        let mut pieces = filter.push(text);
        pieces.extend(filter.finish());
        let mut whole = String::with_capacity(text.len());
        for piece in pieces {
            let placement = match piece.passage {
                Passage::Words => Placement::AiOutput,
                Passage::Thoughts => Placement::Reasoning,
                Passage::Metrics | Passage::Keyframe | Passage::Reminder => {
                    whole.push_str(&piece.raw);
                    continue;
                }
            };
            let changed = self.apply(&piece.text, Occasion { placement, channel, depth, edited: false }, state);
            whole.push_str(&piece.raw.replacen(&piece.text, &changed, 1));
        }
        whole
    }
}

impl Scripts {
    fn results(&self) -> std::sync::MutexGuard<'_, HashMap<(u64, u64), Arc<str>>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, key: (u64, u64), text: &str) {
        let mut results = self.results();
        if results.len() >= REMEMBERED {
            results.clear();
        }
        results.insert(key, text.into());
    }

    /// Whether any script looks at such a text.
    pub(crate) fn concern(&self, occasion: &Occasion) -> bool {
        self.set.concerns(occasion)
    }
}

fn hash(text: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl Engine {
    pub async fn list_regex_scripts(&self) -> Answer<Vec<RegexScriptRow>> {
        let own = self.store().read(|store| store.presets().list(PresetKind::RegexScript)).await?;
        Ok(own.into_iter().map(|preset| row(preset.key, preset.json)).collect())
    }

    pub async fn save_regex_script(&self, script: RegexScriptRow) -> Answer<RegexScriptRow> {
        let read: RegexScript = serde_json::from_str(&script.json).map_err(|error| {
            bad_input(format!("The script cannot be read: {error}."), "Correct it, then save again.")
        })?;
        let id = if script.id.is_empty() { Uuid::now_v7().to_string() } else { script.id };
        let named = if script.name.trim().is_empty() { read.script_name.clone() } else { script.name };
        let read = RegexScript { id: id.clone(), script_name: named.clone(), ..read };
        let json = serde_json::to_string(&read).map_err(|error| internal(&error.to_string()))?;
        let saved = row(id.clone(), json.clone());
        if let Some(problem) = &saved.problem {
            return Err(bad_input(format!("The script \"{named}\": {problem}."), "Correct the pattern."));
        }
        let updated = self.now();
        self.store()
            .write(move |store| {
                let known = store.presets().list(PresetKind::RegexScript)?;
                let position =
                    known.iter().find(|preset| preset.key == id).map_or(known.len() as i64, |preset| preset.position);
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
        self.events().changed(Changed::Presets, None);
        Ok(saved)
    }

    pub async fn delete_regex_script(&self, id: String) -> Answer<()> {
        self.store().write(move |store| store.presets_mut().delete(PresetKind::RegexScript, &id)).await?;
        self.events().changed(Changed::Presets, None);
        Ok(())
    }

    pub async fn card_scripts(&self, character: String) -> Answer<CardScripts> {
        let id = character.parse::<CharacterId>()?;
        let card = card_of(&self.character(id).await?)?;
        let json = |script: &RegexScript| serde_json::to_string(script).unwrap_or_default();
        let listed = listed(&card).map(|value| regex_script::read(value).0).unwrap_or_default();
        let scripts = listed.iter().map(|script| row(script.id.clone(), json(script))).collect();
        Ok(CardScripts { allowed: self.allowed().await?.contains(&id), scripts })
    }

    /// A card's scripts rewrite what is said, so they run only once the user has agreed.
    pub async fn allow_card_scripts(&self, character: String, allowed: bool) -> Answer<()> {
        let id = character.parse::<CharacterId>()?;
        let mut all = self.allowed().await?;
        all.retain(|known| *known != id);
        if allowed {
            all.push(id);
        }
        let json = serde_json::to_string(&all).map_err(|error| internal(&error.to_string()))?;
        self.store().write(move |store| store.settings_mut().set(ALLOWED, &json)).await?;
        self.events().changed(Changed::Presets, Some(character));
        Ok(())
    }

    async fn allowed(&self) -> Answer<Vec<CharacterId>> {
        let json = self.store().read(|store| store.settings().get(ALLOWED)).await?;
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
    }

    /// The scripts that count in a chat of `character`: the user's own, then those of the card.
    pub(crate) async fn scripts(
        &self,
        character: CharacterId,
        words: &Words<'_>,
        state: &MacroState,
    ) -> Answer<Arc<Scripts>> {
        let own = self.store().read(|store| store.presets().list(PresetKind::RegexScript)).await?;
        let of_card = listed(words.card);
        let of_card = if of_card.is_some() && self.allowed().await?.contains(&character) { of_card } else { None };
        let texts: Vec<&str> = own.iter().map(|preset| preset.json.as_str()).collect();
        let names = (words.card.spoken_name(), &words.persona.name, words.chat());
        let key = hash((texts, of_card.map(Value::to_string), names));
        let mut cache = self.script_cache();
        if let Some((_, known)) = cache.last.as_ref().filter(|(known, _)| *known == key) {
            return Ok(known.clone());
        }
        let mut scripts: Vec<RegexScript> =
            own.iter().filter_map(|preset| serde_json::from_str(&preset.json).ok()).collect();
        scripts.extend(of_card.into_iter().flat_map(|listed| regex_script::read(listed).0));
        let moment = Moment::default();
        let set = CompiledScripts::new(&scripts, &words.scope(None, &moment), state);
        let compiled = Arc::new(Scripts { set, results: Mutex::default() });
        cache.last = Some((key, compiled.clone()));
        Ok(compiled)
    }
}

impl Engine {
    /// A reply after the scripts that change what is stored.
    pub(crate) async fn stored_reply(&self, chat: &Chat, text: String) -> Answer<String> {
        self.with_scripts(chat, |run, state| run.reply(&text, Channel::Stored, None, state)).await
    }

    /// Runs the scripts for display over messages as they are shown; each comes with its place in the chat.
    pub(crate) async fn dress(&self, chat: &Chat, messages: &mut [(i64, api::Message)]) -> Answer<()> {
        if messages.is_empty()
            || self.store().read(|store| store.presets().list(PresetKind::RegexScript)).await?.is_empty()
                && self.allowed().await?.is_empty()
        {
            return Ok(());
        }
        let id = chat.id;
        let last = self.store().read(move |store| store.messages().last(id)).await?.map_or(0, |last| last.position);
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
                    let words = if own { Placement::UserInput } else { Placement::AiOutput };
                    let shown = run.apply(&text, occasion(words), state);
                    let thought = run.apply(&thoughts, occasion(Placement::Reasoning), state);
                    if shown != text || thought != thoughts {
                        let (has_metrics, has_keyframe) = swipe
                            .display
                            .as_ref()
                            .map_or((false, false), |known| (known.has_metrics, known.has_keyframe));
                        swipe.display =
                            Some(api::Display { text: shown, thoughts: thought, has_metrics, has_keyframe });
                    }
                }
            }
        })
        .await
    }

    async fn with_scripts<T>(&self, chat: &Chat, work: impl FnOnce(&mut Run<'_>, &mut MacroState) -> T) -> Answer<T> {
        let character = self.character(chat.character).await?;
        let (card, _) = self.card(&character)?;
        let persona = self.persona_of(chat.persona).await?;
        let words = Words::new(&card, &persona, chat.id);
        let mut state = MacroState { local: Kept::of(chat).variables, global: self.global_variables().await? };
        let scripts = self.scripts(chat.character, &words, &state).await?;
        let mut run = Run::new(&scripts, &words, Moment::default());
        Ok(work(&mut run, &mut state))
    }
}

/// The scripts that a card brought, as it has them.
fn listed(card: &Card) -> Option<&Value> {
    card.extensions()?.get("regex_scripts")
}

fn row(id: String, json: String) -> RegexScriptRow {
    let read: Result<RegexScript, _> = serde_json::from_str(&json);
    let problem = match &read {
        Ok(script) => {
            let on = RegexScript { disabled: false, ..script.clone() };
            let set = CompiledScripts::new(&[on], &Default::default(), &MacroState::default());
            set.failed().first().map(|failure| failure.why.to_string())
        }
        Err(error) => Some(error.to_string()),
    };
    let (name, enabled) = read.map_or((String::new(), false), |script| (script.script_name, !script.disabled));
    RegexScriptRow { id, name, json, enabled, problem }
}
