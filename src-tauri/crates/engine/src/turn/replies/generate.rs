//! Generates one reply, from the prompt to the stored swipe. The text so far is kept however the
//! generation ends.

use std::time::{Duration, Instant};

use domain::ChatId;
use domain::chat::{Chat, Message, SwipeState};
use domain::settings::ContinuePostfix;
use provider::{FinishReason, Timings, Usage};

use crate::api::{self, Changed, EndReason, Event, Figures, Started, TurnOptions};
use crate::base::error::{ApiResult, internal};
use crate::base::panics::contained_as;
use crate::base::records::convert;
use crate::base::running::ChatReservation;
use crate::base::step::TurnStep;
use crate::library::chats::chat::mark_cut;
use crate::library::quick_replies::automatic::Moment;
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::Generation;
use crate::turn::replies::draft::ReplyDraft;
use crate::turn::replies::emotions::EmotionSettings;
use crate::turn::replies::passages::Passages;
use crate::turn::replies::prepared::PreparedTurn;
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
            self.base().events().announce(Event::Queued { chat: id });
        }
        preparing.await
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
        let anchor = window.ok().and_then(|window| window.anchor);
        self.base().events().announce(api::Event::Ended {
            chat,
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
        let chat = job.chat.id;
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
