//! The operations that make a model write: send, regenerate, continue, stop, preview.

use crate::api::TurnOptions;
use std::panic::AssertUnwindSafe;

use context::macros::MacroState;
use context::regex_script::ScriptContext;
use domain::chat::{Chat, Message, MessageSource, Role, SwipeState};
use domain::regex_script::ScriptTarget;
use domain::{ChatId, MessageId, SwipeId};
use futures_util::FutureExt;
use store::{NewMessage, NewSwipe, StoreError, WindowMessage, WriteTransaction};
use uuid::Uuid;

use crate::api::{self, ApiError, Ask, Changed, EndReason, Picture, PromptReport, Started, WhatIf};
use crate::base::convert;
use crate::base::error::{ApiResult, bad_input};
use crate::base::panics;
use crate::base::running::ChatReservation;
use crate::base::step::TurnStep;
use crate::library::chat_snapshot::ChatSnapshot;
use crate::library::group::NextSpeaker;
use crate::library::macro_variables;
use crate::library::pictures::Checked;
use crate::library::script_run::ScriptRun;
use crate::library::scripts::SAID;
use crate::turn::commands::CommandMessage;
use crate::turn::generation::ReplyJob;
use crate::turn::handle::Turns;
use crate::turn::inputs::Aim;
use crate::turn::slash::quick_reply::Moment;
use crate::turn::speaker_queue::SpeakerQueue;
use crate::turn::target::Target;

/// Maximum length of a message, in bytes. A longer text is a file pasted by mistake, and no model
/// accepts it.
const MAX_MESSAGE: usize = 4 << 20;

/// Who sends a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender {
    pub(crate) source: MessageSource,
    /// A program whose key has limits.
    pub(crate) limited: bool,
}

/// Whether the macros of a text are expanded.
#[derive(Debug, Clone, Copy)]
enum Expansion {
    Macros,
    None,
}

impl Turns {
    pub(crate) async fn send_message(&self, chat: String, text: String) -> ApiResult<Started> {
        self.send_with(chat, text, TurnOptions::default()).await
    }

    pub(crate) async fn send_pictures(
        &self,
        chat: String,
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
        chat: String,
        text: String,
        mut options: TurnOptions,
    ) -> ApiResult<Started> {
        let pictures = self
            .library()
            .check_pictures(&std::mem::take(&mut options.pictures))
            .await?;
        check(&text, pictures.is_empty())?;
        let id = chat.parse()?;
        let snapshot = self.library().snapshot_of(id).await?;
        let (message, swipe) = new_ids();
        let place = self.base().running().begin(id)?;
        let sender = Sender {
            source: convert::stored_source(options.source),
            limited: options.limited_sender,
        };
        let sent = self.commit(&snapshot, text, pictures, sender).await?;
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        let begun = async {
            let (snapshot, place) = self.after_user_message(snapshot, place).await?;
            let speakers = snapshot.speakers();
            let Some((turn, queue)) = self.choose_speakers(&snapshot, &options).await? else {
                drop(place);
                return Ok(self.unanswered(id, &sent, &speakers).await);
            };
            let (aim, target) = (
                Aim::By(turn.clone()),
                Target::NewMessage {
                    message,
                    swipe,
                    turn,
                },
            );
            let job = ReplyJob {
                chat: snapshot.chat,
                aim,
                target,
                options,
                place,
                queue,
            };
            Ok(self.start(job, speakers, Some(&sent)))
        };
        match begun.await {
            Ok(started) => Ok(started),
            Err(error) => Ok(self.not_started(id, error).await),
        }
    }

    /// Runs the quick replies that follow a message. They need the chat, so its reservation ends
    /// meanwhile, and they may change it, so it is read again.
    async fn after_user_message(
        &self,
        snapshot: ChatSnapshot,
        place: ChatReservation,
    ) -> ApiResult<(ChatSnapshot, ChatReservation)> {
        let id = snapshot.chat.id;
        if !self
            .has_automatic(&snapshot.chat, Moment::UserMessage)
            .await
        {
            return Ok((snapshot, place));
        }
        drop(place);
        self.run_automatic(&snapshot.chat, Moment::UserMessage)
            .await?;
        let place = self.base().running().begin(id)?;
        Ok((self.library().snapshot_of(id).await?, place))
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
            .next_turns_in(&snapshot.chat, &snapshot.group)
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
        self.library().messages_changed(chat);
        Started {
            sent: Some(convert::message(sent, speakers, |_| None)),
            reply: None,
        }
    }

    /// Announces that the reply to a stored message could not start.
    async fn not_started(&self, chat: ChatId, error: ApiError) -> Started {
        self.announce_end(chat, None, EndReason::Failed { error }, 0)
            .await;
        Started {
            sent: None,
            reply: None,
        }
    }

    /// Announces the end of a reply, with the start of the window as it is stored now. `following`
    /// replies come next.
    pub(crate) async fn announce_end(
        &self,
        chat: ChatId,
        message: Option<api::Message>,
        reason: EndReason,
        following: u32,
    ) {
        let window = self.library().chat(chat).await.map(|chat| chat.window);
        let anchor = window
            .ok()
            .and_then(|window| window.anchor)
            .map(|id| id.to_string());
        self.base().events().announce(api::Event::Ended {
            chat: chat.to_string(),
            message,
            anchor,
            reason,
            following,
        });
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
        let (now, chat) = (self.base().now(), &snapshot.chat);
        let id = MessageId(Uuid::now_v7());
        let before = snapshot.variables.clone();
        let mut after = before.clone();
        let typed = text.clone();
        let resolved = AssertUnwindSafe(Box::pin(async {
            match sender.limited {
                true => self.scripted(snapshot, text, &mut after).await,
                false => {
                    self.resolve(snapshot, text, ScriptTarget::UserInput, &mut after)
                        .await
                }
            }
        }))
        .catch_unwind()
        .await;
        // If a bug makes macro expansion fail, keep the text as typed.
        let text = resolved.unwrap_or_else(|_| Ok(typed.clone()))?;
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
        let learns = self
            .config()
            .resolved(chat, None, None)
            .await?
            .values
            .memory;
        let persona = snapshot.persona.clone();
        let row = chat.clone();
        let (message, done) = self
            .base()
            .store()
            .write(move |store| {
                take_from_composer(store, row.id, &typed)?;
                macro_variables::keep(store, &row, &before, &after)?;
                let mut message = store.messages_mut().append(&new)?;
                store.messages_mut().set_source(id, sender.source)?;
                message.source = sender.source;
                store.pictures_mut().put(id, &pictures)?;
                message.pictures = pictures.into_iter().map(convert::kept_picture).collect();
                let (text, limited) = (message.text(), sender.limited);
                let said = CommandMessage {
                    chat: &row,
                    persona: &persona,
                    message: id,
                    text,
                    now,
                    limited,
                };
                // A panic while reading memory commands must not lose the message.
                let obey = || crate::turn::commands::obey(store, &said);
                let done = if learns {
                    panics::or_plain("a command to memory", obey, || Ok(Vec::new()))?
                } else {
                    Vec::new()
                };
                Ok((message, done))
            })
            .await?;
        TurnStep::Said.done(chat.id);
        self.tell(chat, done);
        Ok(message)
    }

    /// Converts `text` to what is stored: applies the regex scripts for `placement`, then expands
    /// the macros. Unknown macros stay as text.
    pub(crate) async fn resolve(
        &self,
        snapshot: &ChatSnapshot,
        text: String,
        placement: ScriptTarget,
        state: &mut MacroState,
    ) -> ApiResult<String> {
        self.rewritten(snapshot, text, (placement, Expansion::Macros), state)
            .await
    }

    /// Works like [`Self::resolve`] for a user's message, but macros stay as text.
    async fn scripted(
        &self,
        snapshot: &ChatSnapshot,
        text: String,
        state: &mut MacroState,
    ) -> ApiResult<String> {
        self.rewritten(
            snapshot,
            text,
            (ScriptTarget::UserInput, Expansion::None),
            state,
        )
        .await
    }

    async fn rewritten(
        &self,
        snapshot: &ChatSnapshot,
        text: String,
        (placement, expansion): (ScriptTarget, Expansion),
        state: &mut MacroState,
    ) -> ApiResult<String> {
        let (chat, words) = (&snapshot.chat, snapshot.words());
        let end = self.chat_end(chat).await?;
        let moment = end.moment(chat, self.base().clock(), self.base().now());
        let scripts = self.library().scripts_in(snapshot, state);
        let typed = ScriptContext { placement, ..SAID };
        let text = ScriptRun::new(&scripts, &words, moment)
            .apply(&text, typed, state)
            .text;
        Ok(match expansion {
            Expansion::Macros => words.expand(&text, &moment, state).text,
            Expansion::None => text,
        })
    }

    pub(crate) async fn continue_reply(&self, chat: String) -> ApiResult<Started> {
        let place = self.base().running().begin(chat.parse()?)?;
        let (chat, last) = self.chat_and_last(&chat).await?;
        let Some(last) = last.filter(|last| last.role == Role::Character) else {
            return Err(bad_input(
                "There is no reply to continue.",
                "Send a message, or regenerate.",
            ));
        };
        let speakers = self.library().speakers(&chat).await?;
        // After tool rounds without text there is no text to continue.
        let ask = (!last.text().trim().is_empty() || last.swipe().tool_rounds.is_empty())
            .then_some(Ask::Continue);
        let job = ReplyJob {
            chat,
            aim: Aim::Last,
            target: Target::Extend {
                message: last,
                after_token: false,
            },
            options: TurnOptions {
                ask,
                ..TurnOptions::default()
            },
            place,
            queue: SpeakerQueue::default(),
        };
        Ok(self.start(job, speakers, None))
    }

    /// Lets a member or the narrator speak. A separate message calls upon them, and the reply
    /// answers it, so that the prompt only grows at its end.
    pub(crate) async fn let_speak(
        &self,
        chat: String,
        speaker: Option<String>,
    ) -> ApiResult<Started> {
        let chat = self.library().chat(chat.parse()?).await?;
        let turn = self.library().turn_named(&chat, speaker.as_deref()).await?;
        self.speak(chat, turn).await
    }

    /// Lets the character speak that goes on without the user, by the turn order. `None` if nobody
    /// does: everybody has had a turn, or the user has to call upon somebody.
    ///
    /// # Errors
    /// `Busy` while a reply is being written in the chat.
    pub(crate) async fn speak_next(&self, chat: String) -> ApiResult<Option<Started>> {
        let chat = self.library().chat(chat.parse()?).await?;
        let Some(turn) = self.library().following_turn(&chat).await? else {
            return Ok(None);
        };
        let snapshot = self.library().snapshot(chat).await?;
        let turn = self
            .directed(&snapshot, turn, &TurnOptions::default())
            .await;
        self.speak(snapshot.chat, turn).await.map(Some)
    }

    async fn speak(&self, chat: Chat, turn: NextSpeaker) -> ApiResult<Started> {
        let (message, swipe) = new_ids();
        let place = self.base().running().begin(chat.id)?;
        let called = self.library().call_upon(&chat, &turn).await?;
        let speakers = self.library().speakers(&chat).await?;
        let (aim, target) = (
            Aim::By(turn.clone()),
            Target::NewMessage {
                message,
                swipe,
                turn,
            },
        );
        let queue = SpeakerQueue::default();
        let job = ReplyJob {
            chat,
            aim,
            target,
            options: TurnOptions::default(),
            place,
            queue,
        };
        Ok(self.start(job, speakers, Some(&called)))
    }

    pub(crate) async fn stop(&self, chat: String) -> ApiResult<()> {
        self.base().running().stop(chat.parse()?);
        Ok(())
    }

    pub(crate) async fn preview_prompt(
        &self,
        chat: String,
        text: String,
        what_if: WhatIf,
    ) -> ApiResult<PromptReport> {
        self.preview_with(chat, text, what_if.into()).await
    }

    /// Previews the prompt like [`Self::preview_prompt`], with options for this turn. An empty
    /// `text` previews the next turn up to the user's message.
    ///
    /// # Errors
    /// `NoModel`; `ContextOverflow`; `Provider` if the model cannot count.
    pub(crate) async fn preview_with(
        &self,
        chat: String,
        text: String,
        options: TurnOptions,
    ) -> ApiResult<PromptReport> {
        let (chat, last) = self.chat_and_last(&chat).await?;
        let (aim, answerer) = tokio::try_join!(
            self.aim_of_preview(&chat, last, text, &options),
            self.config().answerer(&chat, &options)
        )?;
        let id = chat.id;
        let mut turn = self.collect(chat, aim, &answerer, &options).await?;
        let made = self.make(&mut turn, &answerer, &options).await?;
        // Read this last, because it is slow and not part of a real turn.
        let previous = self.library().turn_before(id, None).await?;
        Ok(made.report(&turn, &answerer, previous.as_ref()))
    }

    /// Previews the prompt of the first turn of a new chat with `character`. Stores nothing.
    ///
    /// # Errors
    /// As [`Self::preview_with`]; `NotFound` without the character.
    pub(crate) async fn preview_first(
        &self,
        character: String,
        text: String,
        options: TurnOptions,
    ) -> ApiResult<PromptReport> {
        let (chat, mut greeting) = self.library().first_state(character.parse()?).await?;
        let snapshot = self.library().snapshot(chat).await?;
        let mut state = snapshot.variables.clone();
        let (text, answerer) = tokio::try_join!(
            self.resolve(&snapshot, text, ScriptTarget::UserInput, &mut state),
            self.config().answerer(&snapshot.chat, &options)
        )?;
        let swipe = (!greeting.swipes.is_empty()).then(|| greeting.swipes.swap_remove(0));
        let greeting = swipe.map(|swipe| WindowMessage {
            id: greeting.id,
            position: 0,
            role: greeting.role,
            created: greeting.created,
            swipe: swipe.id,
            state: swipe.state,
            text: swipe.text,
            context_block: None,
            pinned: false,
            importance: None,
            tool_calls: Vec::new(),
            tool_rounds: Vec::new(),
        });
        let mut turn = self
            .collect_first((snapshot, greeting, text), &answerer, &options)
            .await?;
        let made = self.make(&mut turn, &answerer, &options).await?;
        Ok(made.report(&turn, &answerer, None))
    }

    /// The message that a previewed prompt answers.
    pub(crate) async fn aim_of_preview(
        &self,
        chat: &Chat,
        last: Option<Message>,
        text: String,
        options: &TurnOptions,
    ) -> ApiResult<Aim> {
        Ok(match last {
            _ if !text.trim().is_empty() || !options.pictures.is_empty() => {
                let snapshot = self.library().snapshot(chat.clone()).await?;
                let mut state = snapshot.variables.clone();
                Aim::Words(
                    self.resolve(&snapshot, text, ScriptTarget::UserInput, &mut state)
                        .await?,
                )
            }
            Some(last) if convert::is_reply(last.role) && options.ask.is_none() => {
                match options.regenerate {
                    true => Aim::Before(last.id),
                    false => Aim::Words(String::new()),
                }
            }
            _ => Aim::Last,
        })
    }

    /// Loads the chat and its last message, unless that is hidden. Reads in the writer thread,
    /// after all pending writes.
    pub(crate) async fn chat_and_last(&self, id: &str) -> ApiResult<(Chat, Option<Message>)> {
        let id = id.parse::<ChatId>()?;
        let last = self
            .base()
            .store()
            .checkpoint(move |store| store.messages().last(id))
            .await?;
        // The model cannot see a hidden message, so it must not answer or rewrite it.
        Ok((
            self.library().chat(id).await?,
            last.filter(|last| !last.hidden),
        ))
    }

    /// Announces the reply, with the message `sent` that it answers, and starts a task for it.
    pub(crate) fn start(
        &self,
        job: ReplyJob,
        speakers: convert::Speakers,
        sent: Option<&Message>,
    ) -> Started {
        self.base().idle().stop();
        let started = self.announce_start(&job, speakers, sent);
        let (turns, at_work) = (self.clone(), self.base().idle().at_work());
        tokio::spawn(async move {
            turns.generate(job).await;
            drop(turns);
            drop(at_work);
        });
        started
    }

    /// Announces the reply, with the message `sent` that it answers.
    pub(crate) fn announce_start(
        &self,
        job: &ReplyJob,
        speakers: convert::Speakers,
        sent: Option<&Message>,
    ) -> Started {
        let turn = job.queue.turn();
        job.place.describe(
            job.target.message(),
            job.target.swipe(),
            job.target.base(),
            turn,
        );
        let sent = sent.map(|sent| convert::message(sent, &speakers, |_| None));
        let reply = job.target.as_begun(speakers, self.base().now());
        let (chat, message) = (job.chat.id.to_string(), reply.clone());
        self.base().events().announce(api::Event::Started {
            chat,
            sent: sent.clone(),
            message,
            turn,
        });
        Started {
            sent,
            reply: Some(reply),
        }
    }
}

pub(crate) fn new_ids() -> (MessageId, SwipeId) {
    (MessageId(Uuid::now_v7()), SwipeId(Uuid::now_v7()))
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
        let (size, limit) = (text.len() >> 20, MAX_MESSAGE >> 20);
        return Err(bad_input(
            format!("The message is too long: {size} MiB."),
            format!("Send at most {limit} MiB."),
        ));
    }
    Ok(())
}
