//! Cards as people bring them: in JSON and PNG, of every version, whole and broken.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod json;
mod png;
mod properties;
mod real_files;
mod samples;
mod support;
mod writing;
