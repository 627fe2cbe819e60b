//! Prepares keys for searching.

pub(crate) mod fold;
pub(crate) mod key_regex;
pub(crate) mod literals;

use crate::lore::keys::key_regex::JsRegex;
use crate::lore::keys::literals::Literals;

/// The way to search for a key.
#[derive(Debug)]
pub(crate) enum Test {
    Never,
    Always,
    /// The id of a key in [`Literals`].
    Literal {
        id: u32,
        cased: bool,
        whole: bool,
    },
    /// Matches across adjacent texts, because the key contains a separator of the joined scan text.
    /// Compatible profile only.
    Joined {
        key: String,
        cased: bool,
        whole: bool,
    },
    Regex(Box<JsRegex>),
    /// Must be expanded first.
    Macro(String),
}

/// Settings that decide how the keys of an entry are parsed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyRules {
    pub(crate) compatible: bool,
    pub(crate) cased: bool,
    pub(crate) whole: bool,
    /// All keys are regular expressions, with or without slashes.
    pub(crate) patterns: bool,
}

impl KeyRules {
    pub(crate) fn read_all(self, keys: &[String], literals: &mut Literals) -> Vec<Test> {
        keys.iter().map(|key| self.read(key, literals)).collect()
    }

    /// An empty key never matches. Keys with macros are resolved per turn.
    pub(crate) fn read(self, key: &str, literals: &mut Literals) -> Test {
        if key.is_empty() {
            Test::Never
        } else if may_hold_macro(key) {
            Test::Macro(key.to_owned())
        } else {
            self.read_expanded(key, literals)
        }
    }

    pub(crate) fn read_expanded(self, key: &str, literals: &mut Literals) -> Test {
        if key.is_empty() {
            Test::Never
        } else {
            self.read_trimmed(fold::trim(key), literals)
        }
    }

    /// Like SillyTavern's scoring: neither trims nor expands the key, and an empty key always
    /// matches.
    pub(crate) fn read_for_score(self, key: &str, literals: &mut Literals) -> Test {
        self.read_trimmed(key, literals)
    }

    fn read_trimmed(self, key: &str, literals: &mut Literals) -> Test {
        if key.is_empty() {
            return if self.compatible {
                Test::Always
            } else {
                Test::Never
            };
        }
        if let Some(regex) = JsRegex::from_key(key) {
            return Test::Regex(Box::new(regex));
        }
        if self.patterns {
            let flags = if self.cased { "" } else { "i" };
            return JsRegex::new(key, flags)
                .map_or(Test::Never, |regex| Test::Regex(Box::new(regex)));
        }
        let cased = self.cased;
        let key = if cased {
            key.to_owned()
        } else {
            fold::folded(key, self.compatible).into_owned()
        };
        let whole = self.whole && !(self.compatible && key.contains(fold::is_space));
        if self.compatible && key.contains(['\n', '\u{1}']) {
            return Test::Joined { key, cased, whole };
        }
        Test::Literal {
            id: literals.add(key, cased),
            cased,
            whole,
        }
    }
}

fn may_hold_macro(key: &str) -> bool {
    key.contains("{{") || key.contains('<')
}
