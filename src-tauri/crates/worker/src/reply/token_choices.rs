//! Records the probabilities of generated tokens, and reports them together with the released text.

use std::collections::VecDeque;

use worker::token_rules::{MAX_ALTERNATIVES, TokenAlternative, TokenChoice};

/// Distance of a logit from the highest one at which 300,000 tokens together have a probability
/// below one in a million.
const NEGLIGIBLE: f32 = -27.0;

/// The probabilities at one place of a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Probabilities {
    /// Natural logarithm of the probability of the sampled token.
    pub(crate) logprob: f32,
    /// The likeliest tokens, by index in the vocabulary.
    pub(crate) likeliest: Vec<(usize, f32)>,
}

impl Probabilities {
    /// Reads the model's own probabilities from the logits of the whole vocabulary.
    pub(crate) fn of(logits: &[f32], sampled: usize, alternatives: u32) -> Self {
        let most = alternatives.min(MAX_ALTERNATIVES) as usize;
        let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        // 64 bits, because a large vocabulary has many small terms. The smallest ones do not change
        // the sum.
        let terms = logits
            .iter()
            .map(|logit| logit - highest)
            .filter(|distance| *distance > NEGLIGIBLE);
        let sum: f64 = terms.map(|distance| f64::from(distance).exp()).sum();
        let logprob = |logit: f32| (f64::from(logit - highest) - sum.ln()) as f32;
        let mut likeliest: Vec<(usize, f32)> = Vec::with_capacity(most + 1);
        for (token, &logit) in logits.iter().enumerate() {
            if likeliest.len() == most
                && likeliest.last().is_none_or(|(_, lowest)| logit <= *lowest)
            {
                continue;
            }
            let at = likeliest.partition_point(|(_, other)| *other >= logit);
            likeliest.insert(at, (token, logit));
            likeliest.truncate(most);
        }
        let likeliest = likeliest
            .into_iter()
            .map(|(token, logit)| (token, logprob(logit)));
        Self {
            logprob: logits
                .get(sampled)
                .map_or(f32::MIN, |logit| logprob(*logit))
                .max(f32::MIN),
            likeliest: likeliest
                .filter(|(_, logprob)| logprob.is_finite())
                .collect(),
        }
    }
}

/// Tokens whose text is not released yet.
#[derive(Default)]
pub(crate) struct ChoiceLog {
    waiting: VecDeque<Waiting>,
    /// Bytes of the last token that end within a character.
    open: Vec<u8>,
    /// Number of tokens so far.
    tokens: usize,
    /// Bytes of released text that no reported token covers yet.
    released: usize,
}

struct Waiting {
    /// Number of its first token.
    first: usize,
    choice: TokenChoice,
}

impl ChoiceLog {
    /// Records a token. Tokens that share a character form one entry, with the probabilities of the
    /// first one.
    pub(crate) fn push(&mut self, piece: &[u8], logprob: f32, alternatives: Vec<TokenAlternative>) {
        let continues = !self.open.is_empty();
        self.open.extend_from_slice(piece);
        if !continues {
            let choice = TokenChoice {
                text: String::new(),
                logprob,
                alternatives,
            };
            self.waiting.push_back(Waiting {
                first: self.tokens,
                choice,
            });
        }
        self.tokens += 1;
        let unfinished = std::str::from_utf8(&self.open).is_err_and(|error| {
            // An error in the middle is not repaired by further bytes.
            error.error_len().is_none()
        });
        if unfinished {
            return;
        }
        let text = String::from_utf8_lossy(&self.open).into_owned();
        self.open.clear();
        if let Some(last) = self.waiting.back_mut() {
            last.choice.text = text;
        }
    }

    /// Returns the tokens whose text is completely released.
    pub(crate) fn release(&mut self, text: &str) -> Vec<TokenChoice> {
        self.released += text.len();
        let mut tokens = Vec::new();
        let finished = |waiting: &VecDeque<Waiting>, open: bool| waiting.len() > usize::from(open);
        while finished(&self.waiting, !self.open.is_empty()) {
            let Some(next) = self
                .waiting
                .pop_front_if(|next| next.choice.text.len() <= self.released)
            else {
                break;
            };
            self.released -= next.choice.text.len();
            if !next.choice.text.is_empty() {
                tokens.push(next.choice);
            }
        }
        tokens
    }

    /// Drops `token` and all later tokens.
    pub(crate) fn roll_back(&mut self, token: usize) {
        self.waiting.retain(|waiting| waiting.first < token);
        self.open.clear();
        self.tokens = token;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn probabilities_sum_to_one() {
        let logits = [1.0, 3.0, f32::NEG_INFINITY, 2.0];
        let Probabilities { logprob, likeliest } = Probabilities::of(&logits, 3, 10);
        assert_eq!(
            likeliest
                .iter()
                .map(|(token, _)| *token)
                .collect::<Vec<_>>(),
            [1, 3, 0]
        );
        let sum: f32 = likeliest.iter().map(|(_, logprob)| logprob.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        assert_eq!(logprob, likeliest[1].1);
        assert_eq!(Probabilities::of(&logits, 1, 1).likeliest.len(), 1);
        assert!(Probabilities::of(&[], 0, 3).likeliest.is_empty());
    }

    #[test]
    fn tokens_of_one_character_are_one_entry() {
        let mut log = ChoiceLog::default();
        let crab = "🦀".as_bytes();
        log.push(b"a", -1.0, Vec::new());
        log.push(&crab[..2], -2.0, Vec::new());
        assert_eq!(log.release("a").len(), 1);
        log.push(&crab[2..], -3.0, Vec::new());
        let tokens = log.release("🦀");
        assert_eq!(
            (tokens.len(), tokens[0].text.as_str(), tokens[0].logprob),
            (1, "🦀", -2.0)
        );
    }

    #[test]
    fn dropped_tokens_are_not_reported() {
        let mut log = ChoiceLog::default();
        for piece in [b"a".as_slice(), b" bad", b" word"] {
            log.push(piece, -1.0, Vec::new());
        }
        log.roll_back(1);
        log.push(b" good", -1.0, Vec::new());
        let texts: Vec<_> = log
            .release("a good")
            .into_iter()
            .map(|token| token.text)
            .collect();
        assert_eq!(texts, ["a", " good"]);
    }

    proptest! {
        #[test]
        fn texts_of_tokens_form_the_reply(
            pieces in proptest::collection::vec("[aé🦀]{0,3}", 0..20),
            cuts in proptest::collection::vec(1usize..5, 0..40),
            holds in proptest::collection::vec(any::<bool>(), 60),
        ) {
            let whole = pieces.concat();
            let (mut rest, mut log, mut told, mut text) = (whole.as_bytes(), ChoiceLog::default(), String::new(), 0);
            for (cut, hold) in cuts.into_iter().chain([usize::MAX]).zip(holds) {
                let (piece, tail) = rest.split_at(cut.min(rest.len()));
                rest = tail;
                log.push(piece, -1.0, Vec::new());
                let read = whole.len() - rest.len();
                let safe = (0..=read).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
                if !hold || rest.is_empty() {
                    told += &log.release(&whole[text..safe]).into_iter().map(|token| token.text).collect::<String>();
                    text = safe;
                }
                prop_assert!(whole.starts_with(&told));
            }
            prop_assert_eq!(told, whole);
        }
    }
}
