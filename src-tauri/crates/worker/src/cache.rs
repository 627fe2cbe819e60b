//! Tracks the contents of the KV cache, and keeps caches of other chats in memory and on disk.
//!
//! The context has two sequences that share its cells: one for the chat, and one for helper jobs
//! such as the question who speaks next. A job therefore does not evict the chat.

pub(crate) mod checkpoints;
pub(crate) mod disk;
mod sealed_state;
mod sequence;
mod unusable;

use std::time::SystemTime;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::{LlamaStateSeqFlags, SeqState};
use llama_cpp_2::token::LlamaToken;
use worker::saved::Part;

use self::checkpoints::{CheckpointKind, Checkpoints, INTERVAL, Rollback};
use self::disk::Disk;
use self::sequence::{Sequence, common};
use crate::picture_tokens::boundary_at;

/// The sequence of the chat. States are saved from it and restored into it.
pub(crate) const CHAT: i32 = 0;
/// The sequence of helper jobs.
const BACKGROUND: i32 = 1;
/// Number of sequences in the context.
pub(crate) const SEQUENCES: u32 = 2;

/// Minimum length in tokens; evaluating a shorter prompt is cheaper than keeping its cache.
const WORTH_KEEPING: usize = 64;

/// Contents of the context's KV cache, and the caches that are not in use.
pub(crate) struct SequenceCache {
    chat: Sequence,
    background: Sequence,
    /// The sequence in use is the background one.
    in_background: bool,
    /// Maximum tokens of a chat.
    context: usize,
    /// Caches of other keys, latest last.
    inactive: Vec<InactiveCache>,
    /// Maximum bytes of the caches and checkpoints in memory.
    budget: u64,
    disk: Option<Disk>,
}

struct InactiveCache {
    key: String,
    tokens: Vec<LlamaToken>,
    withdrawn: bool,
    state: SeqState,
    checkpoints: Checkpoints,
    /// Time at which it was put aside.
    used: SystemTime,
}

impl InactiveCache {
    fn bytes(&self) -> u64 {
        self.state.byte_len() as u64 + self.checkpoints.bytes()
    }
}

impl SequenceCache {
    /// Keeps up to `budget` bytes of other caches and of checkpoints in memory. Caches on `disk`
    /// outlive the process. A chat has at most `context` tokens.
    pub(crate) fn new(rollback: Rollback, context: u32, budget: u64, disk: Option<Disk>) -> Self {
        Self {
            chat: Sequence::new(CHAT, rollback),
            background: Sequence::new(BACKGROUND, rollback),
            in_background: false,
            context: context as usize,
            inactive: Vec::new(),
            budget,
            disk,
        }
    }

    /// Prepares the chat's sequence for `prompt`: it then contains the longest usable prefix and
    /// nothing else. Returns the length of that prefix in tokens. At least the last token remains
    /// to evaluate, because a restored cache has no logits.
    pub(crate) fn open(
        &mut self,
        context: &mut LlamaContext<'_>,
        key: &str,
        prompt: &[LlamaToken],
    ) -> usize {
        self.in_background = false;
        if self.background.tokens.len() + self.context > context.n_ctx() as usize {
            self.background.clear(context);
        }
        if key != self.chat.key {
            self.switch(context, key, prompt);
        }
        self.cut_to(context, prompt)
    }

    /// Prepares the background sequence for `prompt` and `reply` tokens after it, like
    /// [`SequenceCache::open`]. Puts the chat aside only if both do not fit.
    pub(crate) fn open_in_background(
        &mut self,
        context: &mut LlamaContext<'_>,
        key: &str,
        prompt: &[LlamaToken],
        reply: usize,
    ) -> usize {
        self.in_background = true;
        if self.chat.tokens.len() + prompt.len() + reply > context.n_ctx() as usize {
            self.deactivate(context);
            self.chat.clear(context);
            self.chat.key.clear();
        }
        if key != self.background.key {
            self.background.clear(context);
            key.clone_into(&mut self.background.key);
        }
        self.cut_to(context, prompt)
    }

    fn cut_to(&mut self, context: &mut LlamaContext<'_>, prompt: &[LlamaToken]) -> usize {
        let active = self.active_mut();
        let known = active
            .shared_with(prompt)
            .min(prompt.len().saturating_sub(1));
        active.truncate(context, boundary_at(prompt, known));
        active.withdrawn = false;
        active.tokens.len()
    }

    /// Id of the sequence in use.
    pub(crate) fn sequence(&self) -> i32 {
        self.active().id
    }

    /// Maximum tokens of a prompt and its reply.
    pub(crate) fn limit(&self) -> usize {
        self.context
    }

    /// Tokens that the sequence in use can still have, including those that it has.
    pub(crate) fn room(&self, context: &LlamaContext<'_>) -> usize {
        if self.in_background {
            (context.n_ctx() as usize)
                .saturating_sub(self.chat.tokens.len())
                .min(self.context)
        } else {
            self.context
        }
    }

    /// Records tokens that were just evaluated.
    pub(crate) fn extend(&mut self, tokens: &[LlamaToken]) {
        self.active_mut().tokens.extend_from_slice(tokens);
    }

    /// Tokens in the sequence in use.
    pub(crate) fn tokens(&self) -> &[LlamaToken] {
        &self.active().tokens
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens().len()
    }

    /// Number of positions in the sequence in use: the position of the next token.
    pub(crate) fn positions(&self) -> usize {
        self.active().positions()
    }

    /// Whether drafted tokens that the model rejects can be removed.
    pub(crate) fn can_draft(&self) -> bool {
        !self.active().needs_checkpoints()
    }

    /// Removes drafted tokens from `position` on.
    pub(crate) fn truncate(&mut self, context: &mut LlamaContext<'_>, position: usize) {
        self.active_mut().truncate(context, position);
    }

    /// Drops everything, because the contents are undefined after a failed computation.
    pub(crate) fn clear(&mut self, context: &mut LlamaContext<'_>) {
        context.clear_kv_cache();
        self.chat.clear(context);
        self.background.clear(context);
    }

    /// Whether the end is a position at which a long text gets a checkpoint.
    pub(crate) fn is_checkpoint_due(&self) -> bool {
        self.len().is_multiple_of(INTERVAL)
    }

    /// Next position at which a long text gets a checkpoint; `None` if the model needs none.
    pub(crate) fn next_checkpoint(&self) -> Option<usize> {
        self.active()
            .needs_checkpoints()
            .then(|| (self.len() / INTERVAL + 1) * INTERVAL)
    }

    /// Adds a checkpoint at the end of the sequence in use, if the model needs one.
    pub(crate) fn checkpoint(&mut self, context: &LlamaContext<'_>, kind: CheckpointKind) {
        let budget = self.budget / 2;
        self.active_mut().checkpoint(context, kind, budget);
        self.enforce_budget();
    }

    /// Drops the cache of `key`.
    pub(crate) fn forget(&mut self, context: &mut LlamaContext<'_>, key: &str) {
        self.inactive.retain(|aside| aside.key != key);
        for sequence in [&mut self.chat, &mut self.background] {
            if sequence.key == key {
                sequence.clear(context);
            }
        }
    }

    /// Excludes the caches of `keys` from saving until [`SequenceCache::open`] has used each for
    /// another prompt.
    pub(crate) fn exclude_from_saving(&mut self, keys: &[String]) {
        self.chat.withdrawn |= keys.contains(&self.chat.key);
        for aside in &mut self.inactive {
            aside.withdrawn |= keys.contains(&aside.key);
        }
    }

    /// Saves the caches that are worth it, latest first, within the disk budget.
    pub(crate) fn save(mut self, context: &mut LlamaContext<'_>) {
        let Some(disk) = self.disk.take() else { return };
        let mut room = disk.budget();
        self.background.clear(context);
        if self.chat.tokens.len() >= WORTH_KEEPING && !self.chat.withdrawn {
            room -= save(&disk, context, &mut self.chat, SystemTime::now(), room);
        }
        while let Some(aside) = self.inactive.pop() {
            let used = aside.used;
            if !aside.withdrawn && self.activate(context, aside) {
                room -= save(&disk, context, &mut self.chat, used, room);
            }
        }
    }

    fn active(&self) -> &Sequence {
        if self.in_background {
            &self.background
        } else {
            &self.chat
        }
    }

    fn active_mut(&mut self) -> &mut Sequence {
        if self.in_background {
            &mut self.background
        } else {
            &mut self.chat
        }
    }

    /// Puts the current cache aside and activates that of `key`. Keeps the current one if it shares
    /// a longer prefix with `prompt` than the one in memory.
    fn switch(&mut self, context: &mut LlamaContext<'_>, key: &str, prompt: &[LlamaToken]) {
        let found = self
            .inactive
            .iter()
            .position(|aside| aside.key == key)
            .map(|at| self.inactive.remove(at));
        self.deactivate(context);
        key.clone_into(&mut self.chat.key);
        match found {
            None => self.load_saved(context, prompt),
            Some(found) if common(&found.tokens, prompt) > self.chat.shared_with(prompt) => {
                self.activate(context, found);
            }
            Some(_) => {}
        }
    }

    /// Replaces the chat's sequence. Returns false if llama.cpp rejects the state; the sequence is
    /// then empty.
    fn activate(&mut self, context: &mut LlamaContext<'_>, found: InactiveCache) -> bool {
        self.chat.clear(context);
        self.chat.key = found.key;
        if context.state_seq_set(&found.state, CHAT).is_err() {
            self.chat.clear(context);
            return false;
        }
        (self.chat.tokens, self.chat.checkpoints) = (found.tokens, found.checkpoints);
        true
    }

    /// Loads the saved cache of the current key, if there is one. If the model cannot go back from
    /// its end to the start of `prompt`, loads the part of it that was saved for this case.
    fn load_saved(&mut self, context: &mut LlamaContext<'_>, prompt: &[LlamaToken]) {
        let Some(disk) = self.disk.take() else { return };
        for part in Part::ALL {
            if !disk.has(&self.chat.key, part) {
                continue;
            }
            self.chat.clear(context);
            self.chat.tokens = disk
                .load_saved(context, &self.chat.key, part)
                .unwrap_or_default();
            if self.chat.tokens.is_empty() {
                self.chat.clear(context);
                continue;
            }
            self.chat
                .checkpoint(context, CheckpointKind::Message, self.budget / 2);
            if !self.chat.needs_checkpoints()
                || self.chat.shared_with(prompt) == self.chat.tokens.len()
            {
                break;
            }
        }
        self.disk = Some(disk);
    }

    /// Puts a copy of the chat's cache aside.
    fn deactivate(&mut self, context: &mut LlamaContext<'_>) {
        if self.chat.tokens.len() < WORTH_KEEPING {
            return;
        }
        let flags = LlamaStateSeqFlags::empty();
        if context.state_seq_get_size_ext(CHAT, flags) as u64 > self.budget {
            if let Some(disk) = self.disk.as_ref().filter(|_| !self.chat.withdrawn) {
                let room = disk.budget();
                let bytes = disk.save(
                    context,
                    &self.chat.key,
                    Part::Whole,
                    &self.chat.tokens,
                    SystemTime::now(),
                    room,
                );
                save_earlier(
                    disk,
                    context,
                    &mut self.chat,
                    SystemTime::now(),
                    room - bytes,
                );
            }
            return;
        }
        let Ok(state) = context.state_seq_get(CHAT, flags) else {
            return;
        };
        let (key, tokens, used) = (
            self.chat.key.clone(),
            self.chat.tokens.clone(),
            SystemTime::now(),
        );
        let (withdrawn, checkpoints) = (self.chat.withdrawn, self.chat.checkpoints.clone());
        self.inactive.push(InactiveCache {
            key,
            tokens,
            withdrawn,
            state,
            checkpoints,
            used,
        });
        self.enforce_budget();
    }

    /// Drops first the checkpoints of the least recently used caches, then the caches.
    fn enforce_budget(&mut self) {
        let active = self.chat.checkpoints.bytes() + self.background.checkpoints.bytes();
        let room = self.budget.saturating_sub(active);
        let total = |caches: &[InactiveCache]| caches.iter().map(InactiveCache::bytes).sum::<u64>();
        while total(&self.inactive) > room {
            match self
                .inactive
                .iter_mut()
                .find(|aside| !aside.checkpoints.is_empty())
            {
                Some(aside) => aside.checkpoints.clear(),
                None => drop(self.inactive.remove(0)),
            }
        }
    }
}

/// Saves the whole sequence, and an earlier part of it if the model cannot go back. Returns the
/// bytes used.
fn save(
    disk: &Disk,
    context: &mut LlamaContext<'_>,
    chat: &mut Sequence,
    used: SystemTime,
    room: u64,
) -> u64 {
    let bytes = disk.save(context, &chat.key, Part::Whole, &chat.tokens, used, room);
    bytes + save_earlier(disk, context, chat, used, room - bytes)
}

/// Goes back to the latest checkpoint before the end and saves that part. It serves a swipe after a
/// restart.
fn save_earlier(
    disk: &Disk,
    context: &mut LlamaContext<'_>,
    chat: &mut Sequence,
    used: SystemTime,
    room: u64,
) -> u64 {
    let Some(position) = chat.checkpoints.latest_message_before(chat.tokens.len()) else {
        return 0;
    };
    chat.truncate(context, position);
    if chat.tokens.is_empty() {
        0
    } else {
        disk.save(context, &chat.key, Part::Earlier, &chat.tokens, used, room)
    }
}
