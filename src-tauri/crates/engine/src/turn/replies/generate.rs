//! Generates one reply, from the prompt to the stored swipe. The text so far is kept however the
//! generation ends.

use std::time::{Duration, Instant};

use domain::chat::{Chat, Message, SwipeState};
use domain::sampling::Sampling;
use domain::settings::ContinuePostfix;
use domain::token_choice::TokenChoice;
use domain::{ChatId, ToolCall};
use provider::{FinishReason, Request, Timings, Usage};

use crate::api::{self, ApiError, Changed, EndReason, Event, Figures, Started, TurnOptions};
use crate::base::clock::millis;
use crate::base::error::{ApiResult, internal};
use crate::base::panics::contained_as;
use crate::base::records::convert;
use crate::base::running::ChatReservation;
use crate::base::step::TurnStep;
use crate::library::chats::chat::mark_cut;
use crate::library::quick_replies::automatic::Moment;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::made::BuiltPrompt;
use crate::turn::client;
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::Generation;
use crate::turn::replies::emotions::EmotionSettings;
use crate::turn::replies::passages::{Passages, ReplyPart};
use crate::turn::replies::speaker_queue::{QueuedReply, SpeakerQueue};
use crate::turn::replies::target::Target;
use crate::turn::tools::progress::ToolProgress;
use crate::turn::tools::round::AfterCalls;

/// Interval at which the text of a reply is stored while it streams. A crash loses at most half a
/// second of text.
pub(crate) const CHECKPOINT: Duration = Duration::from_millis(250);

/// Shorter waits are not announced.
const QUIET: Duration = Duration::from_millis(200);

/// Error message of a turn that fails because of a bug in the app.
pub(crate) const DEFECT: &str =
    "the reply could not be written. Your message is saved, so try again";

/// A reply to write.
pub(crate) struct ReplyJob {
    pub(crate) chat: Chat,
    pub(crate) reply_to: ReplyTo,
    pub(crate) target: Target,
    pub(crate) options: TurnOptions,
    pub(crate) reservation: ChatReservation,
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
        Self {
            reason: FinishReason::Cancelled,
            usage: Usage::default(),
            timings: Timings::default(),
        }
    }
}

/// Everything that a reply needs before its model is called.
pub(crate) struct PreparedTurn {
    pub(crate) model_handle: ModelHandle,
    pub(crate) turn: ActivatedTurn,
    pub(crate) made: BuiltPrompt,
}

impl PreparedTurn {
    /// # Errors
    /// `BadInput` if a local model cannot follow the JSON schema of the reply.
    pub(crate) async fn request(&self, generation: &Generation) -> ApiResult<Request> {
        let Self {
            model_handle,
            turn,
            made,
        } = self;
        // Strict servers count the prompt and the longest reply against the context.
        let room = made
            .assembled
            .budget
            .limit
            .saturating_sub(made.assembled.total)
            .max(1);
        let of_task = turn
            .task
            .as_ref()
            .and_then(|task| task.reply_tokens)
            .unwrap_or(u32::MAX);
        let max_tokens = model_handle.sampling.max_tokens.min(of_task).min(room);
        let prompt = generation
            .library()
            .assets
            .with_pictures(&made.assembled)
            .await;
        let mut sampling = Sampling {
            max_tokens,
            ..model_handle.sampling.clone()
        };
        if let Some(grammar) = self.call_grammar() {
            (sampling.rules.grammar, sampling.rules.json_schema) = (Some(grammar), None);
        }
        if turn.task.is_some() || prompt.continues {
            // They describe a whole reply.
            (
                sampling.rules.grammar,
                sampling.rules.json_schema,
                sampling.rules.min_tokens,
            ) = (None, None, 0);
        }
        let mut request = Request {
            cache_key: turn.inputs.cache_key(),
            background: false,
            prompt,
            sampling,
            response_schema: None,
        };
        if let Some(client) = turn.inputs.client.as_ref().filter(|_| turn.task.is_none()) {
            client::options::apply(client, &mut request);
        }
        client::schema::adapt(model_handle, &mut request.sampling.rules)?;
        Ok(request)
    }

    /// The grammar for the calls of a local model. One that the user has set replaces it, unless a
    /// call is demanded.
    fn call_grammar(&self) -> Option<String> {
        let Self {
            model_handle, turn, ..
        } = self;
        let rules = &model_handle.sampling.rules;
        let own = rules.grammar.is_some() || rules.json_schema.is_some();
        let syntax = turn
            .tools
            .syntax
            .as_ref()
            .filter(|_| turn.tools.can_call() && model_handle.template.is_some())?;
        let frame = &turn.tools.frame;
        (!own || frame.choice.is_forced()).then(|| context::tools::grammar(syntax, frame))
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
    pub(super) first_text: Option<Instant>,
    /// Tool calls that the model requested and that were not run.
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) tools: ToolProgress,
    /// The tokens of this turn with their probabilities, if they are recorded.
    pub(crate) tokens: Vec<TokenChoice>,
    /// Text to store before the model's first text.
    pub(super) start: String,
    pub(super) passages: Passages,
    /// Whether listeners receive the text while it grows, not only at the end.
    pub(super) streams: bool,
    pub(super) emotions: EmotionSettings,
}

impl ReplyDraft {
    /// The emotion that the reply's own tag names, as written.
    pub(crate) fn emotion_tag(&self) -> Option<&str> {
        self.passages
            .emotion()
            .or(self.tools.emotion_tag.as_deref())
    }

    /// Whether the model has written text or requested a tool in this turn.
    fn said(&self, target: &Target) -> bool {
        !self.words.trim().is_empty() || self.tool_calls.len() > target.tool_calls().len()
    }

    /// Sets the figures of the reply from its last request.
    fn measure(&mut self, finish: Option<&Finish>, made: &BuiltPrompt) {
        let thought_ms = self.figures.thought_ms;
        let mut rounds = std::mem::take(&mut self.tools.figures);
        for (number, round) in (0..).zip(&mut rounds) {
            round.tokens = made.round_tokens(number);
        }
        self.figures = figures(finish, made.assembled.total, self.figures.first_text_ms);
        (
            self.figures.thought_ms,
            self.figures.tool_rounds,
            self.figures.tool_limit,
        ) = (thought_ms, rounds, self.tools.limit);
    }

    /// Measures the time from the first text to the end of the thoughts.
    pub(super) fn time_thoughts(&mut self, part: &ReplyPart) {
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

impl Generation {
    /// Generates the reply of `job`, and then those of the characters in its queue.
    pub(crate) async fn generate(&self, job: ReplyJob) {
        let mut next = Some(job);
        while let Some(job) = next {
            next = self.generate_one(job).await;
        }
    }

    /// Generates one reply and announces how it ended. Returns the next one, which is announced as
    /// well.
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
            tools: ToolProgress::of(&job.target),
            tokens: Vec::new(),
            start: String::new(),
            passages: Passages::going_on(job.target.base(), ContinuePostfix::Auto),
            streams: true,
            emotions: EmotionSettings::default(),
        };
        let result = contained_as(
            DEFECT,
            Box::pin(self.write_reply(&job, &mut draft, started)),
        )
        .await;
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
            EndReason::Cancelled if job.reservation.stopped() => SwipeState::Stopped,
            EndReason::Cancelled | EndReason::Failed { .. } => SwipeState::Interrupted,
        };
        let whole = state == SwipeState::Finished;
        let (reason, message) = match contained_as(
            DEFECT,
            Box::pin(self.reply_store.keep_reply(&job, &mut draft, state)),
        )
        .await
        {
            Ok(message) => (reason, message),
            Err(error) => (
                EndReason::Failed { error },
                self.cut_reply(&job, &draft).await,
            ),
        };
        let ReplyJob {
            chat,
            options,
            reservation,
            queue,
            ..
        } = job;
        let id = chat.id;
        // If nobody follows, free the chat before announcing the end, so that the listeners' next
        // message does not find it busy.
        let next = if whole {
            self.next_in_queue((chat.clone(), options.clone()), reservation, queue)
                .await
        } else {
            drop(reservation);
            None
        };
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        let following = next
            .as_ref()
            .map_or(0, |next| next.job.queue.following() + 1);
        self.announce_end(id, message, reason, following).await;
        if let Some(QueuedReply {
            job,
            speakers,
            called,
        }) = next
        {
            self.announce_start(&job, speakers, Some(&called));
            return Some(job);
        }
        if whole {
            TurnStep::Idle.done(id);
            let options = if options.one_off {
                TurnOptions::default()
            } else {
                options
            };
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

    /// The stored part of a reply whose end could not be stored.
    async fn cut_reply(&self, job: &ReplyJob, draft: &ReplyDraft) -> Option<api::Message> {
        let stored = draft
            .inserted
            .then(|| self.library().chats.shown_message(job.target.message()))?
            .await;
        let mut message = stored.ok()?;
        mark_cut(&mut message);
        Some(message)
    }

    async fn write_reply(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        started: Instant,
    ) -> ApiResult<Finish> {
        match self.attempt(job, draft, started).await? {
            Some(finish) => Ok(finish),
            // The endpoint's refusal is known now, so the second attempt uses another prompt.
            None => self
                .attempt(job, draft, started)
                .await?
                .ok_or_else(|| internal("a reply could not be continued")),
        }
    }

    /// Runs one attempt. `None` if the endpoint has just refused to continue from the reply's own
    /// text. The next attempt then asks for the continuation with an instruction.
    async fn attempt(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        started: Instant,
    ) -> ApiResult<Option<Finish>> {
        let preparing = self.prepare(&job.chat, job.reply_to.clone(), &job.options);
        let prepared = tokio::select! {
            biased;
            () = job.reservation.cancel.cancelled() => return Ok(Some(Finish::cancelled())),
            prepared = preparing => prepared?,
        };
        let mut prepared = prepared;
        draft.streams = prepared.model_handle.values.show_streaming;
        draft.emotions = EmotionSettings::of(&prepared.model_handle.values);
        let keeps = prepared.turn.task.is_none() && !job.options.one_off;
        let finish = loop {
            let finish = self.request_once(job, draft, &prepared, started).await?;
            let Some(finish) = finish else {
                return Ok(None);
            };
            if finish.is_err() {
                break finish;
            }
            let PreparedTurn {
                model_handle,
                turn,
                made,
            } = &mut prepared;
            match self
                .tools
                .run_tools(job, draft, turn, (made, model_handle))
                .await?
            {
                AfterCalls::Nothing => break finish,
                AfterCalls::Stopped => break Ok(Finish::cancelled()),
                AfterCalls::CallAgain => {
                    *made = self.assembly.make(turn, model_handle, &job.options).await?
                }
            }
        };
        let PreparedTurn {
            model_handle,
            turn,
            made,
        } = prepared;
        if !keeps {
            self.library()
                .stale_caches
                .note_if_withdrawn(turn.inputs.snapshot.chat.id, turn.inputs.withdrawals)
                .await?;
        }
        self.reply_store
            .keep_tool_calls(job, draft, &model_handle.name)
            .await?;
        if draft.inserted {
            draft.measure(finish.as_ref().ok(), &made);
            self.reply_store
                .keep_manifest(job, draft, &turn, &made, &model_handle)
                .await?;
        }
        finish.map(Some)
    }

    /// Does everything before the model is called. May wait for a keychain to be unlocked, for a
    /// model's file to be read, or for another reply that uses the worker.
    pub(crate) async fn prepare(
        &self,
        chat: &Chat,
        reply_to: ReplyTo,
        options: &TurnOptions,
    ) -> ApiResult<PreparedTurn> {
        let id = chat.id;
        let preparing = async {
            let model_handle = self
                .config()
                .model_handles
                .model_handle(chat, options)
                .await?;
            let snapshot = self.library().snapshots.snapshot_of(id).await?;
            let mut turn = self
                .assembly
                .collect_from(snapshot, reply_to, (&model_handle, options))
                .await?;
            let made = self
                .assembly
                .make(&mut turn, &model_handle, options)
                .await?;
            Ok(PreparedTurn {
                model_handle,
                turn,
                made,
            })
        };
        tokio::pin!(preparing);
        if let Ok(prepared) = tokio::time::timeout(QUIET, &mut preparing).await {
            return prepared;
        }
        if self.base().running().others(id) {
            self.base().events().announce(Event::Queued {
                chat: id.to_string(),
            });
        }
        preparing.await
    }
}

pub(crate) fn figures(finish: Option<&Finish>, total: u32, first_text_ms: Option<f64>) -> Figures {
    let Some(Finish { usage, timings, .. }) = finish else {
        return Figures {
            prompt: Some(total),
            first_text_ms,
            ..Figures::default()
        };
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
        tool_rounds: Vec::new(),
        tool_limit: false,
    }
}

/// Error for a reply that contains only thoughts. The thoughts are saved.
pub(crate) fn only_thoughts(reason: FinishReason) -> ApiError {
    let (message, hint) = match reason {
        FinishReason::Length => (
            "The model wrote only thoughts: the reply reached its maximum length before they ended.",
            "Continue the reply, raise the maximum reply length, or switch thinking off for this model.",
        ),
        FinishReason::Stop | FinishReason::Cancelled => (
            "The model wrote only thoughts and no reply.",
            "Try again, or switch thinking off for this model.",
        ),
    };
    ApiError::Provider {
        message: message.into(),
        hint: hint.into(),
        class: api::ProviderClass::Malformed,
    }
}

pub(crate) fn silent() -> ApiError {
    ApiError::Provider {
        message: "The model returned an empty reply.".into(),
        hint: "Try again, or raise the temperature.".into(),
        class: api::ProviderClass::Malformed,
    }
}

impl Generation {
    /// Announces the end of a reply, with the start of the window as it is stored now. `following`
    /// replies come next.
    pub(crate) async fn announce_end(
        &self,
        chat: ChatId,
        message: Option<api::Message>,
        reason: EndReason,
        following: u32,
    ) {
        let window = self
            .library()
            .chat_lookup
            .chat(chat)
            .await
            .map(|chat| chat.window);
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

    /// Announces the reply, with the message `sent` that it answers.
    pub(crate) fn announce_start(
        &self,
        job: &ReplyJob,
        speakers: convert::Speakers,
        sent: Option<&Message>,
    ) -> Started {
        let turn = job.queue.turn();
        job.reservation.describe(
            job.target.message(),
            job.target.swipe(),
            job.target.base(),
            turn,
        );
        let sent = sent.map(|sent| convert::message(sent, &speakers, |_| None));
        let reply = job.target.as_begun(speakers, self.base().now());
        let chat = job.chat.id.to_string();
        let message = reply.clone();
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
