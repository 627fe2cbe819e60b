//! Starts the window of the current version.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    launcher::start("inglenook")
}
