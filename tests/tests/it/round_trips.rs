//! Round trips: every card and lorebook file is imported through the engine and exported in every
//! format. Every JSON leaf must keep its value, and every picture its exact pixels.
//!
//! Our own fixtures are always tested. Files of other people are next to the project on some
//! machines and cannot be published.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::LorebookId;
use engine::api::{CardFormat, ChatFileFormat, ImportReport, LorebookFormat};
use serde_json::{Value, json};
use tests::headless::Headless;
use zip::ZipArchive;

const FORMATS: [CardFormat; 4] = [
    CardFormat::Png,
    CardFormat::JsonV2,
    CardFormat::JsonV3,
    CardFormat::Charx,
];
/// Fields that an export may change: its format and its date.
const RESTATED: [&str; 3] = ["/spec", "/spec_version", "/data/modification_date"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Returns the files of `../shared/data`; prints a note if they are missing.
fn shared(folder: &str) -> Vec<PathBuf> {
    let files = files_in(&root().join("../shared/data").join(folder));
    if files.is_empty() {
        eprintln!("skipped: the {folder} of other people are not on this machine");
    }
    files
}

fn name(file: &Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}

/// Returns every scalar and empty container by its JSON pointer.
fn leaves(value: &Value) -> BTreeMap<String, Value> {
    fn collect(path: String, value: &Value, leaves: &mut BTreeMap<String, Value>) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(at, item)| collect(format!("{path}/{at}"), item, leaves));
            }
            Value::Object(fields) if !fields.is_empty() => {
                let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
                fields.iter().for_each(|(name, item)| {
                    collect(format!("{path}/{}", escaped(name)), item, leaves)
                });
            }
            leaf => _ = leaves.insert(path, leaf.clone()),
        }
    }
    let mut found = BTreeMap::new();
    collect(String::new(), value, &mut found);
    found
}

/// Results of the comparisons by file.
#[derive(Default)]
struct Tally {
    files: usize,
    leaves: usize,
    chunks: usize,
    differences: Vec<String>,
}

impl Tally {
    /// Checks that every leaf of `before` is in `after`, at its place or, for an upgraded V1 card,
    /// inside `data`.
    fn compare(
        &mut self,
        what: &str,
        before: &Value,
        after: &Value,
        restated: impl Fn(&str) -> bool,
    ) {
        for (path, value) in leaves(before).iter().filter(|(path, _)| !restated(path)) {
            self.leaves += 1;
            let found = after
                .pointer(path)
                .or_else(|| after.pointer(&format!("/data{path}")));
            // An empty object may have been filled.
            let filled = value.is_object() && found.is_some_and(Value::is_object);
            if found != Some(value) && !filled {
                self.differences
                    .push(format!("{what}: {path} was {value}, is {found:?}"));
            }
        }
    }

    /// Like [`Self::compare`], but entries may have other keys: SillyTavern uses uids, and a list
    /// has none.
    fn compare_entries(&mut self, what: &str, before: &Value, after: &Value) {
        let entries = |book: &Value| -> Vec<Value> {
            match &book["entries"] {
                Value::Array(all) => all.clone(),
                Value::Object(all) => all.values().cloned().collect(),
                other => panic!("{what}: {other}"),
            }
        };
        self.compare(what, before, after, |path| path.starts_with("/entries"));
        let mut left = entries(after);
        for entry in entries(before) {
            let differences = |found: &Value| {
                let mut tally = Self::default();
                tally.compare(what, &entry, found, |_| false);
                tally
            };
            let best = (0..left.len()).min_by_key(|at| differences(&left[*at]).differences.len());
            let Some(at) = best else {
                self.differences
                    .push(format!("{what}: an entry is lost: {entry}"));
                continue;
            };
            let found = differences(&left.swap_remove(at));
            self.leaves += found.leaves;
            self.differences.extend(found.differences);
        }
    }

    fn compare_pixels(&mut self, what: &str, before: &[u8], after: &[u8]) {
        let (before, after) = (pixels(before), pixels(after));
        assert!(
            before
                .iter()
                .any(|(kind, data)| kind == b"IDAT" && !data.is_empty()),
            "{what}"
        );
        self.chunks += before.len();
        if before != after {
            self.differences
                .push(format!("{what}: the chunks of the picture differ"));
        }
    }

    #[track_caller]
    fn assert_same(&self, what: &str, least: usize) {
        eprintln!(
            "{what}: {} files, {} leaves and {} chunks compared, {} differences",
            self.files,
            self.leaves,
            self.chunks,
            self.differences.len()
        );
        let shown: Vec<&String> = self.differences.iter().take(30).collect();
        assert!(shown.is_empty(), "{shown:#?}");
        assert!(self.files >= least, "only {} {what}", self.files);
    }
}

/// Returns type and data of every chunk.
fn chunks(png: &[u8]) -> Vec<([u8; 4], &[u8])> {
    let (mut found, mut rest) = (Vec::new(), &png[8..]);
    while let Some((length, _)) = rest.split_first_chunk::<4>() {
        let (chunk, behind) = rest.split_at(12 + u32::from_be_bytes(*length) as usize);
        found.push((chunk[4..8].try_into().unwrap(), &chunk[8..chunk.len() - 4]));
        rest = behind;
    }
    found
}

/// Returns all chunks except card texts: pixels, palette, animation frames and other metadata.
fn pixels(png: &[u8]) -> Vec<([u8; 4], &[u8])> {
    let is_card = |chunk: &([u8; 4], &[u8])| {
        card_text(chunk, "chara")
            .or(card_text(chunk, "ccv3"))
            .is_some()
            || is_exif_card(chunk)
    };
    chunks(png)
        .into_iter()
        .filter(|chunk| !is_card(chunk))
        .collect()
}

/// Some apps write the card into the EXIF comment, as JSON or base64. An export removes older
/// copies of the card.
fn is_exif_card((kind, data): &([u8; 4], &[u8])) -> bool {
    kind == b"eXIf"
        && data
            .windows(3)
            .any(|bytes| bytes == b"eyJ" || bytes == b"{\"c")
}

fn card_text<'a>((kind, data): &([u8; 4], &'a [u8]), keyword: &str) -> Option<&'a [u8]> {
    let (start, text) = data.split_at_checked(keyword.len() + 1)?;
    let is_keyword = start.eq_ignore_ascii_case(format!("{keyword}\0").as_bytes());
    (kind == b"tEXt" && is_keyword).then_some(text)
}

/// Returns the JSON of a card text, parsed without the code under test.
fn card_in(png: &[u8], keyword: &str) -> Option<Value> {
    let text = chunks(png)
        .iter()
        .find_map(|chunk| card_text(chunk, keyword))?;
    Some(serde_json::from_slice(&STANDARD.decode(text).unwrap()).unwrap())
}

/// The JSON in the comment of the EXIF block.
fn card_in_comment(png: &[u8]) -> Value {
    let (_, block) = chunks(png)
        .into_iter()
        .find(|(kind, _)| kind == b"eXIf")
        .unwrap();
    let letters = b"ASCII\0\0\0";
    let at = block
        .windows(letters.len())
        .position(|window| window == letters)
        .unwrap()
        + letters.len();
    let text: Vec<u8> = block[at..]
        .iter()
        .copied()
        .take_while(|byte| *byte != 0)
        .collect();
    let json = if text.starts_with(b"{") {
        text
    } else {
        STANDARD.decode(text).unwrap()
    };
    serde_json::from_slice(&json).unwrap()
}

fn members(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).unwrap();
    let read = |at| {
        let mut member = zip.by_index(at).unwrap();
        let (name, mut bytes) = (member.name().unwrap().into_owned(), Vec::new());
        member.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    (0..ZipArchive::new(Cursor::new(archive)).unwrap().len())
        .map(read)
        .collect()
}

fn json_of(member: &[u8]) -> Value {
    serde_json::from_slice(member).unwrap()
}

/// The original data that must be exported again: the card itself, or Backyard's document.
enum Source {
    Card(Value),
    Backyard(Value),
}

fn source(file: &Path, bytes: &[u8]) -> Source {
    match file.extension().unwrap().to_str().unwrap() {
        "json" => Source::Card(serde_json::from_slice(bytes).unwrap()),
        "png" => match card_in(bytes, "ccv3").or_else(|| card_in(bytes, "chara")) {
            Some(card) => Source::Card(card),
            None => Source::Backyard(card_in_comment(bytes)),
        },
        "charx" => Source::Card(json_of(&members(bytes)["card.json"])),
        "byaf" => {
            let members = members(bytes);
            let manifest = json_of(&members["manifest.json"]);
            let document = |path: &Value| json_of(&members[path.as_str().unwrap()]);
            let mut scenarios: Vec<Value> = manifest["scenarios"]
                .as_array()
                .unwrap()
                .iter()
                .map(document)
                .collect();
            scenarios
                .iter_mut()
                .for_each(|scenario| _ = scenario.as_object_mut().unwrap().remove("messages"));
            let character = document(&manifest["characters"][0]);
            Source::Backyard(
                json!({ "manifest": manifest, "character": character, "scenarios": scenarios }),
            )
        }
        other => panic!("{other}"),
    }
}

async fn import(app: &Headless, file: &Path) -> ImportReport {
    app.engine
        .import_paths(vec![file.to_owned()])
        .await
        .unwrap()
}

/// Imports a card and compares it with its export in every format.
async fn check_card(app: &Headless, file: &Path, tally: &mut Tally) {
    let (file_name, bytes) = (name(file), fs::read(file).unwrap());
    let report = import(app, file).await;
    let Some(imported) = report
        .imported
        .first()
        .filter(|one| one.kind == "character")
    else {
        panic!("{file_name}: {report:?}")
    };
    tally.files += 1;
    for format in FORMATS {
        let what = format!("{file_name} as {format:?}");
        let exported = app
            .engine
            .export_character(imported.id.parse().unwrap(), format)
            .await
            .unwrap()
            .bytes;
        let after = match format {
            CardFormat::Png => card_in(&exported, "ccv3").unwrap(),
            CardFormat::JsonV2 | CardFormat::JsonV3 => json_of(&exported),
            CardFormat::Charx => json_of(&members(&exported)["card.json"]),
        };
        // An archive contains the picture as a file, and the card refers to it.
        let moved = |path: &str| {
            format == CardFormat::Charx
                && path.starts_with("/data/assets/")
                && (path.ends_with("/uri") || path.ends_with("/ext"))
        };
        let restated =
            |path: &str| RESTATED.contains(&path) || (file_name.ends_with(".png") && moved(path));
        match source(file, &bytes) {
            Source::Card(before) => tally.compare(&what, &before, &after, restated),
            Source::Backyard(before) => {
                tally.compare(
                    &what,
                    &before,
                    &after["data"]["extensions"]["backyard"],
                    |_| false,
                );
            }
        }
        check_files(&what, file, &bytes, (format, &exported), tally);
    }
    check_chats(app, &report, &bytes, file, tally).await;
}

/// Compares pixels, and the other files of an archive.
fn check_files(
    what: &str,
    file: &Path,
    before: &[u8],
    (format, after): (CardFormat, &[u8]),
    tally: &mut Tally,
) {
    let ending = file.extension().unwrap();
    match format {
        CardFormat::Png if ending == "png" => tally.compare_pixels(what, before, after),
        CardFormat::Png if ending == "charx" => {
            let icon = members(before)
                .into_iter()
                .find(|(name, _)| name.ends_with("main.png"))
                .unwrap()
                .1;
            tally.compare_pixels(what, &icon, after);
        }
        CardFormat::Charx if ending == "charx" => {
            let (before, after) = (members(before), members(after));
            for (name, bytes) in before.iter().filter(|(name, _)| *name != "card.json") {
                tally.chunks += 1;
                if after.get(name) != Some(bytes) {
                    tally
                        .differences
                        .push(format!("{what}: {name} is lost or changed"));
                }
            }
        }
        _ => {}
    }
}

/// Backyard's scenarios become chats; every message must be in their export.
async fn check_chats(
    app: &Headless,
    report: &ImportReport,
    bytes: &[u8],
    file: &Path,
    tally: &mut Tally,
) {
    if file.extension().is_none_or(|ending| ending != "byaf") {
        return;
    }
    let mut exported = String::new();
    for chat in report.imported.iter().filter(|one| one.kind == "chat") {
        let file = app
            .engine
            .export_chat(chat.id.parse().unwrap(), ChatFileFormat::Jsonl)
            .await
            .unwrap();
        exported.push_str(&String::from_utf8(file.bytes).unwrap());
    }
    let members = members(bytes);
    let scenarios = members
        .iter()
        .filter(|(name, _)| name.starts_with("scenarios/") && name.ends_with(".json"));
    for (_, scenario) in scenarios {
        for (path, text) in leaves(&json_of(scenario)["messages"])
            .iter()
            .filter(|(path, _)| path.ends_with("/text"))
        {
            tally.leaves += 1;
            if !exported.contains(&text.to_string()) {
                tally.differences.push(format!(
                    "{}: messages{path} is in no chat: {text}",
                    name(file)
                ));
            }
        }
    }
}

#[tokio::test]
async fn every_card_survives_import_and_export() {
    let app = Headless::new().await;
    let mut tally = Tally::default();
    let ours = files_in(&root().join("src-tauri/crates/domain/tests/fixtures/cards"));
    for file in ours.iter().chain(&shared("cards")) {
        if name(file).contains("missing_name") {
            let report = import(&app, file).await;
            assert_eq!(
                report.imported[0].name,
                file.file_stem().unwrap().to_str().unwrap(),
                "{report:?}"
            );
            assert!(
                report.imported[0]
                    .warnings
                    .iter()
                    .any(|told| told.contains("name")),
                "{report:?}"
            );
            continue;
        }
        // Each file gets a new app, because the same card is stored only once.
        let app = Headless::new().await;
        check_card(&app, file, &mut tally).await;
    }
    tally.assert_same("cards", 9);
}

/// Compares the lorebook in both formats.
async fn check_book(app: &Headless, what: &str, id: LorebookId, before: &Value, tally: &mut Tally) {
    let export = async |id: LorebookId, format| {
        json_of(&app.engine.export_lorebook(id, format).await.unwrap().bytes)
    };
    let (native, v3) = (
        export(id, LorebookFormat::Native).await,
        export(id, LorebookFormat::V3).await,
    );
    let (own, other) = match before.get("entries").is_some_and(Value::is_object) {
        true => (native, v3),
        false => (v3["data"].clone(), native),
    };
    tally.compare(what, before, &own, |_| false);
    let report = app
        .engine
        .import_bytes("again.json".into(), other.to_string().into_bytes())
        .await
        .unwrap();
    let again: LorebookId = report
        .imported
        .first()
        .unwrap_or_else(|| panic!("{what}: {report:?}"))
        .id
        .parse()
        .unwrap();
    let back = match before.get("entries").is_some_and(Value::is_object) {
        true => export(again, LorebookFormat::Native).await,
        false => export(again, LorebookFormat::V3).await["data"].take(),
    };
    tally.compare_entries(&format!("{what}, through the other form"), before, &back);
    tally.files += 1;
    app.engine.delete_lorebook(again).await.unwrap();
}

#[tokio::test]
async fn every_lorebook_survives_import_and_export() {
    let app = Headless::new().await;
    let mut tally = Tally::default();
    for card in files_in(&root().join("src-tauri/crates/domain/tests/fixtures/cards")) {
        let json: Option<Value> = fs::read(&card)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(book) = json
            .as_ref()
            .and_then(|card| card.pointer("/data/character_book"))
        else {
            continue;
        };
        let report = import(&app, &card).await;
        check_book(
            &app,
            &name(&card),
            report.imported[0].id.parse().unwrap(),
            book,
            &mut tally,
        )
        .await;
    }
    for file in shared("lorebooks") {
        match name(&file).as_str() {
            "VECTORS.md" => {}
            "vectors.jsonl" => {
                check_recorded(&app, &fs::read_to_string(&file).unwrap(), &mut tally).await
            }
            "invalid.json" => {
                let report = import(&app, &file).await;
                assert!(
                    report.refused[0].reason.contains("line 1, column"),
                    "{report:?}"
                );
            }
            other => {
                let before: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
                let report = import(&app, &file).await;
                check_book(
                    &app,
                    other,
                    report.imported[0].id.parse().unwrap(),
                    &before,
                    &mut tally,
                )
                .await;
            }
        }
    }
    tally.assert_same("lorebooks", 1);
}

/// Compares the lorebooks of the recorded cases (`VECTORS.md`).
async fn check_recorded(app: &Headless, lines: &str, tally: &mut Tally) {
    for line in lines.lines().skip(1) {
        let case: Value = serde_json::from_str(line).unwrap();
        for (title, book) in case["books"].as_object().unwrap() {
            let what = format!("{} {title}", case["id"]);
            let report = app
                .engine
                .import_bytes("case.json".into(), book.to_string().into_bytes())
                .await
                .unwrap();
            let id: LorebookId = report
                .imported
                .first()
                .unwrap_or_else(|| panic!("{what}: {report:?}"))
                .id
                .parse()
                .unwrap();
            check_book(app, &what, id, book, tally).await;
            app.engine.delete_lorebook(id).await.unwrap();
        }
    }
}
