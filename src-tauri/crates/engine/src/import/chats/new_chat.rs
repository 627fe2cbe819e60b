//! Stores imported chats of other apps: assigns speakers, hidden messages and dates.

use std::collections::HashMap;

use domain::chat::{Chat, Role, Speaker, SwipeState, WindowState};
use domain::chat_file::{ChatFile, ChatFileAuthor, ChatFileMessage, MessageVersion};
use domain::{CharacterId, ChatId, MessageId, PersonaId, SwipeId, Timestamp, ToolRound};
use store::{AssetHash, NewMessage, NewSwipe};
use uuid::Uuid;

use crate::api::Changed;
use crate::base::error::ApiResult;
use crate::base::records::group_events;
use crate::import::chats::ChatImports;
use crate::import::sillytavern::folder::composed;
use crate::library::assets::pictures::MAX_PICTURES;
use crate::library::chats::{exported_rounds, foreign_chat};
use crate::library::snapshots::chat_macros::StoredMacroState;

const THOUGHTS_END: &str = "</think>";

impl ChatImports {
    /// Stores a chat like [`Self::keep_chat`], and applies its author's note.
    pub(crate) async fn keep_chat_and_note(
        &self,
        new: NewChat,
        warnings: &mut Vec<String>,
    ) -> ApiResult<ChatId> {
        let header = new.file.header.clone();
        let id = self.keep_chat(new).await?;
        warnings.extend(self.library().chats.import_note(id, &header).await);
        Ok(id)
    }

    /// Stores an imported chat in one transaction.
    pub(crate) async fn keep_chat(&self, new: NewChat) -> ApiResult<ChatId> {
        let NewChat {
            mut file,
            character,
            persona,
            title,
            source,
            members,
            voices,
            pictures,
        } = new;
        let id = ChatId(Uuid::now_v7());
        let now = self.base().now();
        // The default persona needs no stored name.
        let user = match persona {
            None if file.user != self.library().personas.persona_of(None).await?.name => {
                file.user.clone()
            }
            _ => String::new(),
        };
        let name = self.library().characters.character(character).await?.name;
        let own = Own {
            id: character,
            name,
            user: file.user.clone(),
            voices,
            pictures,
        };
        let mut when = self
            .library()
            .chats
            .foreign_date(&file.created)
            .unwrap_or(now);
        let created = when;
        let mut messages = Vec::new();
        for said in std::mem::take(&mut file.messages) {
            let dated = self.library().chats.foreign_date(&said.shown().date);
            // Preserves the file's order, regardless of its dates.
            when = dated.unwrap_or(when);
            messages.push(self.message_of(said, id, (when, dated.is_none()), &own));
        }
        let chat = Chat {
            id,
            character,
            persona,
            title,
            model: None,
            draft: String::new(),
            window: WindowState::default(),
            scene_after: None,
            variables: StoredMacroState {
                variables: foreign_chat::variables(&file.header),
                ..StoredMacroState::default()
            }
            .to_json(),
            created,
            updated: when,
        };
        self.base()
            .store()
            .write(move |store| {
                store.chats_mut().insert(&chat)?;
                if let Some(file) = &source {
                    store.sources_mut().set_chat(chat.id, file)?;
                }
                foreign_chat::keep_chat(store, chat.id, &file, &user)?;
                store.groups_mut().set_members(chat.id, &members)?;
                messages
                    .iter()
                    .try_for_each(|message| message.insert(store))?;
                store.chats_mut().touch(chat.id, chat.updated)
            })
            .await?;
        // A folder import announces all its chats at once.
        if self.import_reports.importing().none() {
            self.base()
                .events()
                .changed(Changed::Chats, Some(id.to_string()));
        }
        Ok(id)
    }

    /// Converts a message. Adds a speaker if it is not the chat's own character.
    fn message_of(
        &self,
        mut said: ChatFileMessage,
        chat: ChatId,
        (created, undated): (Timestamp, bool),
        own: &Own,
    ) -> ForeignMessage {
        // Older exports of this app do not mark their events.
        if said.note && group_events::is_event(&said.shown().text) {
            (said.note, said.event) = (false, true);
        }
        let role = match said.by {
            _ if said.event => Role::Event,
            ChatFileAuthor::User => Role::User,
            ChatFileAuthor::Character => Role::Character,
            ChatFileAuthor::Narrator => Role::Narrator,
        };
        let speaker = own.speaker(&said);
        let kept = foreign_chat::of_message(&said);
        let pictures = said
            .pictures
            .iter()
            .filter_map(|name| own.pictures.get(name).cloned());
        let pictures = pictures.take(MAX_PICTURES).collect();
        let hidden = said.hidden || said.note;
        let selected = u32::try_from(said.selected).unwrap_or_default();
        let mut kept_of_swipes = Vec::new();
        let mut rounds = Vec::new();
        let swipe = |mut version: MessageVersion| {
            let id = SwipeId(Uuid::now_v7());
            let created = self
                .library()
                .chats
                .foreign_date(&version.date)
                .unwrap_or(created);
            let of_tools = exported_rounds::take(&mut version);
            if !of_tools.is_empty() {
                rounds.push((id, of_tools));
            }
            kept_of_swipes
                .extend(foreign_chat::of_version(&version, created).map(|json| (id, json)));
            let text = match role {
                Role::Character => with_opened_thoughts(version.text),
                _ => version.text,
            };
            NewSwipe {
                id,
                created,
                text: whole(text, &version.thoughts),
                state: SwipeState::Finished,
                model: Some(version.model).filter(|model| !model.is_empty()),
            }
        };
        let swipes = said.versions.into_iter().map(swipe).collect();
        let id = MessageId(Uuid::now_v7());
        let new = NewMessage {
            id,
            chat,
            role,
            created,
            swipes,
            selected,
            context_block: None,
        };
        ForeignMessage {
            new,
            speaker,
            hidden,
            undated,
            kept,
            kept_of_swipes,
            rounds,
            pictures,
        }
    }
}

/// An imported message, ready to store.
struct ForeignMessage {
    new: NewMessage,
    /// The speaker, unless it is the chat's own character or persona.
    speaker: Option<Speaker>,
    hidden: bool,
    undated: bool,
    /// Preserved data of the message as JSON. `kept_of_swipes` holds that of its versions.
    kept: Option<String>,
    kept_of_swipes: Vec<(SwipeId, String)>,
    rounds: Vec<(SwipeId, Vec<ToolRound>)>,
    pictures: Vec<(AssetHash, String)>,
}

impl ForeignMessage {
    fn insert(&self, store: &mut store::WriteTransaction<'_>) -> Result<(), store::StoreError> {
        let id = self.new.id;
        store.messages_mut().append(&self.new)?;
        for (swipe, rounds) in &self.rounds {
            store.swipes_mut().set_tool_rounds(*swipe, rounds)?;
        }
        if !self.pictures.is_empty() {
            store.pictures_mut().put(id, &self.pictures)?;
        }
        if self.hidden {
            store.messages_mut().set_hidden(id, true)?;
        }
        if self.undated {
            store.messages_mut().set_undated(id)?;
        }
        if let Some(speaker) = &self.speaker {
            store.groups_mut().set_speaker(id, speaker)?;
        }
        if let Some(json) = &self.kept {
            store.foreign_mut().set_message(id, json)?;
        }
        self.kept_of_swipes
            .iter()
            .try_for_each(|(swipe, json)| store.foreign_mut().set_swipe(*swipe, json))
    }
}

/// An imported chat, and the character and persona it belongs to.
pub(crate) struct NewChat {
    pub(crate) file: ChatFile,
    pub(crate) character: CharacterId,
    pub(crate) persona: Option<PersonaId>,
    pub(crate) title: String,
    /// The source file, if it contains only this chat.
    pub(crate) source: Option<String>,
    /// Members of the chat besides the character.
    pub(crate) members: Vec<CharacterId>,
    /// Characters by picture file and by name, to find the speaker of a message.
    pub(crate) voices: HashMap<String, CharacterId>,
    /// Stored pictures by the names that the messages give them.
    pub(crate) pictures: HashMap<String, (AssetHash, String)>,
}

impl NewChat {
    /// A chat with one character, without a title and source file.
    pub(crate) fn of(file: ChatFile, character: CharacterId, persona: Option<PersonaId>) -> Self {
        let title = String::new();
        let members = Vec::new();
        let voices = HashMap::new();
        let pictures = HashMap::new();
        Self {
            file,
            character,
            persona,
            title,
            source: None,
            members,
            voices,
            pictures,
        }
    }
}

/// The chat's character, the user's name, and all speakers.
struct Own {
    id: CharacterId,
    name: String,
    /// The user's name in the chat.
    user: String,
    voices: HashMap<String, CharacterId>,
    pictures: HashMap<String, (AssetHash, String)>,
}

impl Own {
    /// The speaker whom an event calls upon.
    fn called(&self, name: &str) -> Speaker {
        let own = (name == self.name).then_some(self.id);
        Speaker {
            character: own.or_else(|| self.voices.get(&composed(name)).copied()),
            name: name.to_owned(),
        }
    }

    /// Returns the speaker, unless it is the chat's own character or persona.
    fn speaker(&self, said: &ChatFileMessage) -> Option<Speaker> {
        let named = || Speaker {
            character: None,
            name: said.name.clone(),
        };
        match said.by {
            _ if said.event => return (!said.name.is_empty()).then(|| self.called(&said.name)),
            ChatFileAuthor::User => {
                return (!said.name.is_empty() && said.name != self.user).then(named);
            }
            ChatFileAuthor::Narrator => return (!said.name.is_empty()).then(named),
            ChatFileAuthor::Character => {}
        }
        let by_picture = self
            .voices
            .get(&composed(&said.avatar))
            .filter(|_| !said.avatar.is_empty());
        match by_picture.or_else(|| self.voices.get(&composed(&said.name))) {
            Some(id) if *id == self.id && (said.name == self.name || said.name.is_empty()) => None,
            // The character may have had another name at that time.
            Some(id) if *id == self.id => Some(Speaker {
                character: Some(*id),
                name: said.name.clone(),
            }),
            Some(id) => Some(Speaker {
                character: Some(*id),
                name: said.name.clone(),
            }),
            None if said.name.is_empty() || said.name == self.name => None,
            None => Some(named()),
        }
    }
}

/// Opens thoughts that only end. A model whose template opens them leaves such a reply, and
/// SillyTavern stores it.
fn with_opened_thoughts(text: String) -> String {
    let Some((thoughts, rest)) = text.split_once(THOUGHTS_END) else {
        return text;
    };
    if thoughts.contains("<think") {
        return text;
    }
    if thoughts.trim().is_empty() {
        rest.trim_start().to_owned()
    } else {
        format!(
            "<think>\n{}\n</think>\n\n{}",
            thoughts.trim(),
            rest.trim_start()
        )
    }
}

/// Puts the thoughts before the text, in the format that models write.
fn whole(text: String, thoughts: &str) -> String {
    if thoughts.is_empty() {
        text
    } else {
        format!("<think>\n{thoughts}\n</think>\n\n{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::with_opened_thoughts;

    #[test]
    fn lone_end_of_thoughts_is_opened() {
        let opened = |text: &str| with_opened_thoughts(text.to_owned());
        assert_eq!(
            opened("Half </think> closing only."),
            "<think>\nHalf\n</think>\n\nclosing only."
        );
        assert_eq!(opened("</think>\n\nHello."), "Hello.");
        for same in ["Hello.", "<think>\na\n</think>\n\nb", "<think>open", ""] {
            assert_eq!(opened(same), same);
        }
    }
}
