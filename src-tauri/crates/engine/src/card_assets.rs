//! The files of a card, for its editor: told, shown, renamed, taken out, and new ones put in (V3-07 to V3-16). What lies on other
//! machines is told and never fetched.

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::CharacterId;
use domain::card::{self, AssetPlace, Card};
use image::ImageFormat;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{AssetHash, CardFile, Character, StoreError, Write};

use crate::Engine;
use crate::api::{CardAsset, CardAssetPlace};
use crate::characters::card_of;
use crate::error::{Answer, bad_input, internal, not_found};
use crate::picture;
use crate::pictures::{MAX_PICTURE_BYTES, plain};

/// Characters of a kind or a name.
const MAX_WORD: usize = 120;
/// Characters of an address that are told.
const MAX_URI: usize = 2_000;
/// Assets of a card at the most.
const MAX_ASSETS: usize = 2_000;

/// A file that was taken out of a card, and where it stood.
#[derive(Serialize, Deserialize)]
struct Removed {
    at: usize,
    asset: Value,
    /// Path and hash of one that was put to the card here.
    file: Option<(String, AssetHash)>,
}

impl Removed {
    /// Paths are made here; one that leads elsewhere would be a trap for whoever unpacks the card.
    fn is_ours(&self) -> bool {
        self.file.as_ref().is_none_or(|(path, _)| path.starts_with("assets/") && !path.contains(".."))
    }
}

/// A file on its way into a card.
pub(crate) struct NewAsset {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) ext: String,
    /// Written already.
    pub(crate) file: AssetHash,
    pub(crate) mime: &'static str,
    /// Folder and name of what an import brings. One that was taken out of the card since is not brought again.
    pub(crate) from: Option<(String, String)>,
}

impl Engine {
    /// In the card's order.
    pub async fn card_assets(&self, character: String) -> Answer<Vec<CardAsset>> {
        let character = self.character(character.parse()?).await?;
        let (card, _) = self.card(&character)?;
        let mut there = self.paths_put(character.id).await?;
        if card.files_beside() > there.len()
            && let Some(bytes) = self.source_of(&character).await?
        {
            let found = tokio::task::spawn_blocking(move || Card::files_in(&bytes));
            // A damaged file has none of them any more.
            there.extend(found.await.map_err(|_| internal("a card could not be read"))?.unwrap_or_default());
        }
        Ok(shown(&card, &there))
    }

    /// A small copy of the picture that an asset is, as the hash of what is kept for a while; `None` if it is no picture.
    ///
    /// # Errors
    /// `NotFound` without the character or the asset.
    pub async fn show_card_asset(&self, character: String, id: String) -> Answer<Option<String>> {
        let character = self.character(character.parse()?).await?;
        let (card, _) = self.card(&character)?;
        let at = place(&card, &id)?;
        let bytes = match self.file_put(&character, &card, at).await? {
            Some(file) => self.asset(file.asset.to_string()).await?.bytes,
            None => {
                let source = self.source_of(&character).await?;
                let read = tokio::task::spawn_blocking(move || card.asset_bytes(at, source.as_deref()));
                match read.await.map_err(|_| internal("a card could not be read"))? {
                    Ok(Some(bytes)) => bytes,
                    _ => return Ok(None),
                }
            }
        };
        // Made anew from its pixels, within bounds: a card is a stranger's.
        let Ok(small) = picture::small(bytes).await else { return Ok(None) };
        Ok(Some(self.keep(small.bytes, small.mime).await?.to_string()))
    }

    /// Puts a file to the card, at the end of its list.
    ///
    /// # Errors
    /// `BadInput` for a file beyond [`MAX_PICTURE_BYTES`], and for a card that has too many.
    pub async fn add_card_asset(
        &self,
        character: String,
        kind: String,
        file: String,
        data: String,
    ) -> Answer<Vec<CardAsset>> {
        let bytes =
            BASE64_STANDARD.decode(data).map_err(|_| bad_input("The file is not base64.", "Send the file again."))?;
        if bytes.len() > MAX_PICTURE_BYTES {
            let (size, limit) = (bytes.len() >> 20, MAX_PICTURE_BYTES >> 20);
            return Err(bad_input(format!("The file has {size} MiB."), format!("Use one of at most {limit} MiB.")));
        }
        let (kind, file) = (word(&kind, "kind")?, plain(&file));
        let (stem, ext) = file.rsplit_once('.').unwrap_or((&file, ""));
        let (name, ext) = (word(stem, "name")?, ending(ext));
        let mime = mime(&bytes);
        let file = self.keep(bytes, mime).await?;
        self.put_card_assets(character.parse()?, vec![NewAsset { kind, name, ext, file, mime, from: None }]).await?;
        self.card_assets(character).await
    }

    /// Says what an asset is, and what it is called.
    ///
    /// # Errors
    /// `NotFound` without it; `BadInput` for a second main icon (V3-12).
    pub async fn update_card_asset(
        &self,
        character: String,
        id: String,
        kind: String,
        name: String,
    ) -> Answer<Vec<CardAsset>> {
        let (kind, name) = (word(&kind, "kind")?, word(&name, "name")?);
        self.change_assets(&character, move |card, _, _| {
            let changed = place(card, &id).and_then(|at| refuse_second_main(card, at, &kind, &name).map(|()| at));
            Ok(changed.map(|at| _ = card.set_asset(at, &kind, &name)))
        })
        .await?;
        self.card_assets(character).await
    }

    /// Takes an asset out of the card. The answer is what `restore_card_asset` needs to put it back.
    pub async fn remove_card_asset(&self, character: String, id: String) -> Answer<String> {
        self.change_assets(&character, move |card, of, store| {
            let at = match place(card, &id) {
                Ok(at) => at,
                Err(error) => return Ok(Err(error)),
            };
            let path = match card.asset_list().get(at).map(|asset| asset.place) {
                Some(AssetPlace::Beside(path)) => path.to_owned(),
                _ => String::new(),
            };
            let asset = card.remove_asset(at).unwrap_or_default();
            let still = card.asset_list().iter().any(|asset| asset.place == AssetPlace::Beside(&path));
            let known = store.card_files().of(of)?.into_iter().find(|file| file.path == path && !still);
            if known.is_some() {
                store.card_files_mut().remove(of, &path)?;
            }
            let removed = Removed { at, asset, file: known.map(|file| (path, file.asset)) };
            Ok(serde_json::to_string(&removed).map_err(|error| internal(&error.to_string())))
        })
        .await
    }

    /// Puts an asset back to where it was; until the app ends its file is there.
    ///
    /// # Errors
    /// `BadInput` if `removed` is not what `remove_card_asset` answered.
    pub async fn restore_card_asset(&self, character: String, removed: String) -> Answer<Vec<CardAsset>> {
        let refused = |why: &str| bad_input(format!("The file cannot be put back: {why}."), "Add it again.");
        let removed: Removed = serde_json::from_str(&removed).map_err(|error| refused(&error.to_string()))?;
        if !removed.is_ours() {
            return Err(refused("it lies elsewhere"));
        }
        self.change_assets(&character, move |card, of, store| {
            if let Some((path, file)) = removed.file {
                store.card_files_mut().put(of, &path, file)?;
            }
            card.put_asset(removed.at, removed.asset);
            Ok(Ok(()))
        })
        .await?;
        self.card_assets(character).await
    }

    /// Puts files to a card whose bytes are written already, and says how many of them were not there yet.
    pub(crate) async fn put_card_assets(&self, character: CharacterId, files: Vec<NewAsset>) -> Answer<usize> {
        let now = self.now();
        self.change_assets(&character.to_string(), move |card, of, store| {
            for NewAsset { file, mime, .. } in &files {
                store.assets_mut().put_kept(*file, mime, now)?;
            }
            put(card, of, &files, store)
        })
        .await
    }

    /// Changes a card's list where nothing can come in between.
    async fn change_assets<T: Send + 'static>(
        &self,
        character: &str,
        change: impl FnOnce(&mut Card, CharacterId, &mut Write<'_>) -> Result<Answer<T>, StoreError> + Send + 'static,
    ) -> Answer<T> {
        let (id, now) = (character.parse::<CharacterId>()?, self.now());
        let changed = self.store().write(move |store| {
            let Some(character) = store.characters().get(id)? else { return Ok(Err(not_found("character"))) };
            let mut card = match card_of(&character) {
                Ok(card) => card,
                Err(error) => return Ok(Err(error)),
            };
            let done = change(&mut card, id, store)?;
            if done.is_ok() {
                let card_json = card.to_json();
                store.characters_mut().update(&Character { card_json, updated: now, ..character })?;
            }
            Ok(done)
        });
        let done = changed.await??;
        self.library_changed();
        Ok(done)
    }

    async fn paths_put(&self, character: CharacterId) -> Answer<HashSet<String>> {
        let files = self.store().read(move |store| store.card_files().of(character)).await?;
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    /// The file at `at`, if it was put to the card here.
    async fn file_put(&self, character: &Character, card: &Card, at: usize) -> Answer<Option<CardFile>> {
        let Some(AssetPlace::Beside(path)) = card.asset_list().get(at).map(|asset| asset.place) else {
            return Ok(None);
        };
        let (id, path) = (character.id, path.to_owned());
        let files = self.store().read(move |store| store.card_files().of(id)).await?;
        Ok(files.into_iter().find(|file| file.path == path))
    }

    /// The file that a card came in.
    async fn source_of(&self, character: &Character) -> Answer<Option<Vec<u8>>> {
        match character.source {
            Some(hash) => Ok(self.asset(hash.to_string()).await.ok().map(|file| file.bytes)),
            None => Ok(None),
        }
    }
}

/// Lists files that are kept; those that lie there already under their names are no news.
fn put(
    card: &mut Card,
    of: CharacterId,
    files: &[NewAsset],
    store: &mut Write<'_>,
) -> Result<Answer<usize>, StoreError> {
    let mut fresh = Vec::new();
    for new in files {
        let NewAsset { kind, name, ext, file, from, .. } = new;
        let path = path(kind, name, ext, *file);
        let listed = card.asset_list().iter().any(|one| one.place == AssetPlace::Beside(&path));
        let came = match from {
            Some((folder, name)) => store.sources().character(folder, name)? == Some(of),
            None => false,
        };
        if !listed && !came {
            fresh.push((new, path));
        }
    }
    // Before anything is written: a refusal takes nothing back.
    if card.assets().len() + fresh.len() > MAX_ASSETS {
        let message = format!("A card may have {MAX_ASSETS} files.");
        return Ok(Err(bad_input(message, "Take some out first.")));
    }
    for (NewAsset { kind, name, ext, file, from, .. }, path) in &fresh {
        if let Some((folder, name)) = from {
            store.sources_mut().set_character(folder, name, of)?;
        }
        store.card_files_mut().put(of, path, *file)?;
        // V3-12: there is one main icon, and it is there already.
        let name = if (kind.as_str(), name.as_str()) == ("icon", "main") { "main 2" } else { name };
        card.add_asset(kind, name, ext, path);
    }
    Ok(Ok(fresh.len()))
}

fn shown(card: &Card, there: &HashSet<String>) -> Vec<CardAsset> {
    let one = |(at, asset): (usize, card::Asset<'_>)| {
        let place = match asset.place {
            AssetPlace::Beside(path) if !there.contains(path) => CardAssetPlace::Missing,
            AssetPlace::Beside(_) | AssetPlace::InText => CardAssetPlace::Here,
            AssetPlace::Own => CardAssetPlace::Own,
            AssetPlace::Elsewhere if asset.uri.is_empty() => CardAssetPlace::Missing,
            AssetPlace::Elsewhere => CardAssetPlace::Elsewhere { uri: asset.uri.chars().take(MAX_URI).collect() },
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

/// Its place, and what it is: a list that changed since answers to other ids.
fn id(card: &Card, at: usize) -> String {
    let asset = card.assets().get(at).map(Value::to_string).unwrap_or_default();
    format!("{at}-{}", &AssetHash::of(asset.as_bytes()).to_string()[..12])
}

fn place(card: &Card, wanted: &str) -> Answer<usize> {
    let at = wanted.split('-').next().and_then(|at| at.parse::<usize>().ok());
    at.filter(|at| *at < card.assets().len() && id(card, *at) == wanted).ok_or_else(|| not_found("file"))
}

fn refuse_second_main(card: &Card, at: usize, kind: &str, name: &str) -> Answer<()> {
    let is_main = |kind: &str, name: &str| kind == "icon" && name == "main";
    let other = card.asset_list().iter().enumerate().any(|(index, one)| index != at && is_main(one.kind, one.name));
    if is_main(kind, name) && other {
        return Err(bad_input("The card has a main icon already.", "Change the character's picture instead."));
    }
    Ok(())
}

/// One line of a bounded length.
fn word(text: &str, what: &str) -> Answer<String> {
    let word: String = text.chars().filter(|letter| !letter.is_control()).collect::<String>().trim().to_owned();
    if word.is_empty() || word.chars().count() > MAX_WORD {
        let hint = format!("Write one of at most {MAX_WORD} characters.");
        return Err(bad_input(format!("A file of a card needs a {what}, and not a long one."), hint));
    }
    Ok(word)
}

/// As V3-11 wants it: lower-case letters, or `unknown`.
pub(crate) fn ending(ext: &str) -> String {
    let ext = ext.to_ascii_lowercase();
    let fits = (1..=8).contains(&ext.len()) && ext.bytes().all(|letter| letter.is_ascii_alphanumeric());
    if fits { ext } else { "unknown".to_owned() }
}

/// By what the bytes begin with, not by what the file is called.
pub(crate) fn mime(bytes: &[u8]) -> &'static str {
    match image::guess_format(bytes) {
        Ok(ImageFormat::Png) => "image/png",
        Ok(ImageFormat::Jpeg) => "image/jpeg",
        Ok(ImageFormat::WebP) => "image/webp",
        _ => "application/octet-stream",
    }
}

/// CT-08 and CT-09: folders by kind, plain letters, and never the same for two contents.
fn path(kind: &str, name: &str, ext: &str, file: AssetHash) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).take(60).collect()
    };
    let folder = match ext {
        "png" | "apng" | "jpg" | "jpeg" | "webp" | "gif" | "avif" => "images",
        "mp3" | "ogg" | "wav" | "flac" | "m4a" => "audio",
        "mp4" | "webm" | "mov" => "video",
        "ttf" | "otf" | "woff" | "woff2" => "fonts",
        _ => "other",
    };
    let ending = if ext == "unknown" { "bin" } else { ext };
    format!("assets/{}/{folder}/{}-{}.{ending}", plain(kind), plain(name), &file.to_string()[..12])
}
