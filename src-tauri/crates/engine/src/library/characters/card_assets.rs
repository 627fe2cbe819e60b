//! Lists, shows, adds, renames and removes the files (assets) of a card in its editor. Remote
//! addresses are listed but never fetched.

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::CharacterId;
use domain::card::{AssetPlace, Card};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{AssetHash, CardFile, Character, StoreError, WriteTransaction};

use crate::api::CardAsset;
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::base::picture;
use crate::library::assets::pictures::{MAX_PICTURE_BYTES, plain};
use crate::library::characters::Characters;
use crate::library::characters::card_asset_list::{
    ending, mime, place, put, refuse_second_main, shown, word,
};
use crate::library::characters::cards::card_of;

/// An asset that was removed from a card, with its position.
#[derive(Serialize, Deserialize)]
struct Removed {
    at: usize,
    asset: Value,
    /// Path and hash of a file that was added in the app.
    file: Option<(String, AssetHash)>,
}

impl Removed {
    /// Whether the path is one that this app creates. Any other path could overwrite files when a
    /// recipient unpacks the card.
    fn is_ours(&self) -> bool {
        self.file
            .as_ref()
            .is_none_or(|(path, _)| path.starts_with("assets/") && !path.contains(".."))
    }
}

/// A file to add to a card.
pub(crate) struct NewAsset {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) ext: String,
    /// Content hash. The file itself is already stored.
    pub(crate) file: AssetHash,
    pub(crate) mime: &'static str,
    /// Folder and file name in an import. An asset that the user has removed since is not imported
    /// again.
    pub(crate) from: Option<(String, String)>,
}

impl Characters {
    /// Lists the assets in the order of the card.
    pub(crate) async fn card_assets(&self, character: CharacterId) -> ApiResult<Vec<CardAsset>> {
        let character = self.character(character).await?;
        let (card, _) = self.card(&character)?;
        let mut there = self.paths_put(character.id).await?;
        if card.embedded_file_count() > there.len()
            && let Some(bytes) = self.source_of(&character).await?
        {
            let found = tokio::task::spawn_blocking(move || Card::files_in(&bytes));
            // The files in a damaged source are unavailable.
            there.extend(
                found
                    .await
                    .map_err(|_| internal("a card could not be read"))?
                    .unwrap_or_default(),
            );
        }
        Ok(shown(&card, &there))
    }

    /// Stores a small copy of an asset's picture temporarily and returns its hash; `None` if the
    /// asset is not a picture.
    ///
    /// # Errors
    /// `NotFound` if the character or the asset does not exist.
    pub(crate) async fn show_card_asset(
        &self,
        character: CharacterId,
        id: String,
    ) -> ApiResult<Option<String>> {
        let Some(bytes) = self.card_asset_bytes(character, id).await? else {
            return Ok(None);
        };
        // Re-encode the pixels with size limits, because cards come from untrusted sources.
        let Ok(small) = picture::small(bytes).await else {
            return Ok(None);
        };
        Ok(Some(
            self.assets.keep(small.bytes, small.mime).await?.to_string(),
        ))
    }

    /// The content of an asset; `None` if its file is missing or damaged.
    ///
    /// # Errors
    /// `NotFound` if the character or the asset does not exist.
    pub(crate) async fn card_asset_bytes(
        &self,
        character: CharacterId,
        id: String,
    ) -> ApiResult<Option<Vec<u8>>> {
        let character = self.character(character).await?;
        let (card, _) = self.card(&character)?;
        let at = place(&card, &id)?;
        if let Some(file) = self.file_put(&character, &card, at).await? {
            return Ok(self
                .assets
                .asset(file.asset.to_string())
                .await
                .ok()
                .map(|asset| asset.bytes));
        }
        let source = self.source_of(&character).await?;
        let read = tokio::task::spawn_blocking(move || card.asset_bytes(at, source.as_deref()));
        Ok(read
            .await
            .map_err(|_| internal("a card could not be read"))?
            .unwrap_or_default())
    }

    /// Adds a file at the end of a card's asset list.
    ///
    /// # Errors
    /// `BadInput` if the file exceeds [`MAX_PICTURE_BYTES`] or the card has too many assets.
    pub(crate) async fn add_card_asset(
        &self,
        character: CharacterId,
        kind: String,
        file: String,
        data: String,
    ) -> ApiResult<Vec<CardAsset>> {
        let bytes = BASE64_STANDARD
            .decode(data)
            .map_err(|_| bad_input("The file is not base64.", "Send the file again."))?;
        if bytes.len() > MAX_PICTURE_BYTES {
            let size = bytes.len() >> 20;
            let limit = MAX_PICTURE_BYTES >> 20;
            return Err(bad_input(
                format!("The file is too large ({size} MiB)."),
                format!("Use at most {limit} MiB."),
            ));
        }
        let kind = word(&kind, "kind")?;
        let file = plain(&file);
        let (stem, ext) = file.rsplit_once('.').unwrap_or((&file, ""));
        let name = word(stem, "name")?;
        let ext = ending(ext);
        let mime = mime(&bytes);
        let file = self.assets.keep(bytes, mime).await?;
        self.put_card_assets(
            character,
            vec![NewAsset {
                kind,
                name,
                ext,
                file,
                mime,
                from: None,
            }],
        )
        .await?;
        self.card_assets(character).await
    }

    /// Sets the kind and the name of an asset.
    ///
    /// # Errors
    /// `NotFound` if the asset does not exist. `BadInput` for a second main icon: a card has only
    /// one.
    pub(crate) async fn update_card_asset(
        &self,
        character: CharacterId,
        id: String,
        kind: String,
        name: String,
    ) -> ApiResult<Vec<CardAsset>> {
        let kind = word(&kind, "kind")?;
        let name = word(&name, "name")?;
        self.change_assets(character, move |card, _, _| {
            let changed = place(card, &id)
                .and_then(|at| refuse_second_main(card, at, &kind, &name).map(|()| at));
            Ok(changed.map(|at| _ = card.set_asset(at, &kind, &name)))
        })
        .await?;
        self.card_assets(character).await
    }

    /// Removes an asset from the card. Returns the JSON that `restore_card_asset` needs to undo
    /// this.
    pub(crate) async fn remove_card_asset(
        &self,
        character: CharacterId,
        id: String,
    ) -> ApiResult<String> {
        self.change_assets(character, move |card, of, store| {
            let at = match place(card, &id) {
                Ok(at) => at,
                Err(error) => return Ok(Err(error)),
            };
            let path = match card.asset_list().get(at).map(|asset| asset.place) {
                Some(AssetPlace::Embedded(path)) => path.to_owned(),
                _ => String::new(),
            };
            let asset = card.remove_asset(at).unwrap_or_default();
            let still = card
                .asset_list()
                .iter()
                .any(|asset| asset.place == AssetPlace::Embedded(&path));
            let known = store
                .card_files()
                .of(of)?
                .into_iter()
                .find(|file| file.path == path && !still);
            if known.is_some() {
                store.card_files_mut().remove(of, &path)?;
            }
            let removed = Removed {
                at,
                asset,
                file: known.map(|file| (path, file.asset)),
            };
            Ok(serde_json::to_string(&removed).map_err(|error| internal(&error.to_string())))
        })
        .await
    }

    /// Puts a removed asset back in its position. Its file is available until the app closes.
    ///
    /// # Errors
    /// `BadInput` if `removed` is not the result of `remove_card_asset`.
    pub(crate) async fn restore_card_asset(
        &self,
        character: CharacterId,
        removed: String,
    ) -> ApiResult<Vec<CardAsset>> {
        let refused = |why: &str| {
            bad_input(
                format!("The file cannot be put back: {why}."),
                "Add it again.",
            )
        };
        let removed: Removed =
            serde_json::from_str(&removed).map_err(|error| refused(&error.to_string()))?;
        if !removed.is_ours() {
            return Err(refused("its path is not one of this app"));
        }
        self.change_assets(character, move |card, of, store| {
            if let Some((path, file)) = removed.file {
                store.card_files_mut().put(of, &path, file)?;
            }
            card.put_asset(removed.at, removed.asset);
            Ok(Ok(()))
        })
        .await?;
        self.card_assets(character).await
    }

    /// Adds files whose bytes are already stored. Returns how many were new to the card.
    pub(crate) async fn put_card_assets(
        &self,
        character: CharacterId,
        files: Vec<NewAsset>,
    ) -> ApiResult<usize> {
        let now = self.base().now();
        self.change_assets(character, move |card, of, store| {
            for NewAsset { file, mime, .. } in &files {
                store.assets_mut().put_kept(*file, mime, now)?;
            }
            put(card, of, &files, store)
        })
        .await
    }

    /// Changes a card's asset list in one transaction.
    async fn change_assets<T: Send + 'static>(
        &self,
        id: CharacterId,
        change: impl FnOnce(
            &mut Card,
            CharacterId,
            &mut WriteTransaction<'_>,
        ) -> Result<ApiResult<T>, StoreError>
        + Send
        + 'static,
    ) -> ApiResult<T> {
        let now = self.base().now();
        let changed = self.base().store().write(move |store| {
            let Some(character) = store.characters().get(id)? else {
                return Ok(Err(not_found("character")));
            };
            let mut card = match card_of(&character) {
                Ok(card) => card,
                Err(error) => return Ok(Err(error)),
            };
            let done = change(&mut card, id, store)?;
            if done.is_ok() {
                let card_json = card.to_json();
                store.characters_mut().update(&Character {
                    card_json,
                    updated: now,
                    ..character
                })?;
            }
            Ok(done)
        });
        let done = changed.await??;
        self.library_changed();
        Ok(done)
    }

    async fn paths_put(&self, character: CharacterId) -> ApiResult<HashSet<String>> {
        let files = self
            .base()
            .store()
            .read(move |store| store.card_files().of(character))
            .await?;
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    /// The asset file at `at`, if it was added in the app.
    async fn file_put(
        &self,
        character: &Character,
        card: &Card,
        at: usize,
    ) -> ApiResult<Option<CardFile>> {
        let Some(AssetPlace::Embedded(path)) = card.asset_list().get(at).map(|asset| asset.place)
        else {
            return Ok(None);
        };
        let id = character.id;
        let path = path.to_owned();
        let files = self
            .base()
            .store()
            .read(move |store| store.card_files().of(id))
            .await?;
        Ok(files.into_iter().find(|file| file.path == path))
    }

    /// The imported file of a card.
    async fn source_of(&self, character: &Character) -> ApiResult<Option<Vec<u8>>> {
        match character.source {
            Some(hash) => Ok(self
                .assets
                .asset(hash.to_string())
                .await
                .ok()
                .map(|file| file.bytes)),
            None => Ok(None),
        }
    }
}
