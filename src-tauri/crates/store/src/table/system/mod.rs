//! Data of the app itself: settings, choices of the page, drafts, keys of the local API, import
//! reports, and chats with stale KV caches.
//!
//! Guarantees
//! - A key of the local API is stored only as a hash.
//! - A draft is removed with its item.
//! - A chat is marked as stale in the transaction that removes the text.

mod api_key;
mod draft;
mod import_report;
mod page_value;
mod scoped_setting;
mod setting;
mod stale_cache;

pub use api_key::ApiKey;
pub use draft::{Draft, DraftPlace};
pub use import_report::ImportRecord;
pub use stale_cache::StaleChats;
