//! Chats, their branches and backgrounds.

mod backgrounds;
mod branches;
mod chat;
