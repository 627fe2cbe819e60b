//! `inglenook-worker`: llama.cpp in a separate process. It reads frames from stdin and writes
//! frames to stdout.
//!
//! Guarantees
//! - stdout carries only frames; the log of llama.cpp goes to stderr.
//! - A bad file, a long prompt or an invalid frame is answered with an error frame, and the process
//!   continues.
//! - Text that is not `control` never becomes a control token.
//! - The process exits within a second after stdin closes, even during a computation.
//! - On shutdown, KV caches are saved in the supervisor's folder. With keys from the supervisor,
//!   only encrypted bytes are written. A file that is damaged, or belongs to another model or chat,
//!   is deleted unread.
//!
//! Not supported here: ports, databases, keys of endpoints, chat templates, settings.

mod cache;
mod chunk;
mod devices;
mod embed;
mod engine;
mod generate;
mod guard;
mod inbox;
mod picture_tokens;
mod placement;
mod projector;
mod reply;
mod tuning;
mod vocab;
mod worker_error;

use std::process::ExitCode;
use std::sync::Arc;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use worker::protocol::{PROTOCOL, WorkerReply};

use crate::inbox::{Inbox, ReplyWriter};

const BUILD: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--version") {
        print_version();
        return ExitCode::SUCCESS;
    }
    guard::set_parent_death_signal();
    read_log_of_llama();
    if std::env::args().any(|argument| argument == "--devices") {
        return print_devices();
    }
    let replies = Arc::new(ReplyWriter::new(std::io::stdout()));
    match serve(&replies) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

#[expect(
    clippy::print_stdout,
    reason = "--version is for people, not for a supervisor"
)]
fn print_version() {
    println!("inglenook-worker {BUILD} (protocol {PROTOCOL})");
}

/// Prints the devices as JSON for the supervisor. Drivers run here for the first time and may
/// crash, so this process does nothing else.
#[expect(
    clippy::print_stdout,
    reason = "the list is this process's only output"
)]
fn print_devices() -> ExitCode {
    let backend = engine::start(true);
    match backend.map(|_backend| serde_json::to_string(&devices::list())) {
        Ok(Ok(json)) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Ok(Err(error)) => fail(&error),
        Err(error) => fail(&error),
    }
}

fn fail(error: &impl std::fmt::Display) -> ExitCode {
    eprintln!("inglenook-worker: {error}");
    ExitCode::FAILURE
}

/// Warnings go to stderr. Where the parts of a model are is kept for the reply to a load request.
fn read_log_of_llama() {
    use tracing_subscriber::filter::LevelFilter;
    tracing_subscriber::registry()
        .with(LevelFilter::INFO)
        .with(placement::LlamaLog)
        .init();
    llama_cpp_2::send_logs_to_tracing(llama_cpp_2::LogOptions::default());
}

fn serve(replies: &Arc<ReplyWriter>) -> Result<(), engine::Fatal> {
    let without = std::env::args().any(|argument| argument == "--no-graphics");
    let (backend, devices) = engine::start(!without)?;
    replies.send(&WorkerReply::Ready {
        protocol: PROTOCOL,
        build: BUILD.to_owned(),
        devices,
    })?;
    engine::run(
        &backend,
        Inbox::read(std::io::stdin(), Arc::clone(replies)),
        replies,
    )
}
