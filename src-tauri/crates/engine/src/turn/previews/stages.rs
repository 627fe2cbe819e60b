//! The stages of a prompt as texts that can be compared: sources, filled in, after the budget,
//! sent.

use domain::{ChatId, SwipeId};

use crate::api::{PromptBlock, PromptReport, PromptStage, StageComparison, WhatIf};
use crate::base::error::{ApiResult, internal};
use crate::base::records::text_changes;
use crate::turn::previews::Previews;

impl Previews {
    pub(crate) async fn prompt_stage(
        &self,
        swipe: SwipeId,
        stage: PromptStage,
    ) -> ApiResult<StageComparison> {
        compared(self.recorded_words(swipe).await?, stage).await
    }

    pub(crate) async fn next_stage(
        &self,
        chat: ChatId,
        text: String,
        what_if: WhatIf,
        stage: PromptStage,
    ) -> ApiResult<StageComparison> {
        compared(self.preview_prompt(chat, text, what_if).await?, stage).await
    }
}

async fn compared(report: PromptReport, stage: PromptStage) -> ApiResult<StageComparison> {
    let compared = tokio::task::spawn_blocking(move || report.stage(stage));
    compared
        .await
        .map_err(|_| internal("two stages of a prompt could not be compared"))
}

impl PromptReport {
    /// The prompt at `stage`, compared with the stage before. It is computed from recorded data, so
    /// the stages of a turn never change.
    pub fn stage(&self, stage: PromptStage) -> StageComparison {
        let before = stage.before();
        let now = self.lines(stage);
        let before_that = before.map_or_else(|| now.clone(), |before| self.lines(before));
        StageComparison {
            stage,
            before,
            parts: text_changes::by_lines(&before_that, &now),
        }
    }

    fn lines(&self, stage: PromptStage) -> String {
        let blocks = self.blocks.iter();
        match stage {
            PromptStage::Sources => joined(blocks.map(PromptBlock::written)),
            PromptStage::Filled => joined(blocks.map(PromptBlock::own)),
            PromptStage::Budget => joined(blocks.filter(|block| block.kept).map(PromptBlock::own)),
            PromptStage::Sent => joined(self.segments.iter().map(|segment| segment.text.as_str())),
        }
    }
}

impl PromptStage {
    fn before(self) -> Option<Self> {
        match self {
            Self::Sources => None,
            Self::Filled => Some(Self::Sources),
            Self::Budget => Some(Self::Filled),
            Self::Sent => Some(Self::Budget),
        }
    }
}

impl PromptBlock {
    fn own(&self) -> &str {
        self.own_text.as_deref().unwrap_or(&self.text)
    }

    fn written(&self) -> &str {
        self.source_text.as_deref().unwrap_or_else(|| self.own())
    }
}

/// Puts each text on separate lines without line breaks at its ends, so that it is the same line in
/// every stage.
fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut joined = String::new();
    for text in texts
        .map(|text| text.trim_matches('\n'))
        .filter(|text| !text.is_empty())
    {
        joined.push_str(text);
        joined.push('\n');
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_same_line_in_every_stage() {
        assert_eq!(
            joined(["<|system|>\n", "rules", "\n\nlore\n\nmore", "", "\n"].into_iter()),
            "<|system|>\nrules\nlore\n\nmore\n"
        );
    }
}
