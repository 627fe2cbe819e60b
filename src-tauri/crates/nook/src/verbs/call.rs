//! Calls an operation of the engine by its name.

use std::path::Path;

use engine::Engine;

use crate::failure::CommandError;
use crate::output::Output;
use crate::verbs::keys::secret;

/// Prints the result as JSON, with or without `--json`. A reply that the operation starts is
/// finished first.
pub(super) async fn call(
    engine: &Engine,
    operation: &str,
    arguments: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    let arguments = match arguments.as_deref() {
        Some("-") => secret(Path::new("-"))?,
        Some(json) => json.to_owned(),
        None => String::new(),
    };
    let result = engine::contained(engine.call(operation, arguments.as_bytes())).await?;
    engine.settle().await;
    out.json_text(&result)
}
