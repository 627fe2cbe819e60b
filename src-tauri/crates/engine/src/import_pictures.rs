//! Pictures of a folder of SillyTavern's: those of its personas, of its characters in their moods, and its backgrounds. Their bytes
//! are kept as they are, but for a persona's, of which nothing but the pixels stays.

use std::path::{Path, PathBuf};

use domain::{CharacterId, PersonaId};
use image::ImageFormat;
use store::{AssetHash, Background, Store};

use crate::Engine;
use crate::api::{Background as Shown, ImportReport, Imported, Refused, Skipped};
use crate::card_assets::{NewAsset, ending, mime};
use crate::error::{Answer, internal};
use crate::import::read_capped;
use crate::import_cards::Cast;
use crate::importing::Run;
use crate::pictures::{MAX_PICTURE_BYTES, plain};
use crate::tavern::{Tavern, composed, file_name, stem};

/// A file that was looked at: what is kept of it, or why nothing is.
type Looked = (PathBuf, Result<(AssetHash, &'static str), (&'static str, String)>);

impl Engine {
    /// Pictures that another app showed behind its chats, by name. They are kept, and nothing here shows them yet.
    pub async fn list_backgrounds(&self) -> Answer<Vec<Shown>> {
        let all = self.store().read(|store| store.backgrounds().list()).await?;
        Ok(all.into_iter().map(|one| Shown { picture: one.asset.to_string(), name: one.name }).collect())
    }

    /// Gives a persona the picture that `file` is, unless it has one. Says whether it did, or why it could not.
    pub(crate) async fn import_face_of_persona(&self, id: PersonaId, file: &Path) -> Answer<Result<bool, String>> {
        let pictures = self.store().read(|store| store.personas().pictures()).await?;
        if pictures.contains_key(&id) {
            return Ok(Ok(false));
        }
        let file = file.to_owned();
        let read = tokio::task::spawn_blocking(move || read_capped(&file, MAX_PICTURE_BYTES, "a picture"));
        let bytes = match read.await.map_err(|_| internal("a picture could not be read"))? {
            Ok(bytes) => bytes,
            Err((_, why)) => return Ok(Err(why)),
        };
        Ok(self.set_persona_picture_bytes(id, Some(bytes)).await.map(|_| true).map_err(|error| error.to_string()))
    }

    /// Puts the faces of moods to the cards of those whose folders they lie in, as V3 has them (V3-15).
    pub(crate) async fn import_faces_of(
        &self,
        tavern: &mut Tavern,
        cast: &Cast,
        run: &mut Run,
        report: &mut ImportReport,
    ) -> Answer<()> {
        for (folder, files) in std::mem::take(&mut tavern.faces) {
            if run.cancelled() {
                break;
            }
            let (place, count) = (format!("characters/{folder}"), files.len());
            match cast.get(&composed(&folder)) {
                Some(id) => self.import_faces(*id, (&tavern.root.to_string_lossy(), place), files, report).await?,
                None => {
                    tavern.leave(place, format!("left there, {count} in all: nobody came in whose file is called so"))
                }
            }
            run.step();
        }
        Ok(())
    }

    async fn import_faces(
        &self,
        id: CharacterId,
        (root, place): (&str, String),
        files: Vec<PathBuf>,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let mut faces = Vec::new();
        for (path, looked) in self.keep_pictures(files).await? {
            let ext = path.extension().unwrap_or_default().to_string_lossy();
            match looked {
                Ok((file, mime)) => {
                    let from = Some((root.to_owned(), format!("{place}/{} {file}", file_name(&path))));
                    let (kind, name, ext) = ("emotion".to_owned(), plain(&stem(&path)), ending(&ext));
                    faces.push(NewAsset { kind, name, ext, file, mime, from });
                }
                Err(why) => report.refused.push(refused(format!("{place}/{}", file_name(&path)), why)),
            }
        }
        let character = self.character(id).await?;
        match self.put_card_assets(id, faces).await {
            Ok(0) => {
                let reason = format!("the faces of {} are there already", character.name);
                report.skipped.push(Skipped { id: id.to_string(), file: place, reason });
            }
            Ok(count) => {
                let warnings = vec![format!(
                    "faces for moods that are kept as files of the card, {count} in all; replies are not shown with them"
                )];
                let (kind, id) = ("faces".to_owned(), id.to_string());
                report.imported.push(Imported { kind, id, name: character.name, file: place, warnings });
            }
            Err(error) => report.refused.push(refused(place, ("malformed", error.to_string()))),
        }
        Ok(())
    }

    /// Keeps what SillyTavern showed behind its chats.
    pub(crate) async fn import_backgrounds_of(
        &self,
        tavern: &Tavern,
        run: &mut Run,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let mut added = 0;
        for file in &tavern.backgrounds {
            if run.cancelled() {
                break;
            }
            let now = self.now();
            for (path, looked) in self.keep_pictures(vec![file.clone()]).await? {
                let name = file_name(&path);
                match looked {
                    Ok((asset, mime)) => {
                        let kept = self.store().write(move |store| {
                            store.assets_mut().put_kept(asset, mime, now)?;
                            store.backgrounds_mut().add(&Background { asset, name, created: now })
                        });
                        added += usize::from(kept.await?);
                    }
                    Err(why) => report.refused.push(refused(format!("{BACKGROUNDS}/{name}"), why)),
                }
            }
            run.step();
        }
        if added > 0 {
            let warnings = vec![format!("pictures that are kept, {added} in all; chats are not shown before them")];
            let (kind, name, file) = ("backgrounds".to_owned(), BACKGROUNDS.to_owned(), BACKGROUNDS.to_owned());
            report.imported.push(Imported { kind, id: String::new(), name, file, warnings });
        } else if !tavern.backgrounds.is_empty() && !run.cancelled() {
            let reason = "they came in before".to_owned();
            // What has no id was left there; these are here.
            report.skipped.push(Skipped { id: BACKGROUNDS.to_owned(), file: BACKGROUNDS.to_owned(), reason });
        }
        Ok(())
    }

    /// Writes pictures, one after the other, for each may be large.
    async fn keep_pictures(&self, files: Vec<PathBuf>) -> Answer<Vec<Looked>> {
        let store = self.store().clone();
        let keep = move || -> Result<Vec<Looked>, store::StoreError> {
            files.into_iter().map(|path| Ok((path.clone(), keep_picture(&store, &path)?))).collect()
        };
        Ok(tokio::task::spawn_blocking(keep).await.map_err(|_| internal("pictures could not be read"))??)
    }
}

const BACKGROUNDS: &str = "backgrounds";

type Kept = Result<(AssetHash, &'static str), (&'static str, String)>;

/// What begins like a picture is kept as it is. Blocks.
fn keep_picture(store: &Store, path: &Path) -> Result<Kept, store::StoreError> {
    let bytes = match read_capped(path, MAX_PICTURE_BYTES, "a picture") {
        Ok(bytes) => bytes,
        Err(why) => return Ok(Err(why)),
    };
    let known = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif];
    if !image::guess_format(&bytes).is_ok_and(|format| known.contains(&format)) {
        return Ok(Err(("unknownFormat", "it is no picture".to_owned())));
    }
    Ok(Ok((store.keep_file(&bytes)?, mime(&bytes))))
}

fn refused(file: String, (kind, reason): (&'static str, String)) -> Refused {
    Refused { file, kind: kind.to_owned(), reason }
}
