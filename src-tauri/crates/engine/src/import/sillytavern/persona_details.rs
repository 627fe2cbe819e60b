//! Reads where SillyTavern puts the description of a persona, and the characters that a persona is
//! connected to.

use domain::CharacterId;
use serde_json::Value;

use crate::api::{NoteRole, PersonaPlace, PersonaPosition};
use crate::base::error::ApiResult;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::cards::Cast;
use crate::import::sillytavern::folder::composed;
use crate::import::sillytavern::settings::personas;

/// Depth of SillyTavern's author's note unless the user changes it, in messages.
const NOTE_DEPTH: u32 = 4;
/// Maximum depth, in messages.
const MAX_DEPTH: u64 = 10_000;

/// The place of a description, from its entry in `persona_descriptions`. Adds a warning about a
/// place that the app does not have.
pub(crate) fn persona_place(about: Option<&Value>, warnings: &mut Vec<String>) -> PersonaPlace {
    let number = |field: &str| {
        about
            .and_then(|about| about.get(field))
            .and_then(Value::as_u64)
    };
    let default = PersonaPlace::default();
    let place = PersonaPlace {
        position: default.position,
        depth: number("depth").map_or(default.depth, |depth| depth.min(MAX_DEPTH) as u32),
        role: match number("role") {
            Some(1) => NoteRole::User,
            Some(2) => NoteRole::Assistant,
            _ => NoteRole::System,
        },
    };
    match number("position") {
        Some(1) => PersonaPlace {
            position: PersonaPosition::AfterCard,
            ..place
        },
        Some(2 | 3) => {
            warnings.push(format!(
                "its description was next to the author's note; it is now in the chat at depth {NOTE_DEPTH}"
            ));
            PersonaPlace {
                position: PersonaPosition::InChat,
                depth: NOTE_DEPTH,
                role: NoteRole::System,
            }
        }
        Some(4) => PersonaPlace {
            position: PersonaPosition::InChat,
            ..place
        },
        Some(9) => PersonaPlace {
            position: PersonaPosition::Absent,
            ..place
        },
        _ => place,
    }
}

impl FolderImports {
    /// Binds personas to the characters that they are connected to, unless a character has a
    /// persona already.
    pub(crate) async fn bind_personas_of(&self, settings: &Value, cast: &Cast) -> ApiResult<()> {
        let Some(about) = settings.pointer("/power_user/persona_descriptions") else {
            return Ok(());
        };
        let known = self.library().personas.list_personas().await?;
        for (picture, name) in personas(settings) {
            let Some(persona) = known.iter().find(|persona| persona.name == name) else {
                continue;
            };
            let connected = about
                .get(picture)
                .and_then(|about| about.get("connections")?.as_array());
            for connection in connected.into_iter().flatten() {
                let text = |field: &str| {
                    connection
                        .get(field)
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                };
                let stem = text("id")
                    .rsplit_once('.')
                    .map_or(text("id"), |(stem, _)| stem);
                let character = cast
                    .get(&composed(stem))
                    .filter(|_| text("type") == "character");
                let taken =
                    |id: &CharacterId| known.iter().any(|persona| persona.characters.contains(id));
                if let Some(id) = character.copied().filter(|id| !taken(id)) {
                    self.library()
                        .personas
                        .bind_persona(id, Some(persona.id))
                        .await?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn positions_of_sillytavern_are_kept() {
        let place = |about: Value| persona_place(Some(&about), &mut Vec::new());
        let in_chat = place(json!({"position": 4, "depth": 7, "role": 2}));
        assert_eq!(
            (in_chat.position, in_chat.depth),
            (PersonaPosition::InChat, 7)
        );
        assert_eq!(in_chat.role, NoteRole::Assistant);
        assert_eq!(
            place(json!({"position": 1})).position,
            PersonaPosition::AfterCard
        );
        assert_eq!(
            place(json!({"position": 9})).position,
            PersonaPosition::Absent
        );
        assert_eq!(
            place(json!({"position": "x", "depth": -1})),
            PersonaPlace::default()
        );
        assert_eq!(
            persona_place(None, &mut Vec::new()),
            PersonaPlace::default()
        );
    }

    #[test]
    fn place_at_the_note_is_reported() {
        let mut warnings = Vec::new();
        let place = persona_place(Some(&json!({"position": 2, "depth": 99})), &mut warnings);
        assert_eq!(
            (place.position, place.depth),
            (PersonaPosition::InChat, NOTE_DEPTH)
        );
        assert_eq!(warnings.len(), 1);
    }
}
