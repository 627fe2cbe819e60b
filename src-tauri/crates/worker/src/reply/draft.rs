//! Speculation without a second model: text that occurred before is drafted again, and the model
//! checks the whole draft in one batch. The reply is the same as without drafts, because every
//! token is sampled from the model's own logits.
//!
//! A batch of 13 tokens costs seven times as much as one token on two processor cores, and little
//! more than one token on a GPU. Drafts therefore stop where they cost more time than they save.

use std::time::Duration;

use llama_cpp_2::token::LlamaToken;

use crate::picture_tokens::is_picture;

/// Number of tokens that must repeat before their continuation is drafted.
const MATCH: usize = 6;
/// Tokens of a draft. A short one costs almost as much as its tokens one by one.
const LENGTH: usize = 12;
/// Number of drafts after which their cost is compared with their gain.
const TRIAL: u32 = 2;
/// Generated tokens without drafts after the first failed trial. It doubles with each one in a row,
/// up to the maximum.
const PAUSE: usize = 128;
const LONGEST_PAUSE: usize = 1_024;
/// Largest difference of two logits that rounding may reverse: llama.cpp computes several tokens in
/// another order than one. Measured on SmolLM2: 0.07.
const ROUNDING: f32 = 0.25;

/// Drafts the continuations of replies.
#[derive(Default)]
pub(crate) struct Drafter {
    /// Smoothed time of one token without a draft.
    token: Duration,
    /// Of the current trial.
    drafts: u32,
    saved: Duration,
    spent: Duration,
    /// Tokens until the next draft, and the length of the last pause.
    left: usize,
    pause: usize,
}

impl Drafter {
    /// Returns up to `most` tokens that may follow `tokens`, or none.
    pub(crate) fn draft(&mut self, tokens: &[LlamaToken], most: usize) -> Vec<LlamaToken> {
        if self.left > 0 {
            self.left -= 1;
            return Vec::new();
        }
        let length = LENGTH.min(most);
        let Some(at) = earlier(tokens).filter(|_| length > 0 && !self.token.is_zero()) else {
            return Vec::new();
        };
        tokens[at..]
            .iter()
            .take(length)
            .take_while(|token| !is_picture(**token))
            .copied()
            .collect()
    }

    /// Records the time of a token without a draft.
    pub(crate) fn record_token(&mut self, time: Duration) {
        self.token = if self.token.is_zero() {
            time
        } else {
            (self.token * 7 + time) / 8
        };
    }

    /// Records that `accepted` tokens of a draft were right, and the time of its batch.
    pub(crate) fn record_draft(&mut self, accepted: u32, time: Duration) {
        self.drafts += 1;
        self.saved += self.token * accepted;
        self.spent += time.saturating_sub(self.token);
        if self.drafts < TRIAL {
            return;
        }
        self.pause = if self.saved > self.spent {
            0
        } else {
            (self.pause * 2).clamp(PAUSE, LONGEST_PAUSE)
        };
        self.left = self.pause;
        (self.drafts, self.saved, self.spent) = (0, Duration::ZERO, Duration::ZERO);
    }
}

/// Returns the position after the latest earlier occurrence of the last tokens.
fn earlier(tokens: &[LlamaToken]) -> Option<usize> {
    let start = tokens.len().checked_sub(MATCH)?;
    let last = &tokens[start..];
    let found = tokens[..tokens.len() - 1]
        .windows(MATCH)
        .rposition(|window| window == last)?;
    Some(found + MATCH)
}

/// Whether the two most likely tokens are almost equally likely, so that a greedy reply needs exact
/// logits.
pub(crate) fn is_near_tie(logits: &[f32]) -> bool {
    let (mut first, mut second) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
    for logit in logits {
        if *logit > first {
            (first, second) = (*logit, first);
        } else if *logit > second {
            second = *logit;
        }
    }
    first - second < ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<LlamaToken> {
        text.bytes().map(|byte| LlamaToken(byte.into())).collect()
    }

    const TOKEN: Duration = Duration::from_millis(10);

    /// A drafter that knows the time of one token.
    fn ready() -> Drafter {
        Drafter {
            token: TOKEN,
            ..Drafter::default()
        }
    }

    fn drafted(text: &str, most: usize) -> String {
        let drafted = ready().draft(&tokens(text), most);
        drafted
            .iter()
            .map(|token| char::from(token.0 as u8))
            .collect()
    }

    #[test]
    fn drafts_what_followed_the_last_time() {
        assert_eq!(
            drafted("the lamps of old, the lamps of new, the lamps", 4),
            " of "
        );
        assert_eq!(drafted("the red door. the big door. the big", 4), " doo");
        assert_eq!(drafted("aaaaaaaa", 4), "a");
        assert_eq!(drafted("the lamps of old, the lamps", 0), "");
        assert_eq!(drafted("nothing repeats", 4), "");
        assert_eq!(drafted("abc", 4), "");
        assert_eq!(drafted("", 4), "");
    }

    #[test]
    fn near_tie_is_between_the_two_most_likely() {
        assert!(is_near_tie(&[0.0, 5.1, -3.0, 5.0]));
        assert!(is_near_tie(&[5.0, 5.0]));
        assert!(!is_near_tie(&[0.0, 5.0, 0.1, 4.5]));
        assert!(!is_near_tie(&[1.0]));
    }

    #[test]
    fn drafting_pauses_where_it_costs_time() {
        let text = tokens("abcdefghijklmnopqrstuvwxyz abcdefg");
        let mut drafter = ready();
        let paused = |drafter: &mut Drafter| {
            (0..)
                .take_while(|_| drafter.draft(&text, 99).is_empty())
                .count()
        };
        for expected in [PAUSE, 2 * PAUSE, 4 * PAUSE] {
            for _ in 0..TRIAL {
                drafter.record_draft(2, TOKEN * 7);
            }
            assert_eq!(paused(&mut drafter), expected);
        }
        for _ in 0..TRIAL {
            drafter.record_draft(7, TOKEN * 7);
        }
        assert_eq!(paused(&mut drafter), 0);
    }
}
