//! Chats, their messages, and what happens in them.

mod branches;
mod chat;
mod events;
mod regenerate;
mod slash;
mod token_choices;
mod vision;

pub use branches::*;
pub use chat::*;
pub use events::*;
pub use regenerate::*;
pub use slash::*;
pub use token_choices::*;
pub use vision::*;
