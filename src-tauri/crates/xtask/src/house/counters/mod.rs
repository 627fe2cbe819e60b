//! The counters. Each returns its counts with the places behind them.

pub(crate) mod circles;
pub(crate) mod folders;
pub(crate) mod handles;
pub(crate) mod ids;
pub(crate) mod layers;
pub(crate) mod shapes;
pub(crate) mod sizes;
pub(crate) mod type_names;
pub(crate) mod volume;
