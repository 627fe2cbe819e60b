//! The character library: lists and searches it, and changes many characters at once.

use std::collections::HashMap;

use domain::CharacterId;
use domain::card::Card;
use store::{Character, Listing};

use crate::api::{CharacterSummary, CharacterTags};
use crate::base::error::{ApiResult, bad_input};
use crate::base::panics;
use crate::base::records::convert;
use crate::library::characters::Characters;
use crate::library::characters::cards::card_of;

/// Cards per transaction, so that other writes do not wait long.
const AT_ONCE: usize = 64;
/// Maximum number of characters per call.
const MOST: usize = 50_000;
/// Maximum length of a tag, in characters.
const LONGEST_TAG: usize = 100;

impl Characters {
    pub(crate) async fn list_characters(&self) -> ApiResult<Vec<CharacterSummary>> {
        self.describe_new().await?;
        let listed = self
            .base()
            .store()
            .read(|store| store.listings().all())
            .await?;
        Ok(listed.into_iter().map(convert::summary).collect())
    }

    /// Finds characters whose card contains every word of `query`, or a word that starts with it.
    /// Empty if the query has no words.
    pub(crate) async fn find_characters(&self, query: String) -> ApiResult<Vec<CharacterId>> {
        self.describe_new().await?;
        let words: Vec<String> = query.split_whitespace().map(str::to_owned).collect();
        let found = self
            .base()
            .store()
            .read(move |store| store.listings().find(&words))
            .await?;
        Ok(found)
    }

    pub(crate) async fn set_favourites(
        &self,
        characters: Vec<CharacterId>,
        favourite: bool,
    ) -> ApiResult<()> {
        self.change_all(characters, move |store, id| {
            if favourite {
                store.favourites_mut().add(id).map(Some)
            } else {
                store.favourites_mut().remove(id).map(Some)
            }
        })
        .await?;
        Ok(())
    }

    /// Adds tags that cards do not have yet, and removes others. Compares tags without regard to
    /// case. Returns the former tags of the cards that changed.
    ///
    /// # Errors
    /// `BadInput` for a tag that is too long; `NotFound` if a character does not exist. Nothing
    /// changes then.
    pub(crate) async fn tag_characters(
        &self,
        characters: Vec<CharacterId>,
        add: Vec<String>,
        remove: Vec<String>,
    ) -> ApiResult<Vec<CharacterTags>> {
        let add = tidy(add);
        let remove = tidy(remove);
        if add.iter().any(|tag| tag.chars().count() > LONGEST_TAG) {
            return Err(bad_input(
                format!("A tag can have {LONGEST_TAG} characters at most."),
                "Use a shorter one.",
            ));
        }
        let now = self.base().now();
        self.change_all(characters, move |store, id| {
            let Some(mut character) = store.characters().get(id)? else {
                return Err(store::StoreError::NotFound { what: "character" });
            };
            let Some((former, card_json)) = tagged(&character, &add, &remove) else {
                return Ok(None);
            };
            (character.card_json, character.updated) = (card_json, now);
            store.characters_mut().update(&character)?;
            Ok(Some(CharacterTags { id, tags: former }))
        })
        .await
    }

    /// Undoes a change of tags. Characters that no longer exist are left out.
    pub(crate) async fn restore_tags(&self, tags: Vec<CharacterTags>) -> ApiResult<()> {
        let now = self.base().now();
        let characters = tags.iter().map(|one| one.id).collect();
        let tags: HashMap<CharacterId, Vec<String>> =
            tags.into_iter().map(|one| (one.id, one.tags)).collect();
        self.change_all(characters, move |store, id| {
            let (Some(mut character), Some(tags)) = (store.characters().get(id)?, tags.get(&id))
            else {
                return Ok(None::<()>);
            };
            if let Ok(mut card) = card_of(&character) {
                card.set_tags(tags);
                (character.card_json, character.updated) = (card.to_json(), now);
                store.characters_mut().update(&character)?;
            }
            Ok(None)
        })
        .await?;
        Ok(())
    }

    pub(crate) async fn delete_character(&self, id: CharacterId) -> ApiResult<()> {
        self.delete_characters(vec![id]).await
    }

    pub(crate) async fn restore_character(&self, id: CharacterId) -> ApiResult<()> {
        self.restore_characters(vec![id]).await
    }

    /// # Errors
    /// `NotFound` if one of them no longer exists. Nothing changes then.
    pub(crate) async fn delete_characters(&self, characters: Vec<CharacterId>) -> ApiResult<()> {
        let now = self.base().now();
        let delete = move |store: &mut store::WriteTransaction<'_>, id| {
            store.stale_caches_mut().mark_all_with(id)?;
            store.characters_mut().soft_delete(id, now).map(Some)
        };
        self.change_all(characters, delete).await?;
        Ok(())
    }

    pub(crate) async fn restore_characters(&self, characters: Vec<CharacterId>) -> ApiResult<()> {
        self.change_all(characters, |store, id| {
            store.characters_mut().restore(id).map(Some)
        })
        .await?;
        Ok(())
    }

    /// Applies one change to all characters in one transaction. Returns the results of the changes.
    async fn change_all<T: Send + 'static>(
        &self,
        characters: Vec<CharacterId>,
        change: impl Fn(
            &mut store::WriteTransaction<'_>,
            CharacterId,
        ) -> Result<Option<T>, store::StoreError>
        + Send
        + 'static,
    ) -> ApiResult<Vec<T>> {
        if characters.len() > MOST {
            return Err(bad_input(
                format!("More than {MOST} characters are selected."),
                "Choose fewer at once.",
            ));
        }
        let change_each = move |store: &mut store::WriteTransaction<'_>| {
            characters
                .into_iter()
                .filter_map(|id| change(store, id).transpose())
                .collect::<Result<Vec<T>, _>>()
        };
        let changed = self.base().store().write(change_each).await?;
        self.library_changed();
        Ok(changed)
    }

    /// Creates the list entries of new and changed cards. They can be created again, so the write
    /// need not survive a power failure.
    async fn describe_new(&self) -> ApiResult<()> {
        let new = self
            .base()
            .store()
            .read(|store| store.listings().undescribed())
            .await?;
        for some in new.chunks(AT_ONCE) {
            let some = some.to_vec();
            let describe = move |store: &mut store::WriteTransaction<'_>| {
                for id in some {
                    if let Some(character) = store.characters().get(id)? {
                        let (listing, words) = described(&character, convert::listing);
                        store.listings_mut().describe(id, &listing, &words)?;
                    }
                }
                Ok(())
            };
            self.base().store().checkpoint(describe).await?;
        }
        Ok(())
    }
}

/// List entry of a character. Falls back to the name if the card is unreadable or a bug makes its
/// texts fail.
fn described(
    character: &Character,
    describe: impl FnOnce(&Card) -> (Listing, String),
) -> (Listing, String) {
    let plain = || (Listing::default(), character.name.clone());
    let described = || card_of(character).map_or_else(|_| plain(), |card| describe(&card));
    panics::or_plain("a row of the library", described, plain)
}

/// The former tags and the card with other tags; `None` if the tags do not change.
fn tagged(
    character: &Character,
    add: &[String],
    remove: &[String],
) -> Option<(Vec<String>, String)> {
    let mut card = card_of(character).ok()?;
    let former = convert::owned(&card.tags());
    retag(&mut card, add, remove).then(|| (former, card.to_json()))
}

/// Adds missing tags to a card and removes others. Returns whether the card changed.
pub(crate) fn retag(card: &mut Card, add: &[String], remove: &[String]) -> bool {
    let same = |one: &str, other: &str| one.trim().to_lowercase() == other.trim().to_lowercase();
    let before = convert::owned(&card.tags());
    let mut tags = before.clone();
    tags.retain(|tag| !remove.iter().any(|gone| same(gone, tag)));
    for tag in add {
        if !tags.iter().any(|known| same(known, tag)) {
            tags.push(tag.clone());
        }
    }
    if tags == before {
        return false;
    }
    card.set_tags(&tags);
    true
}

fn tidy(tags: Vec<String>) -> Vec<String> {
    tags.iter()
        .map(|tag| tag.trim().to_owned())
        .filter(|tag| !tag.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn failed_row_falls_back_to_its_name() {
        let card = Card::new("Mira").unwrap();
        let character = Character {
            id: CharacterId(Uuid::nil()),
            name: "Mira".into(),
            card_json: card.to_json(),
            spec: String::new(),
            picture: None,
            source: None,
            created: Timestamp(0),
            updated: Timestamp(0),
        };
        let (listing, words) = described(&character, |_| panic!("a defect"));
        assert_eq!((listing, words.as_str()), (Listing::default(), "Mira"));
    }
}
