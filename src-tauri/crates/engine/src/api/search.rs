//! Search over messages.

use serde::{Deserialize, Serialize};
use specta::Type;

use super::Role;

/// A page of found messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SearchPage {
    /// The last added first.
    pub hits: Vec<SearchHit>,
    /// There are further hits.
    pub more: bool,
}

/// A version of a message that matches a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub chat: String,
    /// Title of the chat; empty if it has none.
    pub title: String,
    /// Name of the chat's character.
    pub character: String,
    pub message: String,
    pub swipe: String,
    /// The version is the one that is shown.
    pub is_shown: bool,
    pub role: Role,
    /// Name of the speaker; `null` for the user.
    pub name: Option<String>,
    /// Empty if the time is unknown.
    pub created: String,
    /// The text around the first match.
    pub excerpt: Vec<ExcerptPart>,
}

/// A part of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ExcerptPart {
    pub text: String,
    pub is_match: bool,
}
