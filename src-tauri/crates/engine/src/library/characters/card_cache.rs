//! Keeps the last parsed card.

use domain::card::Card;
use std::sync::Arc;

/// The card that was parsed last, by a hash of its JSON. A turn needs the same card several times,
/// and parsing one with a large lorebook takes milliseconds.
#[derive(Default)]
pub(crate) struct CardCache {
    pub(crate) last: Option<(u64, Arc<Card>)>,
}
