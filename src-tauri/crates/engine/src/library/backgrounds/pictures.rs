//! The gallery of pictures that chats can show behind their messages.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use context::scene_words::{self, MAX_WORD, MAX_WORDS};
use store::{AssetHash, Background};

use crate::api::{self, Changed};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::base::picture;
use crate::library::assets::pictures::{MAX_PICTURE_BYTES, plain};
use crate::library::backgrounds::Backgrounds;

/// Maximum number of backgrounds that are measured per call, because each is decoded.
const MEASURED_AT_ONCE: usize = 200;

impl Backgrounds {
    /// Sorted by name. Backgrounds without a measured luminance are measured first.
    pub(crate) async fn list_backgrounds(&self) -> ApiResult<Vec<api::Background>> {
        let all = self
            .base()
            .store()
            .read(|store| store.backgrounds().list())
            .await?;
        for unmeasured in all
            .iter()
            .filter(|one| one.luminance.is_none())
            .take(MEASURED_AT_ONCE)
        {
            self.measure(unmeasured.asset).await?;
        }
        let all = self
            .base()
            .store()
            .read(|store| store.backgrounds().list())
            .await?;
        Ok(all.into_iter().map(shown).collect())
    }

    /// Adds a picture to the gallery. Known content is not stored twice.
    ///
    /// # Errors
    /// `BadInput` if it is no PNG, JPEG or WebP, or is too large.
    pub(crate) async fn add_background(
        &self,
        name: String,
        data: String,
    ) -> ApiResult<api::Background> {
        let bytes = BASE64_STANDARD
            .decode(data)
            .map_err(|_| bad_input("The picture is not base64.", "Send it again."))?;
        if bytes.len() > MAX_PICTURE_BYTES {
            let size = bytes.len() >> 20;
            let limit = MAX_PICTURE_BYTES >> 20;
            return Err(bad_input(
                format!("The picture has {size} MiB."),
                format!("Use one of at most {limit} MiB."),
            ));
        }
        let picture = picture::for_message(bytes).await?;
        let luminance = Some(picture::luminance(picture.bytes.clone()).await?);
        let asset = self.assets.keep(picture.bytes, picture.mime).await?;
        let created = self.base().now();
        let background = Background {
            asset,
            name: plain(&name),
            created,
            luminance,
            scene_words: String::new(),
        };
        let kept = background.clone();
        self.base()
            .store()
            .write(move |store| store.backgrounds_mut().add(&kept))
            .await?;
        self.base().events().changed(Changed::Settings, None);
        Ok(shown(background))
    }

    /// Sets the words of the scenes in which a picture is shown. They are stored without
    /// repetitions.
    ///
    /// # Errors
    /// `NotFound` if the gallery does not contain it; `BadInput` if there are too many words or one
    /// is too long.
    pub(crate) async fn set_scene_words(
        &self,
        picture: String,
        words: String,
    ) -> ApiResult<api::Background> {
        let hash: AssetHash = picture.parse().map_err(|_| not_found("background"))?;
        let words = scene_words::parse(&words);
        if words.len() > MAX_WORDS || words.iter().any(|word| word.chars().count() > MAX_WORD) {
            let hint = format!(
                "Use at most {MAX_WORDS} words of at most {MAX_WORD} characters, separated by commas."
            );
            return Err(bad_input("The scene words are too long.", hint));
        }
        let words = words.join(", ");
        if !self
            .base()
            .store()
            .write(move |store| store.backgrounds_mut().set_scene_words(hash, &words))
            .await?
        {
            return Err(not_found("background"));
        }
        self.base().events().changed(Changed::Settings, None);
        let all = self
            .base()
            .store()
            .read(|store| store.backgrounds().list())
            .await?;
        all.into_iter()
            .find(|one| one.asset == hash)
            .map(shown)
            .ok_or_else(|| not_found("background"))
    }

    /// Removes a picture from the gallery. Chats that use it show none.
    ///
    /// # Errors
    /// `NotFound` if the gallery does not contain it.
    pub(crate) async fn remove_background(&self, picture: String) -> ApiResult<()> {
        let hash: AssetHash = picture.parse().map_err(|_| not_found("background"))?;
        if !self
            .base()
            .store()
            .write(move |store| store.backgrounds_mut().remove(hash))
            .await?
        {
            return Err(not_found("background"));
        }
        self.base().events().changed(Changed::Settings, None);
        Ok(())
    }

    /// A picture that cannot be decoded counts as black and white, which needs the strongest
    /// dimming.
    async fn measure(&self, hash: AssetHash) -> ApiResult<()> {
        let luminance = match self.assets.asset(hash.to_string()).await {
            Ok(asset) => picture::luminance(asset.bytes).await.unwrap_or((0.0, 1.0)),
            Err(_) => (0.0, 1.0),
        };
        Ok(self
            .base()
            .store()
            .write(move |store| store.backgrounds_mut().set_luminance(hash, luminance))
            .await?)
    }
}

fn shown(background: Background) -> api::Background {
    let (darkest, lightest) = background.luminance.unwrap_or((0.0, 1.0));
    let Background {
        asset,
        name,
        scene_words,
        ..
    } = background;
    api::Background {
        picture: asset.to_string(),
        name,
        darkest,
        lightest,
        scene_words,
    }
}
