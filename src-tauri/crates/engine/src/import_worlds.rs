//! SillyTavern's lorebooks (it calls them worlds) with what they are bound to: everything, a character, a chat, a persona.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use domain::CharacterId;
use domain::lorebook::{self, Binding};
use serde_json::Value;

use crate::Engine;
use crate::api::{ImportReport, Refused, Skipped};
use crate::characters::card_of;
use crate::error::{Answer, internal};
use crate::import::{files_in, read_capped};
use crate::import_lorebook::Brought;

/// Bytes of the first line of a chat.
const MAX_HEADER: u64 = 4 << 20;

/// What books are to be bound to, by the names that SillyTavern knows them by.
#[derive(Default)]
pub(crate) struct Wishes(Vec<Wish>);

struct Wish {
    book: String,
    to: Binding,
    /// What it is bound to came in just now.
    new: bool,
}

impl Wishes {
    pub(crate) fn add(&mut self, book: Option<&Value>, to: Binding, new: bool) {
        if let Some(book) = book.and_then(Value::as_str).filter(|book| !book.is_empty()) {
            self.0.push(Wish { book: book.to_owned(), to, new });
        }
    }

    /// Books that count everywhere, and the further ones of characters.
    pub(crate) fn of_settings(&mut self, settings: &Value, characters: &HashMap<String, (CharacterId, bool)>) {
        let worlds = ["/world_info_settings/world_info", "/world_info"];
        let Some(worlds) = worlds.into_iter().find_map(|place| settings.pointer(place)) else { return };
        for book in worlds.get("globalSelect").and_then(Value::as_array).into_iter().flatten() {
            self.add(Some(book), Binding::Global, false);
        }
        for of_one in worlds.get("charLore").and_then(Value::as_array).into_iter().flatten() {
            let name = of_one.get("name").and_then(Value::as_str).unwrap_or_default();
            let Some((character, new)) = characters.get(name) else { continue };
            for book in of_one.get("extraBooks").and_then(Value::as_array).into_iter().flatten() {
                self.add(Some(book), Binding::Character(*character), *new);
            }
        }
    }
}

impl Engine {
    /// The books in `folder`, bound as they were. What was here before stays bound as the user has it.
    pub(crate) async fn import_worlds_of(
        &self,
        folder: &Path,
        wishes: Wishes,
        report: &mut ImportReport,
    ) -> Answer<()> {
        let mut worlds: HashMap<String, Brought> = HashMap::new();
        for file in files_in(folder).into_iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let read = tokio::task::spawn_blocking(move || read_capped(&file, lorebook::MAX_FILE, "a lorebook"));
            let bytes = match read.await.map_err(|_| internal("a file could not be read"))? {
                Ok(bytes) => bytes,
                Err((kind, reason)) => {
                    report.refused.push(Refused { file: name, kind: kind.into(), reason });
                    continue;
                }
            };
            match self.import_lorebook(&name, &bytes, Some(stem.clone()), report).await? {
                Some(book) => _ = worlds.insert(stem, book),
                None => report.refused.push(Refused {
                    file: name,
                    kind: "malformed".into(),
                    reason: "this is no lorebook that can be read".into(),
                }),
            }
        }
        self.grant(&worlds, wishes, report).await
    }

    async fn grant(&self, worlds: &HashMap<String, Brought>, wishes: Wishes, report: &mut ImportReport) -> Answer<()> {
        let mut granted = Vec::new();
        for wish in wishes.0 {
            match worlds.get(&wish.book) {
                Some(book) if book.new || wish.new => granted.push((book.id, wish.to)),
                Some(_) => {}
                None => leave(report, &wish.book),
            }
        }
        if granted.is_empty() {
            return Ok(());
        }
        self.store()
            .write(move |store| {
                granted.into_iter().try_for_each(|(book, to)| store.lorebooks_mut().bind_also(book, to))
            })
            .await?;
        self.lorebooks_changed(None);
        Ok(())
    }

    /// The book that a character is linked with, as its card tells.
    pub(crate) async fn wish_of(&self, character: CharacterId, new: bool, wishes: &mut Wishes) -> Answer<()> {
        let card = card_of(&self.character(character).await?)?;
        wishes.add(
            card.extensions().and_then(|extensions| extensions.get("world")),
            Binding::Character(character),
            new,
        );
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

/// What the first line of a chat's file says of the chat.
pub(crate) fn metadata(file: &Path) -> Option<Value> {
    let mut line = String::new();
    BufReader::new(std::fs::File::open(file).ok()?.take(MAX_HEADER)).read_line(&mut line).ok()?;
    serde_json::from_str::<Value>(&line).ok()?.get_mut("chat_metadata").map(Value::take)
}
