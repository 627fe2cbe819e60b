//! Imports the parts of a Backyard character other than its card: sampler settings and chats.

use domain::backyard::{self, BackyardSampling, Scenario};
use domain::card::{Card, MAX_FILE};
use store::Character;

use crate::api::{CardField, ImportReport, Imported, SettingOwner};
use crate::base::error::{ApiResult, internal};
use crate::import::chats::new_chat::NewChat;
use crate::import::files::FileImports;

/// Maximum total size of the messages imported from one file, in bytes.
const MAX_SAID: usize = MAX_FILE;

impl FileImports {
    /// Applies the card's sampler settings to the character, because it would reply differently
    /// without them. Returns the reason for each value that could not be set.
    pub(crate) async fn import_sampling(
        &self,
        character: &Character,
        card: &Card,
    ) -> ApiResult<Vec<String>> {
        let Some(sampling) = backyard::sampling(card) else {
            return Ok(Vec::new());
        };
        Ok(self
            .set_sampling(&SettingOwner::Character { id: character.id }, &sampling)
            .await)
    }

    /// Imports the chats in the file that `character` came from, except those that already exist.
    pub(crate) async fn import_scenarios(
        &self,
        file: &str,
        character: &Character,
        card: &Card,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let Some(source) = character.source else {
            return Ok(());
        };
        let bytes = self.library().assets.asset(source.to_string()).await?.bytes;
        let work = move || talked(&bytes);
        let (scenarios, left_out) = tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| internal("the chats could not be read"))?;
        let own = backyard::sampling(card);
        let title_of = |scenario: &Scenario| match scenario.title.as_str() {
            "" => character.name.clone(),
            title => title.to_owned(),
        };
        let known = self
            .base()
            .store()
            .read(|store| store.chats().list())
            .await?;
        let mut known: Vec<String> = known
            .into_iter()
            .filter(|chat| chat.character == character.id)
            .map(|chat| chat.title)
            .collect();
        for scenario in scenarios {
            // Use each known title only once, because two scenarios may share it.
            if let Some(at) = known.iter().position(|title| *title == title_of(&scenario)) {
                known.swap_remove(at);
                continue;
            }
            let (id, name, warnings) = self.import_scenario(character, card, own, scenario).await?;
            report.imported.push(Imported {
                kind: "chat".into(),
                id,
                name,
                file: file.to_owned(),
                warnings,
            });
        }
        if left_out > 0
            && let Some(last) = report.imported.last_mut()
        {
            last.warnings.push(format!(
                "{left_out} chats are left out: the file contains too much text"
            ));
        }
        Ok(())
    }

    async fn import_scenario(
        &self,
        character: &Character,
        card: &Card,
        own: Option<BackyardSampling>,
        scenario: Scenario,
    ) -> ApiResult<(String, String, Vec<String>)> {
        let title = if scenario.title.is_empty() {
            character.name.clone()
        } else {
            scenario.title.clone()
        };
        let texts = [
            (CardField::Scenario, scenario.scenario.clone()),
            (CardField::SystemPrompt, scenario.system_prompt.clone()),
            (CardField::MessageExamples, scenario.examples.clone()),
        ];
        let sampling = scenario.sampling;
        let user = self.library().personas.persona_of(None).await?.name;
        let chat = scenario.into_chat(card.display_name(), &user);
        let id = self
            .chat_imports
            .keep_chat(NewChat {
                title: title.clone(),
                ..NewChat::of(chat, character.id, None)
            })
            .await?;
        for (field, text) in texts {
            self.library()
                .characters
                .set_chat_text(id, field, Some(text))
                .await?;
        }
        let warnings = match own {
            Some(own) if own == sampling => Vec::new(),
            _ => {
                self.set_sampling(&SettingOwner::Chat { id }, &sampling)
                    .await
            }
        };
        Ok((id.to_string(), title, warnings))
    }

    async fn set_sampling(&self, owner: &SettingOwner, sampling: &BackyardSampling) -> Vec<String> {
        let mut refused = Vec::new();
        for (key, value) in sampling.values() {
            if let Err(error) = self
                .config()
                .setting_edits
                .set_setting_in_words(owner.clone(), key.to_owned(), value.to_string())
                .await
            {
                refused.push(format!("{key} {value} could not be set: {error}"));
            }
        }
        refused
    }
}

/// Scenarios with messages up to the size limit, and the number of scenarios beyond it.
fn talked(bytes: &[u8]) -> (Vec<Scenario>, usize) {
    let mut taken = Vec::new();
    let mut size = 0;
    let mut left_out = 0;
    for scenario in backyard::scenarios(bytes)
        .ok()
        .flatten()
        .into_iter()
        .flatten()
    {
        let versions = scenario.messages.iter().flat_map(|said| &said.versions);
        size += versions.map(|version| version.text.len()).sum::<usize>();
        if size > MAX_SAID {
            left_out += 1;
        } else {
            taken.push(scenario);
        }
    }
    (taken, left_out)
}
