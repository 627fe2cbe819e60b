//! The pictures of a card that show emotions. A picture's name is its emotion; `joy`, `joy-2` and
//! `joy-3` are variants.

use domain::CharacterId;
use domain::card::AssetPlace;
use domain::emotion::{of_file, stand_ins};

use crate::api::Sprite;
use crate::base::error::ApiResult;
use crate::base::picture;
use crate::library::characters::Characters;

impl Characters {
    /// The pictures of emotions, in the order of the card.
    pub(crate) async fn sprites(&self, character: CharacterId) -> ApiResult<Vec<Sprite>> {
        let assets = self.card_assets(character).await?;
        let sprites = assets
            .into_iter()
            .filter(|asset| asset.shows && shows_emotion(&asset.kind, &asset.name));
        Ok(sprites
            .map(|asset| Sprite {
                emotion: of_file(&asset.name),
                id: asset.id,
                name: asset.name,
            })
            .collect())
    }

    /// The hash of the picture for `emotion`, else of one with a similar name or emotion, of the
    /// neutral one, or of the first; `None` if the character has no such picture. `variant` chooses
    /// among several pictures of one emotion.
    pub(crate) async fn sprite(
        &self,
        character: CharacterId,
        emotion: String,
        variant: u32,
    ) -> ApiResult<Option<String>> {
        let sprites = self.sprites(character).await?;
        let Some(id) = chosen(&sprites, &emotion, variant).map(|sprite| sprite.id.clone()) else {
            return Ok(None);
        };
        let Some(bytes) = self.card_asset_bytes(character, id).await? else {
            return Ok(None);
        };
        // Re-encoded with limits, because cards come from untrusted sources.
        let Ok(picture) = picture::for_message(bytes).await else {
            return Ok(None);
        };
        Ok(Some(
            self.assets
                .keep(picture.bytes, picture.mime)
                .await?
                .to_string(),
        ))
    }

    /// The hash of the card's own picture with that name, of any kind, without regard to case;
    /// `None` if it has none.
    pub(crate) async fn card_picture(
        &self,
        character: CharacterId,
        name: String,
    ) -> ApiResult<Option<String>> {
        let wanted = name.trim().to_lowercase();
        let named = |asset: &crate::api::CardAsset| {
            let own = asset.name.to_lowercase();
            own == wanted || format!("{own}.{}", asset.ext) == wanted
        };
        let assets = self.card_assets(character).await?;
        let Some(asset) = assets.into_iter().find(|asset| asset.shows && named(asset)) else {
            return Ok(None);
        };
        let Some(bytes) = self.card_asset_bytes(character, asset.id).await? else {
            return Ok(None);
        };
        let Ok(picture) = picture::for_message(bytes).await else {
            return Ok(None);
        };
        Ok(Some(
            self.assets
                .keep(picture.bytes, picture.mime)
                .await?
                .to_string(),
        ))
    }

    /// The hash of a picture among the files of a card, in a size for viewing; `None` if the file
    /// is no picture.
    pub(crate) async fn card_asset_picture(
        &self,
        character: CharacterId,
        id: String,
    ) -> ApiResult<Option<String>> {
        let Some(bytes) = self.card_asset_bytes(character, id).await? else {
            return Ok(None);
        };
        let Ok(picture) = picture::for_message(bytes).await else {
            return Ok(None);
        };
        Ok(Some(
            self.assets
                .keep(picture.bytes, picture.mime)
                .await?
                .to_string(),
        ))
    }

    /// Whether the card lists a picture of an emotion. Reads no file.
    pub(crate) async fn has_sprites(&self, character: CharacterId) -> ApiResult<bool> {
        let Some(character) = self
            .base()
            .store()
            .read(move |store| store.characters().get(character))
            .await?
        else {
            return Ok(false);
        };
        let (card, _) = self.card(&character)?;
        Ok(card.asset_list().iter().any(|asset| {
            matches!(asset.place, AssetPlace::Embedded(_) | AssetPlace::Inline)
                && shows_emotion(asset.kind, asset.name)
        }))
    }
}

fn shows_emotion(kind: &str, name: &str) -> bool {
    kind == "emotion" || (kind == "icon" && name != "main" && !name.starts_with("main "))
}

/// The picture of the best emotion that the card has. A card without a neutral one shows its first
/// picture.
fn chosen<'a>(sprites: &'a [Sprite], emotion: &str, variant: u32) -> Option<&'a Sprite> {
    let among = |fits: &dyn Fn(&Sprite) -> bool| {
        let found: Vec<&Sprite> = sprites.iter().filter(|sprite| fits(sprite)).collect();
        found.get(variant as usize % found.len().max(1)).copied()
    };
    // Some names have more words: "ada_happy".
    let has_word = |sprite: &Sprite, word: &str| {
        sprite
            .emotion
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|own| own == word)
    };
    let of = |wanted: &String| {
        among(&|sprite| sprite.emotion == *wanted)
            .or_else(|| among(&|sprite| has_word(sprite, wanted)))
    };
    stand_ins(emotion)
        .iter()
        .find_map(of)
        .or_else(|| sprites.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sprites(names: &[&str]) -> Vec<Sprite> {
        let one = |name: &&str| Sprite {
            id: (*name).to_owned(),
            emotion: of_file(name),
            name: (*name).to_owned(),
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn missing_emotion_falls_back_to_neutral() {
        let all = sprites(&["joy", "neutral", "joy-2"]);
        let id = |emotion, variant| chosen(&all, emotion, variant).map(|sprite| sprite.id.as_str());
        assert_eq!(
            (id("JOY", 0), id("joy", 1), id("joy", 2)),
            (Some("joy"), Some("joy-2"), Some("joy"))
        );
        assert_eq!(id("fear", 7), Some("neutral"));
        assert_eq!(
            chosen(&[], "fear", 0).map(|sprite| sprite.id.as_str()),
            None
        );
    }

    #[test]
    fn faces_are_found_under_other_names() {
        let all = sprites(&["Sad", "happy", "Angry_2", "default"]);
        let id = |emotion| chosen(&all, emotion, 0).map(|sprite| sprite.id.as_str());
        assert_eq!(
            (id("joy"), id("sadness"), id("anger")),
            (Some("happy"), Some("Sad"), Some("Angry_2"))
        );
        assert_eq!(
            (id("disgust"), id("neutral"), id("bored")),
            (Some("Angry_2"), Some("default"), Some("default"))
        );
        let long = sprites(&["ada-neutral", "ada_happy"]);
        assert_eq!(
            chosen(&long, "joy", 0).map(|sprite| sprite.id.as_str()),
            Some("ada_happy")
        );
        let few = sprites(&["smile", "cry"]);
        let first = |emotion| chosen(&few, emotion, 0).map(|sprite| sprite.id.as_str());
        assert_eq!(
            (first("neutral"), first("surprise"), first("sadness")),
            (Some("smile"), Some("smile"), Some("cry"))
        );
    }

    #[test]
    fn main_icons_show_no_emotion() {
        assert!(shows_emotion("emotion", "joy") && shows_emotion("icon", "sad"));
        assert!(
            !shows_emotion("icon", "main")
                && !shows_emotion("icon", "main 2")
                && !shows_emotion("background", "sea")
        );
    }
}
