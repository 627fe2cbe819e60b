//! Starts the command line of the current version.

use std::process::ExitCode;

fn main() -> ExitCode {
    launcher::start("nook")
}
