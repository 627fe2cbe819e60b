//! Sends a message, continues a reply, lets somebody speak, stops a reply.

use std::panic::AssertUnwindSafe;

use domain::chat::{Chat, Message, MessageSource, Role, SwipeState};
use domain::regex_script::ScriptTarget;
use domain::{ChatId, MessageId, SwipeId};
use futures_util::FutureExt;
use recall::command_parser::memory_commands;
use store::{NewMessage, NewSwipe, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api::{ApiError, Ask, Changed, EndReason, Picture, Started, TurnOptions};
use crate::base::error::{ApiResult, bad_input};
use crate::base::panics;
use crate::base::records::convert;
use crate::base::running::ChatReservation;
use crate::base::step::TurnStep;
use crate::library::assets::pictures::Checked;
use crate::library::groups::scene::NextSpeaker;
use crate::library::quick_replies::automatic::Moment;
use crate::library::snapshots::macro_variables;
use crate::library::snapshots::snapshot::ChatSnapshot;
use crate::turn::commands::tell::CommandMessage;
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::generate::ReplyJob;
use crate::turn::replies::speaker_queue::SpeakerQueue;
use crate::turn::replies::target::{Target, new_ids};
use crate::turn::sending::Sending;

/// Maximum length of a message, in bytes. A longer text is a file pasted by mistake, and no model
/// accepts it.
const MAX_MESSAGE: usize = 4 << 20;

/// The sender of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender {
    pub(crate) source: MessageSource,
    /// A program whose key has limits.
    pub(crate) limited: bool,
}

impl Sending {
    pub(crate) async fn send_message(&self, chat: ChatId, text: String) -> ApiResult<Started> {
        self.send_with(chat, text, TurnOptions::default()).await
    }

    pub(crate) async fn send_pictures(
        &self,
        chat: ChatId,
        text: String,
        pictures: Vec<Picture>,
    ) -> ApiResult<Started> {
        self.send_with(
            chat,
            text,
            TurnOptions {
                pictures,
                ..TurnOptions::default()
            },
        )
        .await
    }

    /// Works like [`Self::send_message`], with options for this turn.
    ///
    /// # Errors
    /// `Busy` while a reply is being written in the chat. After an error the message is not stored.
    /// Once it is stored, `Event::Ended` reports every failure.
    pub(crate) async fn send_with(
        &self,
        id: ChatId,
        text: String,
        mut options: TurnOptions,
    ) -> ApiResult<Started> {
        let pictures = self
            .library()
            .assets
            .check_pictures(&std::mem::take(&mut options.pictures))
            .await?;
        check(&text, pictures.is_empty())?;
        let snapshot = self.library().snapshots.snapshot_of(id).await?;
        let (message, swipe) = new_ids();
        let reservation = self.base().running().begin_reply(id)?;
        let sender = Sender {
            source: options.source,
            limited: options.limited_sender,
        };
        let sent = self.commit(&snapshot, text, pictures, sender).await?;
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        let begun = async {
            let snapshot = self.after_user_message(snapshot, &reservation).await?;
            let speakers = snapshot.speakers();
            let Some((turn, queue)) = self.choose_speakers(&snapshot, &options).await? else {
                drop(reservation);
                return Ok(self.unanswered(id, &sent, &speakers).await);
            };
            let reply_to = ReplyTo::By(turn.clone());
            let target = Target::NewMessage {
                message,
                swipe,
                turn,
            };
            let job = ReplyJob {
                chat: snapshot.chat,
                reply_to,
                target,
                options,
                reservation,
                queue,
            };
            Ok(self.start(job, speakers, Some(&sent)))
        };
        match begun.await {
            Ok(started) => Ok(started),
            Err(error) => Ok(self.not_started(id, error).await),
        }
    }

    /// Runs the quick replies that follow a message, inside the reservation of the chat. They may
    /// change the chat, so it is read again.
    async fn after_user_message(
        &self,
        snapshot: ChatSnapshot,
        reservation: &ChatReservation,
    ) -> ApiResult<ChatSnapshot> {
        let moment = Moment::UserMessage;
        let quick_replies = &self.library().quick_replies;
        if !quick_replies.has_automatic(&snapshot.chat, moment).await {
            return Ok(snapshot);
        }
        let commands = self.generation.run_automatic(&snapshot.chat, moment);
        reservation.lend(commands).await?;
        self.library().snapshots.snapshot_of(snapshot.chat.id).await
    }

    /// The speaker of the reply to the last message, and those who reply after it. `None` if the
    /// user has to call upon one.
    pub(crate) async fn choose_speakers(
        &self,
        snapshot: &ChatSnapshot,
        options: &TurnOptions,
    ) -> ApiResult<Option<(NextSpeaker, SpeakerQueue)>> {
        let turns = self
            .library()
            .groups
            .next_turns(&snapshot.chat, &snapshot.group)
            .await?;
        let Some((turn, queue)) = SpeakerQueue::new(turns) else {
            return Ok(None);
        };
        Ok(Some((self.directed(snapshot, turn, options).await, queue)))
    }

    /// Announces a message that nobody answers.
    async fn unanswered(
        &self,
        chat: ChatId,
        sent: &Message,
        speakers: &convert::Speakers,
    ) -> Started {
        self.library().chat_lookup.messages_changed(chat);
        Started {
            sent: Some(convert::message(sent, speakers, |_| None)),
            reply: None,
        }
    }

    /// Announces that the reply to a stored message could not start.
    async fn not_started(&self, chat: ChatId, error: ApiError) -> Started {
        self.generation
            .announce_end(chat, None, EndReason::Failed { error }, 0)
            .await;
        Started {
            sent: None,
            reply: None,
        }
    }

    /// Stores the user's message and removes its text from the composer. Macros are expanded only
    /// once, now, so that the history does not change under the model's cache.
    pub(crate) async fn commit(
        &self,
        snapshot: &ChatSnapshot,
        text: String,
        pictures: Checked,
        sender: Sender,
    ) -> ApiResult<Message> {
        let now = self.base().now();
        let chat = &snapshot.chat;
        let id = MessageId(Uuid::now_v7());
        let before = snapshot.variables.clone();
        let mut after = before.clone();
        let typed = text.clone();
        let resolved = AssertUnwindSafe(Box::pin(async {
            if sender.limited {
                self.inputs.scripted(snapshot, text, &mut after).await
            } else {
                self.inputs
                    .resolve(snapshot, text, ScriptTarget::UserInput, &mut after)
                    .await
            }
        }))
        .catch_unwind()
        .await;
        // If a bug makes macro expansion fail, keep the text as typed.
        let text = resolved.unwrap_or_else(|_| Ok(typed.clone()))?;
        // The settings are read only for a message with commands.
        let has_commands = panics::or_plain(
            "a command to memory",
            || !memory_commands(&text).is_empty(),
            || false,
        );
        let obeys = has_commands
            && self
                .config()
                .setting_layers
                .resolved(chat, None, None)
                .await?
                .values
                .memory;
        let sent = text.clone();
        let new = NewMessage {
            id,
            chat: chat.id,
            role: Role::User,
            created: now,
            swipes: vec![NewSwipe {
                id: SwipeId(Uuid::now_v7()),
                text,
                state: SwipeState::Finished,
                created: now,
                model: None,
            }],
            selected: 0,
            context_block: None,
        };
        let persona = snapshot.persona.clone();
        let row = chat.clone();
        let stored = self.base().store().write(move |store| {
            take_from_composer(store, row.id, &typed)?;
            macro_variables::keep(store, &row, &before, &after)?;
            let mut message = store.messages_mut().append(&new)?;
            store.messages_mut().set_source(id, sender.source)?;
            message.source = sender.source;
            store.pictures_mut().put(id, &pictures)?;
            message.pictures = pictures.into_iter().map(convert::kept_picture).collect();
            let text = message.text();
            let limited = sender.limited;
            let said = CommandMessage {
                chat: &row,
                persona: &persona,
                message: id,
                text,
                now,
                limited,
            };
            // A panic while reading memory commands must not lose the message.
            let obey = || crate::turn::commands::tell::obey(store, &said);
            let done = if obeys {
                panics::or_plain("a command to memory", obey, || Ok(Vec::new()))?
            } else {
                Vec::new()
            };
            Ok((message, done))
        });
        self.inputs.embed_early(snapshot, &sent);
        let (message, done) = stored.await?;
        TurnStep::Said.done(chat.id);
        self.commands.tell(chat, done);
        Ok(message)
    }

    pub(crate) async fn continue_reply(&self, chat: ChatId) -> ApiResult<Started> {
        let reservation = self.base().running().begin_reply(chat)?;
        let (chat, last) = self.inputs.chat_and_last(chat).await?;
        let Some(last) = last.filter(|last| last.role == Role::Character) else {
            return Err(bad_input(
                "There is no reply to continue.",
                "Send a message, or regenerate.",
            ));
        };
        let speakers = self.library().groups.speakers(&chat).await?;
        // After tool rounds without text there is no text to continue.
        let ask = (!last.text().trim().is_empty() || last.swipe().tool_rounds.is_empty())
            .then_some(Ask::Continue);
        let job = ReplyJob {
            chat,
            reply_to: ReplyTo::Last,
            target: Target::Extend {
                message: last,
                after_token: false,
            },
            options: TurnOptions {
                ask,
                ..TurnOptions::default()
            },
            reservation,
            queue: SpeakerQueue::default(),
        };
        Ok(self.start(job, speakers, None))
    }

    /// Lets a member or the narrator speak. A separate message calls upon them, and the reply
    /// answers it, so that the prompt only grows at its end.
    pub(crate) async fn let_speak(
        &self,
        chat: ChatId,
        speaker: Option<String>,
    ) -> ApiResult<Started> {
        let chat = self.library().chat_lookup.chat(chat).await?;
        let turn = self
            .library()
            .groups
            .turn_named(&chat, speaker.as_deref())
            .await?;
        self.speak(chat, turn).await
    }

    /// Lets the character speak that goes on without the user, by the turn order. `None` if nobody
    /// does: everybody has had a turn, or the user has to call upon somebody.
    ///
    /// # Errors
    /// `Busy` while a reply is being written in the chat.
    pub(crate) async fn speak_next(&self, chat: ChatId) -> ApiResult<Option<Started>> {
        let chat = self.library().chat_lookup.chat(chat).await?;
        let Some(turn) = self.library().groups.following_turn(&chat).await? else {
            return Ok(None);
        };
        let snapshot = self.library().snapshots.snapshot(chat).await?;
        let turn = self
            .directed(&snapshot, turn, &TurnOptions::default())
            .await;
        self.speak(snapshot.chat, turn).await.map(Some)
    }

    async fn speak(&self, chat: Chat, turn: NextSpeaker) -> ApiResult<Started> {
        let (message, swipe) = new_ids();
        let reservation = self.base().running().begin_reply(chat.id)?;
        let called = self.library().groups.call_upon(&chat, &turn).await?;
        let speakers = self.library().groups.speakers(&chat).await?;
        let reply_to = ReplyTo::By(turn.clone());
        let target = Target::NewMessage {
            message,
            swipe,
            turn,
        };
        let queue = SpeakerQueue::default();
        let job = ReplyJob {
            chat,
            reply_to,
            target,
            options: TurnOptions::default(),
            reservation,
            queue,
        };
        Ok(self.start(job, speakers, Some(&called)))
    }

    pub(crate) async fn stop(&self, chat: ChatId) -> ApiResult<()> {
        self.base().running().stop(chat);
        Ok(())
    }

    /// Announces the reply, with the message `sent` that it answers, and starts a task for it.
    pub(crate) fn start(
        &self,
        job: ReplyJob,
        speakers: convert::Speakers,
        sent: Option<&Message>,
    ) -> Started {
        self.base().idle().stop();
        let started = self.generation.announce_start(&job, speakers, sent);
        let at_work = self.base().idle().at_work();
        let generation = self.generation.clone();
        tokio::spawn(async move {
            generation.generate(job).await;
            drop(generation);
            drop(at_work);
        });
        started
    }
}

/// Removes a sent text from the composer. Another text stays: it was typed in another window, or
/// while a program sent a message.
fn take_from_composer(
    store: &mut WriteTransaction<'_>,
    chat: ChatId,
    sent: &str,
) -> Result<(), StoreError> {
    let draft = store
        .chats()
        .get(chat)?
        .map(|chat| chat.draft)
        .unwrap_or_default();
    if draft.trim() == sent.trim() {
        store.chats_mut().set_draft(chat, "")
    } else {
        Ok(())
    }
}

/// # Errors
/// `BadInput` if the text is empty and stands `alone`, or too long.
pub(crate) fn check(text: &str, alone: bool) -> ApiResult<()> {
    if text.trim().is_empty() && alone {
        return Err(bad_input("There is nothing to send.", "Write something."));
    }
    if text.len() > MAX_MESSAGE {
        let size = text.len() >> 20;
        let limit = MAX_MESSAGE >> 20;
        return Err(bad_input(
            format!("The message is too long: {size} MiB."),
            format!("Send at most {limit} MiB."),
        ));
    }
    Ok(())
}
