//! Messages and their swipes, with pictures, earlier texts, manifests, token probabilities, and
//! search over the texts.
//!
//! Guarantees
//! - Positions in a chat are unique and give the order of its messages. A deleted message keeps its
//!   position.
//! - Each text is stored with its checksum.
//! - Rows that belong to a message or a swipe are removed with it.

mod exclusion;
mod manifest;
mod message;
mod order;
mod picture;
mod prompt_removal;
mod revision;
mod search;
pub(crate) mod source_text;
pub(crate) mod swipe;
mod text;
mod token_choice;
mod window;

pub use manifest::{PromptSpace, StoredManifest};
pub use message::{MessageCount, NewMessage};
pub use revision::Revision;
pub use search::{FoundMessage, SearchAuthor, SearchFilter};
pub use source_text::SourceText;
pub use swipe::NewSwipe;
pub use text::{MessageKey, TextRevision, VisibleText};
pub use window::WindowMessage;
