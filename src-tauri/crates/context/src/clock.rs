//! The date and time in the context block (S3.11, S3.12): sent when they have moved on, not every turn, so that what was
//! sent can stay as it is.

use domain::Timestamp;

use crate::frame::{BlockKind, HistoryMessage};

/// How far the clock moves before the model is told again.
const MOVED_ON_MS: i64 = 30 * 60 * 1_000;

/// True if words said at `now` need the time, because no message in `window` tells it well enough any more.
pub(crate) fn due<'m>(window: impl DoubleEndedIterator<Item = &'m HistoryMessage>, now: Timestamp) -> bool {
    let told = window.rev().find(|message| tells(message)).map(|message| message.created);
    told.is_none_or(|told| (now.0 - told.0).abs() >= MOVED_ON_MS)
}

/// True if the time was sent with `message`.
pub(crate) fn tells(message: &HistoryMessage) -> bool {
    message.context.iter().flatten().any(|block| block.kind == BlockKind::Clock)
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
    fn the_time_is_told_once_and_again_when_it_has_moved_on() {
        let due_at = |window: &[HistoryMessage], minute: i64| due(window.iter(), Timestamp(minute * 60_000));
        assert!(due_at(&[], 0));
        assert!(!due_at(&[said(0, Some("noon")), said(5, None)], 10));
        assert!(due_at(&[said(0, Some("noon")), said(5, None)], 30));
    }
}
