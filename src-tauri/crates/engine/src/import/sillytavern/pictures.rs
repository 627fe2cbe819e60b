//! Imports the pictures of a SillyTavern folder: persona pictures, character expressions and
//! backgrounds. Persona pictures are re-encoded without metadata; all other files stay unchanged.

use std::path::{Path, PathBuf};

use domain::{CharacterId, PersonaId};
use image::ImageFormat;
use store::{AssetHash, Background, Store};

use crate::api::{ImportReport, Imported, Refused, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::base::files::read_capped;
use crate::import::reports::progress::ImportRun;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::cards::Cast;
use crate::import::sillytavern::folder::{
    SillyTavernFolder, composed, file_name, files_skipped, stem,
};
use crate::library::assets::pictures::{MAX_PICTURE_BYTES, plain};
use crate::library::characters::card_asset_list::{ending, mime};
use crate::library::characters::card_assets::NewAsset;

/// A file with its stored hash and type, or with the reason for refusing it.
type PictureFile = (
    PathBuf,
    Result<(AssetHash, &'static str), (&'static str, String)>,
);

impl FolderImports {
    /// Sets a persona's picture from `file`, unless it already has one. Returns whether it did, or
    /// why it could not.
    pub(crate) async fn import_face_of_persona(
        &self,
        id: PersonaId,
        file: &Path,
    ) -> ApiResult<Result<bool, String>> {
        let pictures = self
            .base()
            .store()
            .read(|store| store.personas().pictures())
            .await?;
        if pictures.contains_key(&id) {
            return Ok(Ok(false));
        }
        let file = file.to_owned();
        let read =
            tokio::task::spawn_blocking(move || read_capped(&file, MAX_PICTURE_BYTES, "a picture"));
        let bytes = match read
            .await
            .map_err(|_| internal("a picture could not be read"))?
        {
            Ok(bytes) => bytes,
            Err((_, why)) => return Ok(Err(why)),
        };
        Ok(self
            .library()
            .personas
            .set_persona_picture_bytes(id, Some(bytes))
            .await
            .map(|_| true)
            .map_err(|error| error.to_string()))
    }

    /// Adds expression pictures to the cards of the characters that their folders belong to, as
    /// Character Card V3 assets of type `emotion`.
    pub(crate) async fn import_faces_of(
        &self,
        tavern: &mut SillyTavernFolder,
        cast: &Cast,
        run: &mut ImportRun,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        for (folder, files) in std::mem::take(&mut tavern.faces) {
            if run.cancelled() {
                break;
            }
            let place = format!("characters/{folder}");
            let count = files.len();
            match cast.get(&composed(&folder)) {
                Some(id) => {
                    self.import_faces(*id, (&tavern.root.to_string_lossy(), place), files, report)
                        .await?
                }
                None => {
                    let skipped = files_skipped(count);
                    tavern.leave(
                        place,
                        format!("{skipped}: no imported character has this file name"),
                    );
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
    ) -> ApiResult<()> {
        let mut faces = Vec::new();
        for (path, looked) in self.keep_pictures(files).await? {
            let ext = path.extension().unwrap_or_default().to_string_lossy();
            match looked {
                Ok((file, mime)) => {
                    let from = Some((
                        root.to_owned(),
                        format!("{place}/{} {file}", file_name(&path)),
                    ));
                    let kind = "emotion".to_owned();
                    let name = plain(&stem(&path));
                    let ext = ending(&ext);
                    faces.push(NewAsset {
                        kind,
                        name,
                        ext,
                        file,
                        mime,
                        from,
                    });
                }
                Err(why) => report
                    .refused
                    .push(refused(format!("{place}/{}", file_name(&path)), why)),
            }
        }
        let character = self.library().characters.character(id).await?;
        match self.library().characters.put_card_assets(id, faces).await {
            Ok(0) => {
                let reason = format!("the expressions of {} were imported before", character.name);
                report.skipped.push(Skipped {
                    id: id.to_string(),
                    file: place,
                    reason,
                });
            }
            Ok(count) => {
                let warnings = vec![format!("expressions added to the card's files: {count}")];
                let kind = "faces".to_owned();
                let id = id.to_string();
                report.imported.push(Imported {
                    kind,
                    id,
                    name: character.name,
                    file: place,
                    warnings,
                });
            }
            Err(error) => report
                .refused
                .push(refused(place, ("malformed", error.to_string()))),
        }
        Ok(())
    }

    /// Imports the chat backgrounds.
    pub(crate) async fn import_backgrounds_of(
        &self,
        tavern: &SillyTavernFolder,
        run: &mut ImportRun,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let mut added = 0;
        for file in &tavern.backgrounds {
            if run.cancelled() {
                break;
            }
            let now = self.base().now();
            for (path, looked) in self.keep_pictures(vec![file.clone()]).await? {
                let name = file_name(&path);
                match looked {
                    Ok((asset, mime)) => {
                        let kept = self.base().store().write(move |store| {
                            store.assets_mut().put_kept(asset, mime, now)?;
                            let luminance = None;
                            let scene_words = String::new();
                            let background = Background {
                                asset,
                                name,
                                created: now,
                                luminance,
                                scene_words,
                            };
                            store.backgrounds_mut().add(&background)
                        });
                        added += usize::from(kept.await?);
                    }
                    Err(why) => report
                        .refused
                        .push(refused(format!("{BACKGROUNDS}/{name}"), why)),
                }
            }
            run.step();
        }
        if added > 0 {
            let warnings = vec![format!("backgrounds imported: {added}")];
            let kind = "backgrounds".to_owned();
            let name = BACKGROUNDS.to_owned();
            let file = BACKGROUNDS.to_owned();
            report.imported.push(Imported {
                kind,
                id: String::new(),
                name,
                file,
                warnings,
            });
        } else if !tavern.backgrounds.is_empty() && !run.cancelled() {
            let reason = "they were imported before".to_owned();
            // A non-empty id tells the UI that the files were imported and not left in the folder.
            report.skipped.push(Skipped {
                id: BACKGROUNDS.to_owned(),
                file: BACKGROUNDS.to_owned(),
                reason,
            });
        }
        Ok(())
    }

    /// Stores pictures one by one, because each may be large.
    async fn keep_pictures(&self, files: Vec<PathBuf>) -> ApiResult<Vec<PictureFile>> {
        let store = self.base().store().clone();
        let keep = move || -> Result<Vec<PictureFile>, store::StoreError> {
            files
                .into_iter()
                .map(|path| Ok((path.clone(), keep_picture(&store, &path)?)))
                .collect()
        };
        Ok(tokio::task::spawn_blocking(keep)
            .await
            .map_err(|_| internal("pictures could not be read"))??)
    }
}

const BACKGROUNDS: &str = "backgrounds";

type KeptPicture = Result<(AssetHash, &'static str), (&'static str, String)>;

/// Stores a file unchanged if its first bytes are those of a picture. Blocks.
fn keep_picture(store: &Store, path: &Path) -> Result<KeptPicture, store::StoreError> {
    let bytes = match read_capped(path, MAX_PICTURE_BYTES, "a picture") {
        Ok(bytes) => bytes,
        Err(why) => return Ok(Err(why)),
    };
    let known = [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::WebP,
        ImageFormat::Gif,
    ];
    if !image::guess_format(&bytes).is_ok_and(|format| known.contains(&format)) {
        return Ok(Err(("unknownFormat", "it is not a picture".to_owned())));
    }
    Ok(Ok((store.keep_file(&bytes)?, mime(&bytes))))
}

fn refused(file: String, (kind, reason): (&'static str, String)) -> Refused {
    Refused {
        file,
        kind: kind.to_owned(),
        reason,
    }
}
