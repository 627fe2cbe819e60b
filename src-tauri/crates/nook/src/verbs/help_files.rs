//! `completions` and `man`: files for shells and for `man`, made from the arguments of this program.

use std::path::Path;
use std::{fs, io};

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use crate::cli::Cli;
use crate::failure::CommandError;
use crate::output::Output;

/// Prints the script with the completions of `shell`.
pub(super) fn completions(shell: Shell, out: &Output) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "nook", &mut script);
    print(&script, out)
}

/// Prints the manual page of `nook`, or writes the pages of `nook` and its verbs into a folder.
pub(super) fn manual(into: Option<&Path>, out: &Output) -> Result<(), CommandError> {
    let mut command = Cli::command();
    // Gives the verbs their full names, such as `nook-models-download`.
    command.build();
    let Some(folder) = into else {
        let mut roff = Vec::new();
        page(command).render(&mut roff)?;
        return print(&roff, out);
    };
    let mut pages = Vec::new();
    let written =
        fs::create_dir_all(folder).and_then(|()| write_pages(&command, folder, &mut pages));
    let folder = folder.display().to_string();
    written.map_err(|error| {
        let message = format!("the manual pages cannot be written to {folder}: {error}");
        CommandError::because("io", message)
    })?;
    out.answer(&json!({ "folder": folder, "pages": pages }), |_| {
        format!("{} manual pages are in {folder}", pages.len())
    })
}

/// Writes the page of `command` and those of its verbs, and adds their names to `pages`.
fn write_pages(command: &Command, folder: &Path, pages: &mut Vec<String>) -> io::Result<()> {
    let page = page(command.clone());
    page.generate_to(folder)?;
    pages.push(page.get_filename());
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        write_pages(verb, folder, pages)?;
    }
    Ok(())
}

fn page(command: Command) -> Man {
    Man::new(command)
        .source(concat!("nook ", env!("CARGO_PKG_VERSION")))
        .manual("Inglenook")
}

fn print(bytes: &[u8], out: &Output) -> Result<(), CommandError> {
    let text = String::from_utf8_lossy(bytes);
    out.answer(&json!({ "text": text }), |_| text.into_owned())
}
