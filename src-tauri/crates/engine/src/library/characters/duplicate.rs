//! Copies of characters.

use domain::document::{Document, DocumentOwner};
use domain::lorebook::Binding;
use domain::settings::Owner;
use domain::{CharacterId, DocumentId};
use store::{Character, FolderKind, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api;
use crate::base::error::{ApiResult, internal, not_found};
use crate::library::characters::Characters;
use crate::library::characters::cards::{card_of, shown};

/// Characters of a name that its copies keep. The number still fits into a name then.
const MAX_STEM: usize = 180;

impl Characters {
    /// Copies a character with its pictures, files, documents, settings, folder, persona and links
    /// to lorebooks, but without chats, memories and earlier versions. The copy has a name of its
    /// own, and the original's name as its nickname, because prompts contain it.
    ///
    /// # Errors
    /// `NotFound`; `Internal` if the card cannot be read.
    pub(crate) async fn duplicate_character(&self, from: CharacterId) -> ApiResult<api::Character> {
        let to = CharacterId(Uuid::now_v7());
        let now = self.base().now();
        let copy = self.base().store().write(move |store| {
            let Some(original) = store.characters().get(from)? else {
                return Ok(None);
            };
            let names: Vec<String> = store
                .characters()
                .names()?
                .into_iter()
                .map(|(_, name)| name)
                .collect();
            let (name, card_json) = match renamed(&original, &names) {
                Ok(renamed) => renamed,
                Err(error) => return Ok(Some(Err(error))),
            };
            let copy = Character {
                id: to,
                name,
                card_json,
                created: now,
                updated: now,
                ..original
            };
            store.characters_mut().insert(&copy)?;
            copy_belongings(store, from, to)?;
            Ok(Some(Ok(copy)))
        });
        let copy = copy.await?.ok_or_else(|| not_found("character"))??;
        self.library_changed();
        shown(&copy)
    }
}

/// The name of a copy and its card.
fn renamed(original: &Character, names: &[String]) -> ApiResult<(String, String)> {
    let mut card = card_of(original)?;
    let name = copy_name(card.name(), names);
    if card.nickname().is_none() {
        let before = card.name().to_owned();
        card.set_nickname(&before);
    }
    card.set_name(&name)
        .map_err(|error| internal(&error.to_string()))?;
    Ok((name, card.to_json()))
}

/// The name of a copy: the original's with the next free number. Case is ignored, as where names
/// are looked up.
pub(crate) fn copy_name(name: &str, taken: &[String]) -> String {
    let number = |text: &str| {
        text.strip_suffix(')')
            .is_some_and(|digits| digits.parse::<u32>().is_ok())
    };
    let stem = name
        .rsplit_once(" (")
        .filter(|(_, end)| number(end))
        .map_or(name, |(stem, _)| stem);
    let stem: String = stem.chars().take(MAX_STEM).collect();
    let is_free = |name: &String| {
        taken
            .iter()
            .all(|known| known.to_lowercase() != name.to_lowercase())
    };
    (2..)
        .map(|number: u32| format!("{} ({number})", stem.trim_end()))
        .find(is_free)
        .unwrap_or_default()
}

fn copy_belongings(
    store: &mut WriteTransaction<'_>,
    from: CharacterId,
    to: CharacterId,
) -> Result<(), StoreError> {
    for file in store.card_files().of(from)? {
        store.card_files_mut().put(to, &file.path, file.asset)?;
    }
    for (key, value) in store.scoped_settings().of(Owner::Character(from))? {
        store
            .scoped_settings_mut()
            .set(Owner::Character(to), &key, &value)?;
    }
    let bound = store.lorebooks().bindings()?;
    for book in bound
        .iter()
        .filter(|(_, all)| all.contains(&Binding::Character(from)))
        .map(|(book, _)| *book)
    {
        store
            .lorebooks_mut()
            .add_binding(book, Binding::Character(to))?;
    }
    for document in store.documents().of(DocumentOwner::Character(from))? {
        let passages = store.documents().beginning(document.id, u32::MAX)?;
        let id = DocumentId(Uuid::now_v7());
        let owner = DocumentOwner::Character(to);
        store.documents_mut().insert(
            &Document {
                id,
                owner,
                ..document
            },
            &passages,
        )?;
    }
    if store.private_characters().has(from)? {
        store.private_characters_mut().add(to)?;
    }
    let persona = store.bound_personas().of(from)?;
    store.bound_personas_mut().set(to, persona)?;
    store
        .folders_mut()
        .move_next_to(FolderKind::Character, to.0, from.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_get_the_next_free_number() {
        let taken = ["Mira", "mira (2)", "Bo (4)", "Ada (x)"].map(str::to_owned);
        assert_eq!(copy_name("Mira", &taken), "Mira (3)");
        assert_eq!(copy_name("Mira (2)", &taken), "Mira (3)");
        assert_eq!(copy_name("Bo (4)", &taken), "Bo (2)");
        assert_eq!(copy_name("Ada (x)", &taken), "Ada (x) (2)");
        assert!(copy_name(&"M".repeat(200), &taken).chars().count() < 200);
    }
}
