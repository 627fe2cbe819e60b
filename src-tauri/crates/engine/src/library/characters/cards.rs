//! Characters and their cards: create, read, change and cache them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::CharacterId;
use domain::card::Card;
use serde_json::Value;
use store::Character;
use uuid::Uuid;

use crate::api::{self, Changed, CharacterFields};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::base::picture::{self, PngPicture};
use crate::base::records::convert::owned;
use crate::library::characters::{Characters, card_fields};

/// An exported file for the user to save.
#[derive(Debug, Clone)]
pub struct Exported {
    pub file_name: String,
    pub mime: &'static str,
    pub bytes: Vec<u8>,
    pub warnings: Vec<String>,
}

impl Characters {
    pub(crate) async fn get_character(&self, id: CharacterId) -> ApiResult<api::Character> {
        shown(&self.character(id).await?)
    }

    pub(crate) async fn create_character(
        &self,
        fields: CharacterFields,
    ) -> ApiResult<api::Character> {
        let now = self.base().now();
        let mut card = Card::new(&fields.name)?;
        card_fields::apply_fields(&mut card, &fields)?;
        card.set_creation_date(now);
        let character = self.add_character(&card, None, None).await?;
        shown(&character)
    }

    pub(crate) async fn update_character(
        &self,
        id: CharacterId,
        fields: CharacterFields,
    ) -> ApiResult<api::Character> {
        let mut character = self.character(id).await?;
        let mut card = card_of(&character)?;
        card_fields::apply_fields(&mut card, &fields)?;
        character.name = card.name().to_owned();
        character.card_json = card.to_json();
        self.save_character(character).await
    }

    /// Sets the picture. It is re-encoded, so that no metadata of the file remains.
    pub(crate) async fn set_character_picture(
        &self,
        id: CharacterId,
        data: String,
    ) -> ApiResult<api::Character> {
        let mut character = self.character(id).await?;
        let bytes = STANDARD
            .decode(data)
            .map_err(|_| bad_input("The picture is not base64.", "Send the file again."))?;
        let picture = picture::read(bytes).await?;
        character.picture = Some(self.assets.keep(picture.png, "image/png").await?);
        self.save_character(character).await
    }

    /// Adds a card to the library, with its picture and source file.
    pub(crate) async fn add_character(
        &self,
        card: &Card,
        picture: Option<PngPicture>,
        source: Option<(Vec<u8>, &'static str)>,
    ) -> ApiResult<Character> {
        let now = self.base().now();
        let id = CharacterId(Uuid::now_v7());
        let name = card.name().to_owned();
        let spec = spec(card);
        let card_json = card.to_json();
        let favourite = is_favourite(card);
        let character = self
            .base()
            .store()
            .write(move |store| {
                let picture = picture
                    .map(|picture| store.assets_mut().put(&picture.png, "image/png", now))
                    .transpose()?;
                let source = source
                    .map(|(bytes, mime)| store.assets_mut().put(&bytes, mime, now))
                    .transpose()?;
                let character = Character {
                    id,
                    name,
                    card_json,
                    spec,
                    picture,
                    source,
                    created: now,
                    updated: now,
                };
                store.characters_mut().insert(&character)?;
                if favourite {
                    store.favourites_mut().add(id)?;
                }
                Ok(character)
            })
            .await?;
        self.library_changed();
        Ok(character)
    }

    pub(crate) async fn character(&self, id: CharacterId) -> ApiResult<Character> {
        self.base()
            .store()
            .read(move |store| store.characters().get(id))
            .await?
            .ok_or_else(|| not_found("character"))
    }

    /// Stores a changed card. The one that it replaces becomes an earlier version.
    pub(crate) async fn save_character(
        &self,
        mut character: Character,
    ) -> ApiResult<api::Character> {
        character.updated = self.base().now();
        let saved = character.clone();
        let save = self.base().store().write(move |store| {
            store.card_versions_mut().keep(&saved, saved.updated)?;
            store.characters_mut().update(&saved)
        });
        save.await?;
        self.library_changed();
        shown(&character)
    }

    pub(crate) fn library_changed(&self) {
        self.base().events().changed(Changed::Characters, None);
        self.base().events().changed(Changed::Chats, None);
    }
}

impl Characters {
    /// Returns a character's card and a hash that changes with it.
    pub(crate) fn card(&self, character: &Character) -> ApiResult<(Arc<Card>, u64)> {
        let mut hasher = DefaultHasher::new();
        character.card_json.hash(&mut hasher);
        let key = hasher.finish();
        if let Some((_, known)) = self
            .card_cache()
            .last
            .as_ref()
            .filter(|(known, _)| *known == key)
        {
            return Ok((known.clone(), key));
        }
        let card = Arc::new(unix_card(character)?);
        self.card_cache().last = Some((key, card.clone()));
        Ok((card, key))
    }
}

/// The card for use in chats, without the carriage returns that the stored card keeps.
fn unix_card(character: &Character) -> ApiResult<Card> {
    let escaped = character.card_json.contains("\\r");
    let Some(mut json) = escaped
        .then(|| serde_json::from_str(&character.card_json).ok())
        .flatten()
    else {
        return card_of(character);
    };
    unix_value(&mut json);
    card_of(&Character {
        card_json: json.to_string(),
        ..character.clone()
    })
}

fn unix_value(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\r') => {
            *text = context::unix_lines(text).into_owned()
        }
        Value::Array(values) => values.iter_mut().for_each(unix_value),
        Value::Object(fields) => fields.values_mut().for_each(unix_value),
        _ => {}
    }
}

/// Parses the card of a stored character.
pub(crate) fn card_of(character: &Character) -> ApiResult<Card> {
    match Card::from_json(character.card_json.as_bytes()) {
        Ok((card, _)) => Ok(card),
        Err(_) => Err(internal("a stored card is not readable")),
    }
}

/// SillyTavern stores favourites in the cards themselves.
pub(crate) fn is_favourite(card: &Card) -> bool {
    card.extensions()
        .and_then(|all| all.get("fav"))
        .is_some_and(|fav| *fav == true || *fav == "true")
}

pub(crate) fn spec(card: &Card) -> String {
    match card.version() {
        domain::card::CardVersion::V1 => "chara_card_v1",
        domain::card::CardVersion::V2 => "chara_card_v2",
        domain::card::CardVersion::V3 => "chara_card_v3",
    }
    .to_owned()
}

pub(crate) fn shown(character: &Character) -> ApiResult<api::Character> {
    let card = card_of(character)?;
    Ok(api::Character {
        id: character.id,
        picture: character.picture.map(|hash| hash.to_string()),
        spec: character.spec.clone(),
        sources: owned(&card.source()),
        fields: card_fields::fields(&card),
        created: rfc3339(character.created),
        updated: rfc3339(character.updated),
    })
}

/// Suggests a file name that is valid on every file system. Only save dialogs use it; the app never
/// names its own files after user text.
pub(crate) fn file_name(name: &str, ending: &str) -> String {
    let safe: String = name
        .chars()
        .map(|letter| {
            if letter.is_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .take(60)
        .collect();
    let safe = safe
        .split('-')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    let mark = if is_reserved(&safe) { "_" } else { "" };
    format!(
        "{}{mark}.{ending}",
        if safe.is_empty() { "unnamed" } else { &safe }
    )
}

/// Whether Windows reserves the name for a device. An extension makes no difference.
fn is_reserved(stem: &str) -> bool {
    let stem = stem.to_uppercase();
    let port = |name: &str| {
        let digit = stem.strip_prefix(name).unwrap_or_default();
        [
            "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "\u{b9}", "\u{b2}", "\u{b3}",
        ]
        .contains(&digit)
    };
    ["CON", "PRN", "AUX", "NUL", "CONIN", "CONOUT"].contains(&stem.as_str())
        || port("COM")
        || port("LPT")
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn file_names_avoid_windows_device_names() {
        for (name, expected) in [
            ("CON", "CON_.png"),
            ("nul", "nul_.png"),
            ("Aux.", "Aux_.png"),
            ("com1", "com1_.png"),
            ("LPT9 ", "LPT9_.png"),
            ("COM\u{b9}", "COM\u{b9}_.png"),
            ("CON.txt", "CON-txt.png"),
            ("Console", "Console.png"),
            ("COM10", "COM10.png"),
            (" . ", "unnamed.png"),
            ("a/b\\c:d*?\"<>|", "a-b-c-d.png"),
        ] {
            assert_eq!(file_name(name, "png"), expected, "{name}");
        }
    }

    #[test]
    fn longest_file_name_fits_every_file_system() {
        let longest = file_name(&"\u{20000}".repeat(300), "jsonl");
        assert!(
            longest.len() <= 255 && longest.ends_with(".jsonl"),
            "{longest}"
        );
    }
}
