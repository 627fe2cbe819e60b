//! Pictures that users send with messages: checks them, stores them as assets, and adds them to
//! prompts.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use context::Assembled;
use domain::MessageId;
use domain::chat::Picture as Attached;
use domain::prompt::{Prompt, PromptPicture};
use store::AssetHash;

use crate::api::Picture;
use crate::base::error::{ApiResult, bad_input};
use crate::base::picture;
use crate::library::assets::Assets;
use crate::settings::model_handles::handle::ModelHandle;

/// Maximum number of pictures per message.
pub(crate) const MAX_PICTURES: usize = 8;
/// Maximum size of a picture file, in bytes.
pub const MAX_PICTURE_BYTES: usize = 16 << 20;
/// Maximum length of a file name, in characters.
const MAX_NAME: usize = 200;

/// Checked pictures, in the form that the store takes.
pub(crate) type Checked = Vec<(AssetHash, String)>;

impl Assets {
    pub(crate) async fn add_picture(&self, name: String, data: String) -> ApiResult<Picture> {
        let bytes = BASE64_STANDARD
            .decode(data)
            .map_err(|_| bad_input("The picture is not base64.", "Send the file again."))?;
        self.add_picture_bytes(name, bytes).await
    }

    /// Stores a PNG, JPEG or WebP to send with a message, without its metadata. The next purge
    /// deletes it if it is not sent.
    ///
    /// # Errors
    /// `BadInput` for any other file, a damaged one, and one larger than [`MAX_PICTURE_BYTES`].
    pub(crate) async fn add_picture_bytes(
        &self,
        name: String,
        bytes: Vec<u8>,
    ) -> ApiResult<Picture> {
        if bytes.len() > MAX_PICTURE_BYTES {
            let size = bytes.len() >> 20;
            let limit = MAX_PICTURE_BYTES >> 20;
            return Err(bad_input(
                format!("The picture has {size} MiB."),
                format!("Use one of at most {limit} MiB."),
            ));
        }
        let picture::ForMessage { bytes, mime } = picture::for_message(bytes).await?;
        let hash = self.keep(bytes, mime).await?;
        Ok(Picture {
            hash: hash.to_string(),
            name: plain(&name),
        })
    }

    /// Checks that all files were stored as pictures.
    pub(crate) async fn check_pictures(&self, pictures: &[Picture]) -> ApiResult<Checked> {
        if pictures.len() > MAX_PICTURES {
            let count = pictures.len();
            return Err(bad_input(
                format!("The message has {count} pictures."),
                format!("Send at most {MAX_PICTURES} per message."),
            ));
        }
        let mut checked = Vec::with_capacity(pictures.len());
        for picture in pictures {
            let gone = || bad_input("A picture no longer exists.", "Attach it again.");
            let hash: AssetHash = picture.hash.parse().map_err(|_| gone())?;
            let asset = self
                .base()
                .store()
                .read(move |store| store.assets().get(hash))
                .await?;
            if !asset.is_some_and(|asset| asset.mime.starts_with("image/")) {
                return Err(gone());
            }
            checked.push((hash, plain(&picture.name)));
        }
        Ok(checked)
    }

    /// Tokens that each of `pictures` takes in a prompt of `model_handle`, by its hash. A picture
    /// that the model cannot read is missing.
    ///
    /// # Errors
    /// `Provider` if a local model cannot be loaded with the file that reads pictures.
    pub(crate) async fn picture_tokens(
        &self,
        model_handle: &ModelHandle,
        pictures: &HashMap<MessageId, Vec<Attached>>,
    ) -> ApiResult<HashMap<String, u32>> {
        let all = || pictures.values().flatten().map(|picture| &picture.hash);
        let Some(sight) = &model_handle.sight else {
            let tokens = |hash: &String| (hash.clone(), model_handle.values.image_tokens);
            return Ok(if model_handle.sees {
                all().map(tokens).collect()
            } else {
                HashMap::new()
            });
        };
        let mut counts = self
            .config()
            .models
            .known_picture_tokens(sight, all().cloned().collect())
            .await?;
        let unknown: HashSet<&String> = all().filter(|hash| !counts.contains_key(*hash)).collect();
        let mut new = Vec::with_capacity(unknown.len());
        for hash in unknown {
            if let Some(size) = self.picture_size(hash).await {
                new.push((hash.clone(), size));
            }
        }
        counts.extend(self.config().models.count_pictures(sight, new).await?);
        Ok(counts)
    }

    /// The size in which a local model gets a picture; `None` if it cannot be read.
    async fn picture_size(&self, hash: &str) -> Option<(u32, u32)> {
        // A picture of a request that is not stored is its own address.
        let bytes = match hash.strip_prefix("data:") {
            Some(_) => BASE64_STANDARD
                .decode(hash.split_once(";base64,")?.1)
                .ok()?,
            None => self.asset(hash.to_owned()).await.ok()?.bytes,
        };
        local::picture_size(&bytes)
    }

    /// The prompt with its pictures. A picture whose file is missing is left out, so that the
    /// message still gets a reply.
    pub(crate) async fn with_pictures(&self, assembled: &Assembled) -> Prompt {
        let mut prompt = assembled.prompt.clone();
        for planned in &assembled.pictures {
            // A picture of a request that is not stored is its own address.
            if planned.hash.starts_with("data:") {
                let url = planned.hash.clone();
                prompt.pictures.push(PromptPicture {
                    message: planned.turn,
                    segment: planned.segment,
                    url,
                });
                continue;
            }
            match self.asset(planned.hash.clone()).await {
                Ok(asset) => {
                    let url = format!(
                        "data:{};base64,{}",
                        asset.mime,
                        BASE64_STANDARD.encode(asset.bytes)
                    );
                    prompt.pictures.push(PromptPicture {
                        message: planned.turn,
                        segment: planned.segment,
                        url,
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a picture could not be read and is left out of the prompt")
                }
            }
        }
        prompt
    }
}

/// The file name alone, without folders and in one line.
pub(crate) fn plain(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars()
        .filter(|letter| !letter.is_control())
        .take(MAX_NAME)
        .collect::<String>()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_keeps_only_the_file_name() {
        for (given, kept) in [
            ("sunset.png", "sunset.png"),
            ("C:\\me\\a b.jpg", "a b.jpg"),
            ("../../x\n.png ", "x.png"),
        ] {
            assert_eq!(plain(given), kept);
        }
        assert_eq!(plain(&"ü".repeat(900)).chars().count(), MAX_NAME);
    }
}
