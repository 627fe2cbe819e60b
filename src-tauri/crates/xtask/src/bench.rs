//! The project's own measurements, as the README quotes them.

use crate::models;
use crate::process::{cargo, run};
use crate::python;
use crate::run::with_surroundings;
use crate::system::{self, Need};
use anyhow::Result;
use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct Options {
    /// What is measured.
    #[arg(value_enum)]
    name: Name,
    /// Passed on to the measurement, such as `--context 4096 --turns 100` for `reuse`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// Making the prompt of one turn, without model and network.
    Assembly,
    /// The worker beside llama.cpp's own server.
    Decode,
    /// Lorebooks over a chat.
    Lore,
    /// How fast the encoder reads, and what that costs a reply.
    Memory,
    /// What memory brings back of facts planted in 20,000 messages.
    Planted,
    /// Which part of a long chat's prompts was read before, beside a sliding window.
    Reuse,
    /// Counting tokens.
    Tokenize,
}

impl Name {
    /// Package, bench, profile.
    fn place(self) -> [&'static str; 3] {
        match self {
            Self::Assembly => ["tests", "assembly", "bench"],
            // A dev build suffices: only the worker is timed, and it is optimised in every profile.
            Self::Decode => ["tests", "decode", "dev"],
            Self::Lore => ["context", "lore", "bench"],
            Self::Memory => ["tests", "memory", "bench"],
            Self::Planted => ["tests", "planted", "bench"],
            Self::Reuse => ["tests", "reuse", "dev"],
            Self::Tokenize => ["local", "tokenize", "bench"],
        }
    }
}

/// Builds the measurement and what it needs, and runs it.
///
/// # Errors
/// When a step fails.
pub(crate) fn bench(options: &Options) -> Result<()> {
    system::ensure(&[Need::Build])?;
    models::ensure_defaults()?;
    if matches!(options.name, Name::Decode) {
        python::ensure_server()?;
    }
    run(cargo("build").args(["--locked", "-p", "worker"]))?;
    let [package, name, profile] = options.name.place();
    let mut call = cargo("bench");
    call.args(["--locked", "--profile", profile, "-p", package, "--bench", name, "--"]).args(&options.arguments);
    run(python::name_server(with_surroundings(&mut call)?)?)
}
