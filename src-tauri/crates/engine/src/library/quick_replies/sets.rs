//! The sets of quick replies that a chat shows, and the permission to run by themselves.

use domain::ChatId;
use domain::chat::Chat;
use domain::quick_reply::{self, QuickReplyAction};
use store::QuickReplyOwner;

use crate::api::{
    Changed, QuickReply, QuickReplyScope, QuickReplySet, QuickReplySetSummary, UnsupportedScript,
};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::library::quick_replies::QuickReplySets;
use crate::library::quick_replies::files::QuickReplies;

/// Prefix of rows in the settings table for sets that may run by themselves, before the id of the
/// set.
pub(crate) const ALLOWED: &str = "quick_replies_allowed:";

/// A set that a chat shows.
pub(crate) struct ActiveQuickReplies {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) set: quick_reply::QuickReplySet,
    /// Its replies may run by themselves.
    pub(crate) allowed: bool,
}

impl QuickReplySets {
    /// The buttons that a chat shows: sets of every chat first, then those of the character, then
    /// the chat's own.
    pub(crate) async fn quick_replies(&self, chat: ChatId) -> ApiResult<Vec<QuickReplySet>> {
        let chat = self.chat_lookup.chat(chat).await?;
        let shown = |active: ActiveQuickReplies| {
            let replies = active
                .set
                .replies
                .iter()
                .enumerate()
                .filter(|(_, reply)| !reply.is_hidden);
            let replies = replies.map(|(index, reply)| QuickReply {
                index: index as u32,
                label: reply.label.clone(),
                hint: reply.hint.clone(),
                unsupported: unsupported(reply),
            });
            QuickReplySet {
                replies: replies.collect(),
                id: active.id,
                name: active.name,
            }
        };
        Ok(self
            .active_quick_replies(&chat)
            .await?
            .into_iter()
            .map(shown)
            .collect())
    }

    /// All sets, and where they are shown.
    pub(crate) async fn quick_reply_sets(
        &self,
        chat: ChatId,
    ) -> ApiResult<Vec<QuickReplySetSummary>> {
        let chat = self.chat_lookup.chat(chat).await?;
        let sets = self.list_quick_replies().await?;
        let (bound, allowed) = self.quick_reply_bindings(&chat).await?;
        let has = |id: &str, owner| bound.iter().any(|(set, of)| set == id && *of == owner);
        let summary = |QuickReplies { id, name, set }| {
            let replies = quick_reply::QuickReplySet::read(&set)
                .map(|set| set.replies)
                .unwrap_or_default();
            QuickReplySetSummary {
                count: replies.len() as u32,
                unsupported: replies
                    .iter()
                    .filter(|reply| unsupported(reply).is_some())
                    .count() as u32,
                automatic: replies.iter().filter(|reply| reply.is_automatic()).count() as u32,
                allowed: allowed.contains(&id),
                everywhere: has(&id, QuickReplyOwner::Global),
                with_character: has(&id, QuickReplyOwner::Character(chat.character)),
                in_chat: has(&id, QuickReplyOwner::Chat(chat.id)),
                id,
                name,
            }
        };
        Ok(sets.into_iter().map(summary).collect())
    }

    /// Shows a set in a chat, with its character or everywhere, or no longer.
    pub(crate) async fn bind_quick_replies(
        &self,
        set: String,
        chat: ChatId,
        scope: QuickReplyScope,
        bound: bool,
    ) -> ApiResult<Vec<QuickReplySetSummary>> {
        let row = self.chat_lookup.chat(chat).await?;
        self.known_set(&set).await?;
        let owner = match scope {
            QuickReplyScope::Everywhere => QuickReplyOwner::Global,
            QuickReplyScope::Character => QuickReplyOwner::Character(row.character),
            QuickReplyScope::Chat => QuickReplyOwner::Chat(row.id),
        };
        self.base()
            .store()
            .write(move |store| store.quick_reply_bindings_mut().bind(&set, owner, bound))
            .await?;
        self.base().events().changed(Changed::Presets, None);
        self.quick_reply_sets(chat).await
    }

    /// Allows or forbids that the replies of a set run by themselves.
    pub(crate) async fn allow_quick_replies(&self, set: String, allowed: bool) -> ApiResult<()> {
        let known = self.known_set(&set).await?;
        let key = format!("{ALLOWED}{set}");
        // An id without a set would allow a set that is imported later.
        let write = self.base().store().write(move |store| {
            if allowed {
                store.settings_mut().set(&key, "true")
            } else {
                store.settings_mut().remove(&key)
            }
        });
        write.await?;
        self.base()
            .events()
            .changed(Changed::Presets, Some(known.id));
        Ok(())
    }

    /// The sets that a chat shows, each once.
    pub(crate) async fn active_quick_replies(
        &self,
        chat: &Chat,
    ) -> ApiResult<Vec<ActiveQuickReplies>> {
        let (bound, allowed) = self.quick_reply_bindings(chat).await?;
        if bound.is_empty() {
            return Ok(Vec::new());
        }
        let sets = self.list_quick_replies().await?;
        let mut active: Vec<ActiveQuickReplies> = Vec::new();
        for (id, _) in bound {
            let Some(found) = sets.iter().find(|set| set.id == id) else {
                continue;
            };
            let Some(set) = quick_reply::QuickReplySet::read(&found.set) else {
                continue;
            };
            if active.iter().all(|one| one.id != id) {
                active.push(ActiveQuickReplies {
                    allowed: allowed.contains(&id),
                    name: found.name.clone(),
                    id,
                    set,
                });
            }
        }
        Ok(active)
    }

    /// A set that the chat shows.
    pub(crate) async fn active_set(&self, chat: &Chat, set: &str) -> ApiResult<ActiveQuickReplies> {
        let active = self.active_quick_replies(chat).await?;
        let missing = || {
            bad_input(
                "This chat does not show these quick replies.",
                "Add them in the chat's settings.",
            )
        };
        active
            .into_iter()
            .find(|one| one.id == set)
            .ok_or_else(missing)
    }

    pub(crate) async fn known_set(&self, set: &str) -> ApiResult<QuickReplies> {
        let sets = self.list_quick_replies().await?;
        sets.into_iter()
            .find(|one| one.id == set)
            .ok_or_else(|| not_found("set of quick replies"))
    }

    /// The bindings that apply in a chat, and the ids of the sets that may run by themselves.
    async fn quick_reply_bindings(
        &self,
        chat: &Chat,
    ) -> ApiResult<(Vec<(String, QuickReplyOwner)>, Vec<String>)> {
        let character = chat.character;
        let chat = chat.id;
        let read = self.base().store().read(move |store| {
            let bound = store.quick_reply_bindings().of(character, chat)?;
            Ok((bound, store.settings().all()?))
        });
        let (bound, rows) = read.await?;
        Ok((
            bound,
            rows.keys()
                .filter_map(|key| key.strip_prefix(ALLOWED))
                .map(str::to_owned)
                .collect(),
        ))
    }
}

fn unsupported(reply: &quick_reply::QuickReply) -> Option<UnsupportedScript> {
    match reply.action() {
        QuickReplyAction::Unsupported(found) => Some(UnsupportedScript {
            line: found.line,
            text: found.text,
        }),
        _ => None,
    }
}
