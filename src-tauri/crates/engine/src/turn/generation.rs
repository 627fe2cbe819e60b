//! Generates one reply, from the prompt to the stored swipe. The text so far is kept however the generation ends.

use std::time::{Duration, Instant};

use context::display::OwnMarks;
use domain::ToolCall;
use domain::chat::{Chat, SwipeState};
use domain::sampling::Sampling;
use domain::token_choice::TokenChoice;
use futures_util::StreamExt;
use provider::{FinishReason, GenerationEvent, ProviderErrorKind, Request, Timings, Usage};

use crate::api::TurnOptions;
use crate::api::{self, ApiError, Changed, EndReason, Event, Figures};
use crate::base::clock::millis;
use crate::base::error::{ApiResult, internal};
use crate::base::panics::contained_as;
use crate::base::running::ChatReservation;
use crate::base::step::TurnStep;
use crate::settings::model_handle::ModelHandle;
use crate::turn::activated::ActivatedTurn;
use crate::turn::client;
use crate::turn::handle::Turns;
use crate::turn::inputs::Aim;
use crate::turn::made::BuiltPrompt;
use crate::turn::reply_passages::{self, Passages, ReplyPart};
use crate::turn::slash::quick_reply::Moment;
use crate::turn::speaker_queue::{QueuedReply, SpeakerQueue};
use crate::turn::target::Target;

/// Interval at which the text of a reply is stored while it streams. A crash loses at most half a second of text.
const CHECKPOINT: Duration = Duration::from_millis(250);

/// Shorter waits are not announced.
const QUIET: Duration = Duration::from_millis(200);

/// Error message of a turn that fails because of a bug in the app.
pub(crate) const DEFECT: &str = "the reply could not be written. Your message is saved, so try again";

/// A reply to write.
pub(crate) struct ReplyJob {
    pub(crate) chat: Chat,
    pub(crate) aim: Aim,
    pub(crate) target: Target,
    pub(crate) options: TurnOptions,
    pub(crate) place: ChatReservation,
    /// The characters that answer after this one.
    pub(crate) queue: SpeakerQueue,
}

/// Result of a stream that ended normally.
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

/// Everything that a reply needs before its model is called.
pub(crate) struct PreparedTurn {
    pub(crate) answerer: ModelHandle,
    pub(crate) turn: ActivatedTurn,
    pub(crate) made: BuiltPrompt,
}

impl PreparedTurn {
    pub(crate) async fn request(&self, turns: &Turns) -> Request {
        let Self { answerer, turn, made } = self;
        // Strict servers count the prompt and the longest reply against the context.
        let room = made.assembled.budget.limit.saturating_sub(made.assembled.total).max(1);
        let of_task = turn.task.as_ref().and_then(|task| task.reply_tokens).unwrap_or(u32::MAX);
        let max_tokens = answerer.sampling.max_tokens.min(of_task).min(room);
        let prompt = turns.library().with_pictures(&made.assembled).await;
        let mut sampling = Sampling { max_tokens, ..answerer.sampling.clone() };
        if turn.task.is_some() || prompt.continues {
            // They describe a whole reply.
            (sampling.rules.grammar, sampling.rules.json_schema, sampling.rules.min_tokens) = (None, None, 0);
        }
        let mut request =
            Request { cache_key: turn.inputs.cache_key(), background: false, prompt, sampling, response_schema: None };
        if let Some(client) = turn.inputs.client.as_ref().filter(|_| turn.task.is_none()) {
            client::options::apply(client, &mut request);
        }
        request
    }
}

/// The text so far, and how much of it is stored.
pub(crate) struct ReplyDraft {
    /// Includes the base of a continued reply.
    pub(crate) text: String,
    /// Whether the model has written text in this turn.
    pub(crate) written: bool,
    pub(crate) inserted: bool,
    /// Some of the text is not stored yet.
    pub(crate) dirty: bool,
    pub(crate) saved: Instant,
    pub(crate) figures: Figures,
    /// The part of the reply that the reader sees.
    pub(crate) words: String,
    /// The reply contains thoughts from this turn.
    pub(crate) thought: bool,
    /// When the first text arrived.
    first_text: Option<Instant>,
    /// Tool calls that the model requested. None is run.
    pub(crate) tool_calls: Vec<ToolCall>,
    /// The tokens of this turn with their probabilities, if they are recorded.
    pub(crate) tokens: Vec<TokenChoice>,
    passages: Passages,
    /// Whether listeners receive the text while it grows, not only at the end.
    streams: bool,
}

impl ReplyDraft {
    /// The emotion that the reply's own tag names, as written.
    pub(crate) fn emotion_tag(&self) -> Option<&str> {
        self.passages.emotion()
    }

    /// Whether the model has written text or requested a tool in this turn.
    fn said(&self, target: &Target) -> bool {
        !self.words.trim().is_empty() || self.tool_calls.len() > target.tool_calls().len()
    }

    /// Measures the time from the first text to the end of the thoughts.
    fn time_thoughts(&mut self, part: &ReplyPart) {
        let begun = *self.first_text.get_or_insert_with(Instant::now);
        if part.closes_thoughts || !part.thoughts.is_empty() {
            self.figures.thought_ms = Some(millis(begun));
        }
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

impl Turns {
    /// Generates the reply of `job`, and then those of the characters in its queue.
    pub(crate) async fn generate(&self, job: ReplyJob) {
        let mut next = Some(job);
        while let Some(job) = next {
            next = self.generate_one(job).await;
        }
    }

    /// Generates one reply and announces how it ended. Returns the next one, which is announced as well.
    async fn generate_one(&self, job: ReplyJob) -> Option<ReplyJob> {
        let started = Instant::now();
        let mut draft = ReplyDraft {
            text: job.target.base().to_owned(),
            written: false,
            words: String::new(),
            thought: false,
            first_text: None,
            inserted: false,
            dirty: false,
            saved: started,
            figures: Figures::default(),
            tool_calls: job.target.tool_calls().to_vec(),
            tokens: Vec::new(),
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
        let (reason, message) = match contained_as(DEFECT, Box::pin(self.keep_reply(&job, &mut draft, state))).await {
            Ok(message) => (reason, message),
            Err(error) => (EndReason::Failed { error }, None),
        };
        let ReplyJob { chat, options, place, queue, .. } = job;
        let id = chat.id;
        // If nobody follows, free the chat before announcing the end, so that the listeners' next message does not find it
        // busy.
        let next = match whole {
            true => self.next_in_queue((chat.clone(), options.clone()), place, queue).await,
            false => {
                drop(place);
                None
            }
        };
        self.base().events().changed(Changed::Chats, Some(id.to_string()));
        let following = next.as_ref().map_or(0, |next| next.job.queue.following() + 1);
        self.announce_end(id, message, reason, following).await;
        if let Some(QueuedReply { job, speakers, called }) = next {
            self.announce_start(&job, speakers, Some(&called));
            return Some(job);
        }
        if whole {
            TurnStep::Idle.done(id);
            let options = if options.one_off { TurnOptions::default() } else { options };
            let idle = async {
                self.run_automatic(&chat, Moment::Reply).await?;
                self.after_reply(id, options).await;
                Ok(())
            };
            // A failure is only logged, because the reply is complete.
            let _ = contained_as("the idle work after a reply failed", Box::pin(idle)).await;
        }
        None
    }

    async fn write_reply(&self, job: &ReplyJob, draft: &mut ReplyDraft, started: Instant) -> ApiResult<Finish> {
        match self.attempt(job, draft, started).await? {
            Some(finish) => Ok(finish),
            // The endpoint's refusal is known now, so the second attempt uses another prompt.
            None => self.attempt(job, draft, started).await?.ok_or_else(|| internal("a reply could not be continued")),
        }
    }

    /// Runs one attempt. `None` if the endpoint has just refused to continue from the reply's own text. The next
    /// attempt then asks for the continuation with an instruction.
    async fn attempt(&self, job: &ReplyJob, draft: &mut ReplyDraft, started: Instant) -> ApiResult<Option<Finish>> {
        let preparing = self.prepare(&job.chat, job.aim.clone(), &job.options);
        let prepared = tokio::select! {
            biased;
            () = job.place.cancel.cancelled() => return Ok(Some(Finish::cancelled())),
            prepared = preparing => prepared?,
        };
        let request = prepared.request(self).await;
        let PreparedTurn { answerer, turn, made } = prepared;
        let asks = turn.task.is_some();
        let keeps = !asks && !job.options.one_off;
        if keeps {
            self.keep_plan(&turn, &made).await?;
        }
        draft.streams = answerer.values.show_streaming;
        let (speaker, opened) = (&turn.inputs.speaker, made.opened());
        let marks = OwnMarks::read(&answerer.values.thought_marks);
        draft.passages = match asks {
            true => Passages::behind(job.target.base(), speaker, opened).with_marks(marks, opened),
            false if draft.text.is_empty() => Passages::new(speaker, opened).with_marks(marks, opened),
            false => Passages::going_on(&draft.text).with_marks_behind(marks, &draft.text),
        };
        let finish = self.follow(job, draft, &answerer, request, started).await;
        if !keeps {
            self.library().note_if_withdrawn(turn.inputs.snapshot.chat.id, turn.inputs.withdrawals).await?;
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
            let thought_ms = draft.figures.thought_ms;
            draft.figures = figures(finish.as_ref().ok(), total, draft.figures.first_text_ms);
            draft.figures.thought_ms = thought_ms;
            self.keep_manifest(job, draft, &turn, &made, &answerer).await?;
        }
        finish.map(Some)
    }

    /// Does everything before the model is called. May wait for a keychain to be unlocked, for a model's file to be
    /// read, or for another reply that uses the worker.
    pub(crate) async fn prepare(&self, chat: &Chat, aim: Aim, options: &TurnOptions) -> ApiResult<PreparedTurn> {
        let id = chat.id;
        let preparing = async {
            let answerer = self.config().answerer(chat, options).await?;
            let chat = self.library().chat(id).await?;
            let mut turn = self.collect(chat, aim, &answerer, options).await?;
            let made = self.make(&mut turn, &answerer, options).await?;
            Ok(PreparedTurn { answerer, turn, made })
        };
        tokio::pin!(preparing);
        if let Ok(prepared) = tokio::time::timeout(QUIET, &mut preparing).await {
            return prepared;
        }
        if self.base().running().others(id) {
            self.base().events().announce(Event::Queued { chat: id.to_string() });
        }
        preparing.await
    }

    /// Handles the provider's events until the last one.
    async fn follow(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        answerer: &ModelHandle,
        request: Request,
        started: Instant,
    ) -> ApiResult<Finish> {
        let chat = job.chat.id.to_string();
        TurnStep::Call.done(job.chat.id);
        let mut stream = answerer.provider.stream(request, job.place.cancel.clone());
        loop {
            let due = tokio::time::Instant::from_std(draft.saved + CHECKPOINT);
            let next = tokio::select! {
                biased;
                next = stream.next() => next,
                // Store the text even if the stream stalls, because it is already on the screen.
                () = tokio::time::sleep_until(due), if draft.dirty => {
                    self.checkpoint(job, draft, &answerer.name).await?;
                    continue;
                }
            };
            let Some(event) = next else { return Err(internal("a reply's stream ended early")) };
            match event {
                Ok(GenerationEvent::Text(text)) => {
                    if !draft.written {
                        draft.figures.first_text_ms = Some(millis(started));
                        TurnStep::Stream.done(job.chat.id);
                    }
                    for part in draft.passages.push(&text) {
                        self.take(job, draft, &answerer.name, part).await?;
                    }
                }
                Ok(GenerationEvent::Choices(tokens)) => draft.tokens.extend(tokens),
                Ok(GenerationEvent::ToolCall(call)) => {
                    TurnStep::Tool.done(job.chat.id);
                    draft.tool_calls.push(call);
                }
                Ok(GenerationEvent::Finished { reason, usage, timings }) => {
                    TurnStep::Finish.done(job.chat.id);
                    return Ok(Finish { reason, usage, timings });
                }
                Ok(event) => news(&chat, event).into_iter().for_each(|event| self.base().events().announce(event)),
                Err(error) => {
                    if error.kind == ProviderErrorKind::NoPrefill {
                        self.without_prefill().insert(answerer.key.clone());
                    }
                    return Err(error.into());
                }
            }
        }
    }

    /// Passes a piece of text to the listeners, and to the next checkpoint.
    async fn take(&self, job: &ReplyJob, draft: &mut ReplyDraft, model: &str, part: ReplyPart) -> ApiResult<()> {
        if part.stored.is_empty() {
            return Ok(());
        }
        let mut turned = None;
        if part.closes_thoughts {
            reply_passages::opened(job.target.base(), &mut draft.text);
            turned = Some(std::mem::take(&mut draft.words));
        }
        draft.time_thoughts(&part);
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
            self.base().events().announce(Event::ThoughtsClosed { chat, message, swipe, seq, text });
        }
        if !part.thoughts.is_empty() {
            let seq = job.place.think(&part.thoughts);
            let (chat, message, swipe) = (chat.clone(), message.clone(), swipe.clone());
            self.base().events().announce(Event::Thought { chat, message, swipe, seq, text: part.thoughts });
        }
        if !part.words.is_empty() {
            let seq = job.place.write(&part.words);
            self.base().events().announce(Event::Token { chat, message, swipe, seq, text: part.words });
        }
        Ok(())
    }
}

/// Converts an event that is neither text nor the end for the listeners.
pub(crate) fn news(chat: &str, event: GenerationEvent) -> Option<Event> {
    let chat = chat.to_owned();
    Some(match event {
        GenerationEvent::Text(_)
        | GenerationEvent::Choices(_)
        | GenerationEvent::ToolCall(_)
        | GenerationEvent::Finished { .. } => return None,
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
        thought_ms: None,
    }
}

/// Error for a reply that contains only thoughts. The thoughts are saved.
pub(crate) fn only_thoughts(reason: FinishReason) -> ApiError {
    let (message, hint) = match reason {
        FinishReason::Length => (
            "The model wrote only thoughts: the reply reached its maximum length before they ended.",
            "Continue the reply, raise the maximum reply length, or switch thinking off for this model.",
        ),
        FinishReason::Stop | FinishReason::Cancelled => {
            ("The model wrote only thoughts and no reply.", "Try again, or switch thinking off for this model.")
        }
    };
    ApiError::Provider { message: message.into(), hint: hint.into(), class: api::ProviderClass::Malformed }
}

pub(crate) fn silent() -> ApiError {
    ApiError::Provider {
        message: "The model returned an empty reply.".into(),
        hint: "Try again, or raise the temperature.".into(),
        class: api::ProviderClass::Malformed,
    }
}
