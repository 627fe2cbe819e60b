//! Chats and their messages: all operations that involve no model.

use std::collections::HashMap;

use domain::chat::{Chat, Message, Role};
use domain::model::ModelChoice;
use domain::{ChatId, MessageId, PersonaId, SwipeId};

use crate::api::{self, Changed, ChatSummary, MessagePage, ModelRef};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::base::panics;
use crate::base::records::convert::{self, Speakers};
use crate::base::records::user_names;
use crate::library::chats::{Chats, manifest};
use crate::library::groups::speakers::SpeakerRows;

/// Maximum number of messages on a page.
const MAX_PAGE: u32 = 500;
/// Messages that are read at once while the size of a page is measured.
const READ_AT_ONCE: u32 = 50;

impl Chats {
    pub(crate) async fn list_chats(&self) -> ApiResult<Vec<ChatSummary>> {
        let chats = self
            .base()
            .store()
            .read(|store| store.chats().list())
            .await?;
        let row = |chat: store::ChatSummary| ChatSummary {
            id: chat.id,
            title: chat.title,
            character: chat.character,
            character_name: chat.character_name,
            picture: chat.character_picture.map(|hash| hash.to_string()),
            other_member: chat.other_member.map(|(name, picture)| api::ChatFace {
                name,
                picture: picture.map(|hash| hash.to_string()),
            }),
            last_line: chat.last_line.map(first_words).unwrap_or_default(),
            message_count: chat.message_count,
            created: rfc3339(chat.created),
            updated: rfc3339(chat.updated),
            place: convert::place(chat.place),
        };
        Ok(chats.into_iter().map(row).collect())
    }

    pub(crate) async fn open_chat(&self, id: ChatId) -> ApiResult<api::Chat> {
        let room = self
            .config()
            .setting_layers
            .resolved_before_chat(None)
            .await?
            .values
            .eager_load_tokens;
        let chat = self
            .load_chat(id, self.newest_within(id, room).await?)
            .await?;
        self.config().app_settings.remember_open(chat.id);
        Ok(chat)
    }

    /// Number of the newest messages that fit into `room` tokens, and at least one. The reader can
    /// scroll up to load the rest.
    async fn newest_within(&self, id: ChatId, room: u32) -> ApiResult<u32> {
        let count = self.base().store().read(move |store| {
            let mut left = room;
            let mut count = 0;
            let mut before = None;
            while count < MAX_PAGE {
                let messages =
                    store
                        .messages()
                        .page(id, before, READ_AT_ONCE.min(MAX_PAGE - count))?;
                let Some(oldest) = messages.first() else {
                    break;
                };
                before = Some(oldest.position);
                for message in messages.iter().rev() {
                    match left.checked_sub(estimated(message.text())) {
                        Some(rest) => (left, count) = (rest, count + 1),
                        None => return Ok(count),
                    }
                }
            }
            Ok(count)
        });
        Ok(count.await?.max(1))
    }

    /// A chat with all its messages.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn whole_chat(&self, id: ChatId) -> ApiResult<api::Chat> {
        self.load_chat(id, u32::MAX).await
    }

    async fn load_chat(&self, id: ChatId, limit: u32) -> ApiResult<api::Chat> {
        // Read this before the messages. If the reply ends in between, the page contains it. If it
        // grows, the page has newer text, which listeners detect by the sequence number.
        let generating = self.base().running().of(id);
        let drafting = self.base().running().draft_of(id);
        let chat = self.chat_lookup.chat(id).await?;
        let character = self.characters.character(chat.character).await?;
        let persona = self.personas.persona_in(&chat).await?;
        let page = self.page(&chat, None, limit).await?;
        let members = self.groups.shown_members(id).await?;
        let group = self.groups.shown_group(&chat).await?;
        let vision = self.shown_vision(&chat).await?;
        let name_kept = self.personas.name_kept_in(&chat).await?;
        let settled = self
            .base()
            .store()
            .read(move |store| store.foreign().is_name_settled(id))
            .await?;
        Ok(api::Chat {
            id: chat.id,
            title: chat.title,
            character: character.id,
            character_name: character.name,
            picture: character.picture.map(|hash| hash.to_string()),
            members,
            group,
            persona: self.personas.shown_persona(persona).await?,
            asks_name: name_kept.is_some() && !settled,
            name_kept,
            draft: chat.draft,
            model: chat.model.map(convert::model_ref),
            page,
            anchor: chat.window.anchor,
            generating,
            drafting,
            vision,
        })
    }

    /// The last vision report, unless vision is off.
    async fn shown_vision(&self, chat: &Chat) -> ApiResult<Option<api::VisionStatus>> {
        let Some(status) = self.base().vision().status(chat.id) else {
            return Ok(None);
        };
        let is_on = self
            .config()
            .setting_layers
            .resolved(chat, None, None)
            .await?
            .values
            .vision;
        Ok(is_on.then_some(status))
    }

    pub(crate) async fn messages_before(
        &self,
        chat: ChatId,
        before: MessageId,
        limit: u32,
    ) -> ApiResult<MessagePage> {
        let chat = self.chat_lookup.chat(chat).await?;
        let before = self.chat_lookup.message(before).await?;
        if before.chat != chat.id {
            return Err(not_found("message"));
        }
        self.page(&chat, Some(before.position), limit.clamp(1, MAX_PAGE))
            .await
    }

    async fn page(&self, chat: &Chat, before: Option<i64>, limit: u32) -> ApiResult<MessagePage> {
        let id = chat.id;
        let writing = self.base().running().of(id).map(|reply| reply.message);
        let (mut messages, figures) = self
            .base()
            .store()
            .read(move |store| {
                // Load one message more than the limit, to know whether older ones exist.
                let messages = store.messages().page(id, before, limit.saturating_add(1))?;
                let swipes: Vec<SwipeId> = messages
                    .iter()
                    .flat_map(|each| &each.swipes)
                    .map(|each| each.id)
                    .collect();
                let figures = store.manifests().figures(&swipes)?;
                Ok((messages, figures))
            })
            .await?;
        let more = messages.len() > limit as usize;
        if more {
            messages.remove(0);
        }
        let speakers = self.groups.speakers(chat).await?;
        let mut messages: Vec<(i64, api::Message)> = messages
            .iter()
            .map(|each| (each.position, shown(each, &speakers, &figures)))
            .collect();
        self.scripts.dress(chat, &mut messages).await?;
        for (_, message) in messages
            .iter_mut()
            .filter(|(_, message)| writing.as_ref() != Some(&message.id))
        {
            mark_cut(message);
        }
        Ok(MessagePage {
            messages: messages.into_iter().map(|(_, message)| message).collect(),
            more,
        })
    }

    pub(crate) async fn rename_chat(&self, id: ChatId, title: String) -> ApiResult<()> {
        let title: String = title.trim().chars().take(200).collect();
        if title.is_empty() {
            return Err(bad_input("A chat needs a title.", "Write a few words."));
        }
        self.base()
            .store()
            .write(move |store| store.chats_mut().set_title(id, &title))
            .await?;
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        Ok(())
    }

    pub(crate) async fn set_chat_model(
        &self,
        id: ChatId,
        model: Option<ModelRef>,
    ) -> ApiResult<()> {
        let model: Option<ModelChoice> = model.as_ref().map(convert::model_choice).transpose()?;
        self.base()
            .store()
            .write(move |store| store.chats_mut().set_model(id, model))
            .await?;
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        Ok(())
    }

    pub(crate) async fn set_chat_persona(&self, id: ChatId, persona: PersonaId) -> ApiResult<()> {
        let chat = self.chat_lookup.chat(id).await?;
        let before = self.personas.persona_in(&chat).await?;
        let anew = before.id != persona;
        let set = self.base().store().write(move |store| {
            if anew {
                user_names::keep_in_chat(store, &chat, &before.name)?;
            }
            store.chats_mut().set_persona(id, Some(persona))?;
            // Another persona has other memories and lorebooks.
            if anew {
                store.memories_mut().retract_recalled(id)
            } else {
                Ok(())
            }
        });
        set.await?;
        self.base()
            .events()
            .changed(Changed::Messages, Some(id.to_string()));
        Ok(())
    }

    pub(crate) async fn keep_draft(&self, id: ChatId, text: String) -> ApiResult<()> {
        Ok(self
            .base()
            .store()
            .write(move |store| store.chats_mut().set_draft(id, &text))
            .await?)
    }

    pub(crate) async fn shown_message(&self, id: MessageId) -> ApiResult<api::Message> {
        let default = self.personas.default_persona();
        let read = self.base().store().read(move |store| {
            let Some(message) = store.messages().get(id)? else {
                return Ok(None);
            };
            let Some(chat) = store.chats().get(message.chat)? else {
                return Ok(None);
            };
            let swipes: Vec<SwipeId> = message.swipes.iter().map(|swipe| swipe.id).collect();
            let figures = store.manifests().figures(&swipes)?;
            let speakers = SpeakerRows::read(store, &chat, default)?;
            Ok(Some((message, chat, figures, speakers)))
        });
        let (message, chat, figures, speakers) = read.await?.ok_or_else(|| not_found("message"))?;
        let mut messages = [(
            message.position,
            shown(&message, &self.groups.names(speakers)?, &figures),
        )];
        self.scripts.dress(&chat, &mut messages).await?;
        let [(_, message)] = messages;
        Ok(message)
    }
}

pub(super) fn shown(
    message: &Message,
    speakers: &Speakers,
    figures: &HashMap<SwipeId, String>,
) -> api::Message {
    convert::message(message, speakers, |swipe| {
        manifest::figures(figures.get(&swipe.id)?)
    })
}

/// Marks texts that nobody writes any more as interrupted. The store does so only at the next
/// start, if a full disk cut a reply.
pub(crate) fn mark_cut(message: &mut api::Message) {
    for swipe in message
        .swipes
        .iter_mut()
        .filter(|swipe| swipe.state == api::SwipeState::Streaming)
    {
        swipe.state = api::SwipeState::Interrupted;
    }
}

/// The start of a message, for lists.
pub(crate) fn first_words(text: String) -> String {
    let display = panics::or_plain(
        "the last line of a chat",
        || context::display::display(&text),
        || None,
    );
    display.map_or(text, |display| display.text)
}

/// Estimated number of tokens of a text.
fn estimated(text: &str) -> u32 {
    let segment = domain::prompt::Segment {
        text: text.to_owned(),
        control: false,
    };
    context::CountTokens::count(&context::Estimate, &segment).unwrap_or(0)
}

/// The text of a message as it is sent again, without thoughts.
pub(crate) fn said(role: Role, text: String) -> String {
    if convert::is_reply(role) {
        first_words(text)
    } else {
        text
    }
}
