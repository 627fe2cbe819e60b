//! Slash commands. A front end passes the composer's text to `Turns::run_command`, which sends it
//! or runs it, so that window, command line and HTTP agree. No other text is read as a command.

pub(crate) mod choose;
pub(crate) mod complete;
pub(crate) mod halt;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod quick_reply;
pub(crate) mod run;
pub(crate) mod speakers;
