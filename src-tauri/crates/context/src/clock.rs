//! The date and time in the context block (S3.11, S3.12): sent when they have moved on, not every turn, so that what was
//! sent can stay as it is.

use domain::Timestamp;

use crate::frame::HistoryMessage;

/// How far the clock moves before the model is told again.
const MOVED_ON_MS: i64 = 30 * 60 * 1_000;

/// The context block for words said at `now`, or `None` while an earlier block in the window still tells the time well
/// enough. `local` is `now` in the user's words, such as "Saturday, 21 November 2026, 23:11".
pub fn block(window: &[HistoryMessage], now: Timestamp, local: &str) -> Option<String> {
    let told = window.iter().rev().find(|message| message.context_block.is_some()).map(|message| message.created);
    match told {
        Some(told) if (now.0 - told.0).abs() < MOVED_ON_MS => None,
        _ => Some(format!("[CONTEXT: {local}]")),
    }
}

#[cfg(test)]
mod tests {
    use domain::MessageId;
    use domain::chat::Role;

    use super::*;

    fn said(minute: i64, context_block: Option<&str>) -> HistoryMessage {
        HistoryMessage {
            id: MessageId(Default::default()),
            role: Role::User,
            text: "Hello.".into(),
            context_block: context_block.map(Into::into),
            created: Timestamp(minute * 60_000),
        }
    }

    #[test]
    fn the_time_is_told_once_and_again_when_it_has_moved_on() {
        let at = |window: &[HistoryMessage], minute: i64| block(window, Timestamp(minute * 60_000), "noon");
        assert_eq!(at(&[], 0).as_deref(), Some("[CONTEXT: noon]"));
        assert_eq!(at(&[said(0, Some("[CONTEXT: noon]")), said(5, None)], 10), None);
        assert_eq!(at(&[said(0, Some("[CONTEXT: noon]")), said(5, None)], 30).as_deref(), Some("[CONTEXT: noon]"));
    }
}
