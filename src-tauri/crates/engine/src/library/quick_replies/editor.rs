//! Creates, changes and deletes sets of quick replies.

use context::prompt_template::slug;
use domain::quick_reply::MAX_REPLIES;
use domain::quick_reply_edit::{self, FormRow, MAX_MESSAGE};
use serde_json::Value;

use crate::api::{Changed, DraftKind, QuickReplyForm, QuickReplyRow};
use crate::base::error::{ApiResult, bad_input};
use crate::library::quick_replies::QuickReplySets;
use crate::library::quick_replies::files::{MAX_NAME, MOST, QuickReplies, ROW, free_id};
use crate::library::quick_replies::sets::ALLOWED;

impl QuickReplySets {
    /// A set as the editor shows it.
    pub(crate) async fn quick_reply_form(&self, set: String) -> ApiResult<QuickReplyForm> {
        let QuickReplies { id, name, set } = self.known_set(&set).await?;
        let replies = quick_reply_edit::rows(&set)
            .into_iter()
            .map(shown)
            .collect();
        Ok(QuickReplyForm {
            id: Some(id),
            name,
            replies,
        })
    }

    /// Stores a new or a changed set, and returns its id.
    ///
    /// # Errors
    /// The set no longer exists, or a text is missing or too long.
    pub(crate) async fn save_quick_replies(&self, form: QuickReplyForm) -> ApiResult<String> {
        let name = form.name.trim().to_owned();
        check(&name, &form.replies)?;
        let known = self.list_quick_replies().await?;
        let (id, file) = match form.id {
            Some(id) => (id.clone(), self.known_set(&id).await?.set),
            None if known.len() >= MOST => {
                return Err(bad_input("There are too many sets.", "Delete one first."));
            }
            None => (free_id(&known, &slug(&name)), Value::Null),
        };
        let rows: Vec<FormRow> = form.replies.into_iter().map(written).collect();
        let json = quick_reply_edit::write(file, &name, &rows).to_string();
        let row = format!("{ROW}{id}");
        self.base()
            .store()
            .write(move |store| store.settings_mut().set(&row, &json))
            .await?;
        self.base()
            .events()
            .changed(Changed::Presets, Some(id.clone()));
        Ok(id)
    }

    /// Deletes a set. Its buttons leave all chats.
    pub(crate) async fn delete_quick_replies(&self, set: String) -> ApiResult<()> {
        let id = self.known_set(&set).await?.id;
        let write = self.base().store().write(move |store| {
            store.quick_reply_bindings_mut().forget(&set)?;
            store
                .drafts_mut()
                .forget(&DraftKind::QuickReplies.name(), "", &set)?;
            store.settings_mut().remove(&format!("{ALLOWED}{set}"))?;
            store.settings_mut().remove(&format!("{ROW}{set}"))
        });
        write.await?;
        self.base().events().changed(Changed::Presets, Some(id));
        Ok(())
    }
}

fn check(name: &str, replies: &[QuickReplyRow]) -> ApiResult<()> {
    if name.is_empty() || name.chars().count() > MAX_NAME {
        return Err(bad_input(
            "The set needs a name.",
            format!("Enter at most {MAX_NAME} characters."),
        ));
    }
    if replies.len() > MAX_REPLIES {
        return Err(bad_input(
            "The set has too many quick replies.",
            format!("It may have {MAX_REPLIES}."),
        ));
    }
    for (number, reply) in (1..).zip(replies) {
        if reply.label.trim().is_empty() && reply.message.trim().is_empty() {
            return Err(bad_input(
                format!("Quick reply {number} is empty."),
                "Enter its text, or remove it.",
            ));
        }
        let longest = [&reply.label, &reply.title, &reply.message].map(|text| text.chars().count());
        if longest.into_iter().any(|length| length > MAX_MESSAGE) {
            return Err(bad_input(
                format!("Quick reply {number} is too long."),
                format!("It may have {MAX_MESSAGE} characters."),
            ));
        }
    }
    Ok(())
}

fn shown(row: FormRow) -> QuickReplyRow {
    let FormRow {
        from,
        label,
        title,
        message,
        is_hidden,
    } = row;
    QuickReplyRow {
        from: from.and_then(|at| u32::try_from(at).ok()),
        label,
        title,
        message,
        hidden: is_hidden,
    }
}

fn written(row: QuickReplyRow) -> FormRow {
    let QuickReplyRow {
        from,
        label,
        title,
        message,
        hidden,
    } = row;
    FormRow {
        from: from.map(|at| at as usize),
        label,
        title,
        message,
        is_hidden: hidden,
    }
}
