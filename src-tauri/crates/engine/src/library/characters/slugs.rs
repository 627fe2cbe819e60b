//! Names of characters in requests of the local API.

use std::collections::HashSet;

use domain::CharacterId;

use crate::base::error::ApiResult;
use crate::library::characters::Characters;

/// Maximum length of a slug, in characters.
const MAX_SLUG: usize = 60;

/// A character under the name that clients use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SluggedCharacter {
    pub(crate) id: CharacterId,
    pub(crate) name: String,
    /// Unique among all characters.
    pub(crate) slug: String,
}

impl Characters {
    /// All characters, oldest first. Of characters with equal names, the oldest has the plain slug,
    /// and the others have a number behind it.
    pub(crate) async fn slugged_characters(&self) -> ApiResult<Vec<SluggedCharacter>> {
        let names = self
            .base()
            .store()
            .read(|store| store.characters().names())
            .await?;
        Ok(slugged(names))
    }
}

/// Ids contain the time of creation, so their order is that of creation.
fn slugged(mut names: Vec<(CharacterId, String)>) -> Vec<SluggedCharacter> {
    names.sort_by_key(|(id, _)| *id);
    let mut taken = HashSet::new();
    let named = |(id, name): (CharacterId, String)| {
        let plain = slug(&name).unwrap_or_else(|| format!("character-{}", &id.to_string()[..8]));
        let numbered = (2..).map(|number| format!("{plain}-{number}"));
        let slug = std::iter::once(plain.clone())
            .chain(numbered)
            .find(|slug| taken.insert(slug.clone()));
        SluggedCharacter {
            id,
            name,
            slug: slug.unwrap_or(plain),
        }
    };
    names.into_iter().map(named).collect()
}

/// Letters and digits in lower case, with one hyphen between words. `None` if nothing remains.
pub(crate) fn slug(name: &str) -> Option<String> {
    let words = name
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let slug: String = words
        .collect::<Vec<_>>()
        .join("-")
        .to_lowercase()
        .chars()
        .take(MAX_SLUG)
        .collect();
    let slug = slug.trim_end_matches('-');
    (!slug.is_empty()).then(|| slug.to_owned())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn slugs_are_words_in_lower_case() {
        for (name, expected) in [
            ("Mira", Some("mira")),
            ("  Captain Nemo!! ", Some("captain-nemo")),
            ("D'Artagnan / III", Some("d-artagnan-iii")),
            ("Zoë Müller", Some("zoë-müller")),
            ("美咲", Some("美咲")),
            ("***", None),
            ("", None),
        ] {
            assert_eq!(slug(name).as_deref(), expected, "{name}");
        }
        assert_eq!(
            slug(&"long name ".repeat(50)).map(|slug| slug.chars().count()),
            Some(59)
        );
    }

    #[test]
    fn equal_names_get_numbers_by_age() {
        let id = |number: u128| CharacterId(Uuid::from_u128(number));
        let named = [(3, "Mira!"), (1, "Mira"), (2, "mira 2"), (4, "")]
            .map(|(at, name)| (id(at), name.to_owned()));
        let slugs: Vec<String> = slugged(named.to_vec())
            .into_iter()
            .map(|named| named.slug)
            .collect();
        assert_eq!(slugs, ["mira", "mira-2", "mira-3", "character-00000000"]);
    }
}
