//! Chat templates of local models: the file's own, one that ships, the user's own, or a guess.

use std::sync::Arc;

use context::{ChatTemplate, TemplateError, chat_template};
use local::gguf::{GgufHeader, Vocabulary};

use crate::api::ApiError;
use crate::base::error::{ApiResult, bad_input};
use crate::settings::prompts::chat_formats::OwnFormat;

/// A chat template with the facts that were probed once. `uncounted` is the number of prompt tokens
/// outside all segments.
#[derive(Clone)]
pub(crate) struct KnownTemplate {
    pub(crate) template: Arc<ChatTemplate>,
    pub(crate) uncounted: u32,
    /// Number of parameters of the model.
    pub(crate) parameters: u64,
    /// Notice for the user if the format is a guess.
    pub(crate) note: Option<String>,
}

impl KnownTemplate {
    /// Puts a notice before its own one.
    pub(crate) fn noting(self, notice: Option<String>) -> Self {
        let notes: Vec<String> = notice.into_iter().chain(self.note).collect();
        Self {
            note: (!notes.is_empty()).then(|| notes.join(" ")),
            ..self
        }
    }
}

/// The notice for the user if the chosen format no longer exists. `is_own` says that it is one of
/// the user's.
pub(crate) fn missing(chosen: &str, is_own: bool) -> Option<String> {
    let exists = is_own || chosen == "auto" || chat_template::format(chosen).is_some();
    (!exists).then(|| {
        format!("The chat format \"{chosen}\" no longer exists, so the model's own format is used.")
    })
}

/// Parses the chat template of a model with this `header`. The date is a placeholder: each prompt
/// sets that of its epoch.
pub(crate) fn parse(
    header: &GgufHeader,
    vocabulary: Option<&Vocabulary>,
    chosen: &str,
    own: Option<OwnFormat>,
) -> ApiResult<ChatTemplate> {
    let bos = header.bos.as_deref().unwrap_or_default();
    let eos = header.eos.as_deref().unwrap_or_default();
    let date = jiff::civil::DateTime::default();
    if let Some(template) = selected(chosen, own, bos, eos)? {
        return Ok(template);
    }
    if let Some(source) = &header.chat_template {
        return Ok(ChatTemplate::parse(source, bos, eos, date)?);
    }
    match guessed(header, vocabulary) {
        Some(format) => Ok(format.template(bos, eos, date)?),
        None => Ok(ChatTemplate::chatml()),
    }
}

/// The format that the settings select; `None` for `auto`.
fn selected(
    chosen: &str,
    own: Option<OwnFormat>,
    bos: &str,
    eos: &str,
) -> ApiResult<Option<ChatTemplate>> {
    let date = jiff::civil::DateTime::default();
    if let Some(OwnFormat { jinja, stop, .. }) = own {
        let template = ChatTemplate::parse(&jinja, bos, eos, date)
            .map_err(|error| faulty_format(&error, chosen))?;
        return Ok(Some(template.with_stops(stop.iter().map(String::as_str))));
    }
    if chosen == "auto" {
        return Ok(None);
    }
    let format = chat_template::format(chosen).ok_or_else(|| {
        let names: Vec<_> = chat_template::formats()
            .iter()
            .map(|format| format.name.as_str())
            .collect();
        bad_input(
            format!("There is no chat format \"{chosen}\"."),
            format!("Choose one of: {}.", names.join(", ")),
        )
    })?;
    Ok(Some(format.template(bos, eos, date)?))
}

/// The chat template of a model of which only the name is known, and a notice if it is a guess. The
/// server adds the begin token itself.
pub(crate) fn of_name(
    model: &str,
    chosen: &str,
    own: Option<OwnFormat>,
) -> ApiResult<(ChatTemplate, Option<String>)> {
    let guessed = chat_template::guess("", model, &|_| false);
    if let Some(template) = selected(chosen, own, "", end_token(chosen))? {
        return Ok((template, None));
    }
    let title = guessed.map_or("ChatML", |format| &format.title);
    let note = format!(
        "The endpoint takes plain text, so the format \"{title}\" is assumed by the model's name. If replies look wrong, \
         choose another chat format in Settings."
    );
    let template = match guessed {
        Some(format) => format.template(
            "",
            end_token(&format.name),
            jiff::civil::DateTime::default(),
        )?,
        None => ChatTemplate::chatml(),
    };
    Ok((template, Some(note)))
}

/// The end token of the models with a built-in format, as far as the format writes it.
fn end_token(format: &str) -> &'static str {
    match format {
        "deepseek" => "<｜end▁of▁sentence｜>",
        _ => "</s>",
    }
}

pub(crate) fn guessed(
    header: &GgufHeader,
    vocabulary: Option<&Vocabulary>,
) -> Option<&'static chat_template::Format> {
    let name = header.name.as_deref().unwrap_or_default();
    let has = |token: &str| {
        vocabulary.is_some_and(|words| words.tokens.iter().any(|known| &**known == token))
    };
    chat_template::guess(&header.architecture, name, &has)
}

/// Notice about a model file without a chat template.
pub(crate) fn guess_note(header: &GgufHeader, vocabulary: Option<&Vocabulary>) -> String {
    let format = guessed(header, vocabulary).map_or("ChatML", |format| &format.title);
    format!(
        "The model file has no chat template, so the format \"{format}\" is assumed. If replies look wrong, choose another \
         chat format in Settings."
    )
}

/// Error for a fault in the chat format that the settings select.
pub(crate) fn faulty_format(error: &TemplateError, chosen: &str) -> ApiError {
    let message = format!("The chat format \"{chosen}\": {error}.");
    bad_input(
        message,
        "Correct the format, or choose another one in Settings.",
    )
}
