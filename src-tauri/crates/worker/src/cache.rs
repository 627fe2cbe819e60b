//! Tracks the contents of the KV cache, and keeps caches of other chats in memory and on disk.

use std::time::SystemTime;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::{LlamaStateSeqFlags, SeqState};
use llama_cpp_2::token::LlamaToken;

use crate::disk::Disk;

/// The only KV sequence in use.
pub(crate) const SEQUENCE: i32 = 0;

/// Minimum length in tokens; evaluating a shorter prompt is cheaper than keeping its cache.
const WORTH_KEEPING: usize = 64;

/// Contents of the context's KV cache, and the caches that are not in use.
pub(crate) struct SequenceCache {
    key: String,
    tokens: Vec<LlamaToken>,
    /// The cache contains withdrawn text and must not be saved.
    withdrawn: bool,
    /// Caches of other keys, latest last.
    inactive: Vec<InactiveCache>,
    /// Maximum bytes of the caches in memory.
    budget: u64,
    disk: Option<Disk>,
}

struct InactiveCache {
    key: String,
    tokens: Vec<LlamaToken>,
    withdrawn: bool,
    state: SeqState,
    /// Time at which it was put aside.
    used: SystemTime,
}

impl InactiveCache {
    fn bytes(&self) -> u64 {
        self.state.byte_len() as u64
    }
}

impl SequenceCache {
    /// Keeps up to `budget` bytes of other caches in memory. Caches on `disk` outlive the process.
    pub(crate) fn new(budget: u64, disk: Option<Disk>) -> Self {
        Self { key: String::new(), tokens: Vec::new(), withdrawn: false, inactive: Vec::new(), budget, disk }
    }

    /// Prepares the KV cache for `prompt`: it then contains the longest cached prefix and nothing else. Returns the
    /// length of that prefix in tokens. At least the last token remains to evaluate, because a restored cache has no
    /// logits.
    pub(crate) fn open(&mut self, context: &mut LlamaContext<'_>, key: &str, prompt: &[LlamaToken]) -> usize {
        if key != self.key {
            self.switch(context, key, prompt);
        }
        let known = common(&self.tokens, prompt).min(prompt.len().saturating_sub(1));
        if known < self.tokens.len() {
            self.truncate(context, known);
        }
        self.withdrawn = false;
        self.tokens.len()
    }

    /// Records tokens that were just evaluated.
    pub(crate) fn extend(&mut self, tokens: &[LlamaToken]) {
        self.tokens.extend_from_slice(tokens);
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn clear(&mut self, context: &mut LlamaContext<'_>) {
        context.clear_kv_cache();
        self.tokens.clear();
    }

    fn truncate(&mut self, context: &mut LlamaContext<'_>, known: usize) {
        let from = u32::try_from(known).ok();
        // Recurrent models cannot remove only the end of a sequence.
        if known == 0 || context.kv_cache_seq_rm(SEQUENCE, from, None).is_err() {
            self.clear(context);
        } else {
            self.tokens.truncate(known);
        }
    }

    /// Drops the cache of `key`.
    pub(crate) fn forget(&mut self, context: &mut LlamaContext<'_>, key: &str) {
        self.inactive.retain(|aside| aside.key != key);
        if self.key == key {
            self.clear(context);
        }
    }

    /// Excludes the caches of `keys` from saving until [`SequenceCache::open`] has used each for another prompt.
    pub(crate) fn exclude_from_saving(&mut self, keys: &[String]) {
        self.withdrawn |= keys.contains(&self.key);
        for aside in &mut self.inactive {
            aside.withdrawn |= keys.contains(&aside.key);
        }
    }

    /// Saves the caches that are worth it, latest first, within the disk budget.
    pub(crate) fn save(self, context: &mut LlamaContext<'_>) {
        let Some(disk) = self.disk else { return };
        let mut room = disk.budget();
        if self.tokens.len() >= WORTH_KEEPING && !self.withdrawn {
            room -= disk.save(context, &self.key, &self.tokens, SystemTime::now(), room);
        }
        for aside in self.inactive.into_iter().rev().filter(|aside| !aside.withdrawn) {
            context.clear_kv_cache();
            if context.state_seq_set(&aside.state, SEQUENCE).is_ok() {
                room -= disk.save(context, &aside.key, &aside.tokens, aside.used, room);
            }
        }
    }

    /// Puts the current cache aside and activates that of `key`. Keeps the current one if it shares a longer prefix
    /// with `prompt` than the one in memory.
    fn switch(&mut self, context: &mut LlamaContext<'_>, key: &str, prompt: &[LlamaToken]) {
        let found = self.inactive.iter().position(|aside| aside.key == key).map(|at| self.inactive.remove(at));
        self.deactivate(context);
        key.clone_into(&mut self.key);
        let Some(found) = found else { return self.load_saved(context) };
        if common(&found.tokens, prompt) <= common(&self.tokens, prompt) {
            return;
        }
        self.clear(context);
        if context.state_seq_set(&found.state, SEQUENCE).is_ok() {
            self.tokens = found.tokens;
        } else {
            self.clear(context);
        }
    }

    /// Loads the saved cache of the current key, if there is one.
    fn load_saved(&mut self, context: &mut LlamaContext<'_>) {
        let Some(disk) = self.disk.as_ref().filter(|disk| disk.has(&self.key)) else { return };
        context.clear_kv_cache();
        self.tokens = disk.load_saved(context, &self.key).unwrap_or_default();
        if self.tokens.is_empty() {
            self.clear(context);
        }
    }

    fn deactivate(&mut self, context: &LlamaContext<'_>) {
        if self.tokens.len() < WORTH_KEEPING {
            return;
        }
        let flags = LlamaStateSeqFlags::empty();
        if context.state_seq_get_size_ext(SEQUENCE, flags) as u64 > self.budget {
            if let Some(disk) = self.disk.as_ref().filter(|_| !self.withdrawn) {
                disk.save(context, &self.key, &self.tokens, SystemTime::now(), disk.budget());
            }
            return;
        }
        let Ok(state) = context.state_seq_get(SEQUENCE, flags) else { return };
        let (key, tokens, used) = (self.key.clone(), self.tokens.clone(), SystemTime::now());
        self.inactive.push(InactiveCache { key, tokens, withdrawn: self.withdrawn, state, used });
        while self.inactive.iter().map(InactiveCache::bytes).sum::<u64>() > self.budget {
            self.inactive.remove(0);
        }
    }
}

/// Returns the length of the common prefix.
fn common(one: &[LlamaToken], other: &[LlamaToken]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}
