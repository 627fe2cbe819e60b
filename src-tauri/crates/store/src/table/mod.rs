//! One table, one file: its row type, its reads, its writes.

pub(crate) mod asset;
pub(crate) mod calibration;
pub(crate) mod character;
pub(crate) mod chat;
pub(crate) mod chat_text;
pub(crate) mod document;
pub(crate) mod endpoint;
pub(crate) mod favourite;
pub(crate) mod group;
pub(crate) mod listing;
pub(crate) mod lorebook;
pub(crate) mod manifest;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod message_text;
pub(crate) mod message_untold;
pub(crate) mod model;
pub(crate) mod persona;
pub(crate) mod picture;
pub(crate) mod preset;
pub(crate) mod scoped_setting;
pub(crate) mod setting;
pub(crate) mod source;
pub(crate) mod swipe;
pub(crate) mod token_count;
pub(crate) mod vector;
