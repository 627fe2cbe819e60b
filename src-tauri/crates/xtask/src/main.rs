//! `cargo xtask`: sets up, runs, tests, measures and bundles the project, and takes screenshots.
//!
//! Every command first installs what it needs, says what it installs and why, and skips completed
//! work. `test` always ends with the line `N passed, N failed`.
//!
//! This crate knows nothing about the product. It calls cargo, npm, apt, pip and the bundler.

mod bench;
mod bundle;
mod changed;
mod fuzz;
mod house;
mod models;
mod process;
mod python;
mod release;
mod run;
mod system;
mod tally;
mod test;
mod ui;
mod vulkan;
mod windows;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Set up, run, test and bundle Inglenook")]
struct Arguments {
    #[command(subcommand)]
    command: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
    /// Installs missing system packages, the UI's packages and the default models.
    Setup,
    /// Sets up, builds and opens the window.
    Run {
        /// Use an optimised build: slow to build, faster with large models.
        #[arg(long)]
        release: bool,
    },
    /// Runs every check and ends with the line `N passed, N failed`.
    Test(test::Options),
    /// Runs the generators of hostile input for a given time.
    Fuzz(fuzz::Options),
    /// Runs one of the benchmarks that the README quotes.
    Bench(bench::Options),
    /// Counts large files, functions and handles, cycles and other signs of poor structure.
    House(house::Options),
    /// Builds the packages into target/package/<profile>.
    Bundle(bundle::Options),
    /// Prepares finished packages for publication: checksums, signatures and notes.
    Release(release::Options),
    /// Takes screenshots of every screen of the UI, in ui/test-results/screenshots.
    Screenshots,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        XtaskCommand::Setup => setup(),
        XtaskCommand::Run { release } => run::window(release),
        XtaskCommand::Test(options) => return test::all(&options),
        XtaskCommand::Fuzz(options) => fuzz::fuzz(&options),
        XtaskCommand::Bench(options) => bench::bench(&options),
        XtaskCommand::House(options) => house::house(&options),
        XtaskCommand::Bundle(options) => bundle::bundle(&options),
        XtaskCommand::Release(options) => release::release(&options),
        XtaskCommand::Screenshots => run::screenshots(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn setup() -> anyhow::Result<()> {
    system::ensure(&[system::Need::Build, system::Need::Test])?;
    models::ensure_defaults()?;
    python::ensure()?;
    ui::install()
}
