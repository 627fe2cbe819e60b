//! JSON Schemas for local models, whose grammars cannot express every pattern.

use context::json_pattern::{PatternError, check_patterns, with_patterns_for_llama};
use domain::sampling::TokenRules;
use serde_json::Value;

use crate::api::client::{ClientError, ClientOptions};
use crate::base::error::{ApiResult, bad_input};
use crate::settings::model_handles::handle::ModelHandle;

/// Rewrites the patterns of the reply's schema for a local model. An endpoint reads them itself.
///
/// # Errors
/// `BadInput` for a pattern that no grammar can express.
pub(crate) fn adapt(model_handle: &ModelHandle, rules: &mut TokenRules) -> ApiResult<()> {
    if let Some(schema) = rules
        .json_schema
        .as_mut()
        .filter(|_| model_handle.is_local())
    {
        *schema = with_patterns_for_llama(schema).map_err(|error| {
            bad_input(
                format!("In the JSON schema of the reply, {error}."),
                "Write the pattern in a simpler way.",
            )
        })?;
    }
    Ok(())
}

/// The field of a request with a pattern that a local model cannot follow, and the reason.
pub(crate) fn unsupported(options: &ClientOptions) -> Option<ClientError> {
    let refused = |param: &str, error: PatternError| ClientError::Field {
        param: param.to_owned(),
        message: format!(
            "In the JSON Schema of `{param}`, {error}. Local models follow patterns without look-around."
        ),
    };
    let format = options
        .json_schema
        .as_deref()
        .and_then(|schema| serde_json::from_str::<Value>(schema).ok());
    if let Some(Err(error)) = format.as_ref().map(check_patterns) {
        return Some(refused("response_format", error));
    }
    let mut tools = options.tools.iter();
    tools
        .find_map(|tool| check_patterns(&tool.parameters).err())
        .map(|error| refused("tools", error))
}
