//! Data for the X-ray page: past turns, and how a prompt differs from the one before.

use domain::chat::WindowState;
use domain::{ChatId, MessageId, SwipeId};

use crate::api::{
    self, Change, Changed, ChangedText, MeasuredPrompt, PastTurn, PromptComparison, PromptReport,
    WhatIf,
};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, not_found, prompt_not_kept};
use crate::base::records::text_changes;
use crate::library::chats::chat::first_words;
use crate::library::chats::manifest::{self, Recorded, WORDS_GONE};
use crate::turn::previews::Previews;

/// Maximum number of turns per call.
const MAX_TURNS: u32 = 200;
/// Maximum length of a reply in the list, in characters.
const LINE: usize = 120;

impl Previews {
    pub(crate) async fn manifest(&self, swipe: SwipeId) -> ApiResult<PromptReport> {
        if let Some(report) = self.client_reports().get(&swipe.to_string()) {
            return Ok(report);
        }
        let mut report = self.recorded(swipe).await?.report;
        report.tokens.measured = self.measured(swipe).await?;
        Ok(report)
    }

    /// Token figures that the model reported for the prompt of `swipe`, the same as under the
    /// reply.
    async fn measured(&self, swipe: SwipeId) -> ApiResult<Option<MeasuredPrompt>> {
        let figures = self
            .base()
            .store()
            .read(move |store| store.manifests().figures(&[swipe]))
            .await?;
        let figures = figures.get(&swipe).and_then(|json| manifest::figures(json));
        Ok(figures.and_then(|figures| {
            Some(MeasuredPrompt {
                tokens: figures.prompt?,
                reused: figures.reused?,
            })
        }))
    }

    async fn recorded(&self, swipe: SwipeId) -> ApiResult<Recorded> {
        if let Some(kept) = self.library().chats.kept_manifest(swipe).await? {
            return Ok(kept);
        }
        let json = self
            .base()
            .store()
            .read(move |store| store.manifests().get(swipe))
            .await?;
        Err(match json.as_deref() {
            Some("") => prompt_not_kept("The prompt of this reply"),
            _ => not_found("record of the prompt"),
        })
    }

    /// Works like [`Self::recorded`], but fails if the texts were removed.
    pub(crate) async fn recorded_words(&self, swipe: SwipeId) -> ApiResult<PromptReport> {
        if let Some(report) = self.client_reports().get(&swipe.to_string()) {
            return Ok(report);
        }
        let kept = self.recorded(swipe).await?;
        if kept.bare {
            return Err(api::ApiError::NotFound {
                message: WORDS_GONE.to_owned(),
            });
        }
        Ok(kept.report)
    }

    pub(crate) async fn past_turns(
        &self,
        chat: ChatId,
        before: Option<MessageId>,
        limit: u32,
    ) -> ApiResult<Vec<PastTurn>> {
        let turns = self
            .base()
            .store()
            .read(move |store| {
                let before = before
                    .map(|id| store.messages().get(id))
                    .transpose()?
                    .flatten();
                let before = before.map_or(i64::MAX, |message| message.position);
                store
                    .manifests()
                    .past(chat, before, limit.clamp(1, MAX_TURNS))
            })
            .await?;
        let turn = |turn: store::StoredManifest| PastTurn {
            message: turn.message,
            swipe: turn.swipe,
            line: domain::plain::plain_line(&first_words(turn.text), LINE),
            created: rfc3339(turn.created),
            model: turn.model,
            figures: manifest::figures(&turn.figures).unwrap_or_default(),
        };
        Ok(turns.into_iter().map(turn).collect())
    }

    pub(crate) async fn compare_prompt(&self, id: SwipeId) -> ApiResult<PromptComparison> {
        let now = self.recorded_words(id).await?;
        let (previous, lacks_prompts) = self
            .base()
            .store()
            .read(move |store| {
                let manifests = store.manifests();
                Ok((manifests.before(id)?, manifests.lacks_prompts_before(id)?))
            })
            .await?;
        let Some(previous) = previous else {
            return first_or_lost(now, lacks_prompts);
        };
        match self.library().chats.kept_manifest(previous.swipe).await? {
            Some(kept) if !kept.bare => compared(kept.swipe, kept.report, now).await,
            _ => Ok(first(now)),
        }
    }

    pub(crate) async fn compare_next(
        &self,
        chat: ChatId,
        text: String,
    ) -> ApiResult<PromptComparison> {
        let before = self.library().chats.turn_before(chat, None).await?;
        let now = self.preview_prompt(chat, text, WhatIf::default()).await?;
        match before {
            Some((kept, _)) if !kept.bare => compared(kept.swipe, kept.report, now).await,
            Some(_) => Ok(first(now)),
            None => first_or_lost(now, self.library().chats.lacks_prompts(chat).await?),
        }
    }

    pub(crate) async fn pin_message(&self, id: MessageId, pinned: bool) -> ApiResult<api::Message> {
        self.base()
            .store()
            .write(move |store| store.messages_mut().set_pinned(id, pinned))
            .await?;
        let shown = self.library().chats.shown_message(id).await?;
        self.base().events().changed(Changed::Messages, None);
        Ok(shown)
    }

    /// Starts the window again after the last message. Nothing is deleted.
    pub(crate) async fn new_scene(&self, id: ChatId) -> ApiResult<()> {
        let _reservation = self.base().running().begin(id)?;
        self.base()
            .store()
            .write(move |store| {
                let Some(last) = store.messages().last(id)? else {
                    return Ok(());
                };
                let Some(chat) = store.chats().get(id)? else {
                    return Ok(());
                };
                store.chats_mut().set_scene(id, last.position)?;
                store.groups_mut().end_windows(id)?;
                let window = WindowState {
                    epoch: chat.window.epoch,
                    ..WindowState::default()
                };
                store.chats_mut().set_window(id, &window)
            })
            .await?;
        self.base()
            .events()
            .changed(Changed::Messages, Some(id.to_string()));
        Ok(())
    }
}

/// The comparison of a prompt before which none is stored.
///
/// # Errors
/// `PromptNotKept` if earlier ones were sent.
fn first_or_lost(prompt: PromptReport, lacks_prompts: bool) -> ApiResult<PromptComparison> {
    if lacks_prompts {
        Err(prompt_not_kept("The prompt before this one"))
    } else {
        Ok(first(prompt))
    }
}

/// Comparison for the first prompt of a chat.
fn first(prompt: PromptReport) -> PromptComparison {
    PromptComparison {
        previous: None,
        parts: vec![changed(Change::Added, prompt.text)],
    }
}

async fn compared(
    previous: SwipeId,
    before: PromptReport,
    now: PromptReport,
) -> ApiResult<PromptComparison> {
    let parts =
        tokio::task::spawn_blocking(move || text_changes::by_lines(&before.text, &now.text));
    let parts = parts
        .await
        .map_err(|_| crate::base::error::internal("two prompts could not be compared"))?;
    Ok(PromptComparison {
        previous: Some(previous.to_string()),
        parts,
    })
}

fn changed(change: Change, text: String) -> ChangedText {
    ChangedText { change, text }
}
