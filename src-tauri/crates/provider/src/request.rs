//! One generation request.

use std::borrow::Cow;

use domain::prompt::Prompt;
use domain::sampling::Sampling;

/// One generation request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Cache to continue: the chat's id. Requests with the same key share a prefix.
    pub cache_key: String,
    /// A helper job, which must not evict the chat from the cache of a local model.
    pub background: bool,
    pub prompt: Prompt,
    pub sampling: Sampling,
    /// Required form of the reply; `None` for free text.
    pub response_schema: Option<ResponseSchema>,
}

impl Request {
    /// The schema of the request, else that of the user.
    pub(crate) fn schema(&self) -> Option<Cow<'_, serde_json::Value>> {
        match (&self.response_schema, &self.sampling.rules.json_schema) {
            (Some(shape), _) => Some(Cow::Borrowed(&shape.schema)),
            (None, Some(schema)) => serde_json::from_str(schema).ok().map(Cow::Owned),
            (None, None) => None,
        }
    }
}

/// Form of a machine-readable reply. Local models apply the grammar, endpoints the schema if they
/// support it. An endpoint may ignore it, so the caller must validate the reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseSchema {
    /// GBNF, with a rule `root`.
    pub grammar: String,
    /// JSON Schema of an object.
    pub schema: serde_json::Value,
}
