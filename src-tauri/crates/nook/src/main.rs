//! `nook`: the engine without a window, for scripts, servers and tests.
//!
//! Promises
//! - Works on the same data folder as the desktop app, and leaves it alone while another process holds it.
//! - Every verb takes `--json`: one document (or one line per event) on stdout, keys in snake_case, never renamed.
//! - Exit 0: done. 1: the work failed, for the reason on stderr. 2: the words were wrong.
//!
//! Absent: prompts, SQL, anything that another face would need as well.

mod cli;
mod failure;
mod find;
mod folders;
mod interrupts;
mod output;
mod verbs;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use clap::error::ErrorKind;
use tracing_subscriber::EnvFilter;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output::Output;

/// For tasks that are still at work when the verb is done, such as a blocked read of the terminal.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let out = Output::new(cli.json);
    log_if_asked();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return out.fail(&Failure::from(error)),
    };
    let result = runtime.block_on(verbs::run(cli, &out));
    runtime.shutdown_timeout(LEAVE_WITHIN);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => out.fail(&failure),
    }
}

/// Help and version are answers; everything else is a misuse.
fn explain(error: &clap::Error) -> ExitCode {
    let misuse = !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if misuse && std::env::args_os().any(|arg| arg == "--json") {
        let message = error.render().to_string();
        Output::new(true).error("usage", message.trim_start_matches("error: ").lines().next().unwrap_or_default());
    }
    // Nothing is left to do for a reader who has gone.
    let _ = error.print();
    if misuse { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// The log is for developers: on stderr, and only where `RUST_LOG` asks for it.
fn log_if_asked() {
    if let Ok(filter) = EnvFilter::try_from_default_env() {
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
}
