//! Character cards in JSON, PNG and archives, of every version, valid and damaged.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod archives;
mod backyard;
mod charx;
mod damaged;
mod foreign;
mod hostile_archives;
mod json;
mod odd_files;
mod png;
mod properties;
mod real_files;
mod rules;
mod samples;
mod support;
mod writing;
