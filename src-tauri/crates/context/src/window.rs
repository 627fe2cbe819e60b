//! The anchored window: it grows at the end, and when it is too full, one large trim moves its
//! start.

use domain::chat::Role;

use crate::Budget;

/// The token count and the role of a message of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) tokens: u32,
    pub(crate) role: Role,
}

/// How many of the oldest `messages` leave an over-full window, so that the rest fits into
/// `history` tokens with a chunk to spare. The last exchange always stays.
pub(crate) fn leaving(messages: &[Cost], history: u32, budget: &Budget) -> usize {
    let chunk = budget.trim_chunk(history);
    let deep = start_of_suffix(messages, history - chunk);
    // Keep ten messages if at least four fifths of a chunk stay free. With less free space the next
    // trim would soon follow, and every trim makes the model read the window again.
    let floor = messages.len().saturating_sub(budget.min_tail_messages);
    let tail_fits = start_of_suffix(messages, history - chunk * 4 / 5) <= floor;
    let by_tokens = if deep > floor && tail_fits {
        floor
    } else {
        deep
    };
    at_a_turn(
        messages,
        by_tokens.max(over_ceiling(messages.len(), budget)),
    )
    .min(last_exchange(messages))
}

/// True if `messages` with `tokens` in total overfill the window. The message that is being
/// answered is not included.
pub(crate) fn over_full(messages: usize, tokens: u64, history: u32, budget: &Budget) -> bool {
    tokens > u64::from(history)
        || budget
            .message_trim
            .is_some_and(|ceiling| messages >= ceiling.max(1))
}

/// Index of the last exchange: the newest user message and everything after it.
pub(crate) fn last_exchange(messages: &[Cost]) -> usize {
    messages
        .iter()
        .rposition(|message| message.role == Role::User)
        .unwrap_or(messages.len())
}

/// How many messages leave under a limit on messages: a quarter of the limit more than necessary,
/// to leave space for the next turns.
fn over_ceiling(messages: usize, budget: &Budget) -> usize {
    let Some(ceiling) = budget
        .message_trim
        .filter(|ceiling| messages >= (*ceiling).max(1))
    else {
        return 0;
    };
    let kept = (ceiling - ceiling / 4)
        .max(budget.min_tail_messages.min(ceiling))
        .saturating_sub(1);
    messages.saturating_sub(kept)
}

/// Start of the longest suffix with at most `limit` tokens.
pub(crate) fn start_of_suffix(messages: &[Cost], limit: u32) -> usize {
    let mut room = limit;
    for (index, message) in messages.iter().enumerate().rev() {
        match room.checked_sub(message.tokens) {
            Some(left) => room = left,
            None => return index + 1,
        }
    }
    0
}

/// The first index from `start` on at which a window may begin. A window begins with a user
/// message, never with a reply without its question or a tool result without its call. In a chat
/// without user messages it begins with any message but a tool result.
pub(crate) fn at_a_turn(messages: &[Cost], start: usize) -> usize {
    if start == 0 {
        return 0;
    }
    let first = |opens: fn(Role) -> bool| {
        (start..messages.len()).find(|index| opens(messages[*index].role))
    };
    let any_user = || messages.iter().any(|message| message.role == Role::User);
    first(|role| role == Role::User)
        .or_else(|| {
            if any_user() {
                None
            } else {
                first(|role| role != Role::Tool)
            }
        })
        .unwrap_or(messages.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chat(costs: impl IntoIterator<Item = u32>) -> Vec<Cost> {
        let role = |index| {
            if index % 2 == 0 {
                Role::User
            } else {
                Role::Character
            }
        };
        costs
            .into_iter()
            .enumerate()
            .map(|(index, tokens)| Cost {
                tokens,
                role: role(index),
            })
            .collect()
    }

    fn budget() -> Budget {
        Budget {
            chunk: crate::budget::Chunk::Auto { divisor: 8 },
            ..Budget::local(16_384, 512)
        }
    }

    /// Trims only an over-full window, as the plan does.
    fn gone(messages: &[Cost], history: u32, budget: &Budget) -> usize {
        let tokens = messages
            .iter()
            .map(|message| u64::from(message.tokens))
            .sum();
        if over_full(messages.len(), tokens, history, budget) {
            leaving(messages, history, budget)
        } else {
            0
        }
    }

    /// 8,000 tokens stay; 8,001 are trimmed to at most 7,000.
    #[test]
    fn trims_over_full_window_by_a_chunk() {
        let messages = chat([100; 80]);
        assert_eq!(gone(&messages, 8_000, &budget()), 0);
        let messages = chat([100; 80].into_iter().chain([1]));
        let left_out = gone(&messages, 8_000, &budget());
        let left: u32 = messages[left_out..]
            .iter()
            .map(|message| message.tokens)
            .sum();
        assert!((6_800..=7_000).contains(&left), "{left} tokens left");
    }

    /// Between trims the start of the window does not move.
    #[test]
    fn anchor_moves_rarely_in_200_turns() {
        let (mut messages, mut moves) = (Vec::new(), 0);
        for turn in 0..200 {
            messages.push(Cost {
                tokens: 150,
                role: if turn % 2 == 0 {
                    Role::User
                } else {
                    Role::Character
                },
            });
            let left_out = gone(&messages, 8_000, &budget());
            moves += usize::from(left_out > 0);
            messages.drain(..left_out);
        }
        assert!(moves <= (200 * 150 - 8_000) / 1_000 + 1, "{moves} moves");
    }

    /// The window of a small model holds fewer than ten such messages. The message floor must not
    /// cause a trim in every turn.
    #[test]
    fn small_window_does_not_move_every_turn() {
        let (mut messages, mut moves) = (Vec::new(), 0);
        for turn in 0..100 {
            messages.extend(
                [(60, Role::User), (150, Role::Character)]
                    .map(|(tokens, role)| Cost { tokens, role }),
            );
            let left_out = gone(&messages, 777, &Budget::local(2_048, 512));
            moves += usize::from(left_out > 0);
            messages.drain(..left_out);
            assert!(turn < 3 || !messages.is_empty());
        }
        assert!(moves <= 55, "{moves} moves in 100 turns");
    }

    #[test]
    fn keeps_ten_messages_if_tokens_allow() {
        let messages = chat([700; 12]);
        assert_eq!(messages.len() - gone(&messages, 8_000, &budget()), 10);
        let messages = chat([2_000; 12]);
        assert_eq!(messages.len() - gone(&messages, 8_000, &budget()), 2);
    }

    proptest! {
        #[test]
        fn window_fits_and_starts_with_user(costs in proptest::collection::vec(1_u32..3_000, 0..120), history in 200_u32..9_000) {
            let messages = chat(costs);
            let left_out = gone(&messages, history, &budget());
            let left = &messages[left_out..];
            let last = last_exchange(&messages) == left_out;
            prop_assert!(last || left.iter().map(|message| message.tokens).sum::<u32>() <= history);
            prop_assert!(left_out == 0 || left.first().is_none_or(|message| message.role == Role::User));
        }
    }
}
