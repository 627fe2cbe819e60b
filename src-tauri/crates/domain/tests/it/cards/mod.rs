//! Character cards in JSON, PNG and archives, of every version, valid and damaged.

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
