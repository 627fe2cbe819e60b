//! SillyTavern's lorebooks (it calls them worlds) with what they are bound to: everything, a character, a chat, a persona.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use domain::lorebook::{self, Binding};
use domain::{CharacterId, LorebookId, lenient_json};
use serde_json::Value;
use store::AssetHash;

use crate::Engine;
use crate::api::{ImportReport, Refused, Skipped};
use crate::characters::card_of;
use crate::error::{Answer, internal};
use crate::import::read_capped;
use crate::import_cards::Cast;
use crate::importing::Run;
use crate::tavern::{composed, file_name, stem};

/// Bytes of the first line of a chat.
const MAX_HEADER: u64 = 4 << 20;

/// What books are to be bound to, by the names that SillyTavern knows them by.
#[derive(Default)]
pub(crate) struct Wishes(Vec<(String, Binding)>);

impl Wishes {
    pub(crate) fn add(&mut self, book: Option<&Value>, to: Binding) {
        if let Some(book) = book.and_then(Value::as_str).filter(|book| !book.is_empty()) {
            self.0.push((composed(book), to));
        }
    }

    /// Books that count everywhere, and the further ones of characters.
    pub(crate) fn of_settings(&mut self, settings: &Value, cast: &Cast) {
        let worlds = ["/world_info_settings/world_info", "/world_info"];
        let Some(worlds) = worlds.into_iter().find_map(|place| settings.pointer(place)) else { return };
        for book in worlds.get("globalSelect").and_then(Value::as_array).into_iter().flatten() {
            self.add(Some(book), Binding::Global);
        }
        for of_one in worlds.get("charLore").and_then(Value::as_array).into_iter().flatten() {
            let name = of_one.get("name").and_then(Value::as_str).unwrap_or_default();
            let Some(character) = cast.get(&composed(name)) else { continue };
            for book in of_one.get("extraBooks").and_then(Value::as_array).into_iter().flatten() {
                self.add(Some(book), Binding::Character(*character));
            }
        }
    }
}

impl Engine {
    /// Takes the books, and binds them as they were: each binding once, whatever the user makes of it afterwards.
    pub(crate) async fn import_worlds_of(
        &self,
        files: &[PathBuf],
        wishes: Wishes,
        run: &mut Run,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let mut worlds = HashMap::new();
        for file in files {
            if run.cancelled() {
                break;
            }
            if let Some(book) = self.import_world(file, report).await? {
                worlds.insert(stem(file), book);
            }
            run.step();
        }
        self.grant(&worlds, wishes, run, report).await
    }

    async fn import_world(&self, file: &Path, report: &mut ImportReport) -> Answer<Option<LorebookId>> {
        let (name, path) = (file_name(file), file.to_owned());
        let read = tokio::task::spawn_blocking(move || read_capped(&path, lorebook::MAX_FILE, "a lorebook"));
        let bytes = match read.await.map_err(|_| internal("a file could not be read"))? {
            Ok(bytes) => bytes,
            Err((kind, reason)) => {
                report.refused.push(Refused { file: name, kind: kind.into(), reason });
                return Ok(None);
            }
        };
        // Changed here since or not: it is the same book.
        let content = AssetHash::of(&bytes);
        let known = self.store().read(move |store| store.lorebooks().from_source(content)).await?;
        if let Some(known) = known.into_iter().next() {
            let reason = format!("the lorebook {} is in the library already", known.name);
            report.skipped.push(Skipped { id: known.id.to_string(), file: name, reason });
            return Ok(Some(known.id));
        }
        let brought = self.import_lorebook(&name, &bytes, Some(stem(file)), report).await?;
        if brought.is_none() {
            let reason = "this is no lorebook that can be read".into();
            report.refused.push(Refused { file: name, kind: "malformed".into(), reason });
        }
        Ok(brought)
    }

    async fn grant(
        &self,
        worlds: &HashMap<String, LorebookId>,
        wishes: Wishes,
        run: &Run,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let mut granted = Vec::new();
        for (book, to) in wishes.0 {
            match worlds.get(&composed(&book)) {
                Some(id) => granted.push((*id, to)),
                // It may not have had its turn.
                None if run.cancelled() => {}
                None => leave(report, &book),
            }
        }
        let grant = move |store: &mut store::Write<'_>| {
            let mut any = false;
            for (book, to) in granted {
                any |= store.sources_mut().grant(book, to)?;
            }
            Ok(any)
        };
        if self.store().write(grant).await? {
            self.lorebooks_changed(None);
        }
        Ok(())
    }

    /// The book that a character is linked with, as its card tells.
    pub(crate) async fn wish_of(&self, character: CharacterId, wishes: &mut Wishes) -> Answer<()> {
        let card = card_of(&self.character(character).await?)?;
        wishes.add(card.extensions().and_then(|extensions| extensions.get("world")), Binding::Character(character));
        Ok(())
    }
}

/// A binding to a book that is not in the folder; told once.
fn leave(report: &mut ImportReport, book: &str) {
    let file = format!("{book}.json");
    if report.skipped.iter().all(|skipped| skipped.file != file) {
        let reason = "something is bound to this lorebook, but it is not among the worlds".to_owned();
        report.skipped.push(Skipped { id: String::new(), file, reason });
    }
}

/// What the first line of a chat's file says of the chat. Blocks.
pub(crate) fn metadata(file: &Path) -> Option<Value> {
    let mut line = String::new();
    BufReader::new(std::fs::File::open(file).ok()?.take(MAX_HEADER)).read_line(&mut line).ok()?;
    lenient_json::read(line.as_bytes()).ok()?.0.get_mut("chat_metadata").map(Value::take)
}
