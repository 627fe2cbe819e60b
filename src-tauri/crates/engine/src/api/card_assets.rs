use serde::{Deserialize, Serialize};
use specta::Type;

/// A file that belongs to a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CardAsset {
    /// Names it until the card's list changes.
    pub id: String,
    /// `icon`, `background`, `user_icon`, `emotion`, or one of the maker's own.
    pub kind: String,
    pub name: String,
    /// The ending of its file; may be empty.
    pub ext: String,
    pub place: CardAssetPlace,
    /// Whether `show_card_asset` may have something to show.
    pub shows: bool,
}

/// Where a file of a card is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "at", rename_all = "camelCase")]
pub enum CardAssetPlace {
    /// In the card, or kept beside it.
    Here,
    /// It is the picture of the character.
    Own,
    /// On another machine. It is never fetched.
    Elsewhere { uri: String },
    /// The card names it, and it did not come along.
    Missing,
}
