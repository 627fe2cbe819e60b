//! `backup`, `restore`, `check`: verified copies of the data, and whether it is whole.

use std::path::PathBuf;

use engine::api::Backup;
use engine::{Engine, Options};
use serde::Serialize;

use super::doctor;
use super::library::{Items, lines};
use crate::failure::Failure;
use crate::output::Output;

pub(crate) async fn backup(engine: &Engine, list: bool, out: &Output) -> Result<(), Failure> {
    if list {
        return lines(Items { items: engine.list_backups().await? }, out, line);
    }
    out.answer(&engine.backup().await?, |made| format!("wrote {}", line(made)))
}

fn line(backup: &Backup) -> String {
    format!("{} ({} bytes, taken {})", backup.file, backup.bytes, backup.taken)
}

#[derive(Serialize)]
struct Restored {
    /// Where the database that stood there before is.
    aside: Option<String>,
}

/// The data folder must be nobody's.
pub(crate) async fn restore(options: &Options, file: Option<PathBuf>, out: &Output) -> Result<(), Failure> {
    let aside = Engine::restore(options, file.as_deref()).await?;
    let restored = Restored { aside: aside.map(|folder| folder.display().to_string()) };
    out.answer(&restored, |restored| match &restored.aside {
        Some(folder) => format!("restored; the database that was there is in {folder}"),
        None => "restored".to_owned(),
    })
}

pub(crate) async fn check(engine: &Engine, out: &Output) -> Result<(), Failure> {
    doctor::tell(&engine.check_data().await?, out)
}
