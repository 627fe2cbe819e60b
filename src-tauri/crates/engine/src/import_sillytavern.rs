//! A whole folder of SillyTavern's: cards with their tags, their chats, chats of groups, lorebooks, personas, regex scripts,
//! and the presets in use. What cannot come along is told.
//!
//! It can be cancelled, and the process may die, at any moment: every card and every chat is whole in the library or not in
//! it, and the next run takes what is missing.

use std::path::PathBuf;
use std::pin::pin;

use domain::lorebook::Binding;
use domain::{CharacterId, ChatId};
use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::Engine;
use crate::api::{ApiError, ImportReport, ImportStage};
use crate::error::{Answer, internal};
use crate::import_cards::{Cast, side_by_side};
use crate::import_chat::{Read, not_taken, read_chat};
use crate::import_settings::{PRESETS, personas, settings};
use crate::import_tags::Tags;
use crate::import_worlds::{Wishes, metadata};
use crate::importing::Run;
use crate::tavern::{Tavern, composed, file_name};

/// A chat's file as far as it was looked at.
struct Looked {
    file: String,
    with: Option<CharacterId>,
    /// The lorebook that the chat is linked with.
    linked: Option<Value>,
    found: Found,
}

enum Found {
    /// It came in before.
    Known(ChatId, CharacterId),
    Read(Box<Read>),
    Refused(&'static str, String),
}

impl Engine {
    /// Imports what a folder of SillyTavern's holds. Everything that is not taken is in the report with a reason. What came
    /// in before is skipped. Listeners hear how far it is, and of its end.
    ///
    /// # Errors
    /// `BadInput` if there are no characters below the folder; `Busy` while another folder comes in; and if the database
    /// refuses.
    pub async fn import_sillytavern(&self, folder: PathBuf) -> Answer<ImportReport> {
        let mut run = self.importing().begin(self.events())?;
        let look = move || {
            let mut tavern = Tavern::look(&folder)?;
            let settings = settings(&mut tavern);
            Ok::<_, ApiError>((tavern, settings))
        };
        let looked = tokio::task::spawn_blocking(look).await.map_err(|_| internal("a folder could not be read"))?;
        let (mut tavern, settings) = looked?;
        let files =
            [&tavern.cards, &tavern.chats, &tavern.group_chats, &tavern.worlds, &tavern.quick_replies].map(Vec::len);
        let pictures = tavern.faces.len() + tavern.backgrounds.len();
        run.expect(files.into_iter().sum::<usize>() + personas(&settings).count() + PRESETS.len() + pictures);
        let mut report = self.import_tavern(&mut tavern, &settings, &mut run).await?;
        report.skipped.append(&mut tavern.left);
        report.cancelled = run.cancelled();
        self.store_report(&report).await;
        run.end(&report);
        Ok(report)
    }

    async fn import_tavern(&self, tavern: &mut Tavern, settings: &Value, run: &mut Run) -> Answer<ImportReport> {
        let (mut report, mut wishes) = (ImportReport::default(), Wishes::default());
        // Chats are somebody's, with somebody, and lorebooks are bound to all of these.
        run.enter(ImportStage::Personas);
        self.import_personas_of(tavern, settings, &mut wishes, run, &mut report).await?;
        run.enter(ImportStage::Characters);
        let tags = Tags::of(settings);
        let cast = self.import_cards_of(tavern, tags, &mut wishes, run, &mut report).await?;
        run.enter(ImportStage::Chats);
        self.import_chats_of(tavern, &cast, &mut wishes, run, &mut report).await?;
        run.enter(ImportStage::GroupChats);
        self.import_groups_of(tavern, &cast, &mut wishes, run, &mut report).await?;
        wishes.of_settings(settings, &cast);
        run.enter(ImportStage::Lorebooks);
        self.import_worlds_of(&tavern.worlds, wishes, run, &mut report).await?;
        run.enter(ImportStage::Presets);
        if !run.cancelled() {
            self.import_scripts_of(settings, &mut report).await?;
            self.import_folder_settings(settings, &cast, &mut report).await?;
        }
        self.import_presets_of(tavern, settings, run, &mut report).await?;
        for file in &tavern.quick_replies {
            if run.cancelled() {
                break;
            }
            self.import_path(file, false, &mut report).await?;
            run.step();
        }
        run.enter(ImportStage::Pictures);
        self.import_faces_of(tavern, &cast, run, &mut report).await?;
        self.import_backgrounds_of(tavern, run, &mut report).await?;
        Ok(report)
    }

    async fn import_chats_of(
        &self,
        tavern: &Tavern,
        cast: &Cast,
        wishes: &mut Wishes,
        run: &mut Run,
        report: &mut ImportReport,
    ) -> Answer<()> {
        if run.cancelled() {
            return Ok(());
        }
        let files: Vec<_> = tavern.chats.iter().map(|path| (path.clone(), whose_folder(path, cast))).collect();
        let engine = self.clone();
        let looked = stream::iter(files).map(move |(path, with)| {
            let engine = engine.clone();
            async move { engine.look_at_chat(path, with).await }
        });
        let mut looked = pin!(looked.buffered(side_by_side()));
        while let Some(next) = looked.next().await {
            let Looked { file, with, linked, found } = next?;
            let chat = match found {
                Found::Known(known, with) => {
                    self.skip_chat(known, with, file, report).await?;
                    Some(known)
                }
                Found::Read(read) => self.take_chat(file, *read, with, report).await?,
                Found::Refused(kind, reason) => {
                    not_taken(report, file, kind, reason);
                    None
                }
            };
            if let Some(chat) = chat {
                wishes.add(linked.as_ref(), Binding::Chat(chat));
            }
            run.step();
            if run.cancelled() {
                break;
            }
        }
        Ok(())
    }

    /// One that is known is not read again, but for its first line.
    async fn look_at_chat(&self, path: PathBuf, with: Option<CharacterId>) -> Answer<Looked> {
        let file = file_name(&path);
        let known = match with {
            Some(with) => self.known_chat(with, &file).await?.map(|known| Found::Known(known, with)),
            None => None,
        };
        let read = move || {
            let linked = metadata(&path).and_then(|mut about| about.get_mut("world_info").map(Value::take));
            let found = known.unwrap_or_else(|| match read_chat(&path) {
                Ok(read) => Found::Read(Box::new(read)),
                Err((kind, reason)) => Found::Refused(kind, reason),
            });
            (linked, found)
        };
        let read = tokio::task::spawn_blocking(read).await;
        let (linked, found) = read.map_err(|_| internal("a chat could not be read"))?;
        Ok(Looked { file, with, linked, found })
    }
}

/// The character whose file is named like the folder that `chat` is in.
fn whose_folder(chat: &std::path::Path, cast: &Cast) -> Option<CharacterId> {
    cast.get(&composed(&chat.parent()?.file_name()?.to_string_lossy())).copied()
}
