//! Imports a SillyTavern folder: cards with their tags and tag folders, chats, group chats,
//! lorebooks, personas, regex scripts and the user's presets, of which those in use are chosen. The
//! report lists everything that is skipped.
//!
//! The import can be cancelled, and the process can be killed, at any time. Each card and each chat
//! is stored completely or not at all, and the next run imports what is missing.

use std::path::PathBuf;
use std::pin::pin;

use domain::lorebook::Binding;
use domain::{CharacterId, ChatId};
use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::api::{ApiError, ImportReport, ImportStage};
use crate::base::error::{ApiResult, internal};
use crate::import::chats::chat::{ChatRead, not_taken, read_chat};
use crate::import::files::any_file::files;
use crate::import::groups::files::WITHOUT_CHAT;
use crate::import::reports::progress::ImportRun;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::cards::{Cast, side_by_side};
use crate::import::sillytavern::folder::{SillyTavernFolder, composed, file_name};
use crate::import::sillytavern::presets_in_use::PRESETS;
use crate::import::sillytavern::settings::{personas, settings};
use crate::import::sillytavern::tags::{Tags, tag_names};
use crate::import::sillytavern::worlds::{WantedBindings, metadata};

/// Result of reading a chat file.
struct ReadFile {
    file: String,
    with: Option<CharacterId>,
    /// The lorebook that the chat is linked to.
    linked: Option<Value>,
    found: ChatFileStatus,
}

enum ChatFileStatus {
    /// It was imported before.
    Known(ChatId, CharacterId),
    Read(Box<ChatRead>),
    Refused(&'static str, String),
}

impl FolderImports {
    /// Imports a SillyTavern folder. The report gives a reason for everything that is skipped, such
    /// as files that were imported before. Listeners receive the progress and the end.
    ///
    /// # Errors
    /// `BadInput` if the folder contains no characters; `Busy` while another folder is imported;
    /// errors of the database.
    pub(crate) async fn import_sillytavern(&self, folder: PathBuf) -> ApiResult<ImportReport> {
        let mut run = self
            .import_reports
            .importing()
            .begin(self.base().events())?;
        let look = move || {
            let mut tavern = SillyTavernFolder::look(&folder)?;
            let settings = settings(&mut tavern);
            Ok::<_, ApiError>((tavern, settings))
        };
        let looked = tokio::task::spawn_blocking(look)
            .await
            .map_err(|_| internal("a folder could not be read"))?;
        let (mut tavern, settings) = looked?;
        let files = [
            &tavern.cards,
            &tavern.chats,
            &tavern.group_chats,
            &tavern.worlds,
            &tavern.quick_replies,
        ]
        .map(Vec::len);
        let pictures = tavern.faces.len() + tavern.backgrounds.len();
        run.expect(
            files.into_iter().sum::<usize>()
                + personas(&settings).count()
                + PRESETS.len()
                + pictures,
        );
        let mut report = self.import_tavern(&mut tavern, &settings, &mut run).await?;
        report.skipped.append(&mut tavern.left);
        report.cancelled = run.cancelled();
        report.clean_names();
        self.import_reports.store_report(&report).await;
        run.end(&report);
        Ok(report)
    }

    async fn import_tavern(
        &self,
        tavern: &mut SillyTavernFolder,
        settings: &Value,
        run: &mut ImportRun,
    ) -> ApiResult<ImportReport> {
        let mut report = ImportReport::default();
        let mut wishes = WantedBindings::default();
        // Keep this order: chats belong to personas and characters, and lorebooks are bound to all
        // three.
        run.enter(ImportStage::Personas);
        self.import_personas_of(tavern, settings, &mut wishes, run, &mut report)
            .await?;
        run.enter(ImportStage::Characters);
        let tags = Tags::of(settings);
        let cast = self
            .import_cards_of(tavern, tags, &mut wishes, run, &mut report)
            .await?;
        self.import_tag_folders(settings, &cast, &mut report)
            .await?;
        self.bind_personas_of(settings, &cast).await?;
        run.enter(ImportStage::Chats);
        self.import_chats_of(tavern, &cast, &mut wishes, run, &mut report)
            .await?;
        run.enter(ImportStage::GroupChats);
        self.import_groups_of(tavern, &cast, &mut wishes, run, &mut report)
            .await?;
        wishes.of_settings(settings, &cast);
        run.enter(ImportStage::Lorebooks);
        self.import_worlds_of(
            &tavern.worlds,
            &tag_names(settings),
            wishes,
            run,
            &mut report,
        )
        .await?;
        run.enter(ImportStage::Presets);
        if !run.cancelled() {
            self.import_scripts_of(settings, &mut report).await?;
            self.import_folder_settings(settings, &cast, &mut report)
                .await?;
        }
        let in_use = self
            .import_presets_of(tavern, settings, run, &mut report)
            .await?;
        for file in &tavern.quick_replies {
            if run.cancelled() {
                break;
            }
            self.file_imports
                .import_path(file, false, &mut report)
                .await?;
            run.step();
        }
        if !run.cancelled() {
            self.use_presets(in_use, settings, &mut report).await?;
        }
        run.enter(ImportStage::Pictures);
        self.import_faces_of(tavern, &cast, run, &mut report)
            .await?;
        self.import_backgrounds_of(tavern, run, &mut report).await?;
        Ok(report)
    }

    async fn import_chats_of(
        &self,
        tavern: &SillyTavernFolder,
        cast: &Cast,
        wishes: &mut WantedBindings,
        run: &mut ImportRun,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        if run.cancelled() {
            return Ok(());
        }
        let files: Vec<_> = tavern
            .chats
            .iter()
            .map(|path| (path.clone(), whose_folder(path, cast)))
            .collect();
        let imports = self.clone();
        let looked = stream::iter(files).map(move |(path, with)| {
            let imports = imports.clone();
            async move { imports.look_at_chat(path, with).await }
        });
        let mut looked = pin!(looked.buffered(side_by_side()));
        while let Some(next) = looked.next().await {
            let ReadFile {
                file,
                with,
                linked,
                found,
            } = next?;
            let chat = match found {
                ChatFileStatus::Known(known, with) => {
                    self.chat_imports
                        .skip_chat(known, with, file, report)
                        .await?;
                    Some(known)
                }
                ChatFileStatus::Read(read) => {
                    self.chat_imports
                        .take_chat(file, *read, with, report)
                        .await?
                }
                ChatFileStatus::Refused(kind, reason) => {
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

    /// Reads only the first line of a chat that was imported before.
    async fn look_at_chat(&self, path: PathBuf, with: Option<CharacterId>) -> ApiResult<ReadFile> {
        let file = file_name(&path);
        let known = match with {
            Some(with) => self
                .chat_imports
                .known_chat(with, &file)
                .await?
                .map(|known| ChatFileStatus::Known(known, with)),
            None => None,
        };
        let read = move || {
            let linked =
                metadata(&path).and_then(|mut about| about.get_mut("world_info").map(Value::take));
            let found = known.unwrap_or_else(|| match read_chat(&path) {
                Ok(read) => ChatFileStatus::Read(Box::new(read)),
                Err((kind, reason)) => ChatFileStatus::Refused(kind, reason),
            });
            (linked, found)
        };
        let read = tokio::task::spawn_blocking(read).await;
        let (linked, found) = read.map_err(|_| internal("a chat could not be read"))?;
        Ok(ReadFile {
            file,
            with,
            linked,
            found,
        })
    }
}

/// The character whose file has the same name as the folder of `chat`.
fn whose_folder(chat: &std::path::Path, cast: &Cast) -> Option<CharacterId> {
    cast.get(&composed(&chat.parent()?.file_name()?.to_string_lossy()))
        .copied()
}

impl FolderImports {
    /// Imports files, including those in folders and their subfolders, and SillyTavern's folder as
    /// a whole. The report lists every file: imported, skipped because it already exists, or
    /// refused with a reason. A refused file does not stop the others. Listeners receive the report
    /// as well.
    ///
    /// # Errors
    /// Errors of the database; `Busy` while another folder of SillyTavern is imported.
    pub(crate) async fn import_paths(&self, paths: Vec<PathBuf>) -> ApiResult<ImportReport> {
        let mut report = ImportReport::default();
        let (taverns, paths): (Vec<_>, Vec<_>) = paths
            .into_iter()
            .partition(|path| SillyTavernFolder::is_whole(path));
        for folder in taverns {
            report.append(self.import_sillytavern(folder).await?);
        }
        if paths.is_empty() || report.cancelled {
            return Ok(report);
        }
        let found = tokio::task::spawn_blocking(move || files(paths)).await;
        let (files, left_out) = found.map_err(|_| internal("a folder could not be read"))?;
        let mut groups = Vec::new();
        for (path, asked_for) in files {
            self.file_imports
                .import_path(&path, asked_for, &mut report)
                .await?;
            if report
                .refused
                .pop_if(|last| last.reason.starts_with(WITHOUT_CHAT))
                .is_some()
            {
                groups.push(path);
            }
        }
        // Their chats may have come after them.
        for path in groups {
            self.file_imports
                .import_path(&path, true, &mut report)
                .await?;
        }
        report.skipped.extend(left_out);
        report.clean_names();
        self.import_reports.report_import(&report).await;
        Ok(report)
    }
}
