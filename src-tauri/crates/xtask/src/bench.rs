//! Runs the benchmarks that the README quotes.

use crate::models;
use crate::process::{cargo, run};
use crate::python;
use crate::run::with_test_environment;
use crate::system::{self, Need};
use anyhow::Result;
use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct Options {
    /// The benchmark to run.
    #[arg(value_enum)]
    name: BenchName,
    /// Arguments for the benchmark, such as `--context 4096 --turns 100` for `reuse`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum BenchName {
    /// Overhead of the local API over the engine, and fifty clients at once.
    Api,
    /// Building the prompt of one turn, without model and network.
    Assembly,
    /// Prompt and decode speed of the worker compared with llama.cpp's own server, idle and next to
    /// a busy process. `--through api` and `--through window` measure the whole way of a reply.
    Decode,
    /// Speed of the encoder compared with ONNX Runtime.
    Embed,
    /// Time to the first token for several lengths of the new part of a prompt.
    FirstToken,
    /// Lorebook activation over a chat.
    Lore,
    /// Speed of the encoder, and its effect on a running reply.
    Memory,
    /// Recall of facts planted in 20,000 messages.
    Planted,
    /// Prompt reuse in a long chat, compared with a sliding window.
    Reuse,
    /// Full-text search over 100,000 messages.
    Search,
    /// Start of the worker with a model of 1 GB compared with llama.cpp's own server.
    Start,
    /// Token counting.
    Tokenize,
}

impl BenchName {
    /// Package and program, profile, and the benchmark's name in a program of several.
    fn place(self) -> ([&'static str; 2], &'static str, Option<&'static str>) {
        const ENGINE: [&str; 2] = ["tests", "engine"];
        match self {
            Self::Api => (ENGINE, "bench", Some("api")),
            Self::Assembly => (ENGINE, "bench", Some("assembly")),
            // A dev build is enough: only the worker is timed, and it is optimised in every
            // profile.
            Self::Decode => (ENGINE, "dev", Some("decode")),
            Self::Embed => (ENGINE, "dev", Some("embed")),
            Self::FirstToken => (ENGINE, "dev", Some("first-token")),
            Self::Lore => (["context", "lore"], "bench", None),
            Self::Memory => (ENGINE, "bench", Some("memory")),
            Self::Planted => (ENGINE, "bench", Some("planted")),
            Self::Reuse => (ENGINE, "dev", Some("reuse")),
            Self::Search => (ENGINE, "bench", Some("search")),
            Self::Start => (ENGINE, "dev", Some("start")),
            Self::Tokenize => (["local", "tokenize"], "bench", None),
        }
    }
}

/// Builds the benchmark and its dependencies, and runs it.
///
/// # Errors
/// A step fails.
pub(crate) fn bench(options: &Options) -> Result<()> {
    system::ensure(&[Need::Build])?;
    models::ensure_defaults()?;
    match options.name {
        BenchName::Decode | BenchName::Start => python::ensure_server()?,
        BenchName::Embed => python::ensure_onnx()?,
        _ => {}
    }
    run(cargo("build").args(["--locked", "-p", "worker"]))?;
    let ([package, program], mut profile, name) = options.name.place();
    if options.arguments.iter().any(|word| word == "--through") {
        // The way of a reply is timed, not only the worker.
        profile = "bench";
        run(cargo("build").args(["--locked", "--release", "-p", "nook"]))?;
    }
    let mut call = cargo("bench");
    call.args([
        "--locked",
        "--profile",
        profile,
        "-p",
        package,
        "--bench",
        program,
        "--",
    ]);
    call.args(name).args(&options.arguments);
    run(python::set_test_variables(with_test_environment(
        &mut call,
    )?)?)
}
