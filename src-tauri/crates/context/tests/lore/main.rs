//! Lore as people use it: recorded cases, the differences of the profiles, the V3 rules, and what holds for every book.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod field;
mod matching;
mod peculiarities;
mod properties;
mod reasons;
mod recorded;
mod support;
mod v3;
