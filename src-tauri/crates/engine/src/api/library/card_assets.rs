//! Files in a card, and their places.

use serde::{Deserialize, Serialize};
use specta::Type;

/// A file that belongs to a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CardAsset {
    /// Identifies it until the files of the card change.
    pub id: String,
    /// `icon`, `background`, `user_icon`, `emotion`, or a kind that the card's creator made up.
    pub kind: String,
    pub name: String,
    /// The extension of its file; may be empty.
    pub ext: String,
    pub place: CardAssetPlace,
    /// Whether `show_card_asset` may return a picture.
    pub shows: bool,
}

/// The place of a card's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "at", rename_all = "camelCase")]
pub enum CardAssetPlace {
    /// In the card, or stored with it.
    Here,
    /// It is the picture of the character.
    Own,
    /// On another machine. It is never downloaded.
    Elsewhere { uri: String },
    /// The card names it, but the file was not included.
    Missing,
}
