//! Exports a group as SillyTavern's group file. It names the members by the files of their cards.

use domain::chat::{Chat, TurnOrder};
use domain::overrides::CardText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::error::{ApiResult, bad_input};
use crate::library::characters::cards::{Exported, file_name};
use crate::library::exports::Exports;

/// `generation_mode` of SillyTavern that puts the cards of all members into the prompt, as this app
/// does.
const JOIN_CARDS: u8 = 1;

/// Field of a group file with the settings of this app that SillyTavern does not have.
pub(crate) const OWN: &str = "inglenook";

impl Exports {
    /// # Errors
    /// `BadInput` if only one character takes part.
    pub(crate) async fn export_group(&self, chat: &Chat) -> ApiResult<Exported> {
        let scene = self.groups.group(chat).await?;
        if !scene.is_scene() {
            return Err(bad_input(
                "This chat is no group.",
                "Add characters first, or export the chat.",
            ));
        }
        let id = chat.id;
        let read = self
            .base()
            .store()
            .read(move |store| Ok((store.chat_texts().of(id)?, store.sources().file_of(id)?)));
        let (texts, source) = read.await?;
        let files: Vec<String> = self
            .groups
            .member_files(&scene)
            .await?
            .into_iter()
            .map(|(_, file)| file)
            .collect();
        let muted: Vec<&String> = files
            .iter()
            .zip(scene.members())
            .filter(|(_, member)| member.state.muted)
            .map(|(file, _)| file)
            .collect();
        let settings = &scene.settings;
        let stem = source
            .as_deref()
            .and_then(|file| file.rsplit('/').next()?.strip_suffix(".jsonl"))
            .map(str::to_owned);
        let stem = stem.unwrap_or_else(|| {
            file_name(&chat.title, "jsonl")
                .trim_end_matches(".jsonl")
                .to_owned()
        });
        let mut group: Map<String, Value> =
            serde_json::from_str(&settings.foreign).unwrap_or_default();
        let imported = ImportedGroup::of(group.remove(OWN));
        // Members that are not in the library stay in the group.
        let members: Vec<&String> = files.iter().chain(&imported.missing).collect();
        let muted: Vec<&String> = muted.into_iter().chain(&imported.missing_muted).collect();
        let own = json!({
            "id": stem,
            "name": imported.name_in(&chat.title),
            "members": members,
            "disabled_members": muted,
            "allow_self_responses": settings.self_responses,
            "activation_strategy": strategy(settings.order),
            "auto_mode_delay": settings.auto_delay,
            "chat_id": stem,
            "chats": [stem],
        });
        for (key, value) in own.as_object().into_iter().flatten() {
            // An imported group keeps its id.
            if key != "id" || !group.contains_key("id") {
                group.insert(key.clone(), value.clone());
            }
        }
        if settings.order == TurnOrder::Director || !settings.several_replies {
            let own = json!({ "order": settings.order.as_str(), "several_replies": settings.several_replies });
            group.insert(OWN.to_owned(), own);
        }
        group
            .entry("generation_mode")
            .or_insert_with(|| JOIN_CARDS.into());
        put_scenario(&mut group, texts.get(CardText::Scenario));
        let away = scene
            .members()
            .iter()
            .filter(|member| member.state.away || member.missed_here)
            .count();
        let warnings =
            (away > 0).then(|| "the file does not contain who missed which messages".to_owned());
        let bytes = serde_json::to_vec_pretty(&Value::Object(group)).unwrap_or_default();
        Ok(Exported {
            file_name: file_name(&chat.title, "json"),
            mime: "application/json",
            bytes,
            warnings: warnings.into_iter().collect(),
        })
    }
}

/// The parts of an imported group besides its settings.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ImportedGroup {
    pub(crate) name: String,
    /// Files of members that are not in the library.
    pub(crate) missing: Vec<String>,
    pub(crate) missing_muted: Vec<String>,
}

impl ImportedGroup {
    fn of(kept: Option<Value>) -> Self {
        kept.and_then(|kept| serde_json::from_value(kept).ok())
            .unwrap_or_default()
    }

    /// The name of the group in a chat with this title. The chats of a group with several have
    /// longer titles.
    fn name_in<'n>(&'n self, title: &'n str) -> &'n str {
        if !self.name.is_empty() && title.starts_with(&self.name) {
            &self.name
        } else {
            title
        }
    }
}

/// Writes the scenario of this chat, or removes the one that was imported.
fn put_scenario(group: &mut Map<String, Value>, scenario: Option<&str>) {
    let metadata = match scenario {
        Some(_) => Some(group.entry("chat_metadata").or_insert_with(|| json!({}))),
        None => group.get_mut("chat_metadata"),
    };
    let Some(Value::Object(metadata)) = metadata else {
        return;
    };
    match scenario {
        Some(scenario) => _ = metadata.insert("scenario".to_owned(), scenario.into()),
        None if metadata
            .get("scenario")
            .is_some_and(|scenario| *scenario != "") =>
        {
            _ = metadata.remove("scenario")
        }
        None => {}
    }
}

/// `activation_strategy` of SillyTavern. It has no director.
fn strategy(order: TurnOrder) -> u8 {
    match order {
        TurnOrder::Natural | TurnOrder::Director => 0,
        TurnOrder::List => 1,
        TurnOrder::Manual => 2,
        TurnOrder::Pooled => 3,
    }
}
