//! Imports SillyTavern's lorebooks, which it calls worlds, with their bindings: global, character,
//! chat or persona.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use domain::lorebook::{self, Binding};
use domain::{CharacterId, LorebookId, lenient_json};
use serde_json::Value;
use store::AssetHash;

use crate::api::{ImportReport, Refused, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::base::files::read_capped;
use crate::import::reports::progress::ImportRun;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::cards::Cast;
use crate::import::sillytavern::folder::{composed, file_name, stem};
use crate::import::sillytavern::tags::TagNames;
use crate::library::characters::cards::card_of;

/// Maximum size of the first line of a chat file, in bytes.
const MAX_HEADER: u64 = 4 << 20;

/// Bindings to create, by SillyTavern's name of the book.
#[derive(Default)]
pub(crate) struct WantedBindings(Vec<(String, Binding)>);

impl WantedBindings {
    pub(crate) fn add(&mut self, book: Option<&Value>, to: Binding) {
        if let Some(book) = book.and_then(Value::as_str).filter(|book| !book.is_empty()) {
            self.0.push((composed(book), to));
        }
    }

    /// Adds the global books, and the additional books of characters.
    pub(crate) fn of_settings(&mut self, settings: &Value, cast: &Cast) {
        let worlds = ["/world_info_settings/world_info", "/world_info"];
        let Some(worlds) = worlds.into_iter().find_map(|place| settings.pointer(place)) else {
            return;
        };
        for book in worlds
            .get("globalSelect")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.add(Some(book), Binding::Global);
        }
        for of_one in worlds
            .get("charLore")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let name = of_one
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let Some(character) = cast.get(&composed(name)) else {
                continue;
            };
            for book in of_one
                .get("extraBooks")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                self.add(Some(book), Binding::Character(*character));
            }
        }
    }
}

impl FolderImports {
    /// Imports the books and creates their bindings. Each binding is created only once, so that a
    /// later change by the user stays.
    pub(crate) async fn import_worlds_of(
        &self,
        files: &[PathBuf],
        tags: &TagNames,
        wishes: WantedBindings,
        run: &mut ImportRun,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let mut worlds = HashMap::new();
        for file in files {
            if run.cancelled() {
                break;
            }
            if let Some(book) = self.import_world(file, tags, report).await? {
                worlds.insert(stem(file), book);
            }
            run.step();
        }
        self.grant(&worlds, wishes, run, report).await
    }

    async fn import_world(
        &self,
        file: &Path,
        tags: &TagNames,
        report: &mut ImportReport,
    ) -> ApiResult<Option<LorebookId>> {
        let name = file_name(file);
        let path = file.to_owned();
        let read = tokio::task::spawn_blocking(move || {
            read_capped(&path, lorebook::MAX_FILE, "a lorebook")
        });
        let bytes = match read
            .await
            .map_err(|_| internal("a file could not be read"))?
        {
            Ok(bytes) => bytes,
            Err((kind, reason)) => {
                report.refused.push(Refused {
                    file: name,
                    kind: kind.into(),
                    reason,
                });
                return Ok(None);
            }
        };
        // A book with the same source content is the same book, even if it was edited here.
        let content = AssetHash::of(&bytes);
        let known = self
            .base()
            .store()
            .read(move |store| store.lorebooks().from_source(content))
            .await?;
        if let Some(known) = known.into_iter().next() {
            let reason = format!("the lorebook {} is already in the library", known.name);
            report.skipped.push(Skipped {
                id: known.id.to_string(),
                file: name,
                reason,
            });
            return Ok(Some(known.id));
        }
        let brought = self
            .prompt_imports
            .import_world_book(&name, &bytes, (stem(file), tags), report)
            .await?;
        if brought.is_none() {
            let reason = "this is not a readable lorebook".into();
            report.refused.push(Refused {
                file: name,
                kind: "malformed".into(),
                reason,
            });
        }
        Ok(brought)
    }

    async fn grant(
        &self,
        worlds: &HashMap<String, LorebookId>,
        wishes: WantedBindings,
        run: &ImportRun,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let mut granted = Vec::new();
        for (book, to) in wishes.0 {
            match worlds.get(&composed(&book)) {
                Some(id) => granted.push((*id, to)),
                // After a cancellation, the book may not have been imported yet.
                None if run.cancelled() => {}
                None => leave(report, &book),
            }
        }
        let grant = move |store: &mut store::WriteTransaction<'_>| {
            let mut any = false;
            for (book, to) in granted {
                any |= store.sources_mut().grant(book, to)?;
            }
            Ok(any)
        };
        if self.base().store().write(grant).await? {
            self.library().lorebooks.lorebooks_changed(None);
        }
        Ok(())
    }

    /// Adds the lorebook that a character's card is linked to.
    pub(crate) async fn wish_of(
        &self,
        character: CharacterId,
        wishes: &mut WantedBindings,
    ) -> ApiResult<()> {
        let card = card_of(&self.library().characters.character(character).await?)?;
        wishes.add(
            card.extensions()
                .and_then(|extensions| extensions.get("world")),
            Binding::Character(character),
        );
        Ok(())
    }
}

/// Reports a binding to a book that is not in the folder, once per book.
fn leave(report: &mut ImportReport, book: &str) {
    let file = format!("{book}.json");
    if report.skipped.iter().all(|skipped| skipped.file != file) {
        let reason = "a binding names this lorebook, but it is not among the worlds".to_owned();
        report.skipped.push(Skipped {
            id: String::new(),
            file,
            reason,
        });
    }
}

/// Reads `chat_metadata` from the first line of a chat file. Blocks.
pub(crate) fn metadata(file: &Path) -> Option<Value> {
    let mut line = String::new();
    BufReader::new(std::fs::File::open(file).ok()?.take(MAX_HEADER))
        .read_line(&mut line)
        .ok()?;
    lenient_json::read(line.as_bytes())
        .ok()?
        .0
        .get_mut("chat_metadata")
        .map(Value::take)
}
