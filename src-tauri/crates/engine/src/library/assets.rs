//! Thumbnails of pictures for lists. They are made once per content and stored next to the pictures.

use store::AssetHash;
use tokio::sync::Semaphore;

use crate::base::error::{ApiResult, internal, not_found};
use crate::base::picture;
use crate::library::handle::Library;

/// Maximum size of a picture that is its own thumbnail, in bytes.
const SMALL: usize = 48 << 10;
/// Number of thumbnails that are made at once, because each needs all pixels of its picture in memory.
static MAKING: Semaphore = Semaphore::const_new(2);

/// Content and type of a stored file.
#[derive(Debug, Clone)]
pub struct Asset {
    pub bytes: Vec<u8>,
    pub mime: String,
}

impl Library {
    /// Loads a picture or another stored file.
    ///
    /// # Errors
    /// `NotFound`, also if `hash` is not a valid hash.
    pub(crate) async fn asset(&self, hash: String) -> ApiResult<Asset> {
        let hash: AssetHash = hash.parse().map_err(|_| not_found("file"))?;
        let known = self.base().store().read(move |store| store.assets().get(hash)).await?;
        let known = known.ok_or_else(|| not_found("file"))?;
        let bytes = tokio::fs::read(self.base().store().asset_path(hash)).await;
        Ok(Asset { bytes: bytes.map_err(|_| not_found("file"))?, mime: known.mime })
    }

    /// A picture for a list, at most as large as a card there. If it cannot be scaled down, the original.
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
        let Ok(small) = picture::small(asset.bytes.clone()).await else { return Ok(asset) };
        let (store, bytes) = (self.base().store().clone(), small.bytes.clone());
        let kept = tokio::task::spawn_blocking(move || store.keep_thumbnail(picture, &bytes)).await;
        kept.map_err(|_| internal("a thumbnail could not be stored"))??;
        Ok(Asset { bytes: small.bytes, mime: small.mime.to_owned() })
    }

    async fn kept(&self, picture: AssetHash) -> Option<Asset> {
        let bytes = tokio::fs::read(self.base().store().thumbnail_path(picture)).await.ok()?;
        let mime = if bytes.starts_with(b"\x89PNG") { "image/png" } else { "image/jpeg" };
        Some(Asset { bytes, mime: mime.to_owned() })
    }
}
