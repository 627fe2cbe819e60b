//! Rules about stored rows that several rooms share.

pub(crate) mod convert;
pub(crate) mod data_warnings;
pub(crate) mod foreign_date;
pub(crate) mod group_events;
pub(crate) mod persona_place;
pub(crate) mod retraction;
pub(crate) mod text_changes;
pub(crate) mod user_names;
