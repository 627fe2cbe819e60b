//! The model library beyond this machine: the hub, the catalogue, downloads, and the models of
//! other apps.

pub(crate) mod catalogue;
pub(crate) mod download_job;
pub(crate) mod download_operations;
pub(crate) mod download_run;
pub(crate) mod downloaded_files;
pub(crate) mod downloads;
pub(crate) mod fit_report;
pub(crate) mod hub_settings;
pub(crate) mod known_repos;
pub(crate) mod larger_hint;
mod memory_speed;
pub(crate) mod other_apps;
pub(crate) mod search;
