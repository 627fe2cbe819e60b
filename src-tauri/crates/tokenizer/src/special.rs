//! Special tokens, which are matched before all others: control tokens in control text,
//! user-defined ones everywhere.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;

use crate::vocabulary::{TokenKind, Vocabulary};

/// Texts that llama.cpp always treats as control tokens (`llama_vocab::impl::load`).
const CONTROL: &[&str] = &[
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "<｜end▁of▁sentence｜>",
    "<end_of_utterance>",
    "<|eom_id|>",
    "<|fim_prefix|>",
    "<fim-prefix>",
    "<fim_prefix>",
    "<｜fim▁begin｜>",
    "<PRE>",
    "▁<PRE>",
    "<|code_prefix|>",
    "<|prefix|>",
    "<|fim_suffix|>",
    "<fim-suffix>",
    "<fim_suffix>",
    "<｜fim▁hole｜>",
    "<SUF>",
    "▁<SUF>",
    "<|code_suffix|>",
    "<|suffix|>",
    "<|fim_middle|>",
    "<fim-middle>",
    "<fim_middle>",
    "<｜fim▁end｜>",
    "<MID>",
    "▁<MID>",
    "<|code_middle|>",
    "<|middle|>",
    "<|fim_pad|>",
    "<fim-pad>",
    "<fim_pad>",
    "<PAD>",
    "[PAD]",
    "<|fim_repo|>",
    "<|repo_name|>",
    "<fim-repo>",
    "<REPO>",
    "<reponame>",
    "<|file_sep|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "</s>",
    "[EOS]",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "[e~[",
];
/// Texts that llama.cpp always treats as user-defined tokens.
const USER_DEFINED: &[&str] = &["<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"];

struct SpecialToken {
    id: u32,
    text: Box<str>,
    /// Not matched in contents.
    control: bool,
    /// Looks like markup. In contents it is split in two, so that no text can inject a role into a
    /// prompt.
    mark: bool,
}

/// All special tokens of a vocabulary, longest first.
#[derive(Default)]
pub(super) struct SpecialTokens {
    all: Vec<SpecialToken>,
    /// Finds all special tokens of a text in one pass, because some vocabularies have thousands.
    /// `None` if there are none.
    in_control: Option<AhoCorasick>,
    in_contents: Option<AhoCorasick>,
}

/// A part of a text: plain text or a special token.
pub(super) enum SpecialSplit<'t> {
    Text(&'t str),
    Token(u32),
}

impl SpecialTokens {
    pub(super) fn of(vocabulary: &Vocabulary) -> Self {
        let tokens = vocabulary.tokens.iter().zip(&vocabulary.kinds).zip(0..);
        let mut all: Vec<SpecialToken> = tokens
            .filter(|((text, _), _)| !text.is_empty())
            .filter_map(|((text, kind), id)| special(text, *kind, id))
            .collect();
        all.sort_by_key(|special| std::cmp::Reverse(special.text.len()));
        let finder = |wanted: fn(&SpecialToken) -> bool| {
            // Unwanted entries get an empty pattern to keep the indexes; `present` skips those.
            let patterns = all
                .iter()
                .map(|special| if wanted(special) { &special.text } else { "" });
            all.iter()
                .any(wanted)
                .then(|| AhoCorasick::new(patterns).ok())
                .flatten()
        };
        Self {
            in_control: finder(|_| true),
            in_contents: finder(|special| !special.control),
            all,
        }
    }

    /// Returns the texts of the control tokens and of markup-like tokens.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.all
            .iter()
            .filter(|special| special.control || special.mark)
            .map(|special| &*special.text)
    }

    /// Splits control text at every special token.
    pub(super) fn control<'t>(&self, text: &'t str) -> Vec<SpecialSplit<'t>> {
        self.cut(self.in_control.as_ref(), text)
    }

    /// Splits contents at user-defined tokens. Those that look like markup are split after their
    /// first character, and the text on either side is tokenized separately.
    pub(super) fn contents<'t>(&self, text: &'t str) -> Vec<Vec<SpecialSplit<'t>>> {
        let whole = self.cut(self.in_contents.as_ref(), text);
        let mark = |part: &SpecialSplit<'_>| match part {
            SpecialSplit::Token(id) => self
                .all
                .iter()
                .any(|special| special.id == *id && special.mark),
            SpecialSplit::Text(_) => false,
        };
        if !whole.iter().any(mark) {
            return vec![whole];
        }
        let marks: Vec<&str> = self
            .all
            .iter()
            .filter(|special| special.mark)
            .map(|special| &*special.text)
            .collect();
        let mut texts = Vec::new();
        let mut rest = text;
        while let Some(at) = marks.iter().filter_map(|mark| rest.find(mark)).min() {
            let (head, tail) = rest.split_at(at + 1);
            texts.push(self.cut(self.in_contents.as_ref(), head));
            rest = tail;
        }
        texts.push(self.cut(self.in_contents.as_ref(), rest));
        texts
    }

    fn cut<'t>(&self, finder: Option<&AhoCorasick>, text: &'t str) -> Vec<SpecialSplit<'t>> {
        let mut parts = if text.is_empty() {
            Vec::new()
        } else {
            vec![SpecialSplit::Text(text)]
        };
        for at in finder
            .map(|finder| present(finder, text))
            .unwrap_or_default()
        {
            parts = parts
                .into_iter()
                .flat_map(|part| self.all[at].cut(part))
                .collect();
        }
        parts
    }
}

/// Returns the indexes of the patterns that occur in `text`, in order.
fn present(finder: &AhoCorasick, text: &str) -> BTreeSet<usize> {
    let found = finder
        .find_overlapping_iter(text)
        .filter(|found| !found.is_empty());
    found.map(|found| found.pattern().as_usize()).collect()
}

fn special(text: &str, kind: TokenKind, id: u32) -> Option<SpecialToken> {
    let user_defined = kind == TokenKind::UserDefined || USER_DEFINED.contains(&text);
    let looks_like_control = CONTROL.contains(&text);
    let control = match kind {
        TokenKind::Control | TokenKind::Unknown => !USER_DEFINED.contains(&text),
        _ if looks_like_control => true,
        _ if user_defined => false,
        _ => return None,
    };
    let mark = user_defined && text.len() > 2 && text.starts_with('<') && text.ends_with('>');
    Some(SpecialToken {
        id,
        text: text.into(),
        control,
        mark,
    })
}

impl SpecialToken {
    fn cut<'t>(&self, part: SpecialSplit<'t>) -> Vec<SpecialSplit<'t>> {
        let SpecialSplit::Text(mut rest) = part else {
            return vec![part];
        };
        let mut parts = Vec::new();
        while let Some(at) = rest.find(&*self.text) {
            if at > 0 {
                parts.push(SpecialSplit::Text(&rest[..at]));
            }
            parts.push(SpecialSplit::Token(self.id));
            rest = &rest[at + self.text.len()..];
        }
        if !rest.is_empty() {
            parts.push(SpecialSplit::Text(rest));
        }
        parts
    }
}
