//! The APIs that this crate implements.

use domain::model::EndpointDialect;

use super::api::Api;
use super::config::EndpointConfig;
use crate::{anthropic, gemini, ollama, openai, text_completion};

impl EndpointConfig {
    pub(crate) fn api(&self) -> &'static dyn Api {
        of(self.kind())
    }
}

/// The implementation of an API.
pub(crate) fn of(dialect: EndpointDialect) -> &'static dyn Api {
    match dialect {
        EndpointDialect::OpenAi => &openai::OpenAi,
        EndpointDialect::Text => &text_completion::TextCompletion,
        EndpointDialect::Anthropic => &anthropic::Anthropic,
        EndpointDialect::Gemini => &gemini::Gemini,
        EndpointDialect::Ollama => &ollama::Ollama,
    }
}
