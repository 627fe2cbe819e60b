//! The list of files in a card: how it is shown and changed.

use std::collections::HashSet;

use domain::card::{AssetPlace, Card};
use domain::{CharacterId, card};
use image::ImageFormat;
use serde_json::Value;
use store::{AssetHash, StoreError, WriteTransaction};

use crate::api::{CardAsset, CardAssetPlace};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::library::characters::card_assets::NewAsset;

/// Adds stored files to the card's list. Skips files that are already in it under the same path.
pub(super) fn put(
    card: &mut Card,
    of: CharacterId,
    files: &[NewAsset],
    store: &mut WriteTransaction<'_>,
) -> Result<ApiResult<usize>, StoreError> {
    let mut fresh = Vec::new();
    for new in files {
        let NewAsset {
            kind,
            name,
            ext,
            file,
            from,
            ..
        } = new;
        let path = path(kind, name, ext, *file);
        let listed = card
            .asset_list()
            .iter()
            .any(|one| one.place == AssetPlace::Embedded(&path));
        let came = match from {
            Some((folder, name)) => store.sources().character(folder, name)? == Some(of),
            None => false,
        };
        if !listed && !came {
            fresh.push((new, path));
        }
    }
    // Check the limit before writing: a refusal does not roll back.
    if card.assets().len() + fresh.len() > MAX_ASSETS {
        let message = format!("The card would have more than {MAX_ASSETS} files.");
        return Ok(Err(bad_input(message, "Remove some files first.")));
    }
    for (
        NewAsset {
            kind,
            name,
            ext,
            file,
            from,
            ..
        },
        path,
    ) in &fresh
    {
        if let Some((folder, name)) = from {
            store.sources_mut().set_character(folder, name, of)?;
        }
        store.card_files_mut().put(of, path, *file)?;
        // A card has only one main icon, and it already exists.
        let name = if (kind.as_str(), name.as_str()) == ("icon", "main") {
            "main 2"
        } else {
            name
        };
        card.add_asset(kind, name, ext, path);
    }
    Ok(Ok(fresh.len()))
}

pub(super) fn shown(card: &Card, there: &HashSet<String>) -> Vec<CardAsset> {
    let one = |(at, asset): (usize, card::CardAsset<'_>)| {
        let place = match asset.place {
            AssetPlace::Embedded(path) if !there.contains(path) => CardAssetPlace::Missing,
            AssetPlace::Embedded(_) | AssetPlace::Inline => CardAssetPlace::Here,
            AssetPlace::OwnPicture => CardAssetPlace::Own,
            AssetPlace::External if asset.uri.is_empty() => CardAssetPlace::Missing,
            AssetPlace::External => CardAssetPlace::Elsewhere {
                uri: asset.uri.chars().take(MAX_URI).collect(),
            },
        };
        CardAsset {
            id: id(card, at),
            kind: asset.kind.to_owned(),
            name: asset.name.to_owned(),
            ext: asset.ext.to_owned(),
            shows: place == CardAssetPlace::Here,
            place,
        }
    };
    card.asset_list().into_iter().enumerate().map(one).collect()
}

/// Id of an asset: its position and a hash of its content, so that an id of a changed list no
/// longer matches.
pub(super) fn id(card: &Card, at: usize) -> String {
    let asset = card
        .assets()
        .get(at)
        .map(Value::to_string)
        .unwrap_or_default();
    format!(
        "{at}-{}",
        &AssetHash::of(asset.as_bytes()).to_string()[..12]
    )
}

pub(super) fn place(card: &Card, wanted: &str) -> ApiResult<usize> {
    let at = wanted
        .split('-')
        .next()
        .and_then(|at| at.parse::<usize>().ok());
    at.filter(|at| *at < card.assets().len() && id(card, *at) == wanted)
        .ok_or_else(|| not_found("file"))
}

pub(super) fn refuse_second_main(card: &Card, at: usize, kind: &str, name: &str) -> ApiResult<()> {
    let is_main = |kind: &str, name: &str| kind == "icon" && name == "main";
    let other = card
        .asset_list()
        .iter()
        .enumerate()
        .any(|(index, one)| index != at && is_main(one.kind, one.name));
    if is_main(kind, name) && other {
        return Err(bad_input(
            "The card has a main icon already.",
            "Change the character's picture instead.",
        ));
    }
    Ok(())
}

/// Returns the text as one line without control characters, if it fits the limit.
pub(super) fn word(text: &str, what: &str) -> ApiResult<String> {
    let word: String = text
        .chars()
        .filter(|letter| !letter.is_control())
        .collect::<String>()
        .trim()
        .to_owned();
    if word.is_empty() || word.chars().count() > MAX_WORD {
        let hint = format!("Write 1 to {MAX_WORD} characters.");
        return Err(bad_input(
            format!("The {what} of the file is empty or too long."),
            hint,
        ));
    }
    Ok(word)
}

/// File extension as Character Card V3 requires it: lower-case ASCII, or `unknown`.
pub(crate) fn ending(ext: &str) -> String {
    let ext = ext.to_ascii_lowercase();
    let fits =
        (1..=8).contains(&ext.len()) && ext.bytes().all(|letter| letter.is_ascii_alphanumeric());
    if fits { ext } else { "unknown".to_owned() }
}

/// Detects the type from the first bytes, not from the file name.
pub(crate) fn mime(bytes: &[u8]) -> &'static str {
    match image::guess_format(bytes) {
        Ok(ImageFormat::Png) => "image/png",
        Ok(ImageFormat::Jpeg) => "image/jpeg",
        Ok(ImageFormat::WebP) => "image/webp",
        _ => "application/octet-stream",
    }
}

/// Path of an asset in a CHARX archive: folder by kind and type, ASCII name, and a hash so that two
/// contents never share a path.
pub(super) fn path(kind: &str, name: &str, ext: &str, file: AssetHash) -> String {
    let plain = |text: &str| -> String {
        text.chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '_'
                }
            })
            .take(60)
            .collect()
    };
    let folder = match ext {
        "png" | "apng" | "jpg" | "jpeg" | "webp" | "gif" | "avif" => "images",
        "mp3" | "ogg" | "wav" | "flac" | "m4a" => "audio",
        "mp4" | "webm" | "mov" => "video",
        "ttf" | "otf" | "woff" | "woff2" => "fonts",
        _ => "other",
    };
    let ending = if ext == "unknown" { "bin" } else { ext };
    format!(
        "assets/{}/{folder}/{}-{}.{ending}",
        plain(kind),
        plain(name),
        &file.to_string()[..12]
    )
}

/// Maximum length of an asset's kind or name, in characters.
pub(super) const MAX_WORD: usize = 120;

/// Maximum length of an address that is shown, in characters.
pub(super) const MAX_URI: usize = 2_000;

/// Maximum number of assets in a card.
pub(super) const MAX_ASSETS: usize = 2_000;
