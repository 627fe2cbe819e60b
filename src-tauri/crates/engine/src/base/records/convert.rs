//! Converts domain types to API types.

use std::collections::HashMap;

use context::macros::{self, MacroScope, MacroState};
use domain::card::Card;
use domain::chat::{Message, Picture, Role, Speaker, Swipe};
use domain::model::ModelChoice;
use domain::persona::Persona;
use domain::plain_line::plain_line;
use domain::settings::Owner;
use domain::{CharacterId, MessageId, ToolCall, ToolRound};
use store::{AssetHash, CharacterListItem, Listing};

use crate::api;
use crate::base::clock::rfc3339;
use crate::base::error::ApiResult;
use crate::base::panics;
use crate::base::records::{group_events, persona_place};

/// Longest tagline, in characters.
const TAGLINE: usize = 140;

/// Only a model's replies are split into shown text and thoughts.
fn display(role: Role, text: &str) -> Option<api::Display> {
    let display = panics::or_plain("a message", || context::display::display(text), || None);
    display.filter(|_| is_reply(role))
}

fn swipe(role: Role, swipe: &Swipe, figures: Option<api::Figures>) -> api::Swipe {
    api::Swipe {
        id: swipe.id,
        text: swipe.text.clone(),
        display: display(role, &swipe.text),
        state: swipe.state,
        created: rfc3339(swipe.created),
        model: swipe.model.clone(),
        figures,
        tool_calls: swipe.tool_calls.iter().map(tool_call).collect(),
        tool_rounds: swipe.tool_rounds.iter().map(tool_round).collect(),
        emotion: swipe.emotion.clone(),
    }
}

fn tool_call(call: &ToolCall) -> api::ToolCall {
    let arguments = call.arguments.text().to_owned();
    let valid = call.arguments.is_object();
    api::ToolCall {
        name: call.name.clone(),
        arguments,
        valid,
    }
}

pub(crate) fn tool_round(round: &ToolRound) -> api::ToolRound {
    let used = |(index, call): (usize, &ToolCall)| {
        let result = round.results.get(index);
        api::ToolUse {
            name: call.name.clone(),
            arguments: call.arguments.text().to_owned(),
            result: result.map(|result| result.text.clone()).unwrap_or_default(),
            error: result.is_none_or(|result| result.error),
        }
    };
    api::ToolRound {
        text: round.text.clone(),
        calls: round.calls.iter().enumerate().map(used).collect(),
    }
}

/// Speaker names of a chat's messages.
#[derive(Debug, Clone)]
pub(crate) struct Speakers {
    pub(crate) character: String,
    pub(crate) persona: String,
    /// Speakers of messages that are not from the chat's own character or persona.
    pub(crate) others: HashMap<MessageId, Speaker>,
}

impl Speakers {
    pub(crate) fn of(&self, message: MessageId, role: Role) -> &str {
        let other = self
            .others
            .get(&message)
            .map(|speaker| speaker.name.as_str());
        match role {
            Role::User => other.unwrap_or(&self.persona),
            Role::Character => other.unwrap_or(&self.character),
            Role::Narrator | Role::Tool | Role::Event => other.unwrap_or_default(),
        }
    }

    /// Id of a speaker other than the chat's character and the user. Empty if that character was
    /// deleted.
    fn other(&self, message: MessageId, role: Role) -> Option<String> {
        if role == Role::User {
            return None;
        }
        let character = self.others.get(&message)?.character;
        Some(character.map(|id| id.to_string()).unwrap_or_default())
    }
}

/// Whether a model writes messages of this role.
pub(crate) fn is_reply(role: Role) -> bool {
    matches!(role, Role::Character | Role::Narrator)
}

/// `figures` looks up the token figures of a swipe.
pub(crate) fn message(
    message: &Message,
    speakers: &Speakers,
    figures: impl Fn(&Swipe) -> Option<api::Figures>,
) -> api::Message {
    api::Message {
        id: message.id,
        role: message.role,
        name: speakers.of(message.id, message.role).to_owned(),
        speaker: speakers.other(message.id, message.role),
        swipes: message
            .swipes
            .iter()
            .map(|each| swipe(message.role, each, figures(each)))
            .collect(),
        selected: message.selected,
        created: if message.undated {
            String::new()
        } else {
            rfc3339(message.created)
        },
        pinned: message.pinned,
        hidden: message.hidden,
        source: message.source,
        can_regenerate: is_reply(message.role) && !is_greeting(message),
        events: if message.role == Role::Event {
            group_events::read(message.text())
        } else {
            Vec::new()
        },
        pictures: message.pictures.clone(),
    }
}

/// No model wrote it, and nothing precedes it.
fn is_greeting(message: &Message) -> bool {
    message.position == 0 && message.swipes.iter().all(|swipe| swipe.model.is_none())
}

pub(crate) fn kept_picture((hash, name): (AssetHash, String)) -> Picture {
    Picture {
        hash: hash.to_string(),
        name,
    }
}

pub(crate) fn persona(
    persona: Persona,
    picture: Option<AssetHash>,
    characters: &[CharacterId],
) -> api::Persona {
    let Persona {
        id,
        name,
        description,
        instructions,
        place,
    } = persona;
    api::Persona {
        id,
        name,
        description,
        instructions,
        picture: picture.map(|hash| hash.to_string()),
        place: persona_place::shown(place),
        characters: characters.to_vec(),
    }
}

pub(crate) fn model_ref(choice: ModelChoice) -> api::ModelRef {
    match choice {
        ModelChoice::Local(id) => api::ModelRef::Local { id },
        ModelChoice::Remote(id) => api::ModelRef::Remote { id: id.to_string() },
    }
}

pub(crate) fn model_choice(model: &api::ModelRef) -> ApiResult<ModelChoice> {
    Ok(match model {
        api::ModelRef::Local { id } => ModelChoice::Local(*id),
        api::ModelRef::Remote { id } => ModelChoice::Remote(id.parse()?),
    })
}

pub(crate) fn owner(owner: &api::SettingOwner) -> ApiResult<Owner> {
    Ok(match owner {
        api::SettingOwner::Global => Owner::Global,
        api::SettingOwner::Model { model } => Owner::Model(model_choice(model)?),
        api::SettingOwner::Character { id } => Owner::Character(*id),
        api::SettingOwner::Chat { id } => Owner::Chat(*id),
    })
}

pub(crate) fn summary(listed: CharacterListItem) -> api::CharacterSummary {
    let Listing {
        tagline,
        creator,
        tags,
    } = listed.listing.unwrap_or_default();
    api::CharacterSummary {
        id: listed.id,
        name: listed.name,
        tagline,
        picture: listed.picture.map(|hash| hash.to_string()),
        tags,
        creator,
        favourite: listed.favourite,
        private: listed.private,
        last_chat: listed.last_chat.map(rfc3339),
        created: rfc3339(listed.created),
        place: place(listed.place),
    }
}

pub(crate) fn place(
    store::Place {
        folder,
        pinned,
        archived,
    }: store::Place,
) -> api::ListPlace {
    api::ListPlace {
        folder,
        pinned,
        archived,
    }
}

/// The list entry of a card, and the text by which search finds it.
pub(crate) fn listing(card: &Card) -> (Listing, String) {
    let listing = Listing {
        tagline: tagline(card),
        creator: card.creator().to_owned(),
        tags: owned(&card.tags()),
    };
    let mut words = vec![
        card.name(),
        card.nickname().unwrap_or_default(),
        card.creator(),
    ];
    words.extend(card.tags());
    words.extend([
        card.description(),
        card.personality(),
        card.scenario(),
        card.creator_notes(),
    ]);
    (listing, words.join("\n"))
}

fn tagline(card: &Card) -> String {
    let names = MacroScope {
        char: card.display_name(),
        user: "you",
        ..MacroScope::default()
    };
    let line =
        |text: &str| plain_line(&macros::expand(text, &names, &mut MacroState::default()).text);
    let notes = line(card.creator_notes());
    let line = if notes.is_empty() {
        line(card.description())
    } else {
        notes
    };
    match line.char_indices().nth(TAGLINE) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

pub(crate) fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
