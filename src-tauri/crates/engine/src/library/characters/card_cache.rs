//! Keeps the last parsed card.

use std::sync::Arc;

use domain::card::Card;

/// The card that was parsed last, by a hash of its JSON. A turn needs the same card several times,
/// and parsing one with a large lorebook takes milliseconds.
#[derive(Default)]
pub(crate) struct CardCache {
    pub(crate) last: Option<(u64, Arc<Card>)>,
}
