//! Detects the kind of a JSON file that is not a card by its content, and imports or refuses it.

use std::path::Path;

use context::convert::{ConvertError, ConvertedKind, MAX_BYTES, kind_of};
use domain::card::CardError;
use domain::chat_file::{self, DetectedChats};
use domain::file_kind::{self, Translated, UnsupportedFile};
use domain::lenient_json::{self, Clean, JsonError};
use serde_json::{Value, json};

use crate::api::{ImportReport, Refused};
use crate::base::error::ApiResult;
use crate::import::chats::chat::unsupported;
use crate::import::files::FileImports;
use crate::import::prompts::lorebooks::{beyond_limits, is_lorebook};
use crate::import::sillytavern::card_notes::refusal;

/// Length of the beginning that tells the kind of a file that is too large, in bytes.
const MAX_START: usize = 64 << 10;

/// A parsed JSON file.
pub(crate) struct Json {
    /// Strict JSON in UTF-8, which is stored as the source of templates and presets.
    text: String,
    value: Value,
    /// Replacements made to read it.
    repairs: Vec<String>,
}

impl Json {
    /// Returns `None` if the file does not start like JSON. `Err` holds the kind and reason of a
    /// refusal. Blocks.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, (&'static str, String)> {
        if !lenient_json::begins_as_json(bytes) {
            return Ok(None);
        }
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_START)]);
        let refused = |error: JsonError| {
            (
                refusal(&CardError::from(error.clone())),
                too_large(&start, &error),
            )
        };
        let Clean { text, repairs } =
            lenient_json::clean_within(bytes, file_kind::limits_of(bytes)).map_err(refused)?;
        let value = serde_json::from_str(&text).map_err(|error| {
            let problem = error.to_string();
            let problem = problem.split(" at line ").next().unwrap_or_default();
            let kind = file_kind::guess_damaged_kind(&text);
            let line = error.line();
            let column = error.column();
            (
                "malformed",
                format!("the {kind} is not valid JSON, line {line}, column {column}: {problem}"),
            )
        })?;
        let repairs = repairs.iter().map(ToString::to_string).collect();
        Ok(Some(Self {
            text: text.into_owned(),
            value,
            repairs,
        }))
    }
}

impl FileImports {
    /// Imports or refuses a JSON file that is not a card. Returns `false` if the file may be a
    /// card.
    pub(crate) async fn import_known(
        &self,
        file: &str,
        bytes: &[u8],
        json: Json,
        report: &mut ImportReport,
    ) -> ApiResult<bool> {
        let before = report.imported.len();
        let Json {
            text,
            value,
            repairs,
        } = json;
        let stem = Path::new(file)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        if let Some(Translated { value, mut notes }) = file_kind::translated(&value, &stem) {
            Box::pin(self.import_one(file.to_owned(), value.to_string().into_bytes(), report))
                .await?;
            if let Some(first) = report.imported.get_mut(before) {
                notes.extend(repairs);
                first.warnings.splice(0..0, notes);
            }
            return Ok(true);
        }
        let done = self
            .import_by_content(file, bytes, (text, value), report)
            .await?;
        // Lorebooks report their own repairs, because pictures can contain them too.
        if let Some(first) = report
            .imported
            .get_mut(before)
            .filter(|first| first.kind != "lorebook")
        {
            first.warnings.splice(0..0, repairs);
        }
        Ok(done)
    }

    async fn import_by_content(
        &self,
        file: &str,
        bytes: &[u8],
        (text, value): (String, Value),
        report: &mut ImportReport,
    ) -> ApiResult<bool> {
        // Parse the text again only if the file may be a template: two copies of the largest file
        // would need too much memory.
        if may_be_template(&value)
            && let Some(imported) = self
                .prompt_imports
                .import_template(file, text.as_bytes())
                .await?
        {
            report.imported.push(imported);
            return Ok(true);
        }
        if is_lorebook(&value) {
            // Reading the book needs much memory for a large one.
            drop((text, value));
            return self.import_book_file(file, bytes, report).await;
        }
        match chat_file::detect_chats(&value) {
            Some(DetectedChats::Unsupported(what)) => {
                report
                    .refused
                    .push(refused(file, "unsupported", unsupported(what)));
                return Ok(true);
            }
            Some(_) => {
                self.chat_imports
                    .import_chat(file.to_owned(), bytes.to_vec(), None, report)
                    .await?;
                return Ok(true);
            }
            None => {}
        }
        if self.import_personas(file, &value, report).await?
            || self
                .library()
                .quick_replies
                .import_quick_replies(file, &value, report)
                .await?
        {
            return Ok(true);
        }
        if let Some(entries) = file_kind::entries_without_book(&value) {
            let book = json!({ "entries": entries }).to_string();
            return Ok(self
                .prompt_imports
                .import_lorebook(file, book.as_bytes(), None, report)
                .await?
                .is_some());
        }
        if let Some(UnsupportedFile { what, instead }) = file_kind::foreign(&value) {
            if what == file_kind::GROUP {
                self.group_imports
                    .import_group_file(file, &value, report)
                    .await?;
                return Ok(true);
            }
            let way_out = if instead.is_empty() {
                String::new()
            } else {
                format!(". {instead}")
            };
            let reason = format!("this is {what}, which is not supported{way_out}");
            report.refused.push(refused(file, "unsupported", reason));
            return Ok(true);
        }
        let root = value.as_object();
        let may_be_card = root.is_some_and(file_kind::may_be_card);
        let is_preset = root.is_some_and(|root| {
            let certain = file_kind::is_certain_card(root) || root.contains_key("data");
            !certain
                && kind_of(root).is_some_and(|kind| !may_be_card || kind != ConvertedKind::Sampler)
        });
        let too_large = text.len() > MAX_BYTES && is_preset;
        drop(value);
        if (!may_be_card || is_preset)
            && let Some(imported) = self
                .prompt_imports
                .import_preset(file, text.as_bytes())
                .await?
        {
            report.imported.extend(imported);
            return Ok(true);
        }
        if may_be_card {
            return Ok(false);
        }
        report.refused.push(if too_large {
            refused(file, "tooLarge", ConvertError::TooLarge.to_string())
        } else {
            unknown(file)
        });
        Ok(true)
    }

    async fn import_book_file(
        &self,
        file: &str,
        bytes: &[u8],
        report: &mut ImportReport,
    ) -> ApiResult<bool> {
        if self
            .prompt_imports
            .import_lorebook(file, bytes, None, report)
            .await?
            .is_some()
        {
            return Ok(true);
        }
        let Some(reason) = beyond_limits(bytes) else {
            return Ok(false);
        };
        report.refused.push(refused(file, "tooLarge", reason));
        Ok(true)
    }
}

/// The reason for a file above the limits, which names its kind.
fn too_large(start: &str, error: &JsonError) -> String {
    let kind = file_kind::guess_damaged_kind(start);
    let advice = match kind {
        "lorebook" => " Split it into several lorebooks.",
        "card" => " Use a shorter card.",
        _ => "",
    };
    match error {
        JsonError::TooLarge { bytes, limit } => {
            format!("the {kind} has {bytes} bytes of JSON, and the limit is {limit}.{advice}")
        }
        JsonError::TooComplex { what, limit } => {
            format!("the {kind} has {what}, and the limit is {limit}.{advice}")
        }
        other => CardError::from(other.clone()).to_string(),
    }
}

/// Refusal of an unknown JSON file.
fn unknown(file: &str) -> Refused {
    let reason = "this is a JSON file of an unknown kind: it has none of the fields of a card, a lorebook, a \
                  preset or a chat";
    refused(file, "unknownFormat", reason.to_owned())
}

fn refused(file: &str, kind: &str, reason: String) -> Refused {
    Refused {
        file: file.to_owned(),
        kind: kind.to_owned(),
        reason,
    }
}

/// All template versions have one of these fields.
fn may_be_template(file: &Value) -> bool {
    file.get("schema").is_some()
        || ["system", "lines"]
            .iter()
            .any(|list| file.get(list).is_some_and(Value::is_array))
}
