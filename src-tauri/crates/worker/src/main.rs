//! `inglenook-worker`: llama.cpp in a separate process. It reads frames from stdin and writes frames to stdout.
//!
//! Guarantees
//! - stdout carries only frames; the log of llama.cpp goes to stderr.
//! - A bad file, a long prompt or an invalid frame is answered with an error frame, and the process continues.
//! - Text that is not `control` never becomes a control token.
//! - The process exits within a second after stdin closes, even during a computation.
//! - On shutdown, KV caches are saved in the supervisor's folder. A file that is damaged, or belongs to another model
//!   or chat, is deleted unread.
//!
//! Not supported here: ports, databases, keys, chat templates, settings.

mod cache;
mod disk;
mod embed;
mod engine;
mod generate;
mod guard;
mod inbox;
mod sampler;
mod text_filter;
mod token_choices;
mod vocab;

use std::process::ExitCode;
use std::sync::Arc;

use worker::protocol::{PROTOCOL, WorkerReply};

use crate::inbox::{Inbox, ReplyWriter};

const BUILD: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--version") {
        print_version();
        return ExitCode::SUCCESS;
    }
    guard::set_parent_death_signal();
    send_logs_to_stderr();
    let replies = Arc::new(ReplyWriter::new(std::io::stdout()));
    match serve(&replies) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("inglenook-worker: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "--version is for people, not for a supervisor")]
fn print_version() {
    println!("inglenook-worker {BUILD} (protocol {PROTOCOL})");
}

fn send_logs_to_stderr() {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .init();
    llama_cpp_2::send_logs_to_tracing(llama_cpp_2::LogOptions::default());
}

fn serve(replies: &Arc<ReplyWriter>) -> Result<(), engine::Fatal> {
    let (backend, devices) = engine::start()?;
    replies.send(&WorkerReply::Ready { protocol: PROTOCOL, build: BUILD.to_owned(), devices })?;
    engine::run(&backend, Inbox::read(std::io::stdin(), Arc::clone(replies)), replies)
}
