//! The functions of macros, by topic.

pub(crate) mod calc;
pub(crate) mod chance;
pub(crate) mod logic;
pub(crate) mod moment;
pub(crate) mod time;
pub(crate) mod values;
pub(crate) mod variables;
