//! Which private items are hidden. Queries of lists, searches and single items leave them out, so a
//! hidden item looks like a deleted one.
//!
//! A character is hidden while it is private and private characters are not shown. Its chats are
//! hidden with it, and the groups of which it is a member.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

/// SQL query for the ids of the hidden chats.
macro_rules! hidden_chats {
    () => {
        "SELECT led.id FROM private_character CROSS JOIN chat AS led ON led.character = private_character.character
            WHERE NOT shows_private()
        UNION ALL SELECT joined.chat FROM private_character
            CROSS JOIN chat_member AS joined ON joined.character = private_character.character
            WHERE NOT shows_private()"
    };
}

/// SQL query for the ids of the hidden characters.
macro_rules! hidden_characters {
    () => {
        "SELECT private_character.character FROM private_character WHERE NOT shows_private()"
    };
}

/// SQL query for the ids of the lorebooks that apply only with hidden characters and in hidden
/// chats.
macro_rules! hidden_lorebooks {
    () => {
        concat!(
            "SELECT bound.lorebook FROM lorebook_binding AS bound WHERE NOT shows_private()
            GROUP BY bound.lorebook HAVING min(bound.owner IN (",
            $crate::visibility::hidden_characters!(),
            " UNION ALL ",
            $crate::visibility::hidden_chats!(),
            "))"
        )
    };
}

pub(crate) use {hidden_characters, hidden_chats, hidden_lorebooks};

/// SQL query for the ids of the hidden chats.
pub(crate) const HIDDEN_CHATS: &str = hidden_chats!();

/// SQL query for the ids of the hidden characters.
pub(crate) const HIDDEN_CHARACTERS: &str = hidden_characters!();

/// SQL query for the ids of the lorebooks that apply only with hidden characters and in hidden
/// chats.
pub(crate) const HIDDEN_LOREBOOKS: &str = hidden_lorebooks!();

/// Whether private characters are shown. Clones share one state.
#[derive(Debug, Clone)]
pub(crate) struct Visibility {
    shows_private: Arc<AtomicBool>,
}

impl Visibility {
    pub(crate) fn new(shows_private: bool) -> Self {
        Self {
            shows_private: Arc::new(AtomicBool::new(shows_private)),
        }
    }

    pub(crate) fn shows_private(&self) -> bool {
        self.shows_private.load(Ordering::SeqCst)
    }

    pub(crate) fn show_private(&self, shown: bool) {
        self.shows_private.store(shown, Ordering::SeqCst);
    }

    /// Registers the function that the queries of this module call.
    pub(crate) fn register(&self, conn: &Connection) -> rusqlite::Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
        let this = self.clone();
        conn.create_scalar_function("shows_private", 0, flags, move |_| Ok(this.shows_private()))
    }
}
