//! Small copies of pictures, for lists: made once by content, and kept beside the pictures.

use store::AssetHash;
use tokio::sync::Semaphore;

use crate::Engine;
use crate::engine::Asset;
use crate::error::{Answer, internal, not_found};
use crate::picture;

/// What is no larger is its own small copy, in bytes.
const SMALL: usize = 48 << 10;
/// Copies made at once: each holds all pixels of its picture.
static MAKING: Semaphore = Semaphore::const_new(2);

impl Engine {
    /// A picture for a list, at most as large as a card there. What cannot be made smaller comes as it is.
    ///
    /// # Errors
    /// `NotFound`, for anything that is not the hash of an asset as well.
    pub async fn thumbnail(&self, hash: String) -> Answer<Asset> {
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
        let (store, bytes) = (self.store().clone(), small.bytes.clone());
        let kept = tokio::task::spawn_blocking(move || store.keep_thumbnail(picture, &bytes)).await;
        kept.map_err(|_| internal("a small picture could not be kept"))??;
        Ok(Asset { bytes: small.bytes, mime: small.mime.to_owned() })
    }

    async fn kept(&self, picture: AssetHash) -> Option<Asset> {
        let bytes = tokio::fs::read(self.store().thumbnail_path(picture)).await.ok()?;
        let mime = if bytes.starts_with(b"\x89PNG") { "image/png" } else { "image/jpeg" };
        Some(Asset { bytes, mime: mime.to_owned() })
    }
}
