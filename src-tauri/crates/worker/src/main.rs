//! `inglenook-worker`: llama.cpp in a process of its own, driven by frames on stdin, answering with frames on stdout.
//!
//! Promises
//! - stdout carries frames and nothing else; what llama.cpp has to say goes to stderr.
//! - A bad file, a long prompt or an odd frame is an error frame; the process goes on.
//! - Text that is not `control` never becomes a control token.
//! - The end of stdin ends the process, within a second even in the middle of a computation.
//! - KV caches outlive a shutdown in the folder that the supervisor names; a file there that is not whole, or was saved
//!   for another model or chat, is deleted unread.
//!
//! Absent: ports, databases, keys, chat templates, settings.

mod cache;
mod disk;
mod embed;
mod engine;
mod generate;
mod guard;
mod inbox;
mod outlet;
mod sampler;
mod vocab;

use std::process::ExitCode;
use std::sync::Arc;

use worker::protocol::{PROTOCOL, Reply};

use crate::inbox::{Inbox, Replies};

const BUILD: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--version") {
        print_version();
        return ExitCode::SUCCESS;
    }
    guard::tie_to_parent();
    send_logs_to_stderr();
    let replies = Arc::new(Replies::new(std::io::stdout()));
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

fn serve(replies: &Arc<Replies>) -> Result<(), engine::Fatal> {
    let (backend, devices) = engine::start()?;
    replies.send(&Reply::Ready { protocol: PROTOCOL, build: BUILD.to_owned(), devices })?;
    engine::run(&backend, Inbox::read(std::io::stdin(), Arc::clone(replies)), replies)
}
