//! Which tokens the KV cache holds, and the caches of other chats, put aside in memory.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::{LlamaStateSeqFlags, SeqState};
use llama_cpp_2::token::LlamaToken;

/// The one sequence that is computed on.
pub(crate) const SEQUENCE: i32 = 0;

/// Tokens below which reading anew is cheaper than keeping.
const WORTH_KEEPING: usize = 64;

/// What is in the context's KV cache.
pub(crate) struct Cache {
    key: String,
    tokens: Vec<LlamaToken>,
    /// Of other keys; the latest last.
    aside: Vec<Aside>,
    /// Bytes of caches put aside, at the most.
    budget: u64,
}

struct Aside {
    key: String,
    tokens: Vec<LlamaToken>,
    state: SeqState,
}

impl Aside {
    fn bytes(&self) -> u64 {
        self.state.byte_len() as u64
    }
}

impl Cache {
    pub(crate) fn new(budget: u64) -> Self {
        Self { key: String::new(), tokens: Vec::new(), aside: Vec::new(), budget }
    }

    /// Makes the KV cache hold as much of the beginning of `prompt` as is known, and nothing else. Returns how many
    /// tokens that is; at least the last one is left to evaluate, for the logits of a restored cache are gone.
    pub(crate) fn open(&mut self, context: &mut LlamaContext<'_>, key: &str, prompt: &[LlamaToken]) -> usize {
        if key != self.key {
            self.switch(context, key, prompt);
        }
        let known = common(&self.tokens, prompt).min(prompt.len().saturating_sub(1));
        if known < self.tokens.len() {
            self.truncate(context, known);
        }
        self.tokens.len()
    }

    /// Notes tokens that were just evaluated.
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
        // Recurrent models cannot forget the end of a sequence only.
        if known == 0 || context.kv_cache_seq_rm(SEQUENCE, from, None).is_err() {
            self.clear(context);
        } else {
            self.tokens.truncate(known);
        }
    }

    /// Puts the cache of the old key aside and takes up that of `key`, unless the old one serves `prompt` better.
    fn switch(&mut self, context: &mut LlamaContext<'_>, key: &str, prompt: &[LlamaToken]) {
        let found = self.aside.iter().position(|aside| aside.key == key).map(|at| self.aside.remove(at));
        self.put_aside(context);
        key.clone_into(&mut self.key);
        let Some(found) = found else { return };
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

    fn put_aside(&mut self, context: &LlamaContext<'_>) {
        if self.tokens.len() < WORTH_KEEPING || self.budget == 0 {
            return;
        }
        let Ok(state) = context.state_seq_get(SEQUENCE, LlamaStateSeqFlags::empty()) else { return };
        self.aside.push(Aside { key: self.key.clone(), tokens: self.tokens.clone(), state });
        while self.aside.iter().map(Aside::bytes).sum::<u64>() > self.budget {
            self.aside.remove(0);
        }
    }
}

/// Tokens that both begin with.
fn common(one: &[LlamaToken], other: &[LlamaToken]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}
