//! Exports a group as SillyTavern's group file. It names the members by the files of their cards.

use domain::chat::{Chat, TurnOrder};
use domain::overrides::CardText;
use serde_json::{Map, Value, json};

use crate::base::error::{ApiResult, bad_input};
use crate::library::characters::{Exported, file_name};
use crate::library::handle::Library;

/// `generation_mode` of SillyTavern that puts the cards of all members into the prompt, as this app does.
const JOIN_CARDS: u8 = 1;

impl Library {
    /// # Errors
    /// `BadInput` if only one character takes part.
    pub(crate) async fn export_group(&self, chat: &Chat) -> ApiResult<Exported> {
        let scene = self.group(chat).await?;
        if !scene.is_scene() {
            return Err(bad_input("This chat is no group.", "Add characters first, or export the chat."));
        }
        let id = chat.id;
        let read =
            self.base().store().read(move |store| Ok((store.chat_texts().of(id)?, store.sources().file_of(id)?)));
        let (texts, source) = read.await?;
        let mut names: Vec<String> = Vec::new();
        for member in scene.members() {
            // SillyTavern numbers cards of the same name.
            let numbered = (1..).map(|number| format!("{}{number}", member.card.name()));
            let mut candidates = std::iter::once(member.card.name().to_owned()).chain(numbered);
            names.extend(candidates.find(|name| !names.contains(name)));
        }
        let files: Vec<String> = names.iter().map(|name| format!("{name}.png")).collect();
        let muted: Vec<&String> =
            files.iter().zip(scene.members()).filter(|(_, member)| member.state.muted).map(|(file, _)| file).collect();
        let settings = &scene.settings;
        let stem =
            source.as_deref().and_then(|file| file.rsplit('/').next()?.strip_suffix(".jsonl")).map(str::to_owned);
        let stem = stem.unwrap_or_else(|| file_name(&chat.title, "jsonl").trim_end_matches(".jsonl").to_owned());
        let mut group: Map<String, Value> = serde_json::from_str(&settings.foreign).unwrap_or_default();
        let own = json!({
            "id": stem,
            "name": chat.title,
            "members": files,
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
        group.entry("generation_mode").or_insert_with(|| JOIN_CARDS.into());
        if let Some(scenario) = texts.get(CardText::Scenario) {
            let metadata = group.entry("chat_metadata").or_insert_with(|| json!({}));
            if let Some(metadata) = metadata.as_object_mut() {
                metadata.insert("scenario".to_owned(), scenario.into());
            }
        }
        let away = scene.members().iter().filter(|member| member.state.away || member.missed_here).count();
        let warnings = (away > 0).then(|| "the file does not contain who missed which messages".to_owned());
        let bytes = serde_json::to_vec_pretty(&Value::Object(group)).unwrap_or_default();
        Ok(Exported {
            file_name: file_name(&chat.title, "json"),
            mime: "application/json",
            bytes,
            warnings: warnings.into_iter().collect(),
        })
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
