//! State of one expansion: the scope, the variables, the report and the size limit.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::scope::{CardValues, MacroScope};
use super::state::MacroState;

/// Maximum number of bytes that macros may insert during one expansion, inner results included.
pub const MAX_INSERTED: usize = 8 << 20;

/// A text with its macros resolved, and a report about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expanded {
    pub text: String,
    /// Macros that stayed as text, each once, in order of appearance.
    pub unknown: Vec<String>,
    /// Macros that have no value here and were replaced by nothing, each once, in order of
    /// appearance.
    pub absent: Vec<String>,
    /// Contents of `{{hidden_key:x}}`: not in the text, but matched by lorebook keys.
    pub hidden_keys: Vec<String>,
    /// Contents of `{{banned::x}}`: strings that the reply must not contain.
    pub banned: Vec<String>,
    /// A macro ran whose result differs from turn to turn, so the text would invalidate the cache
    /// in the head of a prompt.
    pub volatile: bool,
    /// A limit was reached, and some values were dropped.
    pub cut: bool,
}

/// Resolves the macros of a text that a macro inserts. The evaluator supplies it, so that the
/// functions of the macro library do not depend on the evaluator.
pub(super) type ExpandInner = fn(&mut MacroRun<'_>, &str, &MacroScope<'_>) -> String;

/// State that the functions of the macro library read and change.
pub(super) struct MacroRun<'e> {
    pub(super) source: &'e str,
    pub(super) scope: &'e MacroScope<'e>,
    pub(super) state: &'e mut MacroState,
    /// Variables that exist for this expansion only.
    pub(super) temporary: BTreeMap<String, String>,
    pub(super) found: Expanded,
    /// Number of random draws so far.
    pub(super) draws: u64,
    /// Number of bytes that macros have inserted.
    pub(super) inserted: usize,
    digest: Option<[u8; 32]>,
    original_given: bool,
    expand_inner: ExpandInner,
}

impl<'e> MacroRun<'e> {
    pub(super) fn new(
        source: &'e str,
        scope: &'e MacroScope<'e>,
        state: &'e mut MacroState,
        expand_inner: ExpandInner,
    ) -> Self {
        Self {
            source,
            scope,
            state,
            temporary: BTreeMap::new(),
            found: Expanded::default(),
            draws: 0,
            inserted: 0,
            digest: None,
            original_given: false,
            expand_inner,
        }
    }

    /// Adds `bytes` to the size of the output. Returns `false` if the limit is exceeded; later
    /// calls with bytes fail too.
    pub(super) fn charge(&mut self, bytes: usize) -> bool {
        let fits = bytes <= MAX_INSERTED - self.inserted;
        self.inserted = if fits {
            self.inserted + bytes
        } else {
            MAX_INSERTED
        };
        self.found.cut |= !fits;
        fits
    }

    /// The value of `{{original}}` at its first use. Later uses are empty, because a second copy
    /// would repeat the whole prompt.
    pub(super) fn original(&mut self) -> String {
        if std::mem::replace(&mut self.original_given, true) {
            return String::new();
        }
        let scope = MacroScope {
            original: None,
            ..*self.scope
        };
        let text = self.scope.original.unwrap_or_default();
        (self.expand_inner)(self, text, &scope)
    }

    /// A text of the card. Macros for card texts are empty inside it, so no text can include
    /// itself.
    pub(super) fn card_text(&mut self, text: &str) -> String {
        let scope = MacroScope {
            card: CardValues::default(),
            original: None,
            ..*self.scope
        };
        (self.expand_inner)(self, text, &scope)
    }

    /// Digest of the text, mixed into random results so that different texts give different
    /// results.
    pub(super) fn text_digest(&mut self) -> [u8; 32] {
        *self
            .digest
            .get_or_insert_with(|| Sha256::digest(self.source).into())
    }
}

/// Maximum nesting depth of macros and blocks. Deeper ones stay as text.
pub const MAX_DEPTH: usize = 64;
