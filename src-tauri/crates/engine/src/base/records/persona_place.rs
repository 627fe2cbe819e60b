//! Converts the place of a persona's description between API and domain.

use domain::persona::{PersonaPlace, PersonaPosition};
use domain::prompt::PromptRole;

use crate::api::{self, NoteRole};
use crate::base::error::{ApiResult, bad_input};

/// Maximum depth, in messages.
const MAX_DEPTH: u32 = 10_000;

pub(crate) fn shown(place: PersonaPlace) -> api::PersonaPlace {
    api::PersonaPlace {
        position: match place.position {
            PersonaPosition::Template => api::PersonaPosition::Template,
            PersonaPosition::AfterCard => api::PersonaPosition::AfterCard,
            PersonaPosition::InChat => api::PersonaPosition::InChat,
            PersonaPosition::Absent => api::PersonaPosition::Absent,
        },
        depth: place.depth,
        role: match place.role {
            PromptRole::System => NoteRole::System,
            PromptRole::User => NoteRole::User,
            PromptRole::Character => NoteRole::Assistant,
        },
    }
}

/// # Errors
/// `BadInput` for a depth that no chat has.
pub(crate) fn stored(place: api::PersonaPlace) -> ApiResult<PersonaPlace> {
    if place.depth > MAX_DEPTH {
        let message = format!("The depth can be {MAX_DEPTH} messages at most.");
        return Err(bad_input(message, "Choose a smaller depth."));
    }
    Ok(PersonaPlace {
        position: match place.position {
            api::PersonaPosition::Template => PersonaPosition::Template,
            api::PersonaPosition::AfterCard => PersonaPosition::AfterCard,
            api::PersonaPosition::InChat => PersonaPosition::InChat,
            api::PersonaPosition::Absent => PersonaPosition::Absent,
        },
        depth: place.depth,
        role: match place.role {
            NoteRole::System => PromptRole::System,
            NoteRole::User => PromptRole::User,
            NoteRole::Assistant => PromptRole::Character,
        },
    })
}
