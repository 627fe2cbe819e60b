//! Gives Tauri the list of commands that the page may call, so that no other can be called.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

#[path = "src/commands/shell_commands.rs"]
mod shell_commands;

macro_rules! shell_names {
    ($($name:ident),*) => {
        const COMMANDS: &[&str] = &[$(stringify!($name)),*];
    };
}
crate::shell_commands!(shell_names);

fn main() -> Result<(), Box<dyn Error>> {
    // The folder must exist for the code to compile; the UI's build may fill it later.
    fs::create_dir_all("../ui/dist")?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let folder = out.join("own-permissions");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("own-commands.toml"), own_commands())?;
    println!("cargo:rerun-if-changed=src/commands/shell_commands.rs");
    let pattern = folder
        .join("*.toml")
        .to_str()
        .ok_or("the target folder's path is not Unicode")?
        .to_owned();
    let manifest = tauri_build::AppManifest::new().permissions_path_pattern(pattern.leak());
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    Ok(())
}

/// One permission that allows exactly our commands.
fn own_commands() -> String {
    let names: Vec<_> = COMMANDS.iter().map(|name| format!("\"{name}\"")).collect();
    format!(
        "[[permission]]\nidentifier = \"own-commands\"\ndescription = \"The commands of Inglenook itself.\"\n\
         commands.allow = [{}]\n",
        names.join(", ")
    )
}
