//! The data folder: opening, upgrades, faults and damage.

pub(super) mod child;
mod damage;
mod faults;
mod lost_logs;
pub(super) mod opening;
mod strangers;
mod together;
mod upgrades;
