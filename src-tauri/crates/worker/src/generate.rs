//! Generates one reply: evaluates the new part of the prompt, then samples tokens, checking the
//! inbox at every step.

use std::time::{Duration, Instant};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::token::LlamaToken;
use worker::frame::FrameError;
use worker::protocol::{Done, ErrorCode, FinishReason, Generate, Timings, Usage, WorkerReply};
use worker::token_rules::TokenAlternative;

use crate::cache::SequenceCache;
use crate::cache::checkpoints::{CheckpointKind, REPLY_INTERVAL};
use crate::chunk::ChunkSize;
use crate::generate::pictures::check_end;
use crate::inbox::{Inbox, ReplyWriter};
use crate::projector::Projector;
use crate::reply::draft::{Drafter, is_near_tie};
use crate::reply::reply_text::ReplyText;
use crate::reply::sampler::{GrammarError, TokenSampler};
use crate::reply::text_filter::{Found, Released};
use crate::reply::token_choices::Probabilities;
use crate::vocab::{TokenizedPrompt, Vocab};

/// A loaded model with its context.
pub(crate) struct GenerationSession<'model> {
    vocab: &'model Vocab<'model>,
    context: LlamaContext<'model>,
    cache: SequenceCache,
    chunk: ChunkSize,
    /// Drafts text from the context; `None` if that is off, or if the model cannot remove wrong
    /// drafts.
    drafter: Option<Drafter>,
    /// Reads pictures, if the model is loaded with a file for it.
    projector: Option<Projector>,
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
        chunk: ChunkSize,
        drafts: bool,
    ) -> Self {
        let drafter = (drafts && cache.can_draft()).then(Drafter::default);
        Self {
            vocab,
            context,
            cache,
            chunk,
            drafter,
            projector: None,
        }
    }

    /// Lets the session read pictures.
    pub(crate) fn with_projector(self, projector: Option<Projector>) -> Self {
        Self { projector, ..self }
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
                return replies.send(&WorkerReply::Error {
                    id: Some(id),
                    code,
                    message,
                });
            }
        };
        let ReplyProgress { usage, timings } = progress;
        replies.send(&WorkerReply::Done(Done {
            id,
            reason,
            usage,
            timings,
        }))
    }

    /// Ends the session and saves its caches if there is a folder for them.
    pub(crate) fn save(self) {
        let Self {
            mut context, cache, ..
        } = self;
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
        let pictures = self.placed_pictures(request)?;
        let prompt = self.vocab.prompt(&request.segments, pictures);
        self.check_size(prompt.tokens.len())?;
        check_end(&prompt)?;
        // An invalid grammar is reported before the prompt is evaluated.
        let drawn = TokenSampler::new(request, self.vocab, &prompt.tokens)?;
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
        let room = self.cache.limit();
        if tokens == 0 {
            return Err(ReplyError::Failed(
                ErrorCode::Empty,
                "the prompt has no tokens".to_owned(),
            ));
        }
        // The reply needs room for at least one token.
        if tokens >= room {
            let message = format!(
                "the prompt has {tokens} tokens, but the context holds {room} including the reply"
            );
            return Err(ReplyError::Failed(ErrorCode::ContextOverflow, message));
        }
        Ok(())
    }

    /// Prompt processing: evaluates the tokens that are not cached.
    fn read(
        &mut self,
        request: &Generate,
        prompt: &TokenizedPrompt,
        progress: &mut ReplyProgress,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<(), ReplyError> {
        let (id, total) = (request.id, prompt.tokens.len() as u32);
        let reused = self.open(request, &prompt.tokens) as u32;
        let boundaries = prompt.message_boundaries();
        progress.usage = Usage {
            prompt: total,
            reused,
            ..Usage::default()
        };
        replies.send(&WorkerReply::Prefill {
            id,
            done: reused,
            total,
            reused,
        })?;
        while self.cache.len() < prompt.tokens.len() {
            self.check_inbox(id, inbox, replies)?;
            let start = self.cache.len();
            match prompt.picture_at(start) {
                Some(picture) => {
                    self.read_picture(request, (prompt, picture), progress.usage, inbox, replies)?
                }
                None => {
                    let stop = self.next_stop(prompt.end_of_text(start), &boundaries);
                    let clock = Instant::now();
                    self.evaluate(&prompt.tokens[start..stop], LogitsOf::Last)?;
                    self.chunk.record(stop - start, clock.elapsed());
                }
            }
            let stop = self.cache.len();
            if boundaries.contains(&stop) {
                self.cache
                    .checkpoint(&self.context, CheckpointKind::Message);
            } else if self.cache.is_checkpoint_due() {
                self.cache
                    .checkpoint(&self.context, CheckpointKind::Passing);
            }
            progress.usage.evaluated += (stop - start) as u32;
            replies.send(&WorkerReply::Prefill {
                id,
                done: reused + progress.usage.evaluated,
                total,
                reused,
            })?;
        }
        Ok(())
    }

    /// Prepares the cache for the prompt and returns the number of tokens that need not be
    /// evaluated.
    fn open(&mut self, request: &Generate, prompt: &[LlamaToken]) -> usize {
        if request.background {
            let reply = request.max_tokens as usize;
            self.cache
                .open_in_background(&mut self.context, &request.cache_key, prompt, reply)
        } else {
            self.cache
                .open(&mut self.context, &request.cache_key, prompt)
        }
    }

    /// Returns the end of the next batch: at most one chunk, up to the next checkpoint.
    fn next_stop(&self, end: usize, boundaries: &[usize]) -> usize {
        let start = self.cache.len();
        let stop = (start + self.chunk.tokens()).min(end);
        let Some(passing) = self.cache.next_checkpoint() else {
            return stop;
        };
        let boundary = boundaries
            .iter()
            .copied()
            .find(|boundary| *boundary > start)
            .unwrap_or(end);
        stop.min(boundary).min(passing)
    }

    fn write(
        &mut self,
        request: &Generate,
        prompt: &TokenizedPrompt,
        drawn: TokenSampler<'_>,
        progress: &mut ReplyProgress,
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<FinishReason, ReplyError> {
        let mut text = ReplyText::new(request, replies);
        let ended = self.generate(request, prompt, drawn, &mut text, progress, inbox);
        match &ended {
            Err(ReplyError::Closed | ReplyError::Pipe(_)) => {}
            // The held text is the stop text.
            Ok(StopCause::StopSequence) => text.flush()?,
            _ => text.finish()?,
        }
        // The next turn continues here.
        self.cache
            .checkpoint(&self.context, CheckpointKind::Message);
        Ok(match ended? {
            StopCause::StopSequence | StopCause::Turn => FinishReason::Stop,
            StopCause::Length => FinishReason::Length,
        })
    }

    /// Samples tokens until the reply ends. The tokens stay in the cache for the next turn.
    fn generate(
        &mut self,
        request: &Generate,
        prompt: &TokenizedPrompt,
        drawn: TokenSampler<'_>,
        text: &mut ReplyText<'_>,
        progress: &mut ReplyProgress,
        inbox: &mut Inbox,
    ) -> Result<StopCause, ReplyError> {
        let mut known = self.cache.len();
        let ended = self.generate_from(&mut known, request, prompt, drawn, text, progress, inbox);
        // The rest of a draft is not part of the reply.
        self.cache.truncate(&mut self.context, known);
        ended
    }

    /// `known` is the number of tokens in the cache that belong to the prompt or the reply; a draft
    /// may follow them.
    #[expect(clippy::too_many_arguments, reason = "the parts of one running reply")]
    fn generate_from(
        &mut self,
        known: &mut usize,
        request: &Generate,
        prompt: &TokenizedPrompt,
        mut drawn: TokenSampler<'_>,
        text: &mut ReplyText<'_>,
        progress: &mut ReplyProgress,
        inbox: &mut Inbox,
    ) -> Result<StopCause, ReplyError> {
        let is_greedy = request.sampling.temperature <= 0.0;
        let (mut logits_at, mut batch_time) = (LAST, Duration::ZERO);
        loop {
            self.check_inbox(request.id, inbox, text.replies)?;
            let room = self.cache.room(&self.context);
            if progress.usage.generated >= request.max_tokens || *known >= room {
                return Ok(StopCause::Length);
            }
            if logits_at != LAST && is_greedy && is_near_tie(self.context.get_logits_ith(logits_at))
            {
                self.record_draft(logits_at, batch_time);
                text.send_due(Instant::now())?;
                self.evaluate_alone(*known)?;
                logits_at = LAST;
            }
            let token = drawn.next(&self.context, logits_at)?;
            if self.vocab.ends_reply(token) {
                return Ok(StopCause::Turn);
            }
            progress.usage.generated += 1;
            match self.release(request, token, logits_at, &mut drawn, text) {
                None => {}
                Some(Found::Stop) => return Ok(StopCause::StopSequence),
                Some(Found::Banned { token: place }) => {
                    let Some(reply) = drawn.roll_back(place)? else {
                        return Ok(StopCause::StopSequence);
                    };
                    text.roll_back(place);
                    text.flush()?;
                    progress.usage.generated = place as u32;
                    self.return_to(request, prompt, reply, inbox, text.replies)?;
                    (*known, logits_at) = (self.cache.len(), LAST);
                    continue;
                }
            }
            if self.cache.tokens().get(*known) == Some(&token) {
                // The draft was right, so its logits are those of the reply.
                *known += 1;
                logits_at += 1;
                continue;
            }
            if logits_at != LAST {
                self.record_draft(logits_at, batch_time);
                self.cache.truncate(&mut self.context, *known);
            }
            let most = (request.max_tokens - progress.usage.generated) as usize;
            let draft = self.draft(token, most.min(room - *known - 1));
            text.send_due(Instant::now())?;
            let clock = Instant::now();
            self.evaluate(&[&[token][..], &draft].concat(), LogitsOf::All)?;
            batch_time = clock.elapsed();
            logits_at = if draft.is_empty() { LAST } else { 0 };
            if let (Some(drafter), LAST) = (&mut self.drafter, logits_at) {
                drafter.record_token(batch_time);
            }
            *known += 1;
            if known.is_multiple_of(REPLY_INTERVAL) {
                self.cache
                    .checkpoint(&self.context, CheckpointKind::Passing);
            }
        }
    }

    /// Adds the text that `token`, sampled from the logits at index `at`, makes final. Returns the
    /// text that it completed and that must not be sent.
    fn release(
        &self,
        request: &Generate,
        token: LlamaToken,
        at: i32,
        drawn: &mut TokenSampler<'_>,
        text: &mut ReplyText<'_>,
    ) -> Option<Found> {
        let piece = self.vocab.piece(token);
        if let Some(log) = &mut text.choices {
            let logits = self.context.get_logits_ith(at);
            let seen = Probabilities::of(logits, token.0 as usize, request.rules.alternatives);
            log.push(&piece, seen.logprob, self.alternatives(&seen));
        }
        let Released {
            text: released,
            found,
        } = text.filter.push(&piece);
        drawn.record_text(&released);
        text.push(&released);
        found
    }

    /// Removes everything after the prompt and `reply` from the cache, and provides the logits of
    /// the last token.
    fn return_to(
        &mut self,
        request: &Generate,
        prompt: &TokenizedPrompt,
        reply: &[LlamaToken],
        inbox: &mut Inbox,
        replies: &ReplyWriter,
    ) -> Result<(), ReplyError> {
        let tokens = [&prompt.tokens, reply].concat();
        self.open(request, &tokens);
        while self.cache.len() < tokens.len() {
            self.check_inbox(request.id, inbox, replies)?;
            let start = self.cache.len();
            if let Some(picture) = prompt.picture_at(start) {
                self.read_picture(request, (prompt, picture), Usage::default(), inbox, replies)?;
                continue;
            }
            let end = if start < prompt.tokens.len() {
                prompt.end_of_text(start)
            } else {
                tokens.len()
            };
            self.evaluate(
                &tokens[start..end.min(start + self.chunk.tokens())],
                LogitsOf::Last,
            )?;
        }
        Ok(())
    }

    /// The alternatives with their texts. Tokens that are only a part of a character, or no text,
    /// are left out.
    fn alternatives(&self, seen: &Probabilities) -> Vec<TokenAlternative> {
        let text = |(token, logprob): &(usize, f32)| {
            let text = String::from_utf8(self.vocab.piece(LlamaToken(*token as i32))).ok()?;
            (!text.is_empty()).then_some(TokenAlternative {
                text,
                logprob: *logprob,
            })
        };
        seen.likeliest.iter().filter_map(text).collect()
    }

    /// Evaluates the last of `known` tokens again without a draft behind it.
    fn evaluate_alone(&mut self, known: usize) -> Result<(), ReplyError> {
        let last = self.cache.tokens()[known - 1];
        self.cache.truncate(&mut self.context, known - 1);
        self.evaluate(&[last], LogitsOf::Last)
    }

    /// Drafts up to `most` tokens after `token`.
    fn draft(&mut self, token: LlamaToken, most: usize) -> Vec<LlamaToken> {
        let Some(drafter) = &mut self.drafter else {
            return Vec::new();
        };
        drafter.draft(&[self.cache.tokens(), &[token]].concat(), most)
    }

    /// Records a draft of which the first `accepted` tokens were right.
    fn record_draft(&mut self, accepted: i32, time: Duration) {
        if let Some(drafter) = &mut self.drafter {
            drafter.record_draft(accepted.unsigned_abs(), time);
        }
    }

    /// Evaluates tokens at the end of the sequence and provides their logits.
    fn evaluate(&mut self, tokens: &[LlamaToken], logits: LogitsOf) -> Result<(), ReplyError> {
        let mut batch = LlamaBatch::new(tokens.len(), 1);
        let first = self.cache.positions();
        for (offset, token) in tokens.iter().enumerate() {
            let position = (first + offset) as i32;
            let logits = logits == LogitsOf::All || offset + 1 == tokens.len();
            let added = batch.add(*token, position, &[self.cache.sequence()], logits);
            added.map_err(|error| ReplyError::Failed(ErrorCode::Compute, error.to_string()))?;
        }
        match self.context.decode(&mut batch) {
            Ok(()) => self.cache.extend(tokens),
            Err(error) => {
                // After a failure the contents of the KV cache are undefined.
                self.cache.clear(&mut self.context);
                return Err(ReplyError::Failed(
                    ErrorCode::Compute,
                    format!("llama.cpp failed to compute: {error}"),
                ));
            }
        }
        Ok(())
    }
}

/// Index of the logits of the last token in a batch.
const LAST: i32 = -1;

/// Tokens of a batch that get logits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LogitsOf {
    Last,
    All,
}

/// Regular end of a reply.
enum StopCause {
    /// The model's own end of turn.
    Turn,
    StopSequence,
    Length,
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

mod pictures;
mod requests;

#[cfg(test)]
mod architectures;
