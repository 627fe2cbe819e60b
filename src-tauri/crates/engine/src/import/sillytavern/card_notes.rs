//! Reasons for refusing files, and notes about the parts of a card, for all importers.

use domain::archive::ArchiveError;
use domain::card::{self, Card, CardError};
use domain::lorebook::Book;
use domain::regex_script;
use serde_json::Value;

use crate::base::picture::{self, PngPicture};
use crate::import::prompts::lorebooks as books;
use crate::import::prompts::presets::script_note;

/// Refusal kind of a picture without a card.
pub(crate) const NO_CARD: &str = "noCard";

/// The reason for refusing a pointer of Git LFS, which a repository has in place of a large file.
pub(crate) fn git_lfs_pointer(bytes: &[u8]) -> Option<String> {
    if !bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1_024)]);
    let size = text
        .lines()
        .find_map(|line| line.strip_prefix("size ")?.trim().parse::<u64>().ok());
    let size = size
        .map(|size| format!(" of {size} bytes"))
        .unwrap_or_default();
    Some(format!(
        "this is a Git LFS pointer and not the file{size} that it stands for. Download the file itself from the page \
         of its repository, or fetch it with `git lfs pull`"
    ))
}

/// Decodes the picture of a card. `Err` holds the reason for a warning. Blocks.
pub(crate) fn picture_of(file: &[u8], card: &Card) -> Result<Option<PngPicture>, String> {
    match card::picture(file, card).map_err(|error| error.to_string())? {
        Some(found) => picture::decode(&found)
            .map(Some)
            .map_err(|error| error.to_string()),
        None => Ok(None),
    }
}

/// Import notes about the lorebook and scripts of a card. Slow for large books.
pub(crate) fn notes(card: &Card) -> Vec<String> {
    let of_book: Vec<String> = match card.character_book().map(Book::from_character_book) {
        Some((book, skipped)) => {
            let of_entries = [books::without_keys(&book), books::always_at_depth(&book)];
            books::warnings(&skipped)
                .into_iter()
                .chain(of_entries.into_iter().flatten())
                .collect()
        }
        None => Vec::new(),
    };
    let mut notes: Vec<String> = of_book
        .into_iter()
        .map(|entry| format!("its lorebook: {entry}"))
        .collect();
    let scripts = card
        .extensions()
        .and_then(|all| all.get("regex_scripts"))
        .and_then(Value::as_array);
    let read = card
        .extensions()
        .and_then(|all| all.get("regex_scripts"))
        .map(|all| regex_script::read(all).0);
    let depths = read.iter().flatten().filter_map(|script| {
        Some(format!(
            "its script \"{}\": {}",
            script.script_name,
            script_note(script)?
        ))
    });
    notes.extend(depths);
    let scripts = scripts.map_or(0, |scripts| {
        scripts.iter().filter(|script| script.is_object()).count()
    });
    if scripts > 0 {
        let wait = if scripts == 1 {
            "1 regex script needs"
        } else {
            &*format!("{scripts} regex scripts need")
        };
        notes.push(format!(
            "{wait} your permission: allow them under Scripts in the character's editor"
        ));
    }
    notes
}

/// The refusal kind for the API.
pub(crate) fn refusal(error: &CardError) -> &'static str {
    match error {
        CardError::UnknownFormat { .. } | CardError::PackedOtherwise { .. } => "unknownFormat",
        CardError::TooLarge { .. } | CardError::TooComplex { .. } => "tooLarge",
        CardError::Truncated { .. }
        | CardError::BrokenPng { .. }
        | CardError::NotUnpacked { .. } => "damaged",
        CardError::NoCard => NO_CARD,
        CardError::Locked => "locked",
        CardError::Archive(error) => match error {
            ArchiveError::TooLarge { .. }
            | ArchiveError::TooManyMembers { .. }
            | ArchiveError::MemberTooLarge { .. }
            | ArchiveError::TotalTooLarge { .. }
            | ArchiveError::Ratio { .. } => "tooLarge",
            ArchiveError::Incomplete | ArchiveError::Damaged { .. } => "damaged",
            _ => "unsafeArchive",
        },
        CardError::NoName { .. } | CardError::NameTooLong { .. } => "noName",
        _ => "malformed",
    }
}
