//! Probes: what a prompt contains from memory.

use std::time::Instant;

use context::frame::BlockKind;
use domain::{ChatId, MemoryId};
use serde::{Deserialize, Serialize};

use super::stage::Stage;
use super::step::Probe;
use crate::api::{Origin, PromptBlock, SettingOwner, WhatIf, Zone};
use crate::base::error::ApiResult;

/// The kinds of blocks that are memory: everything that was said or learned earlier and is included
/// again.
const OF_MEMORY: [BlockKind; 7] = [
    BlockKind::Relationship,
    BlockKind::Fact,
    BlockKind::LastSession,
    BlockKind::Memory,
    BlockKind::Keyframe,
    BlockKind::Pinned,
    BlockKind::Excerpt,
];

/// The answer to a probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    pub id: String,
    pub pair: String,
    pub chat: String,
    /// The memory section of the prompt, one item per line.
    pub memory: String,
    /// In the order of the prompt.
    pub items: Vec<Item>,
    /// Tokens of all items.
    pub memory_tokens: u32,
    /// Tokens of the whole prompt.
    pub tokens: u32,
    /// Context size of the model, with the reply.
    pub limit: u32,
    /// Number of the chat's messages that are in the window, verbatim.
    pub window: usize,
    pub milliseconds: f64,
    /// The whole prompt, if the probe asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// An item of the memory section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    pub kind: String,
    /// The scenario's names of its source messages.
    pub sources: Vec<String>,
    pub tokens: u32,
    pub text: String,
}

impl Stage {
    pub(super) async fn probe(&mut self, probe: Probe) -> ApiResult<Probed> {
        let Probe {
            id,
            pair,
            chat,
            text,
            budget,
            whole,
        } = probe;
        let of = self.chat(&pair, &chat).await?;
        self.allow(of, budget).await?;
        let started = Instant::now();
        let report = self
            .engine
            .preview_prompt(of, text, WhatIf::default())
            .await?;
        let milliseconds = started.elapsed().as_secs_f64() * 1_000.0;
        let kept = || report.blocks.iter().filter(|block| block.kept);
        let mut items = Vec::new();
        for block in kept().filter(|block| OF_MEMORY.iter().any(|kind| kind.as_str() == block.kind))
        {
            items.push(self.item(block).await?);
        }
        let window = kept().filter(|block| {
            block.zone == Zone::Window && block.kind == BlockKind::Message.as_str()
        });
        Ok(Probed {
            id,
            pair,
            chat,
            memory: items
                .iter()
                .map(|item| item.text.as_str())
                .collect::<Vec<_>>()
                .join("\n"),
            memory_tokens: items.iter().map(|item| item.tokens).sum(),
            items,
            tokens: report.tokens.total,
            limit: report.tokens.limit,
            window: window.count(),
            milliseconds,
            prompt: whole.then_some(report.text),
        })
    }

    async fn allow(&mut self, chat: ChatId, budget: Option<u32>) -> ApiResult<()> {
        if self.known.budgets.insert(chat, budget).unwrap_or_default() == budget {
            return Ok(());
        }
        let owner = SettingOwner::Chat { id: chat };
        let words = budget.map(|tokens| tokens.to_string());
        let words = words.unwrap_or_else(|| "auto".to_owned());
        self.engine
            .set_setting_in_words(owner, "retrieval_cap".to_owned(), words)
            .await
            .map(|_| ())
    }

    async fn item(&self, block: &PromptBlock) -> ApiResult<Item> {
        let messages = match &block.origin {
            Origin::Message { id } => vec![id.clone()],
            Origin::Memory { id } => {
                let id = id.parse::<MemoryId>()?;
                let memory = self
                    .engine
                    .base
                    .store()
                    .read(move |store| store.memories().get(id))
                    .await?;
                memory.map_or_else(Vec::new, |memory| {
                    memory.sources.iter().map(ToString::to_string).collect()
                })
            }
            _ => Vec::new(),
        };
        Ok(Item {
            kind: block.kind.clone(),
            sources: messages.iter().map(|id| self.known.name_of(id)).collect(),
            tokens: block.tokens,
            text: block.text.clone(),
        })
    }
}
