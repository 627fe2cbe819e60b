//! Choices of the window's page.

use serde::{Deserialize, Serialize};
use specta::Type;

/// A choice of the window's page, such as the text size. The page defines the key and the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PageValue {
    pub key: String,
    pub value: String,
}
