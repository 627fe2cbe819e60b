//! The operations that make a model write: send, regenerate, continue, stop, preview.

use std::panic::AssertUnwindSafe;

use context::macros::MacroState;
use context::regex_script::Occasion;
use domain::chat::{Chat, Message, Role, SwipeState};
use domain::sampling::SamplerOptions;
use domain::{ChatId, MessageId, SwipeId};
use futures_util::FutureExt;
use store::{NewMessage, NewSwipe, WindowMessage};
use uuid::Uuid;

use crate::Engine;
use crate::api::{self, Ask, Changed, ModelRef, Picture, Placement, PromptReport, Started, WhatIf};
use crate::chat_texts::ChatCard;
use crate::collect::Aim;
use crate::convert;
use crate::error::{Answer, bad_input};
use crate::generation::Job;
use crate::macro_variables;
use crate::memory::{self, Said};
use crate::panics;
use crate::pictures::Checked;
use crate::scripts::{Run, SAID};
use crate::step::Step;
use crate::target::Target;
use crate::words::Words;

/// Longest message, in bytes. Anything longer is a file pasted by mistake, and no model takes it.
const MAX_MESSAGE: usize = 4 << 20;

/// What a caller may say about one turn; what it leaves out comes from chat and settings.
#[derive(Debug, Clone, Default)]
pub struct TurnOptions {
    pub model: Option<ModelRef>,
    pub sampler: SamplerOptions,
    /// Tokens of context to plan for; never more than the model takes.
    pub context: Option<u32>,
    /// Id of the prompt template.
    pub template: Option<String>,
    /// The JSON of one that is not stored; it stands in the place of `template`.
    pub template_json: Option<String>,
    pub mode: Option<String>,
    pub placement: Option<Placement>,
    /// Keys of blocks to leave out.
    pub without: Vec<String>,
    /// A job beside the chat that the prompt is for.
    pub ask: Option<Ask>,
    /// Preview only: shows the prompt for another version of the last reply.
    pub regenerate: bool,
    /// What goes with the words.
    pub pictures: Vec<Picture>,
}

impl From<WhatIf> for TurnOptions {
    fn from(what_if: WhatIf) -> Self {
        Self {
            model: what_if.model,
            context: what_if.limit,
            template: what_if.template,
            template_json: what_if.template_json,
            placement: what_if.placement,
            without: what_if.without,
            ask: what_if.ask,
            regenerate: what_if.regenerate,
            pictures: what_if.pictures,
            ..Self::default()
        }
    }
}

impl Engine {
    pub async fn send_message(&self, chat: String, text: String) -> Answer<Started> {
        self.send_with(chat, text, TurnOptions::default()).await
    }

    pub async fn send_pictures(&self, chat: String, text: String, pictures: Vec<Picture>) -> Answer<Started> {
        self.send_with(chat, text, TurnOptions { pictures, ..TurnOptions::default() }).await
    }

    /// [`Engine::send_message`] with a say in this one turn.
    ///
    /// # Errors
    /// `Busy` while a reply is being written in the chat. What goes wrong later is told by `Event::Ended`.
    pub async fn send_with(&self, chat: String, text: String, mut options: TurnOptions) -> Answer<Started> {
        let pictures = self.check_pictures(&std::mem::take(&mut options.pictures)).await?;
        check(&text, pictures.is_empty())?;
        let chat = self.chat(chat.parse()?).await?;
        let (message, swipe) = new_ids();
        let place = self.running().begin(chat.id)?;
        let sent = self.commit(&chat, text, pictures).await?;
        self.events().changed(Changed::Chats, Some(chat.id.to_string()));
        let speakers = self.speakers(&chat).await?;
        let sent = convert::message(&sent, &speakers, |_| None);
        let turn = self.next_turn(&chat).await?;
        let target = Target::NewMessage { message, swipe, turn };
        let job = Job { chat, aim: Aim::Last, target, options, place };
        self.start(job, Some(sent)).await
    }

    /// The user's words are on the disk when this returns; the draft they were is gone. Their macros are resolved now and
    /// for good, so that the history does not change under the model's cache.
    pub(crate) async fn commit(&self, chat: &Chat, text: String, pictures: Checked) -> Answer<Message> {
        let now = self.now();
        let id = MessageId(Uuid::now_v7());
        let before = self.macro_state(chat).await?;
        let mut after = before.clone();
        let typed = text.clone();
        let resolved = AssertUnwindSafe(Box::pin(self.resolve(chat, text, &mut after))).catch_unwind().await;
        // If a bug makes macro expansion fail, keep the text as typed.
        let text = resolved.unwrap_or(Ok(typed))?;
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
        let learns = self.resolved(chat, None, None).await?.values.memory;
        let persona = self.persona_in(chat).await?;
        let row = chat.clone();
        let (message, done) = self
            .store()
            .write(move |store| {
                store.chats_mut().set_draft(row.id, "")?;
                macro_variables::keep(store, &row, &before, &after)?;
                let mut message = store.messages_mut().append(&new)?;
                store.pictures_mut().put(id, &pictures)?;
                message.pictures = pictures.into_iter().map(convert::kept_picture).collect();
                let said = Said { chat: &row, persona: &persona, message: id, text: message.text(), now };
                // A panic while reading memory commands must not lose the message.
                let obey = || memory::obey(store, &said);
                let done =
                    if learns { panics::or_plain("a command to memory", obey, || Ok(Vec::new()))? } else { Vec::new() };
                Ok((message, done))
            })
            .await?;
        Step::Said.done(chat.id);
        self.tell(chat, done);
        Ok(message)
    }

    /// `text` as it is said: after the user's regex scripts, its macros resolved. What nobody knows stays as it was written.
    async fn resolve(&self, chat: &Chat, text: String, state: &mut MacroState) -> Answer<String> {
        let (ChatCard { card, .. }, persona, group, end) =
            tokio::try_join!(self.chat_card(chat), self.persona_in(chat), self.group(chat), self.chat_end(chat))?;
        let moment = end.moment(chat, self.clock(), self.now());
        let words = Words::new(&card, &persona, chat.id).among(&group);
        let scripts = self.scripts(chat.character, &words, state).await?;
        let typed = Occasion { placement: domain::regex_script::Placement::UserInput, ..SAID };
        let text = Run::new(&scripts, &words, moment).apply(&text, typed, state).text;
        Ok(words.expand(&text, &moment, state).text)
    }

    /// Another swipe for the last reply; where the user spoke last, the reply that is missing.
    pub async fn regenerate(&self, chat: String) -> Answer<Started> {
        let place = self.running().begin(chat.parse()?)?;
        let (chat, last) = self.chat_and_last(&chat).await?;
        let (message, swipe) = new_ids();
        let (aim, target) = match last {
            Some(last) if convert::is_reply(last.role) => {
                (Aim::Before(last.id), Target::NewSwipe { message: last, swipe })
            }
            _ => {
                let turn = self.next_turn(&chat).await?;
                (Aim::Last, Target::NewMessage { message, swipe, turn })
            }
        };
        let job = Job { chat, aim, target, options: TurnOptions::default(), place };
        self.start(job, None).await
    }

    pub async fn continue_reply(&self, chat: String) -> Answer<Started> {
        let place = self.running().begin(chat.parse()?)?;
        let (chat, last) = self.chat_and_last(&chat).await?;
        let Some(last) = last.filter(|last| last.role == Role::Character) else {
            return Err(bad_input("There is no reply to go on with.", "Send a message, or regenerate."));
        };
        let job = Job {
            chat,
            aim: Aim::Last,
            target: Target::Extend { message: last },
            options: TurnOptions { ask: Some(Ask::Continue), ..TurnOptions::default() },
            place,
        };
        self.start(job, None).await
    }

    /// Calls upon somebody, in a message of its own that the reply answers: so the prompt only grows at its end.
    pub async fn let_speak(&self, chat: String, speaker: Option<String>) -> Answer<Started> {
        let chat = self.chat(chat.parse()?).await?;
        let turn = self.turn_named(&chat, speaker.as_deref()).await?;
        let (message, swipe) = new_ids();
        let place = self.running().begin(chat.id)?;
        let called = self.call_upon(&chat, &turn).await?;
        let sent = convert::message(&called, &self.speakers(&chat).await?, |_| None);
        let target = Target::NewMessage { message, swipe, turn };
        let job = Job { chat, aim: Aim::Last, target, options: TurnOptions::default(), place };
        self.start(job, Some(sent)).await
    }

    pub async fn stop(&self, chat: String) -> Answer<()> {
        self.running().stop(chat.parse()?);
        Ok(())
    }

    pub async fn preview_prompt(&self, chat: String, text: String, what_if: WhatIf) -> Answer<PromptReport> {
        self.preview_with(chat, text, what_if.into()).await
    }

    /// Previews the prompt like [`Engine::preview_prompt`], with options for this turn. An empty `text` previews the
    /// next turn up to the user's message.
    ///
    /// # Errors
    /// `NoModel`; `ContextOverflow`; `Provider` if the model cannot count.
    pub async fn preview_with(&self, chat: String, text: String, options: TurnOptions) -> Answer<PromptReport> {
        let (chat, last) = self.chat_and_last(&chat).await?;
        let (aim, answerer) =
            tokio::try_join!(self.aim_of_preview(&chat, last, text, &options), self.answerer(&chat, &options))?;
        let id = chat.id;
        let mut collected = self.collect(chat, aim, &answerer, &options).await?;
        let made = self.make(&mut collected, &answerer, &options).await?;
        // Long to read, and no part of what a turn does.
        let previous = self.turn_before(id, None).await?;
        Ok(made.report(&collected, &answerer, previous.as_ref()))
    }

    /// Previews the prompt of the first turn of a new chat with `character`. Stores nothing.
    ///
    /// # Errors
    /// As [`Engine::preview_with`]; `NotFound` without the character.
    pub async fn preview_first(&self, character: String, text: String, options: TurnOptions) -> Answer<PromptReport> {
        let (chat, mut greeting) = self.first_state(character.parse()?).await?;
        let mut state = self.macro_state(&chat).await?;
        let (text, answerer) = tokio::try_join!(self.resolve(&chat, text, &mut state), self.answerer(&chat, &options))?;
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
        });
        let mut collected = self.collect_first(chat, greeting, text, &answerer, &options).await?;
        let made = self.make(&mut collected, &answerer, &options).await?;
        Ok(made.report(&collected, &answerer, None))
    }

    /// What a prompt that is only looked at answers.
    pub(crate) async fn aim_of_preview(
        &self,
        chat: &Chat,
        last: Option<Message>,
        text: String,
        options: &TurnOptions,
    ) -> Answer<Aim> {
        Ok(match last {
            _ if !text.trim().is_empty() || !options.pictures.is_empty() => {
                let mut state = self.macro_state(chat).await?;
                Aim::Words(self.resolve(chat, text, &mut state).await?)
            }
            Some(last) if convert::is_reply(last.role) && options.ask.is_none() => match options.regenerate {
                true => Aim::Before(last.id),
                false => Aim::Words(String::new()),
            },
            _ => Aim::Last,
        })
    }

    /// Loads the chat and its last message, unless that is hidden. Reads in the writer thread, after all pending
    /// writes.
    pub(crate) async fn chat_and_last(&self, id: &str) -> Answer<(Chat, Option<Message>)> {
        let id = id.parse::<ChatId>()?;
        let last = self.store().checkpoint(move |store| store.messages().last(id)).await?;
        // The model cannot see a hidden message, so it must not answer or rewrite it.
        Ok((self.chat(id).await?, last.filter(|last| !last.hidden)))
    }

    /// Announces the reply, with the words `sent` that it answers, and lets it run.
    async fn start(&self, job: Job, sent: Option<api::Message>) -> Answer<Started> {
        self.reading_ahead().stop();
        job.place.describe(job.target.message(), job.target.swipe(), job.target.base());
        let speakers = self.speakers(&job.chat).await?;
        let reply = job.target.as_begun(speakers, self.now());
        let (chat, message) = (job.chat.id.to_string(), reply.clone());
        self.events().announce(api::Event::Started { chat, sent: sent.clone(), message });
        let (engine, at_work) = (self.clone(), self.reading_ahead().at_work());
        tokio::spawn(async move {
            engine.generate(job).await;
            drop(engine);
            drop(at_work);
        });
        Ok(Started { sent, reply })
    }
}

fn new_ids() -> (MessageId, SwipeId) {
    (MessageId(Uuid::now_v7()), SwipeId(Uuid::now_v7()))
}

fn check(text: &str, alone: bool) -> Answer<()> {
    if text.trim().is_empty() && alone {
        return Err(bad_input("There is nothing to send.", "Write something."));
    }
    if text.len() > MAX_MESSAGE {
        let (size, limit) = (text.len() >> 20, MAX_MESSAGE >> 20);
        return Err(bad_input(format!("The message has {size} MiB."), format!("Send at most {limit} MiB at once.")));
    }
    Ok(())
}
