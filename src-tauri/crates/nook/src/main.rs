//! `nook`: command line of the engine, for scripts, servers and tests.
//!
//! Guarantees
//! - It uses the desktop app's data folder, but never while another process uses it.
//! - Every verb accepts `--json`: one document, or one line per event, on stdout. Keys are
//!   snake_case and stable.
//! - Exit code 0: success. 1: the work failed; stderr has the reason. 2: the arguments were wrong.
//!
//! Not in this crate: prompts, SQL, and everything that another front end needs too.

mod cli;
mod failure;
mod find;
mod interrupts;
mod output;
mod verbs;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use clap::error::ErrorKind;
use tracing_subscriber::EnvFilter;

use crate::cli::Cli;
use crate::failure::CommandError;
use crate::output::Output;

/// Maximum wait for tasks that still run at the end, such as a blocked read of the terminal.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let out = Output::new(cli.json);
    log_if_asked();
    if let Err(error) = engine::disable_core_dumps() {
        tracing::warn!(%error, "cannot disable core dumps");
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return out.fail(&CommandError::from(error)),
    };
    let result = runtime.block_on(verbs::run(cli, &out));
    runtime.shutdown_timeout(LEAVE_WITHIN);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => out.fail(&failure),
    }
}

/// Prints help and version as a success, and everything else as a usage error.
fn explain(error: &clap::Error) -> ExitCode {
    let misuse = !matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if misuse && std::env::args_os().any(|arg| arg == "--json") {
        let message = error.render().to_string();
        Output::new(true).error(
            "usage",
            message
                .trim_start_matches("error: ")
                .lines()
                .next()
                .unwrap_or_default(),
        );
    }
    // The reader may have closed the pipe.
    let _ = error.print();
    if misuse {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    }
}

/// Enables the developer log on stderr if `RUST_LOG` is set.
fn log_if_asked() {
    if let Ok(filter) = EnvFilter::try_from_default_env() {
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .init();
    }
}
