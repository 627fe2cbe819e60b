//! `export`: writes the user's data to files for other apps.

use std::io::Write as _;
use std::path::Path;

use engine::api::{CardFormat, ChatFileFormat, LorebookFormat, PromptFile, ReadableOptions};
use engine::{Engine, Exported};
use serde::Serialize;

use crate::cli::{ExportFormat, ExportKind};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::prompt::presets;

/// The file written to `--out`.
#[derive(Serialize)]
struct ExportedFile {
    file: String,
    bytes: usize,
    warnings: Vec<String>,
}

/// The item to export, and its format.
pub(crate) struct ExportRequest {
    pub(crate) kind: ExportKind,
    pub(crate) format: ExportFormat,
    pub(crate) parts: ReadableOptions,
}

pub(crate) async fn export(
    engine: &Engine,
    request: ExportRequest,
    name: &str,
    file: &Path,
    out: &Output,
) -> Result<(), CommandError> {
    let exported = exported(engine, request, name).await?;
    keep(file, &exported.bytes, exported.warnings, out)
}

/// Writes a file and reports it.
pub(super) fn keep(
    file: &Path,
    bytes: &[u8],
    warnings: Vec<String>,
    out: &Output,
) -> Result<(), CommandError> {
    write_whole(file, bytes)?;
    let written = ExportedFile {
        file: file.display().to_string(),
        bytes: bytes.len(),
        warnings,
    };
    out.answer(&written, |written| {
        let warnings: String = written
            .warnings
            .iter()
            .map(|warning| format!("\n    {warning}"))
            .collect();
        format!("wrote {} ({} bytes){warnings}", written.file, written.bytes)
    })
}

async fn exported(
    engine: &Engine,
    request: ExportRequest,
    name: &str,
) -> Result<Exported, CommandError> {
    let ExportRequest {
        kind,
        format,
        parts,
    } = request;
    let unfit = |forms: &str| {
        CommandError::because("usage", format!("this kind can be exported as {forms}"))
    };
    Ok(match kind {
        ExportKind::Character => {
            let format =
                card_format(format).ok_or_else(|| unfit("png, json-v2, json-v3 or charx"))?;
            engine
                .export_character(find::character(engine, name).await?.id, format)
                .await?
        }
        ExportKind::Lorebook => {
            let format = book_format(format).ok_or_else(|| unfit("native or v3"))?;
            engine
                .export_lorebook(find::lorebook(engine, name).await?.id, format)
                .await?
        }
        ExportKind::Chat => {
            let format =
                chat_format(format).ok_or_else(|| unfit("jsonl, html, text, markdown or group"))?;
            engine
                .export_chat_with(find::chat(engine, name).await?.id, format, parts)
                .await?
        }
        ExportKind::Preset if format == ExportFormat::Sillytavern => {
            presets::export(engine, name).await?
        }
        ExportKind::Script if format == ExportFormat::Sillytavern => {
            let id = presets::id(engine, "regexScript", name).await?;
            engine
                .export_prompt_file(PromptFile::RegexScript, id)
                .await?
        }
        ExportKind::QuickReplies if format == ExportFormat::Sillytavern => {
            let id = presets::id(engine, "quickReplies", name).await?;
            engine
                .export_prompt_file(PromptFile::QuickReplies, id)
                .await?
        }
        ExportKind::Preset | ExportKind::Script | ExportKind::QuickReplies => {
            return Err(unfit("sillytavern"));
        }
        ExportKind::Template if format == ExportFormat::Json => {
            engine
                .export_prompt_file(PromptFile::Template, find::template(engine, name).await?)
                .await?
        }
        ExportKind::Template => return Err(unfit("json")),
        ExportKind::Background if format == ExportFormat::Original => {
            background(engine, name).await?
        }
        ExportKind::Background => return Err(unfit("original")),
    })
}

async fn background(engine: &Engine, name: &str) -> Result<Exported, CommandError> {
    let all = engine.list_backgrounds().await?;
    let found = find::pick("background", all, name, |one| {
        (one.picture.clone(), vec![one.name.as_str()])
    })?;
    let bytes = engine.asset(found.picture).await?.bytes;
    Ok(Exported {
        file_name: found.name,
        mime: "application/octet-stream",
        bytes,
        warnings: Vec::new(),
    })
}

fn card_format(format: ExportFormat) -> Option<CardFormat> {
    match format {
        ExportFormat::Png => Some(CardFormat::Png),
        ExportFormat::JsonV2 => Some(CardFormat::JsonV2),
        ExportFormat::JsonV3 => Some(CardFormat::JsonV3),
        ExportFormat::Charx => Some(CardFormat::Charx),
        _ => None,
    }
}

fn book_format(format: ExportFormat) -> Option<LorebookFormat> {
    match format {
        ExportFormat::Native => Some(LorebookFormat::Native),
        ExportFormat::V3 => Some(LorebookFormat::V3),
        _ => None,
    }
}

fn chat_format(format: ExportFormat) -> Option<ChatFileFormat> {
    match format {
        ExportFormat::Jsonl => Some(ChatFileFormat::Jsonl),
        ExportFormat::Html => Some(ChatFileFormat::Html),
        ExportFormat::Text => Some(ChatFileFormat::Text),
        ExportFormat::Markdown => Some(ChatFileFormat::Markdown),
        ExportFormat::Group => Some(ChatFileFormat::Group),
        _ => None,
    }
}

/// Writes a file atomically: a full disk leaves the old file unchanged. A link stays, and its
/// target is replaced. Devices and pipes, such as `/dev/stdout`, are written to directly, because a
/// rename would put a file in their place.
pub(super) fn write_whole(file: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    write(file, bytes).map_err(|error| {
        CommandError::because(
            "storage",
            format!("cannot write {}: {error}", file.display()),
        )
    })
}

fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    match std::fs::metadata(file) {
        Ok(old) if !old.is_file() => std::fs::OpenOptions::new()
            .write(true)
            .open(file)?
            .write_all(bytes),
        Ok(_) => replace(&file.canonicalize()?, bytes),
        Err(_) => replace(file, bytes),
    }
}

fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // Temporary files are readable only by their owner, and the export may hold a private chat.
    let mut whole = tempfile::NamedTempFile::new_in(folder)?;
    whole.write_all(bytes)?;
    whole.as_file().sync_all()?;
    whole.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn export_replaces_the_old_file_cleanly() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mira.json");
        std::fs::write(&file, "old").unwrap();
        write_whole(&file, b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn export_keeps_links_and_pipes() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link, pipe) = (
            folder.path().join("mira.json"),
            folder.path().join("link.json"),
            folder.path().join("pipe"),
        );
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert!(link.is_symlink());
        let made = std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap();
        assert!(made.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        write_whole(&pipe, b"piped").unwrap();
        assert_eq!(reader.join().unwrap(), b"piped");
        assert!(!std::fs::metadata(&pipe).unwrap().is_file());
        // A folder is no place for a file, and stays.
        write_whole(folder.path(), b"lost").unwrap_err();
    }

    #[cfg(unix)]
    #[test]
    fn export_is_readable_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let file = folder.path().join("mira.json");
        write_whole(&file, b"private").unwrap();
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}
