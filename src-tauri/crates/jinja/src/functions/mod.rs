//! Filters, tests and methods of values, and what they share.

pub(crate) mod args;
pub(crate) mod filters;
pub(crate) mod format;
pub(crate) mod groups;
pub(crate) mod methods;
pub(crate) mod printf;
pub(crate) mod sequences;
pub(crate) mod tests_of_values;
