//! Reports of a program with a camera.

use serde::{Deserialize, Serialize};
use specta::Type;

/// State of the user in front of the camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum VisionState {
    Present,
    Absent,
    /// Present, and looking at the screen.
    Focused,
}

/// A report. It has a state, a description, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct VisionReport {
    pub state: Option<VisionState>,
    /// Description of the scene in a few words. Never a picture.
    pub text: String,
}

/// The last report for a chat, in memory only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct VisionStatus {
    pub state: Option<VisionState>,
    /// Empty if the report had none.
    pub text: String,
    /// When it was reported.
    pub at: String,
}
