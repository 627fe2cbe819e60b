//! Thumbnails of pictures for lists. They are made once per content and stored next to the
//! pictures.

use store::AssetHash;
use tokio::sync::Semaphore;

use crate::api::DataWarningKind;
use crate::base::error::{ApiResult, internal, not_found};
use crate::base::picture;
use crate::library::assets::Assets;

/// Maximum size of a picture that is its own thumbnail, in bytes.
const SMALL: usize = 48 << 10;
/// Number of thumbnails that are made at once, because each needs all pixels of its picture in
/// memory.
static MAKING: Semaphore = Semaphore::const_new(2);

/// Content and type of a stored file.
#[derive(Debug, Clone)]
pub struct Asset {
    pub bytes: Vec<u8>,
    pub mime: String,
}

impl Assets {
    /// Loads a picture or another stored file.
    ///
    /// # Errors
    /// `NotFound`, also if `hash` is not a valid hash.
    pub(crate) async fn asset(&self, hash: String) -> ApiResult<Asset> {
        let hash: AssetHash = hash.parse().map_err(|_| not_found("file"))?;
        let known = self
            .base()
            .store()
            .read(move |store| store.assets().get(hash))
            .await?;
        let known = known.ok_or_else(|| not_found("file"))?;
        Ok(Asset {
            bytes: self.whole_asset(hash).await?,
            mime: known.mime,
        })
    }

    /// The content of a stored file. A file that is missing or has changed comes back from a
    /// backup, and the user learns of it.
    ///
    /// # Errors
    /// `NotFound` if no backup has it either.
    async fn whole_asset(&self, hash: AssetHash) -> ApiResult<Vec<u8>> {
        let store = self.base().store().clone();
        let read = tokio::task::spawn_blocking(move || match store.read_asset_file(hash) {
            Some(bytes) => Ok((Some(bytes), false)),
            None => store.repair_asset(hash).map(|bytes| (bytes, true)),
        });
        let (bytes, damaged) = read
            .await
            .map_err(|_| internal("a file could not be read"))??;
        let kind = if bytes.is_some() {
            DataWarningKind::PicturesRestored
        } else {
            DataWarningKind::PicturesLost
        };
        if damaged && (bytes.is_some() || self.base().data_warnings().get(kind).is_none()) {
            let before = self
                .base()
                .data_warnings()
                .get(kind)
                .map_or(0, |warning| warning.count);
            self.warnings.warn(kind, before + 1, String::new()).await;
        }
        bytes.ok_or_else(|| not_found("file"))
    }

    /// A picture for a list, at most as large as a card there. If it cannot be scaled down, the
    /// original.
    ///
    /// # Errors
    /// `NotFound`, also if `hash` is not a valid hash.
    pub(crate) async fn thumbnail(&self, hash: String) -> ApiResult<Asset> {
        let picture: AssetHash = hash.parse().map_err(|_| not_found("file"))?;
        if let Some(known) = self.kept(picture).await {
            return Ok(known);
        }
        let asset = self.asset(hash).await?;
        if asset.bytes.len() <= SMALL || !asset.mime.starts_with("image/") {
            return Ok(asset);
        }
        // The semaphore is never closed.
        let _seat = MAKING.acquire().await.ok();
        if let Some(known) = self.kept(picture).await {
            return Ok(known);
        }
        let Ok(small) = picture::small(asset.bytes.clone()).await else {
            return Ok(asset);
        };
        let store = self.base().store().clone();
        let bytes = small.bytes.clone();
        let kept = tokio::task::spawn_blocking(move || store.keep_thumbnail(picture, &bytes)).await;
        kept.map_err(|_| internal("a thumbnail could not be stored"))??;
        Ok(Asset {
            bytes: small.bytes,
            mime: small.mime.to_owned(),
        })
    }

    async fn kept(&self, picture: AssetHash) -> Option<Asset> {
        let store = self.base().store().clone();
        let read = tokio::task::spawn_blocking(move || store.read_thumbnail(picture));
        let bytes = read.await.ok()??;
        if !bytes.starts_with(b"\x89PNG") && !bytes.starts_with(b"\xFF\xD8") {
            // It was emptied or cut. It is made again.
            return None;
        }
        let mime = if bytes.starts_with(b"\x89PNG") {
            "image/png"
        } else {
            "image/jpeg"
        };
        Some(Asset {
            bytes,
            mime: mime.to_owned(),
        })
    }
}

impl Assets {
    pub(crate) async fn keep(
        &self,
        bytes: Vec<u8>,
        mime: &'static str,
    ) -> ApiResult<store::AssetHash> {
        let now = self.base().now();
        Ok(self
            .base()
            .store()
            .write(move |store| store.assets_mut().put(&bytes, mime, now))
            .await?)
    }
}
