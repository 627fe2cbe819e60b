//! Imports the cards of a SillyTavern folder. Reads several files in parallel and stores the cards
//! in batches.

use std::collections::HashMap;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use domain::card::{self, Card};
use domain::lorebook::Binding;
use domain::{CharacterId, backyard};
use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use store::{AssetHash, Character};
use uuid::Uuid;

use crate::api::{ApiError, ImportReport, Imported, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::base::files::read_capped;
use crate::import::reports::progress::ImportRun;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::card_notes::{notes, picture_of};
use crate::import::sillytavern::folder::{SillyTavernFolder, file_name, stem};
use crate::import::sillytavern::tags::Tags;
use crate::import::sillytavern::worlds::WantedBindings;
use crate::library::characters::cards::{is_favourite, spec};
use crate::library::characters::list::retag;

/// Cards per transaction, because each commit waits for the disk.
const BATCH: usize = 16;
const PNG: &str = "image/png";

/// Characters by the stems of their files, which are also the names of their chat folders.
pub(crate) type Cast = HashMap<String, CharacterId>;

/// Result of reading a card file.
enum FoundCard {
    /// It was imported before.
    Known {
        id: CharacterId,
        name: String,
        linked: Option<Value>,
    },
    /// Its files are stored, but not its row yet.
    New(Box<New>),
    /// Not a PNG card, or a card with more data. It is imported like a single file.
    Other,
}

struct New {
    character: Character,
    favourite: bool,
    linked: Option<Value>,
    warnings: Vec<String>,
}

impl FolderImports {
    /// Imports the cards of `tavern`, and adds the lorebooks that they are linked to.
    pub(crate) async fn import_cards_of(
        &self,
        tavern: &SillyTavernFolder,
        tags: Tags,
        wishes: &mut WantedBindings,
        run: &mut ImportRun,
        report: &mut ImportReport,
    ) -> ApiResult<Cast> {
        if run.cancelled() {
            return Ok(Cast::new());
        }
        let folder = tavern.root.to_string_lossy().into_owned();
        let imports = self.clone();
        let place = folder.clone();
        let tags = Arc::new(tags);
        let given = Arc::clone(&tags);
        let looked = stream::iter(tavern.cards.clone()).map(move |path| {
            let imports = imports.clone();
            let place = place.clone();
            let given = Arc::clone(&given);
            async move { Ok::<_, ApiError>((imports.look_at(place, &path, &given).await?, path)) }
        });
        let mut looked = pin!(looked.buffered(side_by_side()));
        let mut cast = Cast::new();
        let mut batch = Vec::new();
        while let Some(next) = looked.next().await {
            match next? {
                (FoundCard::Known { id, name, linked }, path) => {
                    let reason = format!("{name} is already in the library");
                    report.skipped.push(Skipped {
                        id: id.to_string(),
                        file: file_name(&path),
                        reason,
                    });
                    wishes.add(linked.as_ref(), Binding::Character(id));
                    cast.insert(stem(&path), id);
                }
                (FoundCard::New(new), path) => {
                    wishes.add(new.linked.as_ref(), Binding::Character(new.character.id));
                    cast.insert(stem(&path), new.character.id);
                    batch.push((file_name(&path), *new));
                }
                (FoundCard::Other, path) => {
                    self.keep_cards(&folder, std::mem::take(&mut batch), report)
                        .await?;
                    if let Some(id) = self
                        .import_other_card(&folder, &path, &tags, report)
                        .await?
                    {
                        self.wish_of(id, wishes).await?;
                        cast.insert(stem(&path), id);
                    }
                }
            }
            if batch.len() >= BATCH {
                self.keep_cards(&folder, std::mem::take(&mut batch), report)
                    .await?;
            }
            run.step();
            if run.cancelled() {
                break;
            }
        }
        self.keep_cards(&folder, batch, report).await?;
        Ok(cast)
    }

    async fn look_at(&self, folder: String, path: &Path, tags: &Tags) -> ApiResult<FoundCard> {
        let file = file_name(path);
        let own = path.to_owned();
        let read = tokio::task::spawn_blocking(move || read_png(&own)).await;
        let Some((bytes, hash, card, mut warnings)) =
            read.map_err(|_| internal("a card could not be read"))?
        else {
            return Ok(FoundCard::Other);
        };
        let linked = card.extensions().and_then(|all| all.get("world")).cloned();
        if let Some(known) = self.known_card(folder, file.clone(), hash).await? {
            return Ok(FoundCard::Known {
                id: known.id,
                name: known.name,
                linked,
            });
        }
        let store = self.base().store().clone();
        let keep = move || {
            let picture = picture_of(&bytes, &card)
                .map_err(|why| warnings.push(why))
                .ok()
                .flatten();
            let picture = picture
                .map(|picture| store.keep_file(&picture.png))
                .transpose()?;
            Ok::<_, store::StoreError>((store.keep_file(&bytes)?, picture, card, warnings))
        };
        let kept = tokio::task::spawn_blocking(keep)
            .await
            .map_err(|_| internal("a card could not be stored"))?;
        let (source, picture, mut card, warnings) = kept?;
        retag(&mut card, tags.given_to(&file), &[]);
        let now = self.base().now();
        let character = Character {
            id: CharacterId(Uuid::now_v7()),
            name: card.name().to_owned(),
            spec: spec(&card),
            picture,
            source: Some(source),
            created: now,
            updated: now,
            card_json: card.to_json(),
        };
        Ok(FoundCard::New(Box::new(New {
            character,
            favourite: is_favourite(&card),
            linked,
            warnings,
        })))
    }

    /// The character that was imported from this file, even if it has changed since. Otherwise one
    /// that was imported from a file with the same content; this is recorded for the next import.
    async fn known_card(
        &self,
        folder: String,
        file: String,
        content: AssetHash,
    ) -> ApiResult<Option<Character>> {
        let place = folder.clone();
        let own = file.clone();
        let found = self.base().store().read(move |store| {
            let by_file = store.sources().character(&place, &own)?;
            let like = match by_file {
                Some(_) => None,
                None => store.sources().character_like(&place, content)?,
            };
            let row = by_file
                .or(like)
                .map(|id| store.characters().get(id))
                .transpose()?
                .flatten();
            Ok((row, like.is_some()))
        });
        let (known, new_to_us) = found.await?;
        if let Some(known) = known.as_ref().filter(|_| new_to_us) {
            let id = known.id;
            self.base()
                .store()
                .write(move |store| store.sources_mut().set_character(&folder, &file, id))
                .await?;
        }
        Ok(known)
    }

    /// Stores the rows of cards whose files are stored, in one transaction.
    async fn keep_cards(
        &self,
        folder: &str,
        batch: Vec<(String, New)>,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let folder = folder.to_owned();
        let now = self.base().now();
        let kept = self.base().store().write(move |store| {
            for (file, new) in &batch {
                let Character {
                    id,
                    picture,
                    source,
                    ..
                } = new.character;
                for asset in picture.into_iter().chain(source) {
                    store.assets_mut().put_kept(asset, PNG, now)?;
                }
                store.characters_mut().insert(&new.character)?;
                if new.favourite {
                    store.favourites_mut().add(id)?;
                }
                store.sources_mut().set_character(&folder, file, id)?;
            }
            Ok(batch)
        });
        report
            .imported
            .extend(kept.await?.into_iter().map(|(file, new)| Imported {
                kind: "character".into(),
                id: new.character.id.to_string(),
                name: new.character.name,
                file,
                warnings: new.warnings,
            }));
        Ok(())
    }

    /// Imports a file of any type. Returns the character, if it is one.
    async fn import_other_card(
        &self,
        folder: &str,
        path: &Path,
        tags: &Tags,
        report: &mut ImportReport,
    ) -> ApiResult<Option<CharacterId>> {
        let place = folder.to_owned();
        let file = file_name(path);
        let own = file.clone();
        if let Some(id) = self
            .base()
            .store()
            .read(move |store| store.sources().character(&place, &own))
            .await?
        {
            let reason = format!(
                "{} is already in the library",
                self.library().characters.character(id).await?.name
            );
            report.skipped.push(Skipped {
                id: id.to_string(),
                file,
                reason,
            });
            return Ok(Some(id));
        }
        let imported = report.imported.len();
        let skipped = report.skipped.len();
        self.file_imports.import_path(path, false, report).await?;
        let added = report.imported[imported..]
            .iter()
            .find(|one| one.kind == "character")
            .and_then(|one| one.id.parse::<CharacterId>().ok());
        if let Some(id) = added {
            self.library()
                .characters
                .tag_characters(vec![id], tags.given_to(&file).to_vec(), Vec::new())
                .await?;
        }
        let known = report.skipped[skipped..].iter();
        let known = known.filter_map(|one| one.id.parse().ok());
        let Some(id) = added.into_iter().chain(known).next() else {
            return Ok(None);
        };
        let place = folder.to_owned();
        // A skipped file may be a lorebook instead of a character.
        let remember = move |store: &mut store::WriteTransaction<'_>| {
            let is_somebody = store.characters().get(id)?.is_some();
            if is_somebody {
                store.sources_mut().set_character(&place, &file, id)?;
            }
            Ok(is_somebody.then_some(id))
        };
        Ok(self.base().store().write(remember).await?)
    }
}

/// Number of files to read in parallel: the number of processors, at most 4 because each file may
/// take much memory.
pub(crate) fn side_by_side() -> usize {
    std::thread::available_parallelism()
        .map_or(1, std::num::NonZero::get)
        .min(4)
}

type PngCard = (Vec<u8>, AssetHash, Card, Vec<String>);

/// Reads a PNG card that has no data besides the card. Blocks.
fn read_png(path: &Path) -> Option<PngCard> {
    let bytes = read_capped(path, card::MAX_FILE, "a card").ok()?;
    if !bytes.starts_with(b"\x89PNG") {
        return None;
    }
    let (card, warnings) = Card::read_named(&bytes, &stem(path)).ok()?;
    if backyard::sampling(&card).is_some() {
        return None;
    }
    let hash = AssetHash::of(&bytes);
    let warnings = warnings
        .iter()
        .map(ToString::to_string)
        .chain(notes(&card))
        .collect();
    Some((bytes, hash, card, warnings))
}
