//! Shows what recall includes and why, for a trial text and for the last turn. Both are taken from
//! a prompt report, so they show exactly what a turn does.

use std::collections::HashMap;

use context::frame::{BlockKind, Share};
use domain::chat::Message;
use domain::memory::Memory;
use domain::{ChatId, MemoryId, MessageId};
use recall::question;
use store::{ReadTransaction, StoreError};

use crate::api::{self, Origin, PromptBlock, PromptReport, Recollected, Recollection, TurnOptions};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input};
use crate::library::memories::memory::shown;
use crate::turn::previews::Previews;

/// The kinds of blocks that recall makes.
const FOUND: [BlockKind; 9] = [
    BlockKind::Relationship,
    BlockKind::Fact,
    BlockKind::LastSession,
    BlockKind::Memory,
    BlockKind::Keyframe,
    BlockKind::Pinned,
    BlockKind::Excerpt,
    BlockKind::Document,
    BlockKind::Lore,
];

/// Notice of a trial whose text asks for nothing.
const NOT_ASKED: &str =
    "Memory: earlier messages were not searched, because this text asks nothing.";

/// Notice for a turn whose prompt is not stored.
const NOT_KEPT: &str =
    "The prompt of the last turn was not kept, so it is unknown what was recalled for it.";

/// The memories and messages that the blocks were made from.
#[derive(Default)]
struct Made {
    memories: HashMap<String, Memory>,
    messages: HashMap<String, Message>,
}

impl Previews {
    /// Shows what a turn with these words would recall in a chat, best first. Nothing is sent or
    /// stored.
    ///
    /// # Errors
    /// `BadInput` without words; `NoModel` without a model, because then the token budget is
    /// unknown.
    pub(crate) async fn try_recall(&self, chat: ChatId, words: String) -> ApiResult<Recollection> {
        if words.trim().is_empty() {
            return Err(bad_input(
                "There is nothing to try.",
                "Write what you would say.",
            ));
        }
        let looked_at = self.library().chat_lookup.chat(chat).await?;
        let told = !question::asks(&words)
            && self
                .config()
                .setting_layers
                .resolved(&looked_at, None, None)
                .await?
                .values
                .memory;
        let mut found = self
            .recollection(
                self.preview_with(chat, words, TurnOptions::default())
                    .await?,
            )
            .await?;
        found.notices.extend(told.then(|| NOT_ASKED.to_owned()));
        Ok(found)
    }

    /// Shows what the newest reply of a chat was written with; empty if no reply has a manifest.
    pub(crate) async fn recalled(&self, chat: ChatId) -> ApiResult<Recollection> {
        match self.library().chats.turn_before(chat, None).await? {
            Some((kept, _)) => self.recollection(kept.report).await,
            None if self.library().chats.lacks_prompts(chat).await? => Ok(Recollection {
                notices: vec![NOT_KEPT.to_owned()],
                ..Recollection::default()
            }),
            None => Ok(Recollection::default()),
        }
    }

    async fn recollection(&self, report: PromptReport) -> ApiResult<Recollection> {
        let budget = report.shares.retrieval_budget;
        let found = found(report.blocks);
        let origins: Vec<Origin> = found.iter().map(|block| block.origin.clone()).collect();
        let made = self
            .base()
            .store()
            .read(move |store| made_of(store, &origins))
            .await?;
        let items: Vec<Recollected> = found
            .into_iter()
            .map(|block| recollected(block, &made))
            .collect();
        let tokens = items
            .iter()
            .filter(|item| item.kept)
            .map(|item| item.tokens)
            .sum();
        Ok(Recollection {
            items,
            tokens,
            budget,
            notices: report.notices,
        })
    }
}

/// The blocks that recall made: included ones first, then best first. A thing that is a candidate
/// in two places is listed once.
fn found(blocks: Vec<PromptBlock>) -> Vec<PromptBlock> {
    let mut found: Vec<PromptBlock> = blocks.into_iter().filter(was_found).collect();
    for block in found
        .iter_mut()
        .filter(|block| block.kind == BlockKind::Lore.as_str())
    {
        // The score of lore is its rank among entries, so its similarity is shown instead.
        block.score = block.signals.first().map(|signal| signal.value);
    }
    found.sort_by(|a, b| {
        b.kept
            .cmp(&a.kept)
            .then(b.score.unwrap_or(0.0).total_cmp(&a.score.unwrap_or(0.0)))
    });
    let mut once: Vec<PromptBlock> = Vec::with_capacity(found.len());
    for block in found {
        match once.iter_mut().find(|known| known.key == block.key) {
            Some(known) if known.signals.is_empty() && !block.signals.is_empty() => {
                // It is in the prompt anyway, and this turn matches it as well.
                known.reason = format!("{}; {}", known.reason, block.reason);
                known.reasons.extend(block.reasons);
                (known.signals, known.score) = (block.signals, block.score);
            }
            Some(_) => {}
            None => once.push(block),
        }
    }
    once
}

/// Lore that a key triggered was not recalled; lore that was found by meaning was.
fn was_found(block: &PromptBlock) -> bool {
    let kind = FOUND.iter().find(|kind| kind.as_str() == block.kind);
    let of_lore = |kind: &BlockKind| kind.share() == Some(Share::Lore);
    block.score.is_some() && kind.is_some_and(|kind| !of_lore(kind) || !block.signals.is_empty())
}

fn made_of(store: &ReadTransaction<'_>, origins: &[Origin]) -> Result<Made, StoreError> {
    let mut made = Made::default();
    for origin in origins {
        match origin {
            Origin::Memory { id } => {
                if let Ok(known) = id.parse::<MemoryId>()
                    && let Some(memory) = store.memories().get(known)?
                {
                    made.memories.insert(id.clone(), memory);
                }
            }
            Origin::Message { id } => {
                if let Ok(known) = id.parse::<MessageId>()
                    && let Some(message) = store.messages().get(known)?
                {
                    made.messages.insert(id.clone(), message);
                }
            }
            _ => {}
        }
    }
    Ok(made)
}

fn recollected(block: PromptBlock, made: &Made) -> Recollected {
    let id = match &block.origin {
        Origin::Memory { id } | Origin::Message { id } | Origin::Document { id, .. } => id,
        Origin::Lore { entry, .. } => entry,
        _ => &block.key,
    };
    let bare = Recollected {
        id: id.clone(),
        kind: block.kind,
        text: block.own_text.unwrap_or(block.text),
        importance: None,
        scope: None,
        sources: Vec::new(),
        chat: None,
        created: None,
        source: block.source,
        origin: block.origin,
        reason: block.reason,
        reasons: block.reasons,
        score: block.score,
        signals: block.signals,
        tokens: block.tokens,
        kept: block.kept,
        dropped_reason: block.dropped_reason,
        dropped_code: block.dropped_code,
    };
    if let Some(memory) = made.memories.get(&bare.id) {
        let api::Memory {
            kind,
            importance,
            scope,
            sources,
            created,
            ..
        } = shown(memory.clone(), None);
        return Recollected {
            kind,
            importance: Some(importance),
            scope: Some(scope),
            sources: sources.iter().map(ToString::to_string).collect(),
            created: Some(created),
            ..bare
        };
    }
    match made.messages.get(&bare.id) {
        Some(message) => Recollected {
            kind: "message".to_owned(),
            sources: vec![bare.id.clone()],
            chat: Some(message.chat),
            created: Some(rfc3339(message.created)),
            ..bare
        },
        None => bare,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Signal, SignalKind, Zone};

    fn block(kind: &str, key: &str, score: Option<f32>, kept: bool) -> PromptBlock {
        PromptBlock {
            id: key.to_owned(),
            zone: Zone::Input,
            priority: None,
            kind: kind.to_owned(),
            source: String::new(),
            label: None,
            origin: Origin::Clock,
            key: key.to_owned(),
            reason: String::new(),
            reasons: Vec::new(),
            role: String::new(),
            turn: None,
            segment: None,
            score,
            signals: Vec::new(),
            tokens: 1,
            kept,
            dropped_reason: None,
            dropped_code: None,
            reused: false,
            text: String::new(),
            own_text: None,
            source_text: None,
            known_to: None,
        }
    }

    #[test]
    fn lists_included_results_first_and_once() {
        let near = Signal {
            of: SignalKind::Nearness,
            value: 0.6,
        };
        let called = PromptBlock {
            signals: vec![near],
            reason: "called".into(),
            ..block("fact", "b", Some(7.0), false)
        };
        let found = found(vec![
            block("rules", "a", None, true),
            block("fact", "b", Some(0.4), true),
            block("excerpt", "c", Some(0.9), false),
            block("excerpt", "d", Some(0.8), true),
            called,
            block("message", "e", None, true),
            block("lore", "f", Some(100.0), true),
            PromptBlock {
                signals: vec![near],
                ..block("lore", "g", Some(0.1), true)
            },
        ]);
        let keys: Vec<&str> = found.iter().map(|block| block.key.as_str()).collect();
        assert_eq!(keys, ["d", "g", "b", "c"]);
        assert_eq!(found[1].score, Some(0.6), "lore shows its similarity");
        let standing = &found[2];
        assert_eq!(
            (
                standing.kept,
                standing.reason.as_str(),
                standing.signals.len()
            ),
            (true, "; called", 1)
        );
    }
}
