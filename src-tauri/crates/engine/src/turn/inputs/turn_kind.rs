//! The kind of a turn: the message that it answers, the version that it writes, spoken or typed.

use context::frame::HistoryMessage;
use context::lore::GenerationKind;
use domain::card::Card;
use domain::chat::{Message, MessageSource, Role};
use store::WindowMessage;

use crate::api;
use crate::api::Ask;
use crate::turn::inputs::turn_inputs::ReplyTo;

/// Index of the shown greeting in the card. Blank greetings have an index there but no swipe.
pub(super) fn greeting(card: &Card, shown: u32) -> Option<u32> {
    let all = std::iter::once(card.first_mes())
        .chain(card.alternate_greetings())
        .zip(0..);
    all.filter(|(greeting, _)| !greeting.trim().is_empty())
        .nth(shown as usize)
        .map(|(_, index)| index)
}

/// Whether the user spoke the message that the turn answers. A previewed message has the source of
/// the options.
pub(super) fn is_spoken(
    reply_to: &ReplyTo,
    newest: Option<&Message>,
    preview: api::MessageSource,
) -> bool {
    match reply_to {
        ReplyTo::Draft(_) => preview == api::MessageSource::Voice,
        ReplyTo::Last | ReplyTo::By(_) => newest.is_some_and(|message| {
            message.role == Role::User && message.source == MessageSource::Voice
        }),
        ReplyTo::Before(_) => false,
    }
}

/// If the last message is the character's, the reply continues it.
pub(super) fn kind(
    ask: Option<Ask>,
    reply_to: &ReplyTo,
    last: Option<&WindowMessage>,
) -> GenerationKind {
    match (ask, reply_to) {
        (Some(Ask::Impersonate), _) => GenerationKind::Impersonate,
        // Use the kind of the surrounding turns, because another kind would change the head.
        (Some(Ask::Title), _) => GenerationKind::Normal,
        (_, ReplyTo::Before(_)) => GenerationKind::Swipe,
        (_, ReplyTo::Last | ReplyTo::By(_))
            if last.is_some_and(|last| last.role == Role::Character) =>
        {
            GenerationKind::Continue
        }
        (_, ReplyTo::Last | ReplyTo::By(_) | ReplyTo::Draft(_)) => GenerationKind::Normal,
    }
}

pub(super) fn swipes(reply_to: &ReplyTo, newest: Option<&Message>) -> (u64, u64) {
    let of_newest =
        newest.map(|message| (message.swipes.len() as u64, u64::from(message.selected) + 1));
    match (reply_to, of_newest) {
        (ReplyTo::Draft(_), _) | (_, None) => (1, 1),
        (ReplyTo::Before(_), Some((all, _))) => (all, all + 1),
        (ReplyTo::Last | ReplyTo::By(_), Some(swipes)) => swipes,
    }
}

/// Number of messages up to the user's last message, and how many of them follow the user's message
/// before that. `history` ends at `position` of its chat.
pub(super) fn said_so_far(history: &[HistoryMessage], position: i64) -> (i64, i64) {
    let mut of_user = history
        .iter()
        .rev()
        .zip(0_i64..)
        .filter(|(message, _)| message.role == Role::User);
    let Some((_, behind)) = of_user.next() else {
        return (position + 1, 1);
    };
    let before = of_user
        .next()
        .map_or(history.len() as i64, |(_, behind)| behind);
    (position + 1 - behind, before - behind)
}
