//! Runs a background job on a model. The prompt holds a task and some messages of the chat, and
//! nothing else; so the result depends on these messages only and is deleted with them.
//!
//! The job has a KV sequence of its own. The chat's sequence is set aside and survives; the job's
//! is dropped when it ends.

use std::sync::Arc;

use context::frame::{Frame, HistoryMessage, Source};
use context::macros::MacroState;
use context::prompt_template::{Given, TemplateFlags, TemplateVariables, compose};
use context::{AssembleError, Budget, Setup, assemble};
use domain::card::Card;
use domain::chat::{Chat, Role, WindowState};
use domain::memory::MemoryScope;
use domain::persona::Persona;
use domain::prompt::Prompt;
use domain::sampling::SamplerOptions;
use domain::settings::MemoryLearning;
use domain::{ChatId, MessageId};
use futures_util::StreamExt;
use provider::{FinishReason, GenerationEvent, Request, ResponseSchema};
use store::{ReadTransaction, SourceText};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::api::{ModelRef, TurnOptions};
use crate::base::error::{ApiResult, bad_input};
use crate::base::records::convert::Speakers;
use crate::learn::handle::Learning;
use crate::library::chats::chat::said;
use crate::library::snapshots::macro_scope::{MacroMoment, MacroNames};
use crate::recall_service::recall::pair;
use crate::settings::counting::token_counter::Counter;
use crate::settings::model_handles::handle::ModelHandle;

/// Characters of each message in the prompt. The smaller limits are tried if the prompt does not
/// fit.
const LETTERS: [usize; 3] = [600, 300, 150];
/// Tokens of the answer if the template sets no limit.
const REPLY: u32 = 400;
/// Temperature of the second try: at 0 the answer would be the same again.
const RETRY_TEMPERATURE: f32 = 0.4;

/// The chat to learn from, its participants, and the model that learns.
pub(crate) struct Learner {
    pub(crate) chat: Chat,
    pub(crate) card: Arc<Card>,
    pub(crate) persona: Persona,
    pub(crate) speakers: Speakers,
    pub(crate) model_handle: ModelHandle,
    /// The user chose this model for learning (setting `memory_model`).
    chosen: bool,
    /// The chat is or was a group chat.
    pub(crate) is_scene: bool,
}

impl Learner {
    /// Whether the settings allow a call of the model.
    pub(crate) fn asks(&self) -> bool {
        match self.model_handle.values.memory_learn {
            MemoryLearning::Auto => self.model_handle.is_local() || self.chosen,
            MemoryLearning::On => true,
            MemoryLearning::Off => false,
        }
    }

    /// Whether the model extracts facts. A tiny model states wrong ones, so it does so only if the
    /// user chose it for learning or allowed any model.
    pub(crate) fn may_extract_facts(&self) -> bool {
        !self.model_handle.tiny
            || self.chosen
            || self.model_handle.values.memory_learn == MemoryLearning::On
    }

    /// The scope of what is learned here. In a group chat it is the chat, because other characters
    /// listen and not all of them were always there.
    pub(crate) fn scope(&self) -> MemoryScope {
        if self.is_scene {
            MemoryScope::Chat(self.chat.id)
        } else {
            pair(&self.chat, self.persona.id)
        }
    }

    pub(crate) fn name_of(&self, told: &SourceText) -> &str {
        self.speakers.of(told.message, told.role)
    }

    /// The names of the persona and the character.
    pub(crate) fn names(&self) -> [&str; 3] {
        [
            &self.persona.name,
            self.card.name(),
            self.card.display_name(),
        ]
    }

    /// The messages, one paragraph each, cut to `letters` characters.
    fn transcript(&self, told: &[SourceText], letters: usize) -> String {
        let line = |text: &SourceText| {
            let words = said(text.role, text.text.clone());
            let start: String = words.chars().take(letters).collect();
            let cut = if start.len() < words.len() { "…" } else { "" };
            format!("{}: {}{cut}", self.name_of(text), start.trim())
        };
        told.iter().map(line).collect::<Vec<_>>().join("\n\n")
    }
}

/// The task that a job gives to a model.
pub(crate) struct JobTask<'a> {
    /// Id of the utility template.
    pub(crate) template: &'static str,
    /// Maximum words of a summary.
    pub(crate) words: u32,
    pub(crate) told: &'a [SourceText],
    pub(crate) shape: &'a ResponseSchema,
}

/// The outcome of a job.
pub(crate) enum JobOutcome<T> {
    Said(T),
    /// The answer was unreadable twice, or the messages are too long for the model.
    Nothing,
    /// Cancelled, because a user waits for a reply.
    Interrupted,
}

/// Drops the job's KV sequence, however the job ends.
struct DropsCache<'e> {
    learning: &'e Learning,
    key: String,
}

impl Drop for DropsCache<'_> {
    fn drop(&mut self) {
        self.learning.config().local().forget(&self.key);
    }
}

impl Learning {
    pub(crate) async fn learner(&self, id: ChatId, options: &TurnOptions) -> ApiResult<Learner> {
        let chat = self.library().chat_lookup.chat(id).await?;
        let model_handle = self
            .config()
            .model_handles
            .model_handle(&chat, options)
            .await?;
        let own = self.named_model(&model_handle.values.memory_model).await?;
        let chosen = own.is_some();
        let model_handle = match own {
            Some(model) => {
                let options = TurnOptions {
                    model: Some(model),
                    context: None,
                    ..options.clone()
                };
                self.config()
                    .model_handles
                    .model_handle(&chat, &options)
                    .await?
            }
            None => model_handle,
        };
        let (card, persona, speakers) = tokio::try_join!(
            self.library().characters.chat_card(&chat),
            self.library().personas.persona_in(&chat),
            self.library().groups.speakers(&chat)
        )?;
        let is_scene =
            self.base().store().read(move |store| {
                Ok(!store.groups().members(id)?.is_empty()
                    || !store.groups().absentees(id)?.is_empty())
            });
        let is_scene = is_scene.await?;
        Ok(Learner {
            chat,
            card: card.card,
            persona,
            speakers,
            model_handle,
            chosen,
            is_scene,
        })
    }

    /// The model or endpoint with that id, if it exists.
    async fn named_model(&self, id: &str) -> ApiResult<Option<ModelRef>> {
        if id == "auto" {
            return Ok(None);
        }
        let (Ok(local), Ok(remote)) = (id.parse(), id.parse()) else {
            return Ok(None);
        };
        let known = move |store: &ReadTransaction<'_>| {
            Ok((
                store.models().get(local)?.is_some(),
                store.endpoint_models().resolve(remote)?.is_some(),
            ))
        };
        Ok(match self.base().store().read(known).await? {
            (true, _) => Some(ModelRef::Local { id: local }),
            (false, true) => Some(ModelRef::Remote { id: id.to_owned() }),
            (false, false) => None,
        })
    }

    /// Asks up to twice, until `read` accepts the answer.
    pub(crate) async fn ask<T>(
        &self,
        learner: &Learner,
        task: &JobTask<'_>,
        read: impl Fn(&str) -> Option<T>,
        leave: &CancellationToken,
    ) -> ApiResult<JobOutcome<T>> {
        let Some((prompt, most)) = self.task_beside(learner, task).await? else {
            return Ok(JobOutcome::Nothing);
        };
        let forgets = DropsCache {
            learning: self,
            key: format!("{} learning", learner.chat.id),
        };
        for temperature in [0.0, RETRY_TEMPERATURE] {
            let sampling = SamplerOptions {
                temperature: Some(temperature),
                repeat_penalty: Some(1.0),
                max_tokens: Some(most),
                ..SamplerOptions::default()
            };
            let request = Request {
                cache_key: forgets.key.clone(),
                background: true,
                prompt: prompt.clone(),
                sampling: sampling.resolve(1),
                response_schema: Some(task.shape.clone()),
            };
            let Some(answer) = listen(learner, request, leave).await? else {
                return Ok(JobOutcome::Interrupted);
            };
            if let Some(read) = json(&answer).and_then(&read) {
                return Ok(JobOutcome::Said(read));
            }
            tracing::info!(
                task = task.template,
                "a model's answer to a background task could not be read"
            );
        }
        Ok(JobOutcome::Nothing)
    }

    /// The prompt and the token limit of its answer; `None` if the messages do not fit even at the
    /// smallest limit.
    async fn task_beside(
        &self,
        learner: &Learner,
        task: &JobTask<'_>,
    ) -> ApiResult<Option<(Prompt, u32)>> {
        for letters in LETTERS {
            let (frame, reply) = self.frame_beside(learner, task, letters).await?;
            if let Some(prompt) = self.fitting(learner, &frame, reply).await? {
                return Ok(Some((prompt, reply)));
            }
        }
        Ok(None)
    }

    async fn frame_beside(
        &self,
        learner: &Learner,
        task: &JobTask<'_>,
        letters: usize,
    ) -> ApiResult<(Frame, u32)> {
        let (template, _) = self
            .config()
            .prompts
            .template_or("auto", task.template)
            .await?;
        let given = Given::default()
            .text("character.name", learner.card.display_name())
            .text("persona.name", &learner.persona.name)
            .text("summary.words", task.words.to_string())
            // Macros were resolved when the message was written, so none may run here.
            .text(
                "transcript",
                learner.transcript(task.told, letters).replace("{{", "{ {"),
            );
        let wrong = |error: String| {
            bad_input(
                format!("The template \"{}\": {error}.", template.name),
                "Correct it.",
            )
        };
        let variables =
            TemplateVariables::resolve(given).map_err(|error| wrong(error.to_string()))?;
        let composed = compose(&template, &variables, &TemplateFlags::of(&variables, &[]))
            .map_err(|error| wrong(error.to_string()))?;
        let words = MacroNames::new(&learner.card, &learner.persona, learner.chat.id);
        let mut state = MacroState::default();
        let sections = composed.sections.iter();
        let texts = sections.map(|section| {
            words
                .expand(&section.text, &MacroMoment::default(), &mut state)
                .text
        });
        let text = texts.collect::<Vec<_>>().join("\n\n");
        let source = Source::Template {
            template: template.id.clone(),
            section: String::new(),
        };
        let asked = HistoryMessage::new(
            MessageId(Uuid::nil()),
            Role::User,
            "",
            text,
            self.base().now(),
        );
        let frame = Frame {
            history: vec![HistoryMessage {
                task: Some(source),
                ..asked
            }],
            ..Frame::default()
        };
        Ok((frame, template.defaults.reply_tokens.unwrap_or(REPLY)))
    }

    async fn fitting(
        &self,
        learner: &Learner,
        frame: &Frame,
        reply: u32,
    ) -> ApiResult<Option<Prompt>> {
        let model_handle = &learner.model_handle;
        let template = model_handle
            .template
            .as_ref()
            .map(|template| template.at(self.base().clock().civil(self.base().now())));
        let budget = Budget {
            reserve: reply.min(model_handle.budget.limit / 2),
            ..model_handle.budget
        };
        let setup = Setup::new(template.as_ref(), &model_handle.key, budget);
        let state = WindowState::default();
        let mut counter = Counter::new(&self.config().token_counts, model_handle);
        loop {
            match assemble(frame, &setup, &state, &counter) {
                Ok(assembled) => {
                    counter.finish();
                    return Ok(Some(assembled.prompt));
                }
                Err(AssembleError::Uncounted(segments)) => counter.learn(segments).await?,
                Err(AssembleError::Overflow(_)) => return Ok(None),
                Err(AssembleError::Template(error)) => return Err(error.into()),
            }
        }
    }
}

/// The whole answer; `None` if it was cancelled.
async fn listen(
    learner: &Learner,
    request: Request,
    leave: &CancellationToken,
) -> ApiResult<Option<String>> {
    let mut stream = learner.model_handle.provider.stream(request, leave.clone());
    let mut answer = String::new();
    while let Some(event) = stream.next().await {
        match event? {
            GenerationEvent::Text(text) => answer.push_str(&text),
            GenerationEvent::Finished {
                reason: FinishReason::Cancelled,
                ..
            } => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(answer))
}

/// The JSON in an answer. Endpoints without grammar support wrap it in prose, thoughts and code
/// fences.
fn json(answer: &str) -> Option<&str> {
    let begin = answer
        .rfind("</think>")
        .map_or(0, |at| at + "</think>".len());
    let answer = &answer[begin..];
    let first = answer.find(['{', '['])?;
    let last = answer.rfind(['}', ']'])?;
    answer.get(first..=last)
}

#[cfg(test)]
mod tests {
    use super::json;

    #[test]
    fn finds_json_in_surrounding_prose() {
        for (answer, found) in [
            ("[]", Some("[]")),
            ("Sure!\n```json\n{\"a\": [1]}\n```", Some("{\"a\": [1]}")),
            (
                "<think>[hm]</think> [{\"a\": 1}] That is all.",
                Some("[{\"a\": 1}]"),
            ),
            ("Nothing here.", None),
            ("] [", None),
            ("", None),
        ] {
            assert_eq!(json(answer), found, "{answer}");
        }
    }
}
