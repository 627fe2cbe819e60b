//! Members of group scenes: who takes part, who is muted or away, and how they take turns.

use domain::chat::{
    Chat, GroupSettings, MemberState, Message, Role, Speaker, SwipeState, WindowState,
};
use domain::{CharacterId, ChatId, MessageId, SwipeId};
use store::{NewMessage, NewSwipe, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api::{self, Changed, GroupEvent, GroupEventKind};
use crate::base::error::{ApiResult, bad_input};
use crate::base::records::group_events;
use crate::library::groups::Groups;
use crate::library::groups::next_turns::MAX_MEMBERS;
use crate::library::groups::scene::{NextSpeaker, distinct};

/// Maximum seconds between two replies in auto mode.
pub(crate) const MAX_DELAY: u32 = 3_600;

impl Groups {
    /// Sets the members besides the chat's own character, in the order of their turns. Once the
    /// user has spoken, an event announces who joins and leaves. Who joins does not know the
    /// messages before that.
    ///
    /// # Errors
    /// `BadInput` if a character occurs twice or there are too many; `NotFound`; `Busy` during a
    /// reply.
    pub(crate) async fn set_members(
        &self,
        chat: ChatId,
        members: Vec<CharacterId>,
    ) -> ApiResult<()> {
        let chat = self.chat_lookup.chat(chat).await?;
        self.check_members(chat.character, &members).await?;
        let _reservation = self.base().running().begin(chat.id)?;
        let id = chat.id;
        let before = self
            .base()
            .store()
            .read(move |store| store.groups().members(id))
            .await?;
        let joined: Vec<CharacterId> = members
            .iter()
            .copied()
            .filter(|one| !before.contains(one))
            .collect();
        let left: Vec<CharacterId> = before
            .iter()
            .copied()
            .filter(|one| !members.contains(one))
            .collect();
        let [joins, leaves] = [GroupEventKind::Joins, GroupEventKind::Leaves];
        let events = [
            self.events(&joined, joins).await?,
            self.events(&left, leaves).await?,
        ]
        .concat();
        let event = self.event(chat.id, group_events::text(&events));
        let arrived = joined.clone();
        let write = self.base().store().write(move |store| {
            let begun = store.messages().any_by_user(id)?;
            store.groups_mut().set_members(id, &members)?;
            for one in joined {
                // A state is left over from an earlier time in the group. Who comes back missed
                // only what was in between.
                let returns = store.groups().states(id)?.contains_key(&one);
                store
                    .groups_mut()
                    .set_state(id, one, MemberState::default())?;
                if begun && !returns {
                    store.groups_mut().set_missed_all(id, one)?;
                }
            }
            if begun && !events.is_empty() {
                store.messages_mut().append(&event)?;
            }
            end_shared_window(store, id, &arrived)?;
            left.into_iter().try_for_each(|one| {
                store.groups_mut().set_state(
                    id,
                    one,
                    MemberState {
                        muted: false,
                        away: true,
                    },
                )
            })
        });
        write.await?;
        self.chat_lookup.messages_changed(chat.id);
        Ok(())
    }

    /// # Errors
    /// `BadInput` if a character occurs twice or there are too many; `NotFound`.
    pub(crate) async fn check_members(
        &self,
        own: CharacterId,
        members: &[CharacterId],
    ) -> ApiResult<()> {
        let twice = |at: usize, id: &CharacterId| *id == own || members[..at].contains(id);
        if members.iter().enumerate().any(|(at, id)| twice(at, id)) {
            return Err(bad_input(
                "A character can take part only once.",
                "Choose another character.",
            ));
        }
        if members.len() > MAX_MEMBERS {
            return Err(bad_input(
                "There are too many participants.",
                format!("Choose at most {MAX_MEMBERS}."),
            ));
        }
        for id in members {
            self.characters.character(*id).await?;
        }
        Ok(())
    }

    /// One event per character.
    async fn events(
        &self,
        characters: &[CharacterId],
        kind: GroupEventKind,
    ) -> ApiResult<Vec<GroupEvent>> {
        let mut events = Vec::with_capacity(characters.len());
        for id in characters {
            // A deleted character leaves without a word.
            let Ok(row) = self.characters.character(*id).await else {
                continue;
            };
            let name = self
                .characters
                .card(&row)
                .map_or(row.name.clone(), |(card, _)| card.display_name().to_owned());
            events.push(GroupEvent { kind, name });
        }
        Ok(events)
    }

    /// Sets how the characters take turns.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the delay is too long.
    pub(crate) async fn set_group(
        &self,
        chat: ChatId,
        options: api::GroupOptions,
    ) -> ApiResult<()> {
        let chat = self.chat_lookup.chat(chat).await?;
        let delay = options.auto_delay;
        if delay > MAX_DELAY {
            return Err(bad_input(
                format!("The pause is too long: {delay} seconds."),
                format!("Choose at most {MAX_DELAY} seconds."),
            ));
        }
        let id = chat.id;
        let write = self.base().store().write(move |store| {
            let before = store.groups().settings(id)?;
            let settings = GroupSettings {
                order: options.order,
                self_responses: options.self_responses,
                several_replies: options.several_replies,
                auto_delay: options.auto_delay,
                foreign: before.foreign,
            };
            store.groups_mut().set_settings(id, &settings)
        });
        write.await?;
        self.base()
            .events()
            .changed(Changed::Messages, Some(id.to_string()));
        Ok(())
    }

    /// Mutes a character, or marks it as away. Once the user has spoken, an event announces who
    /// goes and comes back.
    ///
    /// # Errors
    /// `BadInput` if the character does not take part; `Busy` during a reply.
    pub(crate) async fn set_member(
        &self,
        chat: ChatId,
        character: CharacterId,
        muted: bool,
        away: bool,
    ) -> ApiResult<()> {
        let chat = self.chat_with_member(chat, character).await?;
        let _reservation = self.base().running().begin(chat.id)?;
        let id = chat.id;
        let before = self
            .base()
            .store()
            .read(move |store| store.groups().states(id))
            .await?;
        let before = before.get(&character).copied().unwrap_or_default();
        let kind = if away {
            GroupEventKind::GoesAway
        } else {
            GroupEventKind::ComesBack
        };
        let event = self.event(
            id,
            group_events::text(&self.events(&[character], kind).await?),
        );
        let write = self.base().store().write(move |store| {
            let told = before.away != away && store.messages().any_by_user(id)?;
            let state = MemberState { muted, away };
            // Both ways, the character hears the announcement.
            if !away {
                store.groups_mut().set_state(id, character, state)?;
            }
            if told {
                store.messages_mut().append(&event)?;
            }
            store.groups_mut().set_state(id, character, state)
        });
        write.await?;
        self.chat_lookup.messages_changed(id);
        Ok(())
    }

    /// Lets a character know all messages of the chat so far, as if it had been present.
    ///
    /// # Errors
    /// `BadInput` if the character does not take part.
    pub(crate) async fn let_member_know(
        &self,
        chat: ChatId,
        character: CharacterId,
    ) -> ApiResult<()> {
        let chat = self.chat_with_member(chat, character).await?;
        let _reservation = self.base().running().begin(chat.id)?;
        let id = chat.id;
        let write = self.base().store().write(move |store| {
            store.groups_mut().set_heard_all(id, character)?;
            end_shared_window(store, id, &[character])
        });
        write.await?;
        self.chat_lookup.messages_changed(id);
        Ok(())
    }

    async fn chat_with_member(&self, chat: ChatId, member: CharacterId) -> ApiResult<Chat> {
        let chat = self.chat_lookup.chat(chat).await?;
        let id = chat.id;
        let members = self
            .base()
            .store()
            .read(move |store| store.groups().members(id))
            .await?;
        if members.is_empty() || member != chat.character && !members.contains(&member) {
            return Err(bad_input(
                "This character does not take part.",
                "Add it in the group panel.",
            ));
        }
        Ok(chat)
    }

    /// Appends an event that calls upon a speaker.
    pub(crate) async fn call_upon(&self, chat: &Chat, turn: &NextSpeaker) -> ApiResult<Message> {
        let (card, _) = self
            .characters
            .card(&self.characters.character(chat.character).await?)?;
        let own = || Speaker {
            character: Some(chat.character),
            name: card.display_name().to_owned(),
        };
        let speaker = turn.speaker.clone().unwrap_or_else(own);
        let text = match turn.role {
            Role::Narrator => "(The narrator goes on.)".to_owned(),
            _ => format!("({}'s turn.)", speaker.name),
        };
        let event = self.event(chat.id, text);
        let write = self.base().store().write(move |store| {
            let message = store.messages_mut().append(&event)?;
            store.groups_mut().set_speaker(message.id, &speaker)?;
            hears_itself(store, message.id, &speaker)?;
            Ok(message)
        });
        Ok(write.await?)
    }

    fn event(&self, chat: ChatId, text: String) -> NewMessage {
        let now = self.base().now();
        let id = SwipeId(Uuid::now_v7());
        let swipe = NewSwipe {
            id,
            text,
            state: SwipeState::Finished,
            created: now,
            model: None,
        };
        let id = MessageId(Uuid::now_v7());
        NewMessage {
            id,
            chat,
            role: Role::Event,
            created: now,
            swipes: vec![swipe],
            selected: 0,
            context_block: None,
        }
    }

    /// The members for the API, without the chat's own character.
    pub(crate) async fn shown_members(&self, chat: ChatId) -> ApiResult<Vec<api::GroupMember>> {
        let read = self.base().store().read(move |store| {
            let members = store.groups().members(chat)?;
            let own = store
                .chats()
                .get(chat)?
                .map(|chat| chat.character)
                .filter(|_| !members.is_empty());
            let rows = own
                .into_iter()
                .chain(members)
                .map(|id| store.characters().get(id));
            Ok((own, rows.collect::<Result<Vec<_>, _>>()?))
        });
        let (own, rows) = read.await?;
        let (mut names, mut shown): (Vec<String>, Vec<api::GroupMember>) = (Vec::new(), Vec::new());
        for character in rows.into_iter().flatten() {
            let name = distinct(&character.name, names.iter().map(String::as_str));
            names.push(name.clone());
            if own != Some(character.id) {
                let picture = character.picture.map(|hash| hash.to_string());
                shown.push(api::GroupMember {
                    id: character.id,
                    name,
                    picture,
                });
            }
        }
        Ok(shown)
    }

    /// The group for the API; `None` if only one character takes part.
    pub(crate) async fn shown_group(&self, chat: &Chat) -> ApiResult<Option<api::Group>> {
        let id = chat.id;
        let own = chat.character;
        let read = self.base().store().read(move |store| {
            let groups = store.groups();
            let members = groups.members(id)?;
            if members.is_empty() {
                return Ok(None);
            }
            let states = groups.states(id)?;
            let absentees = groups.absentees(id)?;
            let state = |member: &CharacterId| api::MemberState {
                id: *member,
                muted: states.get(member).is_some_and(|state| state.muted),
                away: states.get(member).is_some_and(|state| state.away),
                missed: absentees.get(member).copied().unwrap_or_default(),
            };
            let states = std::iter::once(&own).chain(&members).map(state).collect();
            Ok(Some((groups.settings(id)?, states)))
        });
        let shown = |(settings, members): (GroupSettings, Vec<api::MemberState>)| api::Group {
            options: api::GroupOptions {
                order: settings.order,
                self_responses: settings.self_responses,
                several_replies: settings.several_replies,
                auto_delay: settings.auto_delay,
            },
            members,
        };
        Ok(read.await?.map(shown))
    }
}

/// Makes the next prompt of the shared window a new one if one of `arrived` missed messages of
/// other chats. The window may contain memories that were made from them.
fn end_shared_window(
    store: &mut WriteTransaction<'_>,
    chat: ChatId,
    arrived: &[CharacterId],
) -> Result<(), StoreError> {
    let mut missed = false;
    for character in arrived {
        missed |= store
            .groups()
            .missed_by(*character)?
            .into_values()
            .any(|other| other != chat);
    }
    let Some(found) = store.chats().get(chat)?.filter(|_| missed) else {
        return Ok(());
    };
    store.chats_mut().set_window(
        chat,
        &WindowState {
            fingerprint: String::new(),
            ..found.window
        },
    )
}

/// A character was present when it spoke.
pub(crate) fn hears_itself(
    store: &mut WriteTransaction<'_>,
    message: MessageId,
    speaker: &Speaker,
) -> Result<(), StoreError> {
    match speaker.character {
        Some(character) => store.groups_mut().set_heard(message, character),
        None => Ok(()),
    }
}
