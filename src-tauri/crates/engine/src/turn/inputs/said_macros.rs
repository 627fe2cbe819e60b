//! Values of the macros about past messages, for new messages and for the texts of a turn.

use context::macros::{self, ChatValues, Expanded, MacroScope, MacroState};
use domain::chat::{Chat, Message, Role};
use domain::{MessageId, Timestamp};

use crate::base::clock::Clock;
use crate::base::error::ApiResult;
use crate::library::snapshots::macro_scope::{self, MacroMoment, MacroNames};
use crate::turn::inputs::Inputs;
use crate::turn::inputs::turn_inputs::TurnInputs;

/// Number of recent messages and events that macros such as `{{lastMessage}}` search.
const LAST_SAID: u32 = 60;
/// Generation type of a reply that is neither another swipe nor a continuation.
const NORMAL: Option<&str> = Some("normal");

/// The end of a chat, for the macros of a message that is not stored yet.
pub(crate) struct ChatEnd {
    /// Without events, which are no messages for macros.
    messages: Vec<Message>,
    /// The last message or event.
    newest: Option<MessageId>,
    count: u32,
    /// Number of messages before the first one in the last prompt.
    before_window: u32,
}

impl ChatEnd {
    /// Macro scope of a message that is sent at `now`.
    pub(crate) fn moment(&self, chat: &Chat, clock: &Clock, now: Timestamp) -> MacroMoment<'_> {
        let texts = self
            .messages
            .iter()
            .map(|message| (message.role, message.text()));
        let last = self.messages.last();
        let user = self
            .messages
            .iter()
            .rev()
            .find(|message| message.role == Role::User);
        MacroMoment {
            clock: Some(clock.macros(now, user.map(|message| message.created))),
            chat: ChatValues {
                last_message_id: index(self.count),
                first_included_message_id: last.map(|_| self.before_window.into()),
                last_swipe_id: last.map(|message| message.swipes.len() as u64),
                current_swipe_id: last.map(|message| u64::from(message.selected) + 1),
                last_generation_type: NORMAL,
                ..last_said(texts)
            },
            seed: macro_scope::seed(chat.id, self.newest),
            ..MacroMoment::default()
        }
    }
}

impl Inputs {
    pub(crate) async fn chat_end(&self, chat: &Chat) -> ApiResult<ChatEnd> {
        let id = chat.id;
        let anchor = chat.window.anchor;
        let read = self.base().store().read(move |store| {
            let messages = store.messages();
            let first = anchor
                .map(|anchor| messages.position(anchor))
                .transpose()?
                .flatten();
            let before_window = first
                .map(|first| messages.count_before(id, first))
                .transpose()?;
            let page = sent(messages.page(id, None, LAST_SAID)?);
            let newest = page.last().map(|message| message.id);
            Ok(ChatEnd {
                messages: page
                    .into_iter()
                    .filter(|message| message.role != Role::Event)
                    .collect(),
                newest,
                count: messages.count_before(id, i64::MAX)?.all,
                before_window: before_window.map_or(0, |count| count.all),
            })
        });
        Ok(read.await?)
    }

    /// Expands the macros of `text`, which replaces the text of `message`.
    pub(crate) async fn resolve_edit(
        &self,
        chat: &Chat,
        message: MessageId,
        text: &str,
        state: &mut MacroState,
    ) -> ApiResult<String> {
        let card = self.library().characters.chat_card(chat).await?.card;
        let (persona, group) = tokio::try_join!(
            self.library().personas.persona_in(chat),
            self.library().groups.group(chat)
        )?;
        let end = self.chat_end(chat).await?;
        let seed = macro_scope::seed(chat.id, Some(message));
        let moment = MacroMoment {
            seed,
            ..end.moment(chat, self.base().clock(), self.base().now())
        };
        let words = MacroNames::new(&card, &persona, chat.id).among(&group);
        Ok(words.expand(text, &moment, state).text)
    }
}

impl TurnInputs {
    /// Macro scope of the message that is answered.
    pub(crate) fn now(&self, clock: &Clock) -> MacroMoment<'_> {
        let last = self.history.last();
        let before = self
            .history
            .split_last()
            .map_or(&[][..], |(_, before)| before);
        let user = before
            .iter()
            .rev()
            .find(|message| message.role == Role::User);
        MacroMoment {
            clock: last.map(|message| clock.macros(message.created, user.map(|user| user.created))),
            chat: ChatValues {
                first_included_message_id: last.map(|_| self.earlier.messages.into()),
                last_swipe_id: Some(self.swipes.0),
                current_swipe_id: Some(self.swipes.1),
                last_generation_type: Some(self.kind.word()),
                ..self.said(self.history.len())
            },
            input: &self.snapshot.chat.draft,
            // A previewed message has no id yet. The seed uses the message before, so that the
            // preview matches the later result.
            seed: macro_scope::seed(
                self.snapshot.chat.id,
                before.last().map(|message| message.id),
            ),
            ..MacroMoment::default()
        }
    }

    /// Macro scope of the prompt head: the chat and time at the start of the epoch. A head that
    /// used the newest message would change every turn.
    pub(crate) fn beginning(&self, clock: &Clock, head_at: Timestamp) -> MacroMoment<'_> {
        let earlier = self
            .history
            .iter()
            .rev()
            .filter(|message| message.created < head_at);
        let before = earlier.clone().count();
        let user = earlier.clone().find(|message| message.role == Role::User);
        MacroMoment {
            clock: Some(clock.macros(head_at, user.map(|user| user.created))),
            chat: ChatValues {
                last_generation_type: NORMAL,
                ..self.said(before.max(self.history.len().min(1)))
            },
            seed: macro_scope::seed(self.snapshot.chat.id, None),
            ..MacroMoment::default()
        }
    }

    /// Notices about unknown macros in the user's messages and in the greeting, which were expanded
    /// when they were sent. The model's replies are not checked.
    pub(crate) fn unknown_in_messages(&self) -> Vec<String> {
        let greeting = |index: usize, role| {
            index == 0 && self.earlier.messages == 0 && role == Role::Character
        };
        let mut unknown = Vec::new();
        for (index, message) in self.history.iter().enumerate() {
            let resolved = message.role == Role::User || greeting(index, message.role);
            if resolved && message.text.contains("{{") {
                let read = macros::expand(
                    &message.text,
                    &MacroScope::default(),
                    &mut MacroState::default(),
                );
                unknown.extend(read.unknown);
            }
        }
        unknown.sort();
        unknown.dedup();
        macro_scope::notices(
            "messages",
            &Expanded {
                unknown,
                ..Expanded::default()
            },
        )
        .collect()
    }

    /// Values after the first `count` messages of the window.
    fn said(&self, count: usize) -> ChatValues<'_> {
        let told = self.history[..count]
            .iter()
            .filter(|message| message.role != Role::Event);
        let texts = told
            .clone()
            .map(|message| (message.role, message.text.as_str()));
        ChatValues {
            last_message_id: index(self.earlier.messages + told.count() as u32),
            ..last_said(texts)
        }
    }
}

/// Keeps the messages that the model may read.
fn sent(messages: Vec<Message>) -> Vec<Message> {
    messages
        .into_iter()
        .filter(|message| !message.hidden)
        .collect()
}

/// Index of the last of `messages` messages, from 0.
fn index(messages: u32) -> Option<u64> {
    u64::from(messages).checked_sub(1)
}

/// The last messages of each kind; `texts` are in the order of the chat.
fn last_said<'a>(
    texts: impl DoubleEndedIterator<Item = (Role, &'a str)> + Clone,
) -> ChatValues<'a> {
    let last = |wanted: Option<Role>| {
        let mut of_role = texts
            .clone()
            .rev()
            .filter(|(role, _)| wanted.is_none_or(|wanted| *role == wanted));
        of_role.next().map_or("", |(_, text)| text)
    };
    ChatValues {
        last_message: last(None),
        last_user_message: last(Some(Role::User)),
        last_char_message: last(Some(Role::Character)),
        ..ChatValues::default()
    }
}
