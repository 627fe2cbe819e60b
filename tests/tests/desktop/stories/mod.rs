//! The desktop tests.

pub(crate) mod costs;
pub(crate) mod drafts;
pub(crate) mod first_light;
pub(crate) mod imports;
pub(crate) mod instances;
pub(crate) mod kills;
pub(crate) mod locking;
pub(crate) mod payloads;
pub(crate) mod reading;
pub(crate) mod walls;
