//! Speculation without a second model: text that occurred before is drafted again, and the model checks the whole draft
//! in one batch. The reply is the same as without drafts, because every token is sampled from the model's own logits.

use llama_cpp_2::token::LlamaToken;

/// Number of tokens that must repeat before their continuation is drafted.
const MATCH: usize = 5;
/// Tokens of the first draft, and of the longest. A batch costs more than one token where computing is the bottleneck.
const SHORTEST: usize = 4;
const LONGEST: usize = 12;
/// Number of drafted tokens after which the share of accepted ones is judged.
const TRIAL: usize = 16;
/// Minimum share of accepted tokens, in percent. Below it a batch costs more time than it saves on a processor.
const WORTH_PERCENT: usize = 60;
/// Generated tokens without drafts after a failed trial.
const PAUSE: usize = 128;
/// Largest difference of two logits that rounding may reverse: llama.cpp computes several tokens in another order than
/// one. Measured on SmolLM2: 0.07.
const ROUNDING: f32 = 0.25;

/// Drafts the continuation of one reply. Its decisions depend only on tokens, never on time, so that a seed reproduces
/// its reply.
#[derive(Default)]
pub(crate) struct Drafter {
    length: usize,
    /// Since the last trial.
    drafted: usize,
    accepted: usize,
    pause: usize,
}

impl Drafter {
    /// Returns up to `most` tokens that may follow `tokens`, or none.
    pub(crate) fn draft(&mut self, tokens: &[LlamaToken], most: usize) -> Vec<LlamaToken> {
        if self.pause > 0 {
            self.pause -= 1;
            return Vec::new();
        }
        let length = self.length.max(SHORTEST).min(most);
        let Some(at) = earlier(tokens).filter(|_| length > 0) else { return Vec::new() };
        tokens[at..].iter().take(length).copied().collect()
    }

    /// Records that `accepted` of `drafted` tokens were right.
    pub(crate) fn record(&mut self, drafted: usize, accepted: usize) {
        self.length = if accepted == drafted { (drafted * 2).min(LONGEST) } else { SHORTEST };
        self.drafted += drafted;
        self.accepted += accepted;
        if self.drafted < TRIAL {
            return;
        }
        if self.accepted * 100 < self.drafted * WORTH_PERCENT {
            self.pause = PAUSE;
        }
        (self.drafted, self.accepted) = (0, 0);
    }
}

/// Returns the position after the latest earlier occurrence of the last tokens.
fn earlier(tokens: &[LlamaToken]) -> Option<usize> {
    let start = tokens.len().checked_sub(MATCH)?;
    let last = &tokens[start..];
    let found = tokens[..tokens.len() - 1].windows(MATCH).rposition(|window| window == last)?;
    Some(found + MATCH)
}

/// Whether the two most likely tokens are almost equally likely, so that a greedy reply needs exact logits.
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

    fn drafted(text: &str, most: usize) -> String {
        let drafted = Drafter::default().draft(&tokens(text), most);
        drafted.iter().map(|token| char::from(token.0 as u8)).collect()
    }

    #[test]
    fn drafts_what_followed_the_last_time() {
        assert_eq!(drafted("the lamps of old, the lamps of new, the lamps", 4), " of ");
        assert_eq!(drafted("the red door. the big door. the big", 4), " doo");
        assert_eq!(drafted("aaaaaa", 4), "a");
        assert_eq!(drafted("the lamps of old, the lamps", 0), "");
        assert_eq!(drafted("nothing repeats", 4), "");
        assert_eq!(drafted("abc", 4), "");
        assert_eq!(drafted("", 4), "");
    }

    #[test]
    fn draft_grows_while_it_is_right() {
        let text = tokens("abcdefghijklmnopqrstuvwxyz abcdefg");
        let mut drafter = Drafter::default();
        assert_eq!(drafter.draft(&text, 99).len(), SHORTEST);
        drafter.record(4, 4);
        assert_eq!(drafter.draft(&text, 99).len(), 8);
        drafter.record(8, 8);
        assert_eq!(drafter.draft(&text, 99).len(), LONGEST);
        assert_eq!(drafter.draft(&text, 3).len(), 3);
        drafter.record(12, 11);
        assert_eq!(drafter.draft(&text, 99).len(), SHORTEST);
    }

    #[test]
    fn near_tie_is_between_the_two_most_likely() {
        assert!(is_near_tie(&[0.0, 5.1, -3.0, 5.0]));
        assert!(is_near_tie(&[5.0, 5.0]));
        assert!(!is_near_tie(&[0.0, 5.0, 0.1, 4.5]));
        assert!(!is_near_tie(&[1.0]));
    }

    #[test]
    fn drafting_pauses_after_wrong_drafts() {
        let text = tokens("abcdefghijklmnopqrstuvwxyz abcdefg");
        let mut drafter = Drafter::default();
        for _ in 0..TRIAL / SHORTEST {
            assert!(!drafter.draft(&text, 99).is_empty());
            drafter.record(SHORTEST, 1);
        }
        for _ in 0..PAUSE {
            assert!(drafter.draft(&text, 99).is_empty());
        }
        assert!(!drafter.draft(&text, 99).is_empty());
    }
}
