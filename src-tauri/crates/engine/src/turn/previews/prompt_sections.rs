//! The sections of the prompt template, which a chat can leave out one by one.

use std::collections::BTreeSet;

use context::prompt_template::ResolvedTemplate;
use domain::ChatId;
use domain::chat::Chat;
use domain::settings::Values;

use crate::api::{PromptSection, PromptSections, SettingOwner, SettingValue, TurnOptions};
use crate::base::error::{ApiResult, bad_input};
use crate::turn::previews::Previews;

/// The setting with the names of the sections that are left out, one per line.
const SETTING: &str = "left_out_sections";

impl Previews {
    /// The sections of a chat's template in their order, and the size of the next prompt.
    pub(crate) async fn prompt_sections(&self, chat: ChatId) -> ApiResult<PromptSections> {
        let row = self.library().chat_lookup.chat(chat).await?;
        let (template, values) = self.template_of(&row).await?;
        let off = names(&values);
        let section = |(name, is_required): (&str, bool)| PromptSection {
            is_on: is_required || !off.contains(name),
            name: name.to_owned(),
            is_required,
        };
        let sections = template.outline().map(section).collect();
        // Without a model, nothing can be counted, but sections can be switched.
        let report = self
            .preview_with(chat, String::new(), TurnOptions::default())
            .await;
        Ok(PromptSections {
            template: template.name,
            sections,
            tokens: report.ok().map(|report| report.tokens.total),
        })
    }

    /// Includes a section of the template in the prompts of a chat, or leaves it out.
    pub(crate) async fn set_prompt_section(
        &self,
        chat: ChatId,
        name: String,
        on: bool,
    ) -> ApiResult<PromptSections> {
        let row = self.library().chat_lookup.chat(chat).await?;
        let (template, values) = self.template_of(&row).await?;
        if !template
            .outline()
            .any(|(known, required)| known == name && (on || !required))
        {
            let why = format!("The template has no section \"{name}\" that can be left out.");
            return Err(bad_input(why, "Choose another section."));
        }
        let mut off = names(&values);
        if on {
            off.remove(name.as_str())
        } else {
            off.insert(&name)
        };
        let value = off.into_iter().collect::<Vec<_>>().join("\n");
        let owner = SettingOwner::Chat { id: chat };
        self.config()
            .setting_edits
            .set_setting(owner, SETTING.to_owned(), Some(SettingValue::Text(value)))
            .await?;
        self.prompt_sections(chat).await
    }

    async fn template_of(&self, chat: &Chat) -> ApiResult<(ResolvedTemplate, Values)> {
        let values = self
            .config()
            .setting_layers
            .resolved(chat, None, None)
            .await?
            .values;
        let group = self.library().groups.group(chat).await?;
        let (template, _) = self
            .inputs
            .whole_template(&TurnOptions::default(), &values, &group)
            .await?;
        Ok((template, values))
    }
}

/// The names of the sections that are left out.
pub(crate) fn names(values: &Values) -> BTreeSet<&str> {
    values
        .left_out_sections
        .lines()
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect()
}
