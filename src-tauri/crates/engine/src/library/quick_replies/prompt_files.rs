//! Exports regex scripts, quick replies and prompt templates as files that import again.

use serde_json::Value;

use crate::api::PromptFile;
use crate::base::error::{ApiResult, internal, not_found};
use crate::library::characters::cards::{Exported, file_name};
use crate::library::quick_replies::QuickReplySets;

impl QuickReplySets {
    /// Exports a regex script or quick replies as SillyTavern's own file, or a template as a file
    /// of this app.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn export_prompt_file(
        &self,
        kind: PromptFile,
        id: String,
    ) -> ApiResult<Exported> {
        let (name, text) = match kind {
            PromptFile::RegexScript => {
                let all = self.scripts.list_regex_scripts().await?;
                let row = all
                    .into_iter()
                    .find(|row| row.id == id)
                    .ok_or_else(|| not_found("regex script"))?;
                (row.name, pretty(&row.json)?)
            }
            PromptFile::QuickReplies => {
                let all = self.list_quick_replies().await?;
                let found = all
                    .into_iter()
                    .find(|one| one.id == id)
                    .ok_or_else(|| not_found("set of quick replies"))?;
                (found.name, format!("{:#}", found.set))
            }
            PromptFile::Template => {
                let document = self.config().prompts.get_template(id).await?;
                (document.summary.name, document.json)
            }
        };
        let bytes = text.into_bytes();
        Ok(Exported {
            file_name: file_name(&name, "json"),
            mime: "application/json",
            bytes,
            warnings: Vec::new(),
        })
    }
}

fn pretty(json: &str) -> ApiResult<String> {
    let value: Value = serde_json::from_str(json).map_err(|error| internal(&error.to_string()))?;
    Ok(format!("{value:#}"))
}
