//! The instruction of a job, such as a title: one more message after the chat's own prompt. Head
//! and window equal the chat's byte for byte, so a model that has read the chat reads only the
//! instruction.

use context::frame::{Frame, HistoryMessage, InsertionPoint, Source, differing_source_text};
use domain::chat::Role;
use domain::{MessageId, Timestamp};
use uuid::Uuid;

use crate::api::Ask;
use crate::base::error::{ApiResult, bad_input};
use crate::library::snapshots::macro_scope::MacroMoment;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::Assembly;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::frame::{self, Built, FrameSection};

/// An instruction with its variables and macros expanded.
pub(crate) struct PromptTask {
    /// The job needs only the messages.
    bare: bool,
    source: Source,
    text: String,
    /// The text in its template.
    written: String,
    /// Maximum length of the reply in tokens, if the template sets one.
    pub(crate) reply_tokens: Option<u32>,
    pub(crate) notices: Vec<String>,
}

impl PromptTask {
    /// Appends the instruction to the chat. A title needs only the messages. A continuation or a
    /// draft for the user needs the same context as a normal turn.
    pub(crate) fn put(&self, frame: &mut Frame, at: Timestamp) {
        frame.clock = None;
        if self.bare {
            frame.context.clear();
            frame.placed.retain(|placed| {
                placed.constant && !matches!(placed.place, InsertionPoint::Depth(_))
            });
        }
        let task = Some(self.source.clone());
        let written = differing_source_text(&self.written, &self.text);
        let said = HistoryMessage::new(
            MessageId(Uuid::nil()),
            Role::User,
            "",
            self.text.clone(),
            at,
        );
        frame.history.push(HistoryMessage {
            task,
            written,
            ..said
        });
    }
}

impl Assembly {
    /// The instruction of `ask` for this model; `None` if the model continues a reply without one.
    ///
    /// # Errors
    /// `BadInput` if the template is empty or names something unknown.
    pub(crate) async fn task(
        &self,
        ask: Ask,
        turn: &ActivatedTurn,
        model_handle: &ModelHandle,
    ) -> ApiResult<Option<PromptTask>> {
        if ask == Ask::Continue && !self.asks_to_continue(model_handle) {
            return Ok(None);
        }
        let values = &turn.inputs.values;
        let (chosen, built_in) = match ask {
            Ask::Continue => (&values.continue_prompt, "continue"),
            Ask::Impersonate => (&values.impersonate_prompt, "impersonate"),
            Ask::Title => (&values.title_prompt, "title"),
        };
        let (template, notice) = self.config().prompts.template_or(chosen, built_in).await?;
        let Built {
            sections,
            mut notices,
            ..
        } = frame::task(
            turn,
            model_handle,
            self.base().clock(),
            &template,
            self.base().now(),
        )?;
        let Some(first) = sections.first() else {
            let message = format!("The template \"{}\" has no instruction.", template.name);
            return Err(bad_input(message, "Write one, or reset the template."));
        };
        notices.extend(notice);
        let source = Source::Template {
            template: template.id.clone(),
            section: first.name.clone(),
        };
        let text = |of: fn(&FrameSection) -> &str| {
            sections.iter().map(of).collect::<Vec<_>>().join("\n\n")
        };
        let written = text(|section| &section.written);
        let text = text(|section| &section.text);
        // A continuation may be as long as any other reply.
        let reply_tokens = template
            .defaults
            .reply_tokens
            .filter(|_| ask != Ask::Continue);
        Ok(Some(PromptTask {
            bare: ask == Ask::Title,
            source,
            text,
            written,
            reply_tokens,
            notices,
        }))
    }

    /// The instruction of a hint, for one version of a reply.
    pub(crate) fn hint(
        &self,
        hint: &str,
        turn: &ActivatedTurn,
        model_handle: &ModelHandle,
    ) -> PromptTask {
        let moment = MacroMoment {
            model: model_handle.facts(),
            ..turn.inputs.now(self.base().clock())
        };
        let text = turn
            .inputs
            .speaker_names()
            .expand(hint, &moment, &mut turn.lore.variables.clone())
            .text;
        let written = hint.to_owned();
        PromptTask {
            bare: false,
            source: Source::Hint,
            text,
            written,
            reply_tokens: None,
            notices: Vec::new(),
        }
    }

    /// Whether an unfinished reply is continued with an instruction, instead of from its own text.
    /// Local models always continue from the text. An endpoint does until it has refused once.
    pub(crate) fn asks_to_continue(&self, model_handle: &ModelHandle) -> bool {
        use domain::settings::ContinueBy;
        match model_handle.values.continue_by {
            ContinueBy::Auto => {
                model_handle.template.is_none()
                    && self.without_prefill().contains(&model_handle.key)
            }
            ContinueBy::Prefill => false,
            ContinueBy::Asking => true,
        }
    }
}
