//! SillyTavern's sets of quick replies: buttons that send a text or run its scripts. The sets are
//! stored unchanged, so that they can be exported.

use context::prompt_template::slug;
use domain::quick_reply::{QuickReplyAction, QuickReplySet, replies};
use serde_json::{Map, Value};

use crate::api::{Changed, ImportReport, Imported, Skipped};
use crate::base::error::ApiResult;
use crate::library::quick_replies::QuickReplySets;

/// Prefix of rows in the settings table, before the id of the set.
pub(crate) const ROW: &str = "quick_replies:";
/// Maximum length of a name, in characters.
pub(crate) const MAX_NAME: usize = 200;
/// Maximum number of sets.
pub(crate) const MOST: usize = 500;

/// A set as it was imported.
#[derive(Debug, Clone, PartialEq)]
pub struct QuickReplies {
    pub id: String,
    pub name: String,
    /// The whole file.
    pub set: Value,
}

impl QuickReplySets {
    /// Lists the sets in the order of their ids.
    pub(crate) async fn list_quick_replies(&self) -> ApiResult<Vec<QuickReplies>> {
        let rows = self
            .base()
            .store()
            .read(|store| store.settings().all())
            .await?;
        let read = |(row, json): (&String, &String)| {
            let set: Value = serde_json::from_str(json).ok()?;
            let id = row.strip_prefix(ROW)?.to_owned();
            Some(QuickReplies {
                name: name_of(set.as_object()?).unwrap_or(&id).to_owned(),
                id,
                set,
            })
        };
        Ok(rows.iter().filter_map(read).collect())
    }

    /// Imports a set of quick replies. Returns `false` if the file is none. Skips a set that
    /// already exists.
    pub(crate) async fn import_quick_replies(
        &self,
        file: &str,
        set: &Value,
        report: &mut ImportReport,
    ) -> ApiResult<bool> {
        let Some(read) = QuickReplySet::read(set) else {
            return Ok(false);
        };
        let Some(set) = set.as_object().cloned() else {
            return Ok(false);
        };
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let name: String = name_of(&set)
            .unwrap_or(stem)
            .chars()
            .take(MAX_NAME)
            .collect();
        let count = replies(&set).map_or(0, Vec::len);
        let set = Value::Object(set);
        let known = self.list_quick_replies().await?;
        if known.len() >= MOST || known.iter().any(|one| one.set == set) {
            let reason = if known.len() >= MOST {
                "there are too many quick replies already"
            } else {
                "it was imported before"
            };
            report.skipped.push(Skipped {
                id: String::new(),
                file: file.to_owned(),
                reason: reason.to_owned(),
            });
            return Ok(true);
        }
        let id = free_id(&known, &slug(&name));
        let row = format!("{ROW}{id}");
        let json = set.to_string();
        self.base()
            .store()
            .write(move |store| store.settings_mut().set(&row, &json))
            .await?;
        self.base()
            .events()
            .changed(Changed::Presets, Some(id.clone()));
        let warnings = warnings(count, &read);
        report.imported.push(Imported {
            kind: "quickReplies".into(),
            id,
            name,
            file: file.to_owned(),
            warnings,
        });
        Ok(true)
    }
}

/// Returns the id, with a number if a set has it already.
pub(crate) fn free_id(known: &[QuickReplies], id: &str) -> String {
    let mut ids =
        std::iter::once(id.to_owned()).chain((2..).map(|number: u32| format!("{id}-{number}")));
    ids.find(|id| known.iter().all(|one| one.id != *id))
        .unwrap_or_default()
}

fn name_of(set: &Map<String, Value>) -> Option<&str> {
    set.get("name")?
        .as_str()
        .map(str::trim)
        .filter(|name| !name.is_empty())
}

/// The report's line on a set that no chat shows yet.
pub(crate) const NOT_SHOWN: &str =
    "the buttons are shown where you add them in the settings of a chat";

/// How to show the buttons, and how many of them cannot run.
fn warnings(count: usize, set: &QuickReplySet) -> Vec<String> {
    let mut warnings = vec![NOT_SHOWN.to_owned()];
    let unsupported = set
        .replies
        .iter()
        .filter(|reply| matches!(reply.action(), QuickReplyAction::Unsupported(_)));
    match unsupported.count() {
        0 => {}
        some => warnings.push(format!(
            "{some} of {count} quick replies use scripts that are not supported"
        )),
    }
    warnings
}
