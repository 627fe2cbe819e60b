//! Tests of lorebooks: recorded cases, differences between the profiles, the V3 rules, and
//! properties of all books.

mod field;
mod matching;
mod peculiarities;
mod properties;
mod reasons;
mod recorded;
mod support;
mod v3;
