//! Idle-time jobs: reading ahead, titles, facts, summaries and consolidation.

pub(crate) mod after_reply;
pub(crate) mod background_job;
pub(crate) mod consolidate;
pub(crate) mod consolidation;
pub(crate) mod extraction;
pub(crate) mod grounding;
pub(crate) mod handle;
pub(crate) mod prefetch;
pub(crate) mod read_ahead;
pub(crate) mod response_schema;
pub(crate) mod summaries;
pub(crate) mod titles;
