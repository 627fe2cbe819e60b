//! Uploads and downloads: pictures, imports and exports.

use std::str::FromStr;
use std::vec;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::id::NotAnId;
use engine::Exported;
use engine::api::{
    ApiError, CardFormat, ChatFileFormat, LorebookFormat, PromptFile, ReadableOptions,
};
use futures_util::stream;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use zip::result::ZipError;

use crate::respond::{ErrorResponse, json};
use crate::shares::Holder;
use crate::state::SharedState;
use crate::zip::ZipStream;

const IMPORT_CAP: usize = 64 * 1024 * 1024;
/// Maximum size of an id list in bytes: the ids of 50,000 cards.
const LIST_CAP: usize = 2 * 1024 * 1024;

/// The content of a hash never changes.
const FOREVER: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");

/// `GET /asset/{hash}`.
pub(crate) async fn asset(
    State(shared): State<SharedState>,
    Path(hash): Path<String>,
) -> Result<Response, ErrorResponse> {
    let asset = shared.engine.asset(hash).await?;
    Ok((
        [
            (CONTENT_TYPE, header(&asset.mime)),
            (CACHE_CONTROL, FOREVER),
        ],
        asset.bytes,
    )
        .into_response())
}

/// `GET /thumbnail/{hash}`: a scaled-down picture.
pub(crate) async fn thumbnail(
    State(shared): State<SharedState>,
    Path(hash): Path<String>,
) -> Result<Response, ErrorResponse> {
    let small = shared.engine.thumbnail(hash).await?;
    Ok((
        [
            (CONTENT_TYPE, header(&small.mime)),
            (CACHE_CONTROL, FOREVER),
        ],
        small.bytes,
    )
        .into_response())
}

/// Reads an id in an address.
fn id<T: FromStr<Err = NotAnId>>(text: &str) -> Result<T, ErrorResponse> {
    text.parse()
        .map_err(|error| ErrorResponse::from(ApiError::from(error)))
}

#[derive(Deserialize)]
pub(crate) struct ImportQuery {
    name: String,
    /// The character of an imported chat; absent for other files.
    character: Option<String>,
    /// The file belongs to a selection of several files, for which the client creates one report.
    #[serde(default)]
    of_many: bool,
}

/// `POST /api/import?name=&character=&of_many=`, with the file as the body.
pub(crate) async fn import(
    State(shared): State<SharedState>,
    Query(ImportQuery {
        name,
        character,
        of_many,
    }): Query<ImportQuery>,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let bytes = shared.bodies.read(&Holder::Owner, body, IMPORT_CAP).await?;
    let engine = &shared.engine;
    Ok(json(&match (character, of_many) {
        (Some(character), false) => {
            engine
                .import_chat_with(id(&character)?, name, bytes)
                .await?
        }
        (Some(character), true) => {
            engine
                .import_one_chat_of_many(id(&character)?, name, bytes)
                .await?
        }
        (None, false) => engine.import_bytes(name, bytes).await?,
        (None, true) => engine.import_one_of_many(name, bytes).await?,
    }))
}

/// `POST /api/tokenizer/{endpoint}`, with the `tokenizer.json` of the endpoint's model as the body.
pub(crate) async fn tokenizer(
    State(shared): State<SharedState>,
    Path(endpoint): Path<String>,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let bytes = shared.bodies.read(&Holder::Owner, body, IMPORT_CAP).await?;
    Ok(json(
        &shared
            .engine
            .set_endpoint_tokenizer(id(&endpoint)?, bytes)
            .await?,
    ))
}

/// `GET /api/export/{id}/{format}` with the format `png`, `json-v2`, `json-v3` or `charx`.
pub(crate) async fn export(
    State(shared): State<SharedState>,
    Path((id, form)): Path<(String, String)>,
) -> Result<Response, ErrorResponse> {
    let form = format::<CardFormat>(&form, "Use `png`, `json-v2`, `json-v3` or `charx`.")?;
    Ok(file(
        shared.engine.export_character(self::id(&id)?, form).await?,
    ))
}

/// `GET /api/export-chat/{id}/{format}?names=&thoughts=&times=&hidden=` with the format `jsonl`,
/// `html`, `text`, `markdown` or `group`. The options apply to the formats for people.
pub(crate) async fn export_chat(
    State(shared): State<SharedState>,
    Path((id, form)): Path<(String, String)>,
    Query(options): Query<ReadableOptions>,
) -> Result<Response, ErrorResponse> {
    let form =
        format::<ChatFileFormat>(&form, "Use `jsonl`, `html`, `text`, `markdown` or `group`.")?;
    Ok(file(
        shared
            .engine
            .export_chat_with(self::id(&id)?, form, options)
            .await?,
    ))
}

/// `GET /api/export-lorebook/{id}/{format}` with the format `native` or `v3`.
pub(crate) async fn export_lorebook(
    State(shared): State<SharedState>,
    Path((id, form)): Path<(String, String)>,
) -> Result<Response, ErrorResponse> {
    let form = format::<LorebookFormat>(&form, "Use `native` or `v3`.")?;
    Ok(file(
        shared.engine.export_lorebook(self::id(&id)?, form).await?,
    ))
}

/// `GET /api/export-prompt-file/{kind}/{id}`, `kind` being `regexScript`, `quickReplies` or
/// `template`.
pub(crate) async fn export_prompt_file(
    State(shared): State<SharedState>,
    Path((kind, id)): Path<(String, String)>,
) -> Result<Response, ErrorResponse> {
    let kind = format::<PromptFile>(&kind, "Use `regexScript`, `quickReplies` or `template`.")?;
    Ok(file(shared.engine.export_prompt_file(kind, id).await?))
}

/// `GET /api/export-memories/{character}`: all memories of a character as JSON.
pub(crate) async fn export_memories(
    State(shared): State<SharedState>,
    Path(character): Path<String>,
) -> Result<Response, ErrorResponse> {
    Ok(file(shared.engine.export_memories(id(&character)?).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChosenCharacters {
    characters: Vec<String>,
    format: CardFormat,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChosenChats {
    chats: Vec<String>,
    format: ChatFileFormat,
}

/// `POST /api/export-characters`: cards in a ZIP archive.
pub(crate) async fn export_characters(
    State(shared): State<SharedState>,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let bytes = shared.bodies.read(&Holder::Owner, body, LIST_CAP).await?;
    let chosen: ChosenCharacters = serde_json::from_slice(&bytes).map_err(|_| {
        let hint = "Send the ids as `characters` and one of `png`, `json-v2`, `json-v3` and `charx` as `format`.";
        ErrorResponse::new(StatusCode::BAD_REQUEST, "the list of characters is invalid", hint)
    })?;
    Ok(archive(
        shared,
        chosen.characters,
        ItemFormat::Card(chosen.format),
    ))
}

/// `POST /api/export-chats`: chats in a ZIP archive.
pub(crate) async fn export_chats(
    State(shared): State<SharedState>,
    body: Body,
) -> Result<Response, ErrorResponse> {
    let bytes = shared.bodies.read(&Holder::Owner, body, LIST_CAP).await?;
    let chosen: ChosenChats = serde_json::from_slice(&bytes).map_err(|_| {
        let hint = "Send the ids as `chats` and one of `jsonl`, `text` and `markdown` as `format`.";
        ErrorResponse::new(
            StatusCode::BAD_REQUEST,
            "the list of chats is invalid",
            hint,
        )
    })?;
    Ok(archive(
        shared,
        chosen.chats,
        ItemFormat::Chat(chosen.format),
    ))
}

/// Builds the archive while it is sent, so that its size is not limited by memory. A text file at
/// its end lists items that could not be exported.
fn archive(shared: SharedState, ids: Vec<String>, format: ItemFormat) -> Response {
    let job = ArchiveExport {
        shared,
        left: ids.into_iter(),
        format,
        zip: ZipStream::new(),
        failed: None,
    };
    let archive = stream::try_unfold(Some(job), |job| async move {
        match job {
            Some(job) => job.step().await.map(Some),
            None => Ok::<_, ZipError>(None),
        }
    });
    let headers = [
        (CONTENT_TYPE, header("application/zip")),
        attachment("Inglenook.zip"),
    ];
    (headers, Body::from_stream(archive)).into_response()
}

#[derive(Clone, Copy)]
enum ItemFormat {
    Card(CardFormat),
    Chat(ChatFileFormat),
}

/// An archive that is being built.
struct ArchiveExport {
    shared: SharedState,
    left: vec::IntoIter<String>,
    format: ItemFormat,
    zip: ZipStream,
    /// One line per item that could not be exported.
    failed: Option<String>,
}

impl ArchiveExport {
    async fn exported(&self, id: &str) -> Result<Exported, ApiError> {
        let engine = &self.shared.engine;
        match self.format {
            ItemFormat::Card(format) => engine.export_character(id.parse()?, format).await,
            ItemFormat::Chat(format) => engine.export_chat(id.parse()?, format).await,
        }
    }

    /// Returns the next bytes and the remaining job.
    async fn step(mut self) -> Result<(Vec<u8>, Option<Self>), ZipError> {
        if let Some(id) = self.left.next() {
            let exported = match self.exported(&id).await {
                Ok(exported) => exported,
                Err(error) => {
                    let failed = self.failed.get_or_insert_default();
                    failed.push_str(&format!("{id}: {error}\n"));
                    return Ok((Vec::new(), Some(self)));
                }
            };
            let bytes = self.zip.file(&exported.file_name, &exported.bytes)?;
            return Ok((bytes, Some(self)));
        }
        if let Some(failed) = self.failed.take() {
            let bytes = self.zip.file("not exported.txt", failed.as_bytes())?;
            return Ok((bytes, Some(self)));
        }
        Ok((self.zip.end()?, None))
    }
}

fn format<T: DeserializeOwned>(name: &str, hint: &str) -> Result<T, ErrorResponse> {
    serde_json::from_value(name.into()).map_err(|_| {
        ErrorResponse::new(StatusCode::BAD_REQUEST, "this format does not exist", hint)
    })
}

fn file(exported: Exported) -> Response {
    let headers = [
        (CONTENT_TYPE, header(exported.mime)),
        attachment(&exported.file_name),
    ];
    (headers, exported.bytes).into_response()
}

pub(crate) fn attachment(name: &str) -> (HeaderName, HeaderValue) {
    let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
    (
        CONTENT_DISPOSITION,
        header(&format!("attachment; filename*=UTF-8''{name}")),
    )
}

/// Converts `value` to a header. An invalid value becomes a content type that no browser displays.
pub(crate) fn header(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static("application/octet-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_file_names_in_headers() {
        let (_, value) = attachment("Mira \"the\" lamp\r\nSet-Cookie: a=b; 灯.png");
        let value = value.to_str().unwrap();
        assert!(value.starts_with("attachment; filename*=UTF-8''Mira%20%22the%22%20lamp%0D%0A"));
        assert!(value.ends_with("%2Epng"));
    }
}
