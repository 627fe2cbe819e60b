//! Pictures that people send with their words: taken in, kept as assets, and handed to models that see (S2.8).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use context::Assembled;
use domain::prompt::{Prompt, PromptPicture};
use store::AssetHash;

use crate::Engine;
use crate::api::Picture;
use crate::error::{Answer, bad_input};
use crate::picture;

/// Pictures of one message.
const MAX_PICTURES: usize = 8;
/// Bytes of a file that is taken in.
pub const MAX_PICTURE_BYTES: usize = 16 << 20;
/// Characters of a file's name that are kept.
const MAX_NAME: usize = 200;

/// Pictures as the store takes them.
pub(crate) type Checked = Vec<(AssetHash, String)>;

impl Engine {
    pub async fn add_picture(&self, name: String, data: String) -> Answer<Picture> {
        let bytes = BASE64_STANDARD
            .decode(data)
            .map_err(|_| bad_input("The picture is not base64.", "Send the file again."))?;
        self.add_picture_bytes(name, bytes).await
    }

    /// Keeps a PNG, JPEG or WebP to be sent with a message. Nothing but its pixels stays of the file. One that is not sent
    /// goes with the next purge.
    ///
    /// # Errors
    /// `BadInput` for any other file, a damaged one, and one beyond [`MAX_PICTURE_BYTES`].
    pub async fn add_picture_bytes(&self, name: String, bytes: Vec<u8>) -> Answer<Picture> {
        if bytes.len() > MAX_PICTURE_BYTES {
            let (size, limit) = (bytes.len() >> 20, MAX_PICTURE_BYTES >> 20);
            return Err(bad_input(format!("The picture has {size} MiB."), format!("Use one of at most {limit} MiB.")));
        }
        let picture::ForMessage { bytes, mime } = picture::for_message(bytes).await?;
        let hash = self.keep(bytes, mime).await?;
        Ok(Picture { hash: hash.to_string(), name: plain(&name) })
    }

    /// Only what was taken in as a picture can be sent as one.
    pub(crate) async fn check_pictures(&self, pictures: &[Picture]) -> Answer<Checked> {
        if pictures.len() > MAX_PICTURES {
            let count = pictures.len();
            return Err(bad_input(
                format!("There are {count} pictures."),
                format!("Send at most {MAX_PICTURES} at once."),
            ));
        }
        let mut checked = Vec::with_capacity(pictures.len());
        for picture in pictures {
            let gone = || bad_input("A picture is not there any more.", "Attach it again.");
            let hash: AssetHash = picture.hash.parse().map_err(|_| gone())?;
            let asset = self.store().read(move |store| store.assets().get(hash)).await?;
            if !asset.is_some_and(|asset| asset.mime.starts_with("image/")) {
                return Err(gone());
            }
            checked.push((hash, plain(&picture.name)));
        }
        Ok(checked)
    }

    /// The prompt with its pictures. One whose file is lost is left out: the words are worth an answer without it.
    pub(crate) async fn with_pictures(&self, assembled: &Assembled) -> Prompt {
        let mut prompt = assembled.prompt.clone();
        for planned in &assembled.pictures {
            match self.asset(planned.hash.clone()).await {
                Ok(asset) => {
                    let url = format!("data:{};base64,{}", asset.mime, BASE64_STANDARD.encode(asset.bytes));
                    prompt.pictures.push(PromptPicture { message: planned.turn, url });
                }
                Err(error) => tracing::warn!(%error, "a picture cannot be sent"),
            }
        }
        prompt
    }
}

/// A file's own name, without a folder and in one line.
pub(crate) fn plain(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars().filter(|letter| !letter.is_control()).take(MAX_NAME).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_path_only_the_name_stays() {
        for (given, kept) in [("sunset.png", "sunset.png"), ("C:\\me\\a b.jpg", "a b.jpg"), ("../../x\n.png ", "x.png")]
        {
            assert_eq!(plain(given), kept);
        }
        assert_eq!(plain(&"ü".repeat(900)).chars().count(), MAX_NAME);
    }
}
