//! Knowledge of the speaker of a turn. A character knows only the messages at which it was present,
//! and memories that are its own or belong to the whole chat. The narrator and the user know
//! everything.

use std::collections::HashSet;
use std::sync::Arc;

use domain::card::Card;
use domain::chat::{Chat, WindowState};
use domain::memory::{Memory, MemoryScope};
use domain::{CharacterId, MessageId, PersonaId};

use crate::base::error::ApiResult;
use crate::library::groups::Groups;
use crate::library::groups::scene::{NextSpeaker, Scene};

/// Knowledge of the speaker of one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Knowledge {
    /// The speaker in a group scene; `None` in other chats, and for texts of the user.
    pub(crate) speaker: Option<NextSpeaker>,
    /// The chat is a group scene. There, only what everybody knows may stay in the prompt.
    pub(crate) is_scene: bool,
    /// The characters whose private memories apply; the first one's lorebooks and documents apply
    /// too.
    characters: Vec<CharacterId>,
    /// The speaker's card, and its hash, if the speaker is not the chat's own character.
    card: Option<(Arc<Card>, u64)>,
    missed: Arc<HashSet<MessageId>>,
    /// Messages of other chats that any member of the group scene missed.
    missed_elsewhere: Arc<HashSet<MessageId>>,
    /// The speaker missed messages of this chat, so it has a window and a KV sequence of its own.
    window_of: Option<CharacterId>,
}

impl Knowledge {
    /// Knowledge of the user, who knows everything in the chat.
    pub(crate) fn of_user(chat: &Chat) -> Self {
        Self {
            characters: vec![chat.character],
            is_scene: true,
            ..Self::default()
        }
    }

    /// Knowledge of the only character of a chat. It may have missed messages while the chat was a
    /// group scene.
    pub(crate) fn alone(chat: &Chat, missed: HashSet<MessageId>, missed_here: bool) -> Self {
        Self {
            characters: vec![chat.character],
            missed: Arc::new(missed),
            window_of: Some(chat.character).filter(|_| missed_here),
            ..Self::default()
        }
    }

    /// Knowledge of a speaker in a group scene.
    pub(crate) fn of_speaker(chat: &Chat, scene: &Scene, speaker: NextSpeaker) -> Self {
        let known = Self {
            is_scene: true,
            missed_elsewhere: scene.missed_elsewhere.clone(),
            ..Self::default()
        };
        match scene.member(&speaker) {
            Some(member) => Self {
                characters: vec![member.id],
                card: (member.id != chat.character)
                    .then(|| (member.card.clone(), member.card_hash)),
                missed: member.missed.clone(),
                window_of: Some(member.id).filter(|_| member.missed_here),
                speaker: Some(speaker),
                ..known
            },
            // The narrator. The reply of a character that has left is read the same way: its swipes
            // stay as they were.
            None => {
                let others = scene
                    .members()
                    .iter()
                    .map(|member| member.id)
                    .filter(|id| *id != chat.character);
                let characters = std::iter::once(chat.character).chain(others).collect();
                Self {
                    characters,
                    speaker: Some(speaker),
                    ..known
                }
            }
        }
    }

    /// Whether the speaker missed this message.
    pub(crate) fn missed(&self, message: &MessageId) -> bool {
        self.missed.contains(message)
    }

    pub(crate) fn missed_nothing(&self) -> bool {
        self.missed.is_empty()
    }

    /// All messages of any chat that the speaker missed.
    pub(crate) fn all_missed(&self) -> Arc<HashSet<MessageId>> {
        self.missed.clone()
    }

    /// Whether the speaker knows a memory: it missed none of the messages that the memory was made
    /// from. The text does not depend on memories that were merged into it.
    pub(crate) fn knows(&self, memory: &Memory) -> bool {
        self.missed.is_empty()
            || !memory
                .sources
                .iter()
                .any(|message| self.missed.contains(message))
    }

    /// The character with a window of its own.
    pub(crate) fn window_of(&self) -> Option<CharacterId> {
        self.window_of
    }

    /// The character whose lorebooks and documents apply.
    pub(crate) fn character(&self, chat: &Chat) -> CharacterId {
        self.characters.first().copied().unwrap_or(chat.character)
    }

    /// The card whose lorebook and notes apply, with its hash.
    pub(crate) fn card<'c>(&'c self, own: &'c Arc<Card>, hash: u64) -> (&'c Arc<Card>, u64) {
        self.card
            .as_ref()
            .map_or((own, hash), |(card, hash)| (card, *hash))
    }

    /// The scopes of memories that apply, whatever the lorebooks. The second is the pair's.
    pub(crate) fn scopes(&self, chat: &Chat, persona: PersonaId) -> Vec<MemoryScope> {
        let persona = Some(persona).filter(|id| !id.0.is_nil());
        let own = [chat.character];
        let characters = if self.characters.is_empty() {
            &own[..]
        } else {
            &self.characters
        };
        let private = |character: &CharacterId| {
            [
                MemoryScope::Pair {
                    character: *character,
                    persona,
                },
                MemoryScope::Character(*character),
            ]
        };
        let mut scopes = vec![MemoryScope::Chat(chat.id)];
        scopes.extend(characters.iter().flat_map(private));
        scopes.insert(3, MemoryScope::Profile);
        scopes
    }

    /// Whether a memory must stay out of what all members share: it belongs to one character, or
    /// was made in another chat from a message that a member missed. Members that missed messages
    /// of this chat share nothing with the others.
    pub(crate) fn is_private(&self, memory: &Memory) -> bool {
        let missed = |message: &MessageId| self.missed_elsewhere.contains(message);
        self.is_scene
            && (matches!(
                memory.scope,
                MemoryScope::Pair { .. } | MemoryScope::Character(_)
            ) || memory.sources.iter().any(missed))
    }

    /// Key of the KV sequence that holds the prompt.
    pub(crate) fn cache_key(&self, chat: &Chat) -> String {
        sequence_key(chat.id, self.window_of)
    }
}

/// Key of the KV sequence of a chat, or of one character in it.
pub(crate) fn sequence_key(chat: domain::ChatId, character: Option<CharacterId>) -> String {
    character.map_or_else(
        || chat.to_string(),
        |character| format!("{chat} {character}"),
    )
}

impl Groups {
    /// The window of a character that missed messages of the chat; a new one if it has none.
    pub(crate) async fn member_window(
        &self,
        chat: &Chat,
        character: CharacterId,
    ) -> ApiResult<WindowState> {
        let id = chat.id;
        Ok(self
            .base()
            .store()
            .read(move |store| store.groups().window(id, character))
            .await?
            .unwrap_or_default())
    }
}
