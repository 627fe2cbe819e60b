//! Exports characters as files for other apps, with the picture and the files that they came with.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::CharacterId;
use domain::card::{self, AssetPlace, Card};
use store::{AssetHash, Character};

use crate::api::CardFormat;
use crate::base::error::{ApiResult, internal};
use crate::base::picture;
use crate::library::characters::Characters;
use crate::library::characters::cards::{Exported, card_of, file_name};

/// Parts of a character's file other than the card.
struct CardOrigin {
    /// The imported file, unchanged.
    file: Option<Vec<u8>>,
    /// The picture that the library shows, a PNG.
    picture: Option<Vec<u8>>,
    from: PictureFrom,
    /// A picture exists but could not be read, so the library shows none.
    unreadable: bool,
    /// Files that were added in the app.
    put: Vec<Put>,
}

struct Put {
    path: String,
    mime: String,
    bytes: Vec<u8>,
}

/// Maximum total size of files that are embedded in the JSON of a card, for formats without
/// attachments. A PNG contains that JSON twice, and Base64 adds a third each time.
const MAX_IN_TEXT: usize = 8 << 20;

/// Origin of the picture that the library shows.
enum PictureFrom {
    /// The user set it in the app.
    Here,
    /// It is the imported file itself.
    File,
    /// It was inside the imported file, as these bytes.
    Inside(Vec<u8>),
}

impl Characters {
    /// Exports the card as a file that other apps can open.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if the card is too large for the format.
    pub(crate) async fn export_character(
        &self,
        id: CharacterId,
        format: CardFormat,
    ) -> ApiResult<Exported> {
        let character = self.character(id).await?;
        let mut card = card_of(&character)?;
        card.set_modification_date(self.base().now());
        let origin = self.origin(&character, &card).await?;
        let work = move || write(&card, origin, format);
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| internal("a card could not be written"))?
    }

    async fn origin(&self, character: &Character, card: &Card) -> ApiResult<CardOrigin> {
        let file = self.bytes_of(character.source).await?;
        let picture = self.bytes_of(character.picture).await?;
        let found = file
            .as_deref()
            .and_then(|file| card::picture(file, card).ok().flatten());
        let unreadable = found.is_some() && picture.is_none();
        let from = match found {
            Some(found) if is_made_of(character.picture, &found).await => match found {
                Cow::Borrowed(_) => PictureFrom::File,
                Cow::Owned(bytes) => PictureFrom::Inside(bytes),
            },
            _ => PictureFrom::Here,
        };
        let id = character.id;
        let files = self
            .base()
            .store()
            .read(move |store| store.card_files().of(id))
            .await?;
        let mut put = Vec::with_capacity(files.len());
        for store::CardFile {
            path, asset, mime, ..
        } in files
        {
            put.push(Put {
                path,
                mime,
                bytes: self.assets.asset(asset.to_string()).await?.bytes,
            });
        }
        Ok(CardOrigin {
            file,
            picture,
            from,
            unreadable,
            put,
        })
    }

    async fn bytes_of(&self, asset: Option<AssetHash>) -> ApiResult<Option<Vec<u8>>> {
        match asset {
            Some(hash) => Ok(Some(self.assets.asset(hash.to_string()).await?.bytes)),
            None => Ok(None),
        }
    }
}

/// Whether the library's picture was made from these bytes, that is, the user has not replaced it.
async fn is_made_of(picture: Option<AssetHash>, bytes: &[u8]) -> bool {
    let Some(picture) = picture else { return false };
    picture::read(bytes.to_vec())
        .await
        .is_ok_and(|remade| AssetHash::of(&remade.png) == picture)
}

fn write(card: &Card, mut origin: CardOrigin, format: CardFormat) -> ApiResult<Exported> {
    let put = std::mem::take(&mut origin.put);
    let in_text = format != CardFormat::Charx
        && put.iter().map(|file| file.bytes.len()).sum::<usize>() <= MAX_IN_TEXT;
    let card = &if in_text {
        with_put(card, &put)
    } else {
        card.clone()
    };
    let lost = origin.lost(card, format, if in_text { &[] } else { &put });
    let (bytes, ending, mime) = match format {
        CardFormat::Png => (card.to_png(&origin.png()?)?, "png", "image/png"),
        CardFormat::JsonV2 => (card.to_json_v2().into_bytes(), "json", "application/json"),
        CardFormat::JsonV3 => (card.to_json_v3().into_bytes(), "json", "application/json"),
        CardFormat::Charx => {
            let put = put
                .into_iter()
                .map(|file| (file.path, file.bytes))
                .collect();
            (
                card.to_charx_with(origin.file.as_deref(), origin.icon(), put)?,
                "charx",
                "application/zip",
            )
        }
    };
    let mut warnings = Vec::new();
    if lost > 0 {
        warnings.push(format!(
            "files of the card that cannot be stored in this format: {lost}; export it as CHARX to keep them"
        ));
    }
    if origin.unreadable && format == CardFormat::Png {
        let why =
            "the card's own picture cannot be read, so a plain one is used; choose another picture";
        warnings.push(why.to_owned());
    }
    Ok(Exported {
        file_name: file_name(card.name(), ending),
        mime,
        bytes,
        warnings,
    })
}

fn with_put(card: &Card, added: &[Put]) -> Card {
    let encoded = added.iter().map(|Put { path, mime, bytes }| {
        (path.clone(), mime.clone(), BASE64_STANDARD.encode(bytes))
    });
    card.with_inline_assets(&encoded.collect::<Vec<_>>())
}

impl CardOrigin {
    /// Returns the original PNG if the card came with one, so that its pixels stay exactly the
    /// same.
    fn png(&self) -> ApiResult<Cow<'_, [u8]>> {
        let original = match &self.from {
            PictureFrom::File => self.file.as_deref(),
            PictureFrom::Inside(bytes) => Some(bytes.as_slice()),
            PictureFrom::Here => None,
        };
        match original
            .filter(|bytes| card::is_whole_png(bytes))
            .or(self.picture.as_deref())
        {
            Some(bytes) => Ok(bytes.into()),
            None => Ok(picture::placeholder()?.into()),
        }
    }

    /// The picture to add to an archive; `None` if the archive already contains it.
    fn icon(&self) -> Option<&[u8]> {
        match &self.from {
            PictureFrom::Inside(_) => None,
            PictureFrom::File => self
                .file
                .as_deref()
                .filter(|bytes| card::is_whole_png(bytes))
                .or(self.picture.as_deref()),
            PictureFrom::Here => self.picture.as_deref(),
        }
    }

    /// Number of the card's files that the format cannot hold. `added` are the files that were
    /// added in the app and not embedded.
    fn lost(&self, card: &Card, format: CardFormat, added: &[Put]) -> usize {
        let is_card_png = matches!(self.from, PictureFrom::File)
            && self.file.as_deref().is_some_and(card::is_whole_png);
        match format {
            CardFormat::Charx => 0,
            CardFormat::Png if is_card_png => {
                let listed = |file: &&Put| {
                    card.asset_list()
                        .iter()
                        .any(|one| one.place == AssetPlace::Embedded(&file.path))
                };
                added.iter().filter(listed).count()
            }
            CardFormat::Png => card.embedded_file_count() - usize::from(card.icon_is_embedded()),
            CardFormat::JsonV2 | CardFormat::JsonV3 => card.embedded_file_count(),
        }
    }
}
