//! Reads the stream of one request into the draft of a reply.

use std::time::Instant;

use context::display::OwnMarks;
use context::tools::ReplyCalls;
use domain::ChatId;
use domain::settings::ContinuePostfix;
use futures_util::StreamExt;
use provider::{GenerationEvent, ProviderErrorKind, Request};

use crate::api::Event;
use crate::base::clock::millis;
use crate::base::error::{ApiResult, internal};
use crate::base::step::TurnStep;
use crate::settings::counting::token_counter::TokenCounting;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::replies::Generation;
use crate::turn::replies::draft::ReplyDraft;
use crate::turn::replies::generate::{CHECKPOINT, Finish, ReplyJob};
use crate::turn::replies::passages::{self, Passages, ReplyPart};
use crate::turn::replies::prepared::PreparedTurn;
use crate::turn::replies::thought_tags::ThoughtTags;

impl Generation {
    /// Calls the model once and reads its reply to the end. `None` if the endpoint has just refused
    /// to continue from the reply's own text.
    pub(crate) async fn request_once(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        prepared: &PreparedTurn,
        started: Instant,
    ) -> ApiResult<Option<ApiResult<Finish>>> {
        let request = prepared.request(self).await?;
        let PreparedTurn {
            model_handle,
            turn,
            made,
        } = prepared;
        let asks = turn.task.is_some();
        if !asks && !job.options.one_off {
            self.reply_store.keep_plan(turn, made).await?;
        }
        self.separate_rounds(job, draft, &model_handle.name).await?;
        draft.tools.begin(&turn.tools, draft.words.len());
        let speaker = &turn.inputs.speaker;
        let opened = made.opened();
        let marks = OwnMarks::read(&model_handle.values.thought_marks);
        draft.start = if draft.text.is_empty() {
            made.reply_start.clone()
        } else {
            String::new()
        };
        let postfix = if job.target.is_after_token() {
            ContinuePostfix::Nothing
        } else {
            model_handle.values.continue_postfix
        };
        draft.passages = match asks {
            true => Passages::behind(job.target.base(), speaker, opened, postfix)
                .with_marks(marks, opened),
            false if !draft.start.is_empty() => {
                Passages::going_on(&draft.start, ContinuePostfix::Auto)
                    .with_marks_behind(marks, &draft.start)
            }
            false if draft.text.is_empty() => {
                Passages::new(speaker, opened).with_marks(marks, opened)
            }
            false => Passages::going_on(&draft.text, postfix).with_marks_behind(marks, &draft.text),
        };
        let begun = !draft.start.is_empty();
        let finish = self
            .follow(job, draft, model_handle, request, started)
            .await;
        if let (TokenCounting::Local(model), Ok(finish)) = (model_handle.counting(), &finish) {
            self.config()
                .model_speeds
                .note_reply(model, finish.usage, finish.timings);
        }
        let refused = begun && self.assembly.without_prefill().contains(&model_handle.key);
        let retries = refused || self.assembly.asks_to_continue(model_handle);
        if finish.is_err() && !asks && made.assembled.prompt.continues && retries {
            return Ok(None);
        }
        for part in draft.passages.finish() {
            self.take(job, draft, &model_handle.name, part).await?;
        }
        Ok(Some(finish))
    }

    /// Begins a new paragraph after the text before a tool round.
    async fn separate_rounds(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        model: &str,
    ) -> ApiResult<()> {
        let is_new = draft.tools.rounds.len() > job.target.tool_rounds().len();
        if is_new {
            draft.tools.emotion_tag = draft.emotion_tag().map(str::to_owned);
            // The text before the round is no longer at the end of the recorded tokens.
            draft.tokens.clear();
        }
        if !is_new || draft.words.trim().is_empty() {
            return Ok(());
        }
        let breaks = draft
            .words
            .chars()
            .rev()
            .take_while(|letter| *letter == '\n')
            .count();
        let words = "\n".repeat(2_usize.saturating_sub(breaks));
        let stored = words.clone();
        self.take(
            job,
            draft,
            model,
            ReplyPart {
                stored,
                words,
                ..ReplyPart::default()
            },
        )
        .await
    }

    /// Handles the provider's events until the last one.
    async fn follow(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        model_handle: &ModelHandle,
        request: Request,
        started: Instant,
    ) -> ApiResult<Finish> {
        let chat = job.chat.id;
        TurnStep::Call.done(job.chat.id);
        let mut stream = model_handle
            .provider
            .stream(request, job.reservation.cancel.clone());
        let mut thoughts = ThoughtTags::default();
        loop {
            let due = tokio::time::Instant::from_std(draft.saved + CHECKPOINT);
            let next = tokio::select! {
                biased;
                next = stream.next() => next,
                // Store the text even if the stream stalls, because it is already on the screen.
                () = tokio::time::sleep_until(due), if draft.dirty => {
                    self.reply_store.checkpoint(job, draft, &model_handle.name).await?;
                    continue;
                }
            };
            let Some(event) = next else {
                return Err(internal("a reply's stream ended early"));
            };
            match event {
                Ok(GenerationEvent::Text(text)) => {
                    let text = match &mut draft.tools.reader {
                        Some(reader) => reader.push(&text),
                        None => text,
                    };
                    if text.is_empty() {
                        continue;
                    }
                    self.hear(
                        job,
                        draft,
                        &model_handle.name,
                        (thoughts.text(text), started),
                    )
                    .await?;
                }
                Ok(GenerationEvent::Thoughts(text)) => {
                    let tagged = thoughts.thought(&draft.text, &text);
                    self.hear(job, draft, &model_handle.name, (tagged, started))
                        .await?;
                }
                Ok(GenerationEvent::SignedThought(thought)) => draft.tools.thoughts.push(thought),
                Ok(GenerationEvent::Choices(tokens)) => draft.tokens.extend(tokens),
                Ok(GenerationEvent::ToolCall(call)) => {
                    TurnStep::Tool.done(job.chat.id);
                    draft.tool_calls.push(call);
                }
                Ok(GenerationEvent::Finished {
                    reason,
                    usage,
                    timings,
                }) => {
                    self.read_calls(job, draft, &model_handle.name, &mut thoughts)
                        .await?;
                    TurnStep::Finish.done(job.chat.id);
                    return Ok(Finish {
                        reason,
                        usage,
                        timings,
                    });
                }
                Ok(event) => news(chat, event)
                    .into_iter()
                    .for_each(|event| self.base().events().announce(event)),
                Err(error) => {
                    if error.kind == ProviderErrorKind::NoPrefill {
                        self.assembly
                            .without_prefill()
                            .insert(model_handle.key.clone());
                    }
                    return Err(error.into());
                }
            }
        }
    }

    /// Takes a piece of the model's text, with its thoughts in tags. The request began at
    /// `started`.
    async fn hear(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        model: &str,
        (text, started): (String, Instant),
    ) -> ApiResult<()> {
        if !draft.written {
            draft.figures.first_text_ms = Some(millis(started));
            TurnStep::Stream.done(job.chat.id);
        }
        let parts = draft.passages.push(&text);
        let start = std::mem::take(&mut draft.start);
        let begins = (!start.is_empty()).then(|| ReplyPart {
            stored: start.clone(),
            words: start,
            ..ReplyPart::default()
        });
        for part in begins.into_iter().chain(parts) {
            self.take(job, draft, model, part).await?;
        }
        Ok(())
    }

    /// Takes the calls that the model has written as text.
    async fn read_calls(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        model: &str,
        thoughts: &mut ThoughtTags,
    ) -> ApiResult<()> {
        let (rest, calls) = draft
            .tools
            .reader
            .take()
            .map(ReplyCalls::finish)
            .unwrap_or_default();
        for part in draft.passages.push(&thoughts.text(rest)) {
            self.take(job, draft, model, part).await?;
        }
        for call in calls {
            TurnStep::Tool.done(job.chat.id);
            draft.tool_calls.push(call);
        }
        Ok(())
    }

    /// Passes a piece of text to the listeners, and to the next checkpoint.
    async fn take(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        model: &str,
        part: ReplyPart,
    ) -> ApiResult<()> {
        if part.stored.is_empty() {
            return Ok(());
        }
        let mut turned = None;
        if part.closes_thoughts {
            passages::opened(job.target.base(), &mut draft.text);
            turned = Some(std::mem::take(&mut draft.words));
        }
        draft.time_thoughts(&part);
        draft.thought |= part.closes_thoughts || !part.thoughts.is_empty();
        draft.words.push_str(&part.words);
        draft.text.push_str(&part.stored);
        (draft.written, draft.dirty) = (true, true);
        let first = !draft.inserted;
        if first || draft.saved.elapsed() >= CHECKPOINT {
            self.reply_store.checkpoint(job, draft, model).await?;
        }
        if !draft.streams {
            return Ok(());
        }
        let chat = job.chat.id;
        let message = job.target.message();
        let swipe = job.target.swipe();
        if let Some(text) = turned {
            let seq = job.reservation.turn_into_thoughts(job.target.base());
            self.base().events().announce(Event::ThoughtsClosed {
                chat,
                message,
                swipe,
                seq,
                text,
            });
        }
        if !part.thoughts.is_empty() {
            let seq = job.reservation.think(&part.thoughts);
            self.base().events().announce(Event::Thought {
                chat,
                message,
                swipe,
                seq,
                text: part.thoughts,
            });
        }
        if !part.words.is_empty() {
            let seq = job.reservation.write(&part.words);
            self.base().events().announce(Event::Token {
                chat,
                message,
                swipe,
                seq,
                text: part.words,
            });
        }
        Ok(())
    }
}

/// Converts an event that is neither text nor the end for the listeners.
pub(crate) fn news(chat: ChatId, event: GenerationEvent) -> Option<Event> {
    Some(match event {
        GenerationEvent::Text(_)
        | GenerationEvent::Thoughts(_)
        | GenerationEvent::SignedThought(_)
        | GenerationEvent::Choices(_)
        | GenerationEvent::ToolCall(_)
        | GenerationEvent::Finished { .. } => return None,
        GenerationEvent::Queued => Event::Queued { chat },
        GenerationEvent::Loading { fraction } => Event::Loading { chat, fraction },
        GenerationEvent::Prefill {
            done,
            total,
            reused,
        } => Event::Prefill {
            chat,
            done,
            total,
            reused,
        },
        GenerationEvent::Retrying {
            attempt,
            after_ms,
            why,
        } => Event::Retrying {
            chat,
            attempt,
            after_ms: after_ms as f64,
            why,
        },
        GenerationEvent::Stalled { seconds } => Event::Stalled { chat, seconds },
    })
}
