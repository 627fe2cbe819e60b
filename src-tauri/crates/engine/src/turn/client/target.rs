//! Finds what a client names: a character, one of its chats, or a model without a character.

use std::collections::HashSet;

use domain::{CharacterId, ChatId};

use crate::api::ApiGrant;
use crate::api::client::{ClientError, ListedModel, ModelKind};
use crate::base::error::ApiResult;
use crate::library::characters::slugs::SluggedCharacter;
use crate::settings::models::raw_models::RawModel;
use crate::turn::client::Clients;
use crate::turn::client::rights::allows;

/// Maximum number of similar names in an error.
const MAX_NEAR: usize = 5;
/// Only this many characters of a name are compared.
const COMPARED: usize = 64;

/// The model or character that answers a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClientTarget {
    Character {
        id: CharacterId,
        name: String,
        /// The chat that the model's name contains.
        chat: Option<ChatId>,
    },
    Raw(RawModel),
}

/// Everything that a key may name.
struct Targets {
    characters: Vec<SluggedCharacter>,
    raw: Vec<RawModel>,
    embeddings: Option<String>,
}

impl Clients {
    /// The models that a key may use: characters, then models without a character.
    pub(crate) async fn client_models(&self, grant: &ApiGrant) -> ApiResult<Vec<ListedModel>> {
        Ok(self.targets(grant).await?.listed())
    }

    /// One of [`Self::client_models`], or a chat of a character.
    ///
    /// # Errors
    /// `UnknownModel`, also for one that the key may not use.
    pub(crate) async fn client_model(
        &self,
        grant: &ApiGrant,
        name: &str,
    ) -> Result<ListedModel, ClientError> {
        let targets = self.targets(grant).await?;
        if let Some(listed) = targets
            .listed()
            .into_iter()
            .find(|listed| listed.id == name)
        {
            return Ok(listed);
        }
        match self.among(&targets, name).await? {
            ClientTarget::Character {
                id, name: about, ..
            } => {
                let created = targets
                    .characters
                    .iter()
                    .find(|named| named.id == id)
                    .map_or(0, created);
                Ok(ListedModel {
                    id: name.to_owned(),
                    created,
                    kind: ModelKind::Character,
                    about,
                })
            }
            ClientTarget::Raw(raw) => Ok(listed(&raw)),
        }
    }

    /// # Errors
    /// `UnknownModel`, also for one that the key may not use.
    pub(crate) async fn client_target(
        &self,
        grant: &ApiGrant,
        name: &str,
    ) -> Result<ClientTarget, ClientError> {
        let targets = self.targets(grant).await?;
        self.among(&targets, name).await
    }

    async fn targets(&self, grant: &ApiGrant) -> ApiResult<Targets> {
        let mut characters = self.library().characters.slugged_characters().await?;
        let slugs: HashSet<String> = characters.iter().map(|named| named.slug.clone()).collect();
        characters.retain(|named| allows(grant, named.id));
        let (raw, embeddings) = if grant.raw_models {
            (
                self.config().models.raw_models(slugs).await?,
                self.recall_service().embedding_model(),
            )
        } else {
            (Vec::new(), None)
        };
        Ok(Targets {
            characters,
            raw,
            embeddings,
        })
    }

    async fn among(&self, targets: &Targets, name: &str) -> Result<ClientTarget, ClientError> {
        if let Some(named) = targets.character(name) {
            return Ok(ClientTarget::Character {
                id: named.id,
                name: named.name.clone(),
                chat: None,
            });
        }
        if let Some(raw) = targets.raw.iter().find(|raw| raw.name == name) {
            return Ok(ClientTarget::Raw(raw.clone()));
        }
        if let Some((slug, chat)) = name.rsplit_once('/')
            && let (Some(named), Ok(id)) = (targets.character(slug), chat.parse::<ChatId>())
            && self
                .library()
                .chat_lookup
                .chat(id)
                .await
                .is_ok_and(|chat| chat.character == named.id)
        {
            return Ok(ClientTarget::Character {
                id: named.id,
                name: named.name.clone(),
                chat: Some(id),
            });
        }
        let names: Vec<String> = targets
            .listed()
            .into_iter()
            .map(|listed| listed.id)
            .collect();
        let near = near(name, &names);
        Err(ClientError::UnknownModel {
            name: name.chars().take(200).collect(),
            near,
        })
    }
}

impl Targets {
    /// The character with this slug, in any letter case, or with this id.
    fn character(&self, name: &str) -> Option<&SluggedCharacter> {
        let lower = name.to_lowercase();
        let id = name.parse::<CharacterId>().ok();
        self.characters
            .iter()
            .find(|named| named.slug == lower || Some(named.id) == id)
    }

    fn listed(&self) -> Vec<ListedModel> {
        let characters = self.characters.iter().map(|named| ListedModel {
            id: named.slug.clone(),
            created: created(named),
            kind: ModelKind::Character,
            about: named.name.clone(),
        });
        let embeddings = self.embeddings.iter().map(|name| ListedModel {
            id: name.clone(),
            created: 0,
            kind: ModelKind::Embeddings,
            about: String::new(),
        });
        characters
            .chain(self.raw.iter().map(listed))
            .chain(embeddings)
            .collect()
    }
}

fn listed(raw: &RawModel) -> ListedModel {
    ListedModel {
        id: raw.name.clone(),
        created: 0,
        kind: raw.kind,
        about: raw.endpoint.clone(),
    }
}

/// The id of a character contains the time of its creation.
fn created(named: &SluggedCharacter) -> i64 {
    let time = named
        .id
        .0
        .get_timestamp()
        .map_or(0, |time| time.to_unix().0);
    i64::try_from(time).unwrap_or(0)
}

/// The names that are similar to `name`, best first: one contains the other, or at most a quarter
/// of the shorter one and one letter differ.
fn near(name: &str, names: &[String]) -> Vec<String> {
    let letters = |name: &str| {
        name.to_lowercase()
            .chars()
            .take(COMPARED)
            .collect::<Vec<char>>()
    };
    let asked = letters(name);
    let whole: String = asked.iter().collect();
    let compared = |known: &String| {
        let letters = letters(known);
        let distance = distance(&asked, &letters);
        let text: String = letters.iter().collect();
        let contains = asked.len() > 2 && (text.contains(&whole) || whole.contains(&text));
        let shorter = asked.len().min(letters.len());
        let is_near = contains || 4 * distance <= 4 + shorter;
        is_near.then(|| (distance, known.clone()))
    };
    let mut near: Vec<(usize, String)> = names.iter().filter_map(compared).collect();
    near.sort();
    near.into_iter()
        .take(MAX_NEAR)
        .map(|(_, known)| known)
        .collect()
}

/// Levenshtein distance.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, same) in other.iter().enumerate() {
            let substituted = diagonal + usize::from(letter != same);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found() {
        let names = ["mira", "miranda", "captain-nemo", "gpt-4o"].map(str::to_owned);
        for (asked, found) in [
            ("mra", &["mira"][..]),
            ("Mira", &["mira", "miranda"]),
            ("nemo", &["captain-nemo"]),
            ("gpt-4o-mini", &["gpt-4o"]),
            ("zzz", &[]),
            ("", &[]),
        ] {
            assert_eq!(near(asked, &names), found, "{asked}");
        }
        assert!(near(&"m".repeat(100_000), &names).is_empty());
    }
}
