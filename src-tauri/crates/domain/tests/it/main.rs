//! Reading and writing cards and lorebooks.

#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod cards;
mod lorebooks;
