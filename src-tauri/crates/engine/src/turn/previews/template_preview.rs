//! Renders a template for a chat, as the template editor shows it.

use context::CountTokens as _;
use domain::ChatId;
use domain::prompt::Segment;

use crate::api::{RenderedSection, RenderedTemplate, Severity, TurnOptions};
use crate::base::error::ApiResult;
use crate::settings::counting::token_counter::Counter;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::frame::{self, FrameSection};
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::previews::Previews;

impl Previews {
    /// Fills in the template for a chat, regardless of the token budget.
    pub(crate) async fn render_template(
        &self,
        json: String,
        chat: ChatId,
    ) -> ApiResult<RenderedTemplate> {
        let problems = self.config().prompts.check_template(json.clone()).await?;
        if problems
            .iter()
            .any(|problem| problem.severity == Severity::Error)
        {
            return Ok(RenderedTemplate {
                problems,
                ..RenderedTemplate::default()
            });
        }
        let options = TurnOptions {
            template_json: Some(json),
            ..TurnOptions::default()
        };
        let chat = self.library().chat_lookup.chat(chat).await?;
        let model_handle = self
            .config()
            .model_handles
            .model_handle(&chat, &options)
            .await?;
        let turn = self
            .assembly
            .collect(chat, ReplyTo::Last, &model_handle, &options)
            .await?;
        let built = frame::build(&turn, &model_handle, self.base().clock(), self.base().now())?;
        let texts = built
            .sections
            .iter()
            .map(|section| section.text.clone())
            .collect();
        let tokens = self.count_texts(&model_handle, texts).await?;
        let rendered =
            |(FrameSection { name, text, .. }, tokens): (FrameSection, &u32)| RenderedSection {
                name,
                text,
                tokens: *tokens,
            };
        let sections: Vec<RenderedSection> = built
            .sections
            .into_iter()
            .zip(&tokens)
            .map(rendered)
            .collect();
        Ok(RenderedTemplate {
            text: sections
                .iter()
                .map(|section| section.text.as_str())
                .collect::<Vec<_>>()
                .join("\n\n"),
            tokens: tokens.iter().sum(),
            sections,
            problems,
        })
    }

    /// Token counts of texts as content.
    async fn count_texts(
        &self,
        model_handle: &ModelHandle,
        texts: Vec<String>,
    ) -> ApiResult<Vec<u32>> {
        let segments: Vec<Segment> = texts
            .into_iter()
            .map(|text| Segment {
                text,
                control: false,
            })
            .collect();
        let mut counter = Counter::new(&self.config().token_counts, model_handle);
        let unknown: Vec<Segment> = segments
            .iter()
            .filter(|segment| counter.count(segment).is_none())
            .cloned()
            .collect();
        if !unknown.is_empty() {
            counter.learn(unknown).await?;
        }
        Ok(segments
            .iter()
            .map(|segment| counter.count(segment).unwrap_or(0))
            .collect())
    }
}
