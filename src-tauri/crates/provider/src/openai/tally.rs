//! What a reply has amounted to so far.

use tokio::time::Instant;

use super::calls::Calls;
use super::config::EndpointConfig;
use super::diagnose;
use super::retry::Failure;
use super::wire::{Chunk, Progress, WireTimings, WireUsage};
use crate::{FinishReason, GenerationEvent, ProviderError, ProviderErrorKind, Timings, Usage};

/// Bytes of one reply. An endpoint that sends more ignores `max_tokens`, or means harm.
const MAX_REPLY: usize = 8 << 20;

#[derive(Debug)]
pub(super) struct Tally {
    started: Instant,
    first_text: Option<Instant>,
    bytes: usize,
    calls: Calls,
    usage: Usage,
    prefill_ms: Option<f64>,
    decode_ms: Option<f64>,
    /// Why the reply ended, once the endpoint has said so.
    pub(super) ended: Option<FinishReason>,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            first_text: None,
            bytes: 0,
            calls: Calls::default(),
            usage: Usage::default(),
            prefill_ms: None,
            decode_ms: None,
            ended: None,
        }
    }

    /// Whether anything of the reply has come.
    pub(super) fn spoke(&self) -> bool {
        self.first_text.is_some() || self.calls.any()
    }

    /// Counts `chunk`, and returns what it holds for the caller.
    pub(super) fn take(&mut self, config: &EndpointConfig, chunk: Chunk) -> Result<Vec<GenerationEvent>, Failure> {
        let mut events = Vec::new();
        if let Some(progress) = chunk.prompt_progress {
            events.push(self.progress(&progress));
        }
        if let Some(usage) = chunk.usage {
            self.usage(&usage);
        }
        if let Some(timings) = chunk.timings {
            self.timings(&timings);
        }
        // We ask for one choice.
        if let Some(mut choice) = chunk.choices.unwrap_or_default().into_iter().next() {
            let reason = choice.finish_reason.take();
            let mut delta = choice.into_delta();
            if let Some(text) = delta.take_text() {
                self.bytes += text.len();
                if self.bytes > MAX_REPLY {
                    return Err(diagnose::malformed(config, "a reply without end"));
                }
                self.first_text.get_or_insert_with(Instant::now);
                events.push(GenerationEvent::Text(text));
            }
            if let Some(pieces) = &delta.tool_calls
                && self.calls.take(pieces).is_err()
            {
                return Err(diagnose::malformed(config, "tool calls without end"));
            }
            if let Some(reason) = reason {
                self.ended = Some(ending(config, &reason)?);
            }
        }
        Ok(events)
    }

    /// The tools that were asked for, as far as they have come.
    pub(super) fn called(&mut self) -> Vec<GenerationEvent> {
        self.calls.finish().map(GenerationEvent::ToolCall).collect()
    }

    /// The last events.
    pub(super) fn ending(&mut self, reason: FinishReason) -> Vec<GenerationEvent> {
        let mut events = self.called();
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
        GenerationEvent::Finished { reason, usage: self.usage, timings }
    }

    fn progress(&mut self, progress: &Progress) -> GenerationEvent {
        let (total, reused) = (whole(progress.total), whole(progress.cache));
        self.usage.prompt = Some(total);
        self.usage.reused = Some(reused);
        GenerationEvent::Prefill { done: whole(progress.processed), total, reused }
    }

    fn usage(&mut self, wire: &WireUsage) {
        let cached = wire.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        self.usage.prompt = wire.prompt_tokens.map(whole).or(self.usage.prompt);
        self.usage.reused = cached.map(whole).or(self.usage.reused);
        self.usage.generated = wire.completion_tokens.map(whole).or(self.usage.generated);
        if let (Some(prompt), Some(reused)) = (self.usage.prompt, self.usage.reused) {
            self.usage.evaluated = Some(prompt.saturating_sub(reused));
        }
    }

    /// llama.cpp's own figures are the exact ones: they count what was really read.
    fn timings(&mut self, wire: &WireTimings) {
        if let (Some(reused), Some(evaluated)) = (wire.cache_n.map(whole), wire.prompt_n.map(whole)) {
            self.usage.prompt = Some(reused.saturating_add(evaluated));
            self.usage.reused = Some(reused);
            self.usage.evaluated = Some(evaluated);
        }
        self.usage.generated = wire.predicted_n.map(whole).or(self.usage.generated);
        self.prefill_ms = wire.prompt_ms.or(self.prefill_ms);
        self.decode_ms = wire.predicted_ms.or(self.decode_ms);
    }
}

fn ending(config: &EndpointConfig, reason: &str) -> Result<FinishReason, Failure> {
    match reason {
        "length" | "max_tokens" => Ok(FinishReason::Length),
        "content_filter" => Err(Failure::never(ProviderError::new(
            ProviderErrorKind::BadRequest,
            format!("the content filter of {} ended the reply", config.address()),
            "Reword the message, or use another endpoint.",
        ))),
        "error" => Err(Failure::never(ProviderError::new(
            ProviderErrorKind::Server,
            format!("{} broke the reply off", config.address()),
            "What has arrived is kept; continue the reply or try again.",
        ))),
        _ => Ok(FinishReason::Stop),
    }
}

fn ms(from: Instant, to: Instant) -> f64 {
    to.duration_since(from).as_secs_f64() * 1000.0
}

/// `as` saturates: a negative or wild count of a hostile endpoint becomes 0 or the maximum.
fn whole(count: f64) -> u32 {
    count as u32
}
