//! Accumulates the state of one reply: text, tool calls, usage and timings.

use domain::SignedThought;
use tokio::time::Instant;

use super::config::EndpointConfig;
use super::diagnose;
use super::retry::RequestFailure;
use crate::endpoint::stream::chunk::{
    End, PictureCount, PromptProgress, StreamChunk, TextPiece, WireTimings, WireUsage,
};
use crate::endpoint::stream::text_pipeline::TextPipeline;
use crate::endpoint::stream::thoughts::ThoughtAssembler;
use crate::endpoint::stream::tool_calls::{AssembledCall, ToolCallAssembler};
use crate::{FinishReason, GenerationEvent, Request, Timings, Usage};

/// Maximum bytes of one reply. An endpoint that sends more ignores `max_tokens`, or is hostile.
const MAX_REPLY: usize = 8 << 20;
/// Limit of received text in bytes, which is higher because some endpoints repeat the whole text in
/// every piece.
const MAX_SENT: usize = 64 * MAX_REPLY;

/// Text in place of a picture of the reply.
const PICTURE: &str = "[Picture left out: replies hold only text]";
/// Maximum number of [`PICTURE`] in one reply.
const MAX_PICTURES: usize = 16;

#[derive(Debug)]
pub(crate) struct ReplyState {
    started: Instant,
    first_text: Option<Instant>,
    sent: usize,
    bytes: usize,
    texts: usize,
    /// Pictures so far, which were left out.
    pictures: usize,
    text: TextPipeline,
    thoughts: ThoughtAssembler,
    calls: ToolCallAssembler,
    /// The request allows one call. Not every API has a field for that.
    single_call: bool,
    usage: Usage,
    prefill_ms: Option<f64>,
    decode_ms: Option<f64>,
    /// Finish reason, once the endpoint has sent it.
    pub(crate) ended: Option<FinishReason>,
    /// The endpoint sent an unknown finish reason.
    perhaps_ended: bool,
    /// The endpoint may send a finish reason with every piece.
    doubted: bool,
}

/// Certainty that the reply has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyEnd {
    No,
    Maybe,
    Yes,
}

impl ReplyState {
    /// `trims_prefill` is [`Api::trims_prefill`](super::api::Api::trims_prefill).
    pub(crate) fn new(request: &Request, trims_prefill: bool) -> Self {
        Self {
            started: Instant::now(),
            first_text: None,
            sent: 0,
            bytes: 0,
            texts: 0,
            pictures: 0,
            text: TextPipeline::of(&request.prompt, trims_prefill),
            thoughts: ThoughtAssembler::default(),
            calls: ToolCallAssembler::default(),
            single_call: request.prompt.tools.single_call,
            usage: Usage::default(),
            prefill_ms: None,
            decode_ms: None,
            ended: None,
            perhaps_ended: false,
            doubted: false,
        }
    }

    /// Whether any text or tool call has arrived.
    pub(crate) fn has_output(&self) -> bool {
        self.first_text.is_some() || self.calls.any()
    }

    /// Whether the caller has received anything, so that the request must not be sent again.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_output() || self.thoughts.shown()
    }

    /// Whether a stop text or a control token ended the reply. Later data from the endpoint is
    /// ignored.
    pub(crate) fn is_cut(&self) -> bool {
        self.text.is_cut()
    }

    /// Whether the reply contains thoughts but no answer.
    pub(crate) fn only_thought(&self) -> bool {
        self.thoughts.seen() && !self.has_output()
    }

    pub(crate) fn has_ended(&self) -> ReplyEnd {
        match self.ended {
            None => ReplyEnd::No,
            Some(_) if self.doubted || !self.has_output() => ReplyEnd::Maybe,
            Some(_) => ReplyEnd::Yes,
        }
    }

    /// Returns the finish reason of a stream that closed without an end marker. `None` means that
    /// the reply was cut off.
    pub(crate) fn hung_up(&self) -> Option<FinishReason> {
        self.ended
            .or(self.perhaps_ended.then_some(FinishReason::Stop))
    }

    /// Records `chunk` and adds its content to `events`.
    pub(crate) fn take(
        &mut self,
        config: &EndpointConfig,
        mut chunk: StreamChunk,
        events: &mut Vec<GenerationEvent>,
    ) -> Result<(), RequestFailure> {
        if let Some(progress) = &chunk.progress {
            events.push(self.progress(progress));
        }
        if let Some(usage) = &chunk.usage {
            self.usage(usage);
        }
        if let Some(timings) = &chunk.timings {
            self.timings(timings);
        }
        let thoughts = chunk
            .thoughts
            .drain(..)
            .filter_map(|piece| self.thoughts.take(piece));
        events.extend(thoughts.map(GenerationEvent::Thoughts));
        let ends = chunk.end.is_some_and(|end| end != End::Unknown);
        self.add_picture_notes(&mut chunk);
        if let Some(text) = chunk.text.take() {
            self.texts += 1;
            self.sent += text.len();
            self.doubted |= self.ended.take().is_some() || (ends && self.texts == 1);
            self.first_text.get_or_insert_with(Instant::now);
            let text = self.text.push(text, chunk.has_surrogates, ends);
            self.bytes += text.len();
            events.extend(text_event(text));
            if self.bytes > MAX_REPLY || self.sent > MAX_SENT {
                return Err(diagnose::malformed(
                    config,
                    "the reply exceeds the size limit",
                ));
            }
        }
        if let Some(pieces) = &chunk.tool_calls
            && self.calls.take(pieces).is_err()
        {
            return Err(diagnose::malformed(
                config,
                "the tool calls exceed the size limit",
            ));
        }
        self.take_end(config, &chunk)
    }

    fn take_end(
        &mut self,
        config: &EndpointConfig,
        chunk: &StreamChunk,
    ) -> Result<(), RequestFailure> {
        match chunk.end {
            None => {}
            Some(End::Unknown) => self.perhaps_ended = true,
            Some(End::Stop) => self.ended = Some(FinishReason::Stop),
            Some(End::Length) => self.ended = Some(FinishReason::Length),
            Some(End::Filtered) => {
                return Err(diagnose::filtered(config, chunk.filter_reason.as_deref()));
            }
            Some(End::Failed) => return Err(diagnose::aborted(config)),
        }
        Ok(())
    }

    /// Adds a note to the text of `chunk` for each new picture in it.
    fn add_picture_notes(&mut self, chunk: &mut StreamChunk) {
        let PictureCount { count, whole } = chunk.pictures;
        let before = if whole { self.pictures } else { 0 };
        let new = count
            .saturating_sub(before)
            .min(MAX_PICTURES.saturating_sub(self.pictures));
        if new == 0 {
            return;
        }
        self.pictures += new;
        let notes = vec![PICTURE; new].join(" ");
        chunk.text = Some(match chunk.text.take() {
            None => TextPiece::Delta(notes),
            Some(TextPiece::Delta(text)) => TextPiece::Delta(text + &notes),
            Some(TextPiece::Message(text)) => TextPiece::Message(text + &notes),
        });
    }

    /// Returns the held text and the tool calls received so far.
    pub(crate) fn rest(&mut self) -> Vec<GenerationEvent> {
        let text = self.text.rest();
        let most = if self.single_call { 1 } else { usize::MAX };
        let calls: Vec<AssembledCall> = self.calls.finish().take(most).collect();
        let mut events: Vec<GenerationEvent> = text_event(text).into_iter().collect();
        if !calls.is_empty() {
            let blocks = self.thoughts.signed().into_iter();
            let of_call = |(number, call): (usize, &AssembledCall)| {
                let signature = call.signature.clone()?;
                Some(SignedThought::Call { number, signature })
            };
            events.extend(
                blocks
                    .chain(calls.iter().enumerate().filter_map(of_call))
                    .map(GenerationEvent::SignedThought),
            );
        }
        events.extend(
            calls
                .into_iter()
                .map(|call| GenerationEvent::ToolCall(call.call)),
        );
        events
    }

    /// Returns the last events.
    pub(crate) fn ending(&mut self, reason: FinishReason) -> Vec<GenerationEvent> {
        let mut events = self.rest();
        events.push(self.finished(reason));
        events
    }

    fn finished(&self, reason: FinishReason) -> GenerationEvent {
        let now = Instant::now();
        let first_text = self.first_text.unwrap_or(now);
        let first_text_ms = ms(self.started, first_text);
        let timings = Timings {
            prefill_ms: self.prefill_ms.unwrap_or(first_text_ms),
            decode_ms: self.decode_ms.unwrap_or_else(|| ms(first_text, now)),
            first_text_ms,
        };
        GenerationEvent::Finished {
            reason,
            usage: self.usage,
            timings,
        }
    }

    fn progress(&mut self, progress: &PromptProgress) -> GenerationEvent {
        let total = whole(progress.total);
        let reused = whole(progress.cache);
        self.usage.prompt = Some(total);
        self.usage.reused = Some(reused);
        GenerationEvent::Prefill {
            done: whole(progress.processed),
            total,
            reused,
        }
    }

    fn usage(&mut self, wire: &WireUsage) {
        self.usage.prompt = wire.prompt.map(whole).or(self.usage.prompt);
        self.usage.reused = wire.cached.map(whole).or(self.usage.reused);
        self.usage.generated = wire.generated.map(whole).or(self.usage.generated);
        if let (Some(prompt), Some(reused)) = (self.usage.prompt, self.usage.reused) {
            self.usage.evaluated = Some(prompt.saturating_sub(reused));
        }
    }

    /// The servers' own figures are exact: they cover the tokens that were processed.
    fn timings(&mut self, wire: &WireTimings) {
        if let (Some(reused), Some(evaluated)) = (wire.cache_n.map(whole), wire.prompt_n.map(whole))
        {
            self.usage.prompt = Some(reused.saturating_add(evaluated));
            self.usage.reused = Some(reused);
            self.usage.evaluated = Some(evaluated);
        }
        self.usage.generated = wire.predicted_n.map(whole).or(self.usage.generated);
        self.prefill_ms = wire.prompt_ms.or(self.prefill_ms);
        self.decode_ms = wire.predicted_ms.or(self.decode_ms);
    }
}

fn text_event(text: String) -> Option<GenerationEvent> {
    (!text.is_empty()).then_some(GenerationEvent::Text(text))
}

fn ms(from: Instant, to: Instant) -> f64 {
    to.duration_since(from).as_secs_f64() * 1000.0
}

/// `as` saturates: a negative or huge count becomes 0 or the maximum.
fn whole(count: f64) -> u32 {
    count as u32
}
