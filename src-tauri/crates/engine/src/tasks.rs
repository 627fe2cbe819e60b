//! What a job beside the chat asks the model: one more message behind the chat's own prompt (S4.16). Head and window are the
//! chat's, byte for byte, so that a model which has read the chat reads no more than the task.

use context::frame::{Frame, HistoryMessage, Place, Source, unlike};
use domain::chat::Role;
use domain::{MessageId, Timestamp};
use uuid::Uuid;

use crate::Engine;
use crate::answer::Answerer;
use crate::api::Ask;
use crate::collect::Collected;
use crate::error::{Answer, bad_input};
use crate::frame::{self, Built, Section};

/// A task in the words of this turn.
pub(crate) struct Task {
    ask: Ask,
    source: Source,
    text: String,
    /// As its template has it.
    written: String,
    /// Tokens of the answer at the most, where the template has it.
    pub(crate) reply_tokens: Option<u32>,
    pub(crate) notices: Vec<String>,
}

impl Task {
    /// Puts the task behind the chat. A title needs nothing but what was said; who goes on, or speaks for the user, is to
    /// know what they would know in a turn.
    pub(crate) fn put(&self, frame: &mut Frame, at: Timestamp) {
        frame.clock = None;
        if self.ask == Ask::Title {
            frame.context.clear();
            frame.placed.retain(|placed| placed.constant && !matches!(placed.place, Place::Depth(_)));
        }
        let (task, written) = (Some(self.source.clone()), unlike(&self.written, &self.text));
        let said = HistoryMessage::new(MessageId(Uuid::nil()), Role::User, "", self.text.clone(), at);
        frame.history.push(HistoryMessage { task, written, ..said });
    }
}

impl Engine {
    /// The task that `ask` is for this model; `None` where a reply goes on without a word.
    ///
    /// # Errors
    /// `BadInput` if the template says nothing, or names what there is not.
    pub(crate) async fn task(&self, ask: Ask, collected: &Collected, answerer: &Answerer) -> Answer<Option<Task>> {
        if ask == Ask::Continue && !self.asks_to_continue(answerer) {
            return Ok(None);
        }
        let values = &collected.values;
        let (chosen, built_in) = match ask {
            Ask::Continue => (&values.continue_prompt, "continue"),
            Ask::Impersonate => (&values.impersonate_prompt, "impersonate"),
            Ask::Title => (&values.title_prompt, "title"),
        };
        let (template, notice) = self.template_or(chosen, built_in).await?;
        let Built { sections, mut notices, .. } =
            frame::task(collected, answerer, self.clock(), &template, self.now())?;
        let Some(first) = sections.first() else {
            let message = format!("The template \"{}\" asks for nothing.", template.name);
            return Err(bad_input(message, "Write its task, or reset it."));
        };
        notices.extend(notice);
        let source = Source::Template { template: template.id.clone(), section: first.name.clone() };
        let text = |of: fn(&Section) -> &str| sections.iter().map(of).collect::<Vec<_>>().join("\n\n");
        let (written, text) = (text(|section| &section.written), text(|section| &section.text));
        // A reply that goes on may be as long as any other.
        let reply_tokens = template.defaults.reply_tokens.filter(|_| ask != Ask::Continue);
        Ok(Some(Task { ask, source, text, written, reply_tokens, notices }))
    }

    /// Whether an unfinished reply is gone on with because the model is told to, and not because it finds its own words at
    /// the end. Local models always find them; of endpoints it is known once one has refused.
    pub(crate) fn asks_to_continue(&self, answerer: &Answerer) -> bool {
        use domain::settings::ContinueBy;
        match answerer.values.continue_by {
            ContinueBy::Auto => answerer.template.is_none() && self.without_prefill().contains(&answerer.key),
            ContinueBy::Prefill => false,
            ContinueBy::Asking => true,
        }
    }
}
