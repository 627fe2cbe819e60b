//! Decides when the context block includes the date and time. They are sent after a pause, not in
//! every turn, so that earlier messages stay unchanged.

use domain::Timestamp;

use crate::frame::{BlockKind, HistoryMessage};

/// Minimum time between two messages that carry the date and time.
const MOVED_ON_MS: i64 = 30 * 60 * 1_000;

/// True if a message at `now` must carry the time, because no message in `window` has a recent one.
pub(crate) fn due<'m>(
    window: impl DoubleEndedIterator<Item = &'m HistoryMessage>,
    now: Timestamp,
) -> bool {
    let last = window
        .rev()
        .find(|message| tells(message))
        .map(|message| message.created);
    last.is_none_or(|last| (now.0 - last.0).abs() >= MOVED_ON_MS)
}

/// True if `message` was sent with the time.
pub(crate) fn tells(message: &HistoryMessage) -> bool {
    message
        .context
        .iter()
        .flatten()
        .any(|block| block.kind == BlockKind::Clock)
}

#[cfg(test)]
mod tests {
    use domain::MessageId;
    use domain::chat::Role;

    use super::*;
    use crate::frozen::FrozenBlock;

    fn said(minute: i64, clock: Option<&str>) -> HistoryMessage {
        let id = MessageId(Default::default());
        HistoryMessage {
            context: Some(clock.map(FrozenBlock::clock).into_iter().collect()),
            ..HistoryMessage::new(id, Role::User, "Sam", "Hello.", Timestamp(minute * 60_000))
        }
    }

    #[test]
    fn sends_time_first_and_again_after_30_minutes() {
        let due_at =
            |window: &[HistoryMessage], minute: i64| due(window.iter(), Timestamp(minute * 60_000));
        assert!(due_at(&[], 0));
        assert!(!due_at(&[said(0, Some("noon")), said(5, None)], 10));
        assert!(due_at(&[said(0, Some("noon")), said(5, None)], 30));
    }
}
