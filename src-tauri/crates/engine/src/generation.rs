//! One reply, from the prompt to the stored swipe. Whatever happens on the way, the text that was there is kept.

use std::time::{Duration, Instant};

use domain::ToolCall;
use domain::chat::{Chat, SwipeState};
use domain::sampling::Sampling;
use futures_util::StreamExt;
use provider::{FinishReason, GenerationEvent, ProviderErrorKind, Request, Timings, Usage};

use crate::Engine;
use crate::answer::Answerer;
use crate::api::{self, ApiError, Changed, EndReason, Event, Figures};
use crate::collect::{Aim, Collected, Made};
use crate::error::{Answer, internal};
use crate::panics::contained_as;
use crate::passages::{self, Part, Passages};
use crate::running::Place;
use crate::step::Step;
use crate::target::Target;
use crate::turn::TurnOptions;

/// A reply's text is on the disk this soon after it was written (R-1: at most half a second of it is ever lost).
const CHECKPOINT: Duration = Duration::from_millis(250);

/// Waiting for less than this is not worth a word.
const QUIET: Duration = Duration::from_millis(200);

/// Error message of a turn that fails because of a bug in the app.
pub(crate) const DEFECT: &str = "the reply could not be written. Your words are saved, so try again";

/// A reply to write.
pub(crate) struct Job {
    pub(crate) chat: Chat,
    pub(crate) aim: Aim,
    pub(crate) target: Target,
    pub(crate) options: TurnOptions,
    pub(crate) place: Place,
}

/// How a stream ended, when it ended well.
pub(crate) struct Finish {
    pub(crate) reason: FinishReason,
    pub(crate) usage: Usage,
    pub(crate) timings: Timings,
}

impl Finish {
    /// Stopped before the model was called.
    fn cancelled() -> Self {
        Self { reason: FinishReason::Cancelled, usage: Usage::default(), timings: Timings::default() }
    }
}

/// What a reply needs before its model is called.
pub(crate) struct Prepared {
    pub(crate) answerer: Answerer,
    pub(crate) collected: Collected,
    pub(crate) made: Made,
}

impl Prepared {
    pub(crate) async fn request(&self, engine: &Engine) -> Request {
        let Self { answerer, collected, made } = self;
        // Strict servers count the prompt and the longest reply against the context (invariant 1, on the wire).
        let room = made.assembled.budget.limit.saturating_sub(made.assembled.total).max(1);
        let of_task = collected.task.as_ref().and_then(|task| task.reply_tokens).unwrap_or(u32::MAX);
        let max_tokens = answerer.sampling.max_tokens.min(of_task).min(room);
        Request {
            cache_key: collected.chat.id.to_string(),
            prompt: engine.with_pictures(&made.assembled).await,
            sampling: Sampling { max_tokens, ..answerer.sampling },
            shape: None,
        }
    }
}

/// The text so far, and how much of it is on the disk.
pub(crate) struct Draft {
    /// With the base of a continued reply.
    pub(crate) text: String,
    /// What was written in this turn.
    pub(crate) written: bool,
    pub(crate) inserted: bool,
    /// Some of it is not on the disk yet.
    pub(crate) dirty: bool,
    pub(crate) saved: Instant,
    pub(crate) figures: Figures,
    /// The part of the reply that the reader sees.
    pub(crate) words: String,
    /// The reply contains thoughts from this turn.
    pub(crate) thought: bool,
    /// What was asked of tools; nothing of it is run.
    pub(crate) tool_calls: Vec<ToolCall>,
    passages: Passages,
    /// The listeners see it grow, not only whole (S4.40).
    streams: bool,
}

impl Draft {
    /// The model has said something in this turn, in words or by asking for a tool.
    fn said(&self, target: &Target) -> bool {
        !self.words.trim().is_empty() || self.tool_calls.len() > target.tool_calls().len()
    }

    /// Returns an error if a finished generation produced no usable reply.
    fn fault(&self, target: &Target, reason: FinishReason) -> Option<ApiError> {
        match reason {
            FinishReason::Cancelled => None,
            FinishReason::Stop | FinishReason::Length if self.said(target) => None,
            _ if self.thought => Some(only_thoughts(reason)),
            FinishReason::Stop if !self.written => Some(silent()),
            FinishReason::Stop | FinishReason::Length => None,
        }
    }
}

impl Engine {
    /// Writes the reply of `job` and tells the listeners how it ended.
    pub(crate) async fn generate(&self, job: Job) {
        let started = Instant::now();
        let mut draft = Draft {
            text: job.target.base().to_owned(),
            written: false,
            words: String::new(),
            thought: false,
            inserted: false,
            dirty: false,
            saved: started,
            figures: Figures::default(),
            tool_calls: job.target.tool_calls().to_vec(),
            passages: Passages::going_on(job.target.base()),
            streams: true,
        };
        let result = contained_as(DEFECT, Box::pin(self.write_reply(&job, &mut draft, started))).await;
        let result = result.and_then(|finish| match draft.fault(&job.target, finish.reason) {
            Some(error) => Err(error),
            None => Ok(finish.reason),
        });
        let reason = match result {
            Ok(FinishReason::Stop) => EndReason::Stop,
            Ok(FinishReason::Length) => EndReason::Length,
            Ok(FinishReason::Cancelled) => EndReason::Cancelled,
            Err(error) => EndReason::Failed { error },
        };
        let state = match reason {
            EndReason::Stop | EndReason::Length => SwipeState::Finished,
            EndReason::Cancelled if job.place.stopped() => SwipeState::Stopped,
            EndReason::Cancelled | EndReason::Failed { .. } => SwipeState::Interrupted,
        };
        let whole = state == SwipeState::Finished;
        let (reason, message) = match contained_as(DEFECT, Box::pin(self.keep_reply(&job, &draft, state))).await {
            Ok(message) => (reason, message),
            Err(error) => (EndReason::Failed { error }, None),
        };
        let Job { chat, options, place, .. } = job;
        let (id, chat) = (chat.id, chat.id.to_string());
        // The place is free before the listeners hear of the end: their next send must not find it taken.
        drop(place);
        self.events().changed(Changed::Chats, Some(chat.clone()));
        self.events().announce(Event::Ended { chat, message, reason });
        if whole {
            Step::Idle.done(id);
            let idle = async {
                self.make_room(id, &options).await;
                self.title_in_idle(id, &options).await;
                self.learn_in_idle(id, &options).await;
                Ok(())
            };
            // A failure is only logged, because the reply is complete.
            let _ = contained_as("the work between two turns failed", Box::pin(idle)).await;
        }
    }

    async fn write_reply(&self, job: &Job, draft: &mut Draft, started: Instant) -> Answer<Finish> {
        match self.attempt(job, draft, started).await? {
            Some(finish) => Ok(finish),
            // What has been learned makes it another prompt.
            None => self.attempt(job, draft, started).await?.ok_or_else(|| internal("a reply could not go on")),
        }
    }

    /// `None` if the endpoint has just said that it does not go on with an unfinished reply: it can be asked to in words.
    async fn attempt(&self, job: &Job, draft: &mut Draft, started: Instant) -> Answer<Option<Finish>> {
        let preparing = self.prepare(&job.chat, job.aim.clone(), &job.options);
        let prepared = tokio::select! {
            biased;
            () = job.place.cancel.cancelled() => return Ok(Some(Finish::cancelled())),
            prepared = preparing => prepared?,
        };
        let request = prepared.request(self).await;
        let Prepared { answerer, collected, made } = prepared;
        let asks = collected.task.is_some();
        if !asks {
            self.keep_plan(&collected, &made).await?;
        }
        draft.streams = answerer.values.show_streaming;
        if asks {
            draft.passages = Passages::behind(job.target.base(), collected.speaker(), made.opened());
        } else if draft.text.is_empty() {
            draft.passages = Passages::new(collected.speaker(), made.opened());
        }
        let finish = self.follow(job, draft, &answerer, request, started).await;
        if asks {
            self.note_if_withdrawn(&collected).await?;
        }
        if finish.is_err() && !asks && made.assembled.prompt.continues && self.asks_to_continue(&answerer) {
            return Ok(None);
        }
        for part in draft.passages.finish() {
            self.take(job, draft, &answerer.name, part).await?;
        }
        self.keep_tool_calls(job, draft, &answerer.name).await?;
        if draft.inserted {
            let total = made.assembled.total;
            draft.figures = figures(finish.as_ref().ok(), total, draft.figures.first_text_ms);
            self.keep_manifest(job, draft, &collected, &made, &answerer).await?;
        }
        finish.map(Some)
    }

    /// Everything before the model is called. It may wait: for a keychain to be unlocked, for a model to be looked at, for
    /// another reply that holds the worker.
    pub(crate) async fn prepare(&self, chat: &Chat, aim: Aim, options: &TurnOptions) -> Answer<Prepared> {
        let id = chat.id;
        let preparing = async {
            let answerer = self.answerer(chat, options).await?;
            let chat = self.chat(id).await?;
            let mut collected = self.collect(chat, aim, &answerer, options).await?;
            let made = self.make(&mut collected, &answerer, options).await?;
            Ok(Prepared { answerer, collected, made })
        };
        tokio::pin!(preparing);
        if let Ok(prepared) = tokio::time::timeout(QUIET, &mut preparing).await {
            return prepared;
        }
        if self.running().others(id) {
            self.events().announce(Event::Queued { chat: id.to_string() });
        }
        preparing.await
    }

    /// Takes the events of the provider until the last one.
    async fn follow(
        &self,
        job: &Job,
        draft: &mut Draft,
        answerer: &Answerer,
        request: Request,
        started: Instant,
    ) -> Answer<Finish> {
        let chat = job.chat.id.to_string();
        Step::Call.done(job.chat.id);
        let mut stream = answerer.provider.stream(request, job.place.cancel.clone());
        loop {
            let due = tokio::time::Instant::from_std(draft.saved + CHECKPOINT);
            let next = tokio::select! {
                biased;
                next = stream.next() => next,
                // A stalled stream must not keep from the disk what is on the screen already.
                () = tokio::time::sleep_until(due), if draft.dirty => {
                    self.checkpoint(job, draft, &answerer.name).await?;
                    continue;
                }
            };
            let Some(event) = next else { return Err(internal("a reply ended without saying so")) };
            match event {
                Ok(GenerationEvent::Text(text)) => {
                    if !draft.written {
                        draft.figures.first_text_ms = Some(crate::collect::millis(started));
                        Step::Stream.done(job.chat.id);
                    }
                    for part in draft.passages.push(&text) {
                        self.take(job, draft, &answerer.name, part).await?;
                    }
                }
                Ok(GenerationEvent::ToolCall(call)) => {
                    Step::Tool.done(job.chat.id);
                    draft.tool_calls.push(call);
                }
                Ok(GenerationEvent::Finished { reason, usage, timings }) => {
                    Step::Finish.done(job.chat.id);
                    return Ok(Finish { reason, usage, timings });
                }
                Ok(event) => news(&chat, event).into_iter().for_each(|event| self.events().announce(event)),
                Err(error) => {
                    if error.kind == ProviderErrorKind::NoPrefill {
                        self.without_prefill().insert(answerer.key.clone());
                    }
                    return Err(error.into());
                }
            }
        }
    }

    /// A piece of text: to the listeners, and soon to the disk.
    async fn take(&self, job: &Job, draft: &mut Draft, model: &str, part: Part) -> Answer<()> {
        if part.stored.is_empty() {
            return Ok(());
        }
        let mut turned = None;
        if part.closes_thoughts {
            passages::opened(job.target.base(), &mut draft.text);
            turned = Some(std::mem::take(&mut draft.words));
        }
        draft.thought |= part.closes_thoughts || !part.thoughts.is_empty();
        draft.words.push_str(&part.words);
        draft.text.push_str(&part.stored);
        (draft.written, draft.dirty) = (true, true);
        let first = !draft.inserted;
        if first || draft.saved.elapsed() >= CHECKPOINT {
            self.checkpoint(job, draft, model).await?;
        }
        if !draft.streams {
            return Ok(());
        }
        let chat = job.chat.id.to_string();
        let (message, swipe) = (job.target.message().to_string(), job.target.swipe().to_string());
        if let Some(text) = turned {
            let seq = job.place.turn_into_thoughts(job.target.base());
            let (chat, message, swipe) = (chat.clone(), message.clone(), swipe.clone());
            self.events().announce(Event::ThoughtsClosed { chat, message, swipe, seq, text });
        }
        if !part.thoughts.is_empty() {
            let seq = job.place.think(&part.thoughts);
            let (chat, message, swipe) = (chat.clone(), message.clone(), swipe.clone());
            self.events().announce(Event::Thought { chat, message, swipe, seq, text: part.thoughts });
        }
        if !part.words.is_empty() {
            let seq = job.place.write(&part.words);
            self.events().announce(Event::Token { chat, message, swipe, seq, text: part.words });
        }
        Ok(())
    }
}

/// What the listeners hear of an event that is neither text nor the end.
pub(crate) fn news(chat: &str, event: GenerationEvent) -> Option<Event> {
    let chat = chat.to_owned();
    Some(match event {
        GenerationEvent::Text(_) | GenerationEvent::ToolCall(_) | GenerationEvent::Finished { .. } => return None,
        GenerationEvent::Queued => Event::Queued { chat },
        GenerationEvent::Loading { fraction } => Event::Loading { chat, fraction },
        GenerationEvent::Prefill { done, total, reused } => Event::Prefill { chat, done, total, reused },
        GenerationEvent::Retrying { attempt, after_ms, why } => {
            Event::Retrying { chat, attempt, after_ms: after_ms as f64, why }
        }
        GenerationEvent::Stalled { seconds } => Event::Stalled { chat, seconds },
    })
}

pub(crate) fn figures(finish: Option<&Finish>, total: u32, first_text_ms: Option<f64>) -> Figures {
    let Some(Finish { usage, timings, .. }) = finish else {
        return Figures { prompt: Some(total), first_text_ms, ..Figures::default() };
    };
    Figures {
        prompt: usage.prompt.or(Some(total)),
        reused: usage.reused,
        evaluated: usage.evaluated,
        generated: usage.generated,
        prefill_ms: Some(timings.prefill_ms),
        first_text_ms,
        decode_ms: Some(timings.decode_ms),
    }
}

/// Error for a reply that contains only thoughts. The thoughts are saved.
pub(crate) fn only_thoughts(reason: FinishReason) -> ApiError {
    let (message, hint) = match reason {
        FinishReason::Length => (
            "The model wrote only thoughts: it was still thinking when the reply reached its greatest length.",
            "Continue the reply, raise the length of replies, or switch thinking off for this model.",
        ),
        FinishReason::Stop | FinishReason::Cancelled => {
            ("The model wrote only thoughts and no reply.", "Try again, or switch thinking off for this model.")
        }
    };
    ApiError::Provider { message: message.into(), hint: hint.into(), class: api::ProviderClass::Malformed }
}

pub(crate) fn silent() -> ApiError {
    ApiError::Provider {
        message: "The model ended its turn without a word.".into(),
        hint: "Try again, or raise the temperature.".into(),
        class: api::ProviderClass::Malformed,
    }
}
