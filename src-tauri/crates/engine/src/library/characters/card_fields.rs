//! Reads and writes the editable fields of a card, including those that SillyTavern stores in
//! `extensions`.

use domain::card::Card;
use serde_json::{Map, Value};

use crate::api::{self, DepthPrompt, NoteRole, TranslatedNote};
use crate::base::error::ApiResult;
use crate::base::records::convert::owned;
use crate::library::snapshots::macro_scope;

pub(crate) fn fields(card: &Card) -> api::CharacterFields {
    api::CharacterFields {
        name: card.name().to_owned(),
        nickname: card.nickname().unwrap_or_default().to_owned(),
        description: card.description().to_owned(),
        personality: card.personality().to_owned(),
        scenario: card.scenario().to_owned(),
        first_message: card.first_mes().to_owned(),
        alternate_greetings: owned(&card.alternate_greetings()),
        message_examples: card.mes_example().to_owned(),
        system_prompt: card.system_prompt().to_owned(),
        post_history_instructions: card.post_history_instructions().to_owned(),
        creator_notes: card.creator_notes().to_owned(),
        creator: card.creator().to_owned(),
        character_version: card.character_version().to_owned(),
        tags: owned(&card.tags()),
        translated_notes: notes(card),
        group_only_greetings: owned(&card.group_only_greetings()),
        depth_prompt: depth_prompt(card),
        talkativeness: talkativeness(card),
    }
}

/// Writes only the fields that changed, so that an untouched field stays exactly as it was
/// imported.
pub(crate) fn apply_fields(card: &mut Card, fields: &api::CharacterFields) -> ApiResult<()> {
    let before = self::fields(card);
    if fields.name != before.name {
        card.set_name(&fields.name)?;
    }
    macro_rules! texts {
        ($($field:ident: $set:ident;)*) => {
            $(if fields.$field != before.$field {
                card.$set(&fields.$field);
            })*
        };
    }
    texts! {
        nickname: set_nickname;
        description: set_description;
        personality: set_personality;
        scenario: set_scenario;
        first_message: set_first_mes;
        alternate_greetings: set_alternate_greetings;
        message_examples: set_mes_example;
        system_prompt: set_system_prompt;
        post_history_instructions: set_post_history_instructions;
        creator_notes: set_creator_notes;
        creator: set_creator;
        character_version: set_character_version;
        tags: set_tags;
        group_only_greetings: set_group_only_greetings;
    }
    if fields.translated_notes != before.translated_notes {
        let notes = fields
            .translated_notes
            .iter()
            .map(|note| (note.language.trim(), note.text.as_str()));
        let notes: Vec<_> = notes.filter(|(language, _)| !language.is_empty()).collect();
        card.set_creator_notes_multilingual(&notes);
    }
    set_depth_prompt(card, &before.depth_prompt, &fields.depth_prompt);
    if let Some(wanted) = fields
        .talkativeness
        .filter(|_| fields.talkativeness != before.talkativeness)
    {
        card.set_extension("talkativeness", wanted.clamp(0.0, 1.0).into());
    }
    Ok(())
}

fn notes(card: &Card) -> Vec<TranslatedNote> {
    let notes = card.creator_notes_multilingual().into_iter();
    notes
        .map(|(language, text)| TranslatedNote {
            language: language.to_owned(),
            text: text.to_owned(),
        })
        .collect()
}

fn depth_prompt(card: &Card) -> DepthPrompt {
    let usual = DepthPrompt::default();
    let note = card.extensions().and_then(|all| all.get("depth_prompt"));
    let depth = note
        .and_then(|note| note.get("depth")?.as_u64())
        .and_then(|depth| u32::try_from(depth).ok());
    let role = match note.and_then(|note| note.get("role")?.as_str()) {
        Some("user") => NoteRole::User,
        Some("assistant") => NoteRole::Assistant,
        _ => usual.role,
    };
    DepthPrompt {
        text: macro_scope::depth_prompt(card).to_owned(),
        depth: depth.unwrap_or(usual.depth),
        role,
    }
}

/// Writes only what changed. Unknown keys of the note stay.
fn set_depth_prompt(card: &mut Card, before: &DepthPrompt, wanted: &DepthPrompt) {
    if wanted == before {
        return;
    }
    let known = card
        .extensions()
        .and_then(|all| all.get("depth_prompt")?.as_object().cloned());
    // Write all keys of a new note, because other apps have different defaults.
    let fresh = known.is_none();
    let mut note: Map<String, Value> = known.unwrap_or_default();
    if fresh || wanted.text != before.text {
        note.insert("prompt".into(), wanted.text.as_str().into());
    }
    if fresh || wanted.depth != before.depth {
        note.insert("depth".into(), wanted.depth.into());
    }
    if fresh || wanted.role != before.role {
        let role = match wanted.role {
            NoteRole::System => "system",
            NoteRole::User => "user",
            NoteRole::Assistant => "assistant",
        };
        note.insert("role".into(), role.into());
    }
    card.set_extension("depth_prompt", Value::Object(note));
}

/// Some cards store the number as a string.
fn talkativeness(card: &Card) -> Option<f64> {
    let value = card.extensions()?.get("talkativeness")?;
    let number = value
        .as_f64()
        .or_else(|| value.as_str()?.trim().parse().ok());
    number
        .filter(|number| number.is_finite())
        .map(|number| number.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(data: &str) -> Card {
        let json = format!(
            r#"{{"spec":"chara_card_v3","spec_version":"3.0","data":{{"name":"Mira"{data}}}}}"#
        );
        Card::from_json(json.as_bytes()).unwrap().0
    }

    fn edited(data: &str, edit: impl FnOnce(&mut api::CharacterFields)) -> Value {
        let mut card = card(data);
        let mut fields = fields(&card);
        edit(&mut fields);
        apply_fields(&mut card, &fields).unwrap();
        card.to_value()["data"].take()
    }

    const ODD: &str = r#","extensions":{"depth_prompt":{"prompt":"Stay dry.","mine":[1]},"talkativeness":"0.3","x":{"y":null}},
        "creator_notes_multilingual":{"de":"Hallo.","xx":{"odd":1}},"source":["https://a.example"]"#;

    #[test]
    fn untouched_fields_stay_as_imported() {
        assert_eq!(edited(ODD, |_| {}), card(ODD).to_value()["data"]);
        assert_eq!(edited("", |_| {}), card("").to_value()["data"]);
    }

    #[test]
    fn depth_note_gets_defaults_and_keeps_unknown_keys() {
        let read = fields(&card(ODD));
        assert_eq!(
            read.depth_prompt,
            DepthPrompt {
                text: "Stay dry.".into(),
                ..DepthPrompt::default()
            }
        );
        assert_eq!(read.talkativeness, Some(0.3));
        let data = edited(ODD, |fields| {
            fields.depth_prompt.role = NoteRole::User;
            fields.talkativeness = Some(7.0);
        });
        let expected = r#"{"depth_prompt":{"prompt":"Stay dry.","mine":[1],"role":"user"},"talkativeness":1.0,"x":{"y":null}}"#;
        assert_eq!(data["extensions"].to_string(), expected);
    }

    #[test]
    fn new_depth_note_writes_all_keys() {
        let data = edited("", |fields| fields.depth_prompt.text = "Whisper.".into());
        let note = data["extensions"]["depth_prompt"].to_string();
        assert_eq!(note, r#"{"prompt":"Whisper.","depth":4,"role":"system"}"#);
    }

    #[test]
    fn creator_notes_are_stored_by_language() {
        let data = edited(ODD, |fields| {
            fields.translated_notes = vec![TranslatedNote {
                language: "fr".into(),
                text: "Salut.".into(),
            }];
            fields.group_only_greetings = vec!["All of you?".into()];
        });
        assert_eq!(
            data["creator_notes_multilingual"].to_string(),
            r#"{"xx":{"odd":1},"fr":"Salut."}"#
        );
        assert_eq!(
            data["group_only_greetings"].to_string(),
            r#"["All of you?"]"#
        );
    }
}
