//! Earlier versions of cards. Every save in the editor keeps the card that it replaces.

use std::collections::BTreeMap;

use domain::CharacterId;
use serde_json::Value;
use store::{CardVersion, Character};

use crate::api::{self, CharacterFields};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::base::records::text_changes;
use crate::library::characters::cards::card_of;
use crate::library::characters::{Characters, card_fields};

/// The name of the picture among the fields that differ.
const PICTURE: &str = "picture";

impl Characters {
    /// The earlier versions of a card, newest first.
    pub(crate) async fn card_versions(
        &self,
        character: CharacterId,
    ) -> ApiResult<Vec<api::CardVersion>> {
        let character = self.character(character).await?;
        let id = character.id;
        let versions = self
            .base()
            .store()
            .read(move |store| store.card_versions().of(id))
            .await?;
        let now = texts(&fields_of(&character)?)?;
        let mut shown = Vec::new();
        for version in versions {
            let then = texts(&fields_in(&character, &version)?)?;
            let differing = then
                .into_iter()
                .filter(|(field, text)| now.get(field) != Some(text));
            let mut changed: Vec<String> = differing.map(|(field, _)| field).collect();
            if version.picture != character.picture {
                changed.push(PICTURE.to_owned());
            }
            shown.push(api::CardVersion {
                id: version.number.to_string(),
                replaced: rfc3339(version.replaced),
                picture: version.picture.map(|hash| hash.to_string()),
                changed,
            });
        }
        Ok(shown)
    }

    /// The changes from an earlier version of a card to the current one, for each field that
    /// differs.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn card_version_changes(
        &self,
        character: CharacterId,
        version: String,
    ) -> ApiResult<Vec<api::FieldChanges>> {
        let character = self.character(character).await?;
        let version = self.find_version(character.id, &version).await?;
        let then = texts(&fields_in(&character, &version)?)?;
        let mut now = texts(&fields_of(&character)?)?;
        let compare = move || {
            let pairs = then.into_iter().map(|(field, before)| {
                let after = now.remove(&field).unwrap_or_default();
                (field, before, after)
            });
            let differing = pairs.filter(|(_, before, after)| before != after);
            differing
                .map(|(field, before, after)| api::FieldChanges {
                    field,
                    parts: text_changes::by_words(&before, &after),
                })
                .collect()
        };
        tokio::task::spawn_blocking(compare)
            .await
            .map_err(|_| internal("two versions of a card could not be compared"))
    }

    /// Restores the fields and the picture of an earlier version. The lorebook, the scripts and the
    /// files of the card stay. The card that this replaces becomes a version itself.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn restore_card_version(
        &self,
        character: CharacterId,
        version: String,
    ) -> ApiResult<api::Character> {
        let mut character = self.character(character).await?;
        let version = self.find_version(character.id, &version).await?;
        let fields = fields_in(&character, &version)?;
        let mut card = card_of(&character)?;
        card_fields::apply_fields(&mut card, &fields)?;
        character.name = card.name().to_owned();
        character.card_json = card.to_json();
        character.picture = version.picture;
        self.save_character(character).await
    }

    /// Deletes all earlier versions of a card. The card itself stays.
    pub(crate) async fn forget_card_versions(&self, character: CharacterId) -> ApiResult<()> {
        let id = self.character(character).await?.id;
        Ok(self
            .base()
            .store()
            .write(move |store| store.card_versions_mut().remove(id))
            .await?)
    }

    async fn find_version(&self, character: CharacterId, version: &str) -> ApiResult<CardVersion> {
        let unknown = || {
            bad_input(
                "This is not the number of a version.",
                "Choose one from the list of versions.",
            )
        };
        let number = version.parse().map_err(|_| unknown())?;
        let found = self
            .base()
            .store()
            .read(move |store| store.card_versions().get(character, number))
            .await?;
        found.ok_or_else(|| not_found("version"))
    }
}

fn fields_of(character: &Character) -> ApiResult<CharacterFields> {
    Ok(card_fields::fields(&card_of(character)?))
}

fn fields_in(character: &Character, version: &CardVersion) -> ApiResult<CharacterFields> {
    fields_of(&Character {
        card_json: version.card_json.clone(),
        ..character.clone()
    })
}

/// The fields as texts by name, to compare them.
fn texts(fields: &CharacterFields) -> ApiResult<BTreeMap<String, String>> {
    let json =
        serde_json::to_value(fields).map_err(|_| internal("the fields of a card are no JSON"))?;
    let Value::Object(fields) = json else {
        return Ok(BTreeMap::new());
    };
    Ok(fields
        .into_iter()
        .map(|(name, value)| (name, text(&value)))
        .collect())
}

/// The parts of a list or of an object have a blank line between them.
fn text(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join("\n\n");
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => joined(parts.iter().map(text).collect()),
        Value::Object(parts) => joined(parts.values().map(text).collect()),
        other => other.to_string(),
    }
}
