//! Generates one reply: evaluates the new part of the prompt, then samples tokens, checking the inbox at every step.

use std::time::Instant;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::token::LlamaToken;
use worker::frame::FrameError;
use worker::protocol::{Done, ErrorCode, FinishReason, Generate, Timings, Usage, WorkerReply, WorkerRequest};
use worker::token_rules::TokenAlternative;

use crate::cache::{SEQUENCE, SequenceCache};
use crate::engine;
use crate::inbox::{Arrived, Inbox, ReplyWriter};
use crate::sampler::{GrammarError, TokenSampler};
use crate::text_filter::{Found, Released, TextFilter};
use crate::token_choices::{ChoiceLog, Probabilities};
use crate::vocab::Vocab;

/// A loaded model with its context.
pub(crate) struct GenerationSession<'model> {
    vocab: &'model Vocab<'model>,
    context: LlamaContext<'model>,
    cache: SequenceCache,
    /// Maximum tokens per batch.
    chunk: usize,
}

/// Reason why a reply ends early.
enum ReplyError {
    Cancelled,
    /// The pipe is closed.
    Closed,
    Failed(ErrorCode, String),
    Pipe(FrameError),
}

impl From<FrameError> for ReplyError {
    fn from(error: FrameError) -> Self {
        Self::Pipe(error)
    }
}

impl From<GrammarError> for ReplyError {
    fn from(GrammarError(why): GrammarError) -> Self {
        Self::Failed(ErrorCode::Grammar, why.to_owned())
    }
}

/// Usage and timings so far, for the final frame.
#[derive(Default)]
struct ReplyProgress {
    usage: Usage,
    timings: Timings,
}

impl<'model> GenerationSession<'model> {
    pub(crate) fn new(
        vocab: &'model Vocab<'model>,
        context: LlamaContext<'model>,
        cache: SequenceCache,
        chunk: u32,
    ) -> Self {
        Self { vocab, context, cache, chunk: chunk as usize }
    }

    /// Generates one reply.
    pub(crate) fn reply(
        &mut self,
        request: &Generate,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<(), FrameError> {
        let mut progress = ReplyProgress::default();
        let id = request.id;
        let reason = match self.run(request, &mut progress, inbox, replies) {
            Ok(reason) => reason,
            Err(ReplyError::Cancelled) => FinishReason::Cancelled,
            Err(ReplyError::Closed) => return Ok(()),
            Err(ReplyError::Pipe(error)) => return Err(error),
            Err(ReplyError::Failed(code, message)) => {
                return replies.send(&WorkerReply::Error { id: Some(id), code, message });
            }
        };
        let ReplyProgress { usage, timings } = progress;
        replies.send(&WorkerReply::Done(Done { id, reason, usage, timings }))
    }

    /// Ends the session and saves its caches if there is a folder for them.
    pub(crate) fn save(self) {
        let Self { mut context, cache, .. } = self;
        cache.save(&mut context);
    }

    pub(crate) fn forget(&mut self, cache_key: &str) {
        self.cache.forget(&mut self.context, cache_key);
    }

    pub(crate) fn exclude_from_saving(&mut self, cache_keys: &[String]) {
        self.cache.exclude_from_saving(cache_keys);
    }

    fn run(
        &mut self,
        request: &Generate,
        progress: &mut ReplyProgress,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<FinishReason, ReplyError> {
        let prompt = self.vocab.prompt(&request.segments);
        self.check_size(prompt.len())?;
        // An invalid grammar is reported before the prompt is evaluated.
        let drawn = TokenSampler::new(request, self.vocab, &prompt)?;
        let start = Instant::now();
        let read = self.read(request, &prompt, progress, inbox, replies);
        progress.timings.prefill_ms = milliseconds(start);
        read?;
        let start = Instant::now();
        let written = self.write(request, &prompt, drawn, progress, inbox, replies);
        progress.timings.decode_ms = milliseconds(start);
        written
    }

    fn check_size(&self, tokens: usize) -> Result<(), ReplyError> {
        let room = self.context.n_ctx() as usize;
        if tokens == 0 {
            return Err(ReplyError::Failed(ErrorCode::Empty, "the prompt has no tokens".to_owned()));
        }
        // The reply needs room for at least one token.
        if tokens >= room {
            let message = format!("the prompt has {tokens} tokens, but the context holds {room} including the reply");
            return Err(ReplyError::Failed(ErrorCode::ContextOverflow, message));
        }
        Ok(())
    }

    /// Prompt processing: evaluates the tokens that are not cached.
    fn read(
        &mut self,
        request: &Generate,
        prompt: &[LlamaToken],
        progress: &mut ReplyProgress,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<(), ReplyError> {
        let (id, total) = (request.id, prompt.len() as u32);
        let reused = self.cache.open(&mut self.context, &request.cache_key, prompt) as u32;
        progress.usage = Usage { prompt: total, reused, ..Usage::default() };
        replies.send(&WorkerReply::Prefill { id, done: reused, total, reused })?;
        for chunk in prompt[reused as usize..].chunks(self.chunk) {
            self.check_inbox(id, inbox, replies)?;
            self.evaluate(chunk)?;
            progress.usage.evaluated += chunk.len() as u32;
            replies.send(&WorkerReply::Prefill { id, done: reused + progress.usage.evaluated, total, reused })?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        request: &Generate,
        prompt: &[LlamaToken],
        drawn: TokenSampler<'_>,
        progress: &mut ReplyProgress,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<FinishReason, ReplyError> {
        let mut text = ReplyText {
            id: request.id,
            filter: TextFilter::new(&request.stop, &request.rules.banned_strings),
            choices: (request.rules.alternatives > 0).then(ChoiceLog::default),
            replies,
        };
        let ended = self.generate(request, prompt, drawn, &mut text, progress, inbox);
        if !matches!(ended, Ok(StopCause::StopSequence) | Err(ReplyError::Closed | ReplyError::Pipe(_))) {
            text.finish()?;
        }
        Ok(match ended? {
            StopCause::StopSequence | StopCause::Turn => FinishReason::Stop,
            StopCause::Length => FinishReason::Length,
        })
    }

    /// Samples tokens until the reply ends. The tokens stay in the cache for the next turn.
    fn generate(
        &mut self,
        request: &Generate,
        prompt: &[LlamaToken],
        mut drawn: TokenSampler<'_>,
        text: &mut ReplyText<'_>,
        progress: &mut ReplyProgress,
        inbox: &mut Inbox,
    ) -> Result<StopCause, ReplyError> {
        loop {
            self.check_inbox(request.id, inbox, text.replies)?;
            if progress.usage.generated >= request.max_tokens || self.cache.len() >= self.context.n_ctx() as usize {
                return Ok(StopCause::Length);
            }
            let token = drawn.next(&self.context)?;
            if self.vocab.ends_reply(token) {
                return Ok(StopCause::Turn);
            }
            progress.usage.generated += 1;
            let piece = self.vocab.piece(token);
            if let Some(log) = &mut text.choices {
                let logits = self.context.get_logits_ith(-1);
                let seen = Probabilities::of(logits, token.0 as usize, request.rules.alternatives);
                log.push(&piece, seen.logprob, self.alternatives(&seen));
            }
            let Released { text: released, found } = text.filter.push(&piece);
            drawn.record_text(&released);
            text.send(released)?;
            match found {
                None => self.evaluate(&[token])?,
                Some(Found::Stop) => return Ok(StopCause::StopSequence),
                Some(Found::Banned { token }) => {
                    let Some(reply) = drawn.roll_back(token)? else { return Ok(StopCause::StopSequence) };
                    text.roll_back(token);
                    progress.usage.generated = token as u32;
                    self.return_to(request, &[prompt, reply].concat(), inbox, text.replies)?;
                }
            }
        }
    }

    /// Removes everything after `tokens` from the cache, and provides the logits of the last one.
    fn return_to(
        &mut self,
        request: &Generate,
        tokens: &[LlamaToken],
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<(), ReplyError> {
        let known = self.cache.open(&mut self.context, &request.cache_key, tokens);
        for chunk in tokens[known..].chunks(self.chunk) {
            self.check_inbox(request.id, inbox, replies)?;
            self.evaluate(chunk)?;
        }
        Ok(())
    }

    /// The alternatives with their texts. Tokens that are only a part of a character, or no text, are left out.
    fn alternatives(&self, seen: &Probabilities) -> Vec<TokenAlternative> {
        let text = |(token, logprob): &(usize, f32)| {
            let text = String::from_utf8(self.vocab.piece(LlamaToken(*token as i32))).ok()?;
            (!text.is_empty()).then_some(TokenAlternative { text, logprob: *logprob })
        };
        seen.likeliest.iter().filter_map(text).collect()
    }

    /// Evaluates tokens at the end of the sequence and provides the logits of the last one.
    fn evaluate(&mut self, tokens: &[LlamaToken]) -> Result<(), ReplyError> {
        let mut batch = LlamaBatch::new(tokens.len(), 1);
        for (offset, token) in tokens.iter().enumerate() {
            let position = (self.cache.len() + offset) as i32;
            let added = batch.add(*token, position, &[SEQUENCE], offset + 1 == tokens.len());
            added.map_err(|error| ReplyError::Failed(ErrorCode::Compute, error.to_string()))?;
        }
        match self.context.decode(&mut batch) {
            Ok(()) => self.cache.extend(tokens),
            Err(error) => {
                // After a failure the contents of the KV cache are undefined.
                self.cache.clear(&mut self.context);
                return Err(ReplyError::Failed(ErrorCode::Compute, format!("llama.cpp failed to compute: {error}")));
            }
        }
        Ok(())
    }

    /// Answers requests that can be answered between two steps, and detects a cancel.
    fn check_inbox(&self, id: u64, inbox: &mut Inbox, replies: &ReplyWriter) -> Result<(), ReplyError> {
        loop {
            match inbox.arrived() {
                Arrived::Nothing => return Ok(()),
                Arrived::End => return Err(ReplyError::Closed),
                Arrived::Request(WorkerRequest::Cancel { id: cancelled }) if cancelled == id => {
                    return Err(ReplyError::Cancelled);
                }
                Arrived::Request(WorkerRequest::Cancel { id: waiting }) => {
                    if inbox.unqueue(waiting) {
                        replies.send(&engine::cancelled_before_start(waiting))?;
                    }
                }
                Arrived::Request(WorkerRequest::Shutdown) => {
                    inbox.queue_first(WorkerRequest::Shutdown);
                    return Err(ReplyError::Cancelled);
                }
                Arrived::Request(WorkerRequest::Count { id, texts }) => engine::count(self.vocab, id, &texts, replies)?,
                Arrived::Request(WorkerRequest::Tokenize { id, texts }) => {
                    engine::tokenize(self.vocab, id, &texts, replies)?
                }
                Arrived::Request(request) => inbox.queue(request),
            }
        }
    }
}

/// Regular end of a reply.
enum StopCause {
    /// The model's own end of turn.
    Turn,
    StopSequence,
    Length,
}

/// The text of a reply on its way to the supervisor.
struct ReplyText<'a> {
    id: u64,
    filter: TextFilter,
    /// Absent if the request wants no alternatives.
    choices: Option<ChoiceLog>,
    replies: &'a ReplyWriter,
}

impl ReplyText<'_> {
    fn send(&mut self, text: String) -> Result<(), FrameError> {
        if text.is_empty() {
            return Ok(());
        }
        let id = self.id;
        let tokens = self.choices.as_mut().map(|log| log.release(&text)).unwrap_or_default();
        self.replies.send(&WorkerReply::Text { id, text })?;
        if tokens.is_empty() { Ok(()) } else { self.replies.send(&WorkerReply::Choices { id, tokens }) }
    }

    fn roll_back(&mut self, token: usize) {
        self.filter.roll_back(token);
        self.choices.iter_mut().for_each(|log| log.roll_back(token));
    }

    /// Sends the held text when the reply ends without a stop text.
    fn finish(mut self) -> Result<(), FrameError> {
        let held = std::mem::replace(&mut self.filter, TextFilter::new(&[], &[])).finish();
        self.send(held)
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
