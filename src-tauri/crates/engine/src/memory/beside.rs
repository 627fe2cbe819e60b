//! What a job asks a model apart from its chat: a task with a part of what was said, and nothing else. So its answer is made of
//! these messages and of no others, and is gone with them (memory.md, group G).
//!
//! The chat's own KV cache is put aside for the job and is not lost; what the job read is forgotten when it ends.

use std::sync::Arc;

use context::frame::{Frame, HistoryMessage, Source};
use context::macros::MacroState;
use context::prompt_template::{Flags, Given, Variables, compose};
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
use provider::{FinishReason, GenerationEvent, Request, Shape};
use store::{Read, Told};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::pair;
use crate::Engine;
use crate::answer::Answerer;
use crate::api::ModelRef;
use crate::convert::Speakers;
use crate::counting::Counter;
use crate::error::{Answer, bad_input};
use crate::history::said;
use crate::turn::TurnOptions;
use crate::words::{Moment, Words};

/// Letters of each message that a model is shown, and what is tried where they do not fit.
const LETTERS: [usize; 3] = [600, 300, 150];
/// Tokens of an answer where the template does not say.
const REPLY: u32 = 400;
/// Of a second try: the same words would fail again.
const WARMER: f32 = 0.4;

/// Who learns, and of whom.
pub(super) struct Learner {
    pub(super) chat: Chat,
    pub(super) card: Arc<Card>,
    pub(super) persona: Persona,
    pub(super) speakers: Speakers,
    pub(super) answerer: Answerer,
    /// Somebody has said that it is this model that learns.
    chosen: bool,
    /// Others listen.
    pub(super) is_scene: bool,
}

impl Learner {
    /// A model may be asked.
    pub(super) fn asks(&self) -> bool {
        match self.answerer.values.memory_learn {
            MemoryLearning::Auto => self.answerer.template.is_some() || self.chosen,
            MemoryLearning::On => true,
            MemoryLearning::Off => false,
        }
    }

    /// Where what is learned here counts. In a scene others listen, and not all of them have always been there.
    pub(super) fn scope(&self) -> MemoryScope {
        if self.is_scene { MemoryScope::Chat(self.chat.id) } else { pair(&self.chat, self.persona.id) }
    }

    pub(super) fn name_of(&self, told: &Told) -> &str {
        self.speakers.of(told.message, told.role)
    }

    /// Who takes part.
    pub(super) fn names(&self) -> [&str; 3] {
        [&self.persona.name, self.card.name(), self.card.spoken_name()]
    }

    /// What was said, a paragraph each.
    fn transcript(&self, told: &[Told], letters: usize) -> String {
        let line = |text: &Told| {
            let words = said(text.role, text.text.clone());
            let start: String = words.chars().take(letters).collect();
            let cut = if start.len() < words.len() { "…" } else { "" };
            format!("{}: {}{cut}", self.name_of(text), start.trim())
        };
        told.iter().map(line).collect::<Vec<_>>().join("\n\n")
    }
}

/// What a model is asked.
pub(super) struct Task<'a> {
    /// Of the template.
    pub(super) template: &'static str,
    /// Words of a summary at the most.
    pub(super) words: u32,
    pub(super) told: &'a [Told],
    pub(super) shape: &'a Shape,
}

/// What came of it.
pub(super) enum Heard<T> {
    Said(T),
    /// Twice something that cannot be read, or the messages are too long for the model.
    Nothing,
    /// Somebody waits for a reply.
    Interrupted,
}

/// Drops what a model has read for a job, however the job ends.
struct Forgets<'e> {
    engine: &'e Engine,
    key: String,
}

impl Drop for Forgets<'_> {
    fn drop(&mut self) {
        self.engine.local().forget(&self.key);
    }
}

impl Engine {
    pub(super) async fn learner(&self, id: ChatId, options: &TurnOptions) -> Answer<Learner> {
        let chat = self.chat(id).await?;
        let answerer = self.answerer(&chat, options).await?;
        let own = self.named_model(&answerer.values.memory_model).await?;
        let chosen = own.is_some();
        let answerer = match own {
            Some(model) => {
                let options = TurnOptions { model: Some(model), context: None, ..options.clone() };
                self.answerer(&chat, &options).await?
            }
            None => answerer,
        };
        let (card, persona, speakers) =
            tokio::try_join!(self.chat_card(&chat), self.persona_in(&chat), self.speakers(&chat))?;
        let is_scene = self.store().read(move |store| Ok(!store.groups().members(id)?.is_empty())).await?;
        Ok(Learner { chat, card: card.card, persona, speakers, answerer, chosen, is_scene })
    }

    /// The model or endpoint with that id, if it is there.
    async fn named_model(&self, id: &str) -> Answer<Option<ModelRef>> {
        if id == "auto" {
            return Ok(None);
        }
        let (Ok(local), Ok(remote)) = (id.parse(), id.parse()) else { return Ok(None) };
        let known = move |store: &Read<'_>| {
            Ok((store.models().get(local)?.is_some(), store.endpoint_models().resolve(remote)?.is_some()))
        };
        let id = id.to_owned();
        Ok(match self.store().read(known).await? {
            (true, _) => Some(ModelRef::Local { id }),
            (false, true) => Some(ModelRef::Remote { id }),
            (false, false) => None,
        })
    }

    /// Asks until the answer can be read: twice at the most.
    pub(super) async fn ask<T>(
        &self,
        learner: &Learner,
        task: &Task<'_>,
        read: impl Fn(&str) -> Option<T>,
        leave: &CancellationToken,
    ) -> Answer<Heard<T>> {
        let Some((prompt, most)) = self.task_beside(learner, task).await? else { return Ok(Heard::Nothing) };
        let forgets = Forgets { engine: self, key: format!("{} learning", learner.chat.id) };
        for temperature in [0.0, WARMER] {
            let sampling = SamplerOptions {
                temperature: Some(temperature),
                repeat_penalty: Some(1.0),
                max_tokens: Some(most),
                ..SamplerOptions::default()
            };
            let request = Request {
                cache_key: forgets.key.clone(),
                prompt: prompt.clone(),
                sampling: sampling.resolve(1),
                shape: Some(task.shape.clone()),
            };
            let Some(answer) = listen(learner, request, leave).await? else { return Ok(Heard::Interrupted) };
            if let Some(read) = json(&answer).and_then(&read) {
                return Ok(Heard::Said(read));
            }
            tracing::info!(task = task.template, "a model's answer could not be read");
        }
        Ok(Heard::Nothing)
    }

    /// The prompt, and how long its answer may be; `None` where the messages do not fit however they are cut.
    async fn task_beside(&self, learner: &Learner, task: &Task<'_>) -> Answer<Option<(Prompt, u32)>> {
        for letters in LETTERS {
            let (frame, reply) = self.frame_beside(learner, task, letters).await?;
            if let Some(prompt) = self.fitting(learner, &frame, reply).await? {
                return Ok(Some((prompt, reply)));
            }
        }
        Ok(None)
    }

    async fn frame_beside(&self, learner: &Learner, task: &Task<'_>, letters: usize) -> Answer<(Frame, u32)> {
        let (template, _) = self.template_or("auto", task.template).await?;
        let given = Given::default()
            .text("character.name", learner.card.spoken_name())
            .text("persona.name", &learner.persona.name)
            .text("summary.words", task.words.to_string())
            // No macro of theirs runs: they were resolved when they were said.
            .text("transcript", learner.transcript(task.told, letters).replace("{{", "{ {"));
        let wrong = |error: String| bad_input(format!("The template \"{}\": {error}.", template.name), "Correct it.");
        let variables = Variables::resolve(given).map_err(|error| wrong(error.to_string()))?;
        let composed =
            compose(&template, &variables, &Flags::of(&variables, &[])).map_err(|error| wrong(error.to_string()))?;
        let words = Words::new(&learner.card, &learner.persona, learner.chat.id);
        let mut state = MacroState::default();
        let sections = composed.sections.iter();
        let texts = sections.map(|section| words.expand(&section.text, &Moment::default(), &mut state).text);
        let text = texts.collect::<Vec<_>>().join("\n\n");
        let source = Source::Template { template: template.id.clone(), section: String::new() };
        let asked = HistoryMessage::new(MessageId(Uuid::nil()), Role::User, "", text, self.now());
        let frame = Frame { history: vec![HistoryMessage { task: Some(source), ..asked }], ..Frame::default() };
        Ok((frame, template.defaults.reply_tokens.unwrap_or(REPLY)))
    }

    async fn fitting(&self, learner: &Learner, frame: &Frame, reply: u32) -> Answer<Option<Prompt>> {
        let answerer = &learner.answerer;
        let template = answerer.template.as_ref().map(|template| template.at(self.clock().civil(self.now())));
        let budget = Budget { reserve: reply.min(answerer.budget.limit / 2), ..answerer.budget };
        let setup = Setup::new(template.as_ref(), &answerer.key, budget);
        let (state, mut counter) = (WindowState::default(), Counter::new(self, answerer));
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
async fn listen(learner: &Learner, request: Request, leave: &CancellationToken) -> Answer<Option<String>> {
    let mut stream = learner.answerer.provider.stream(request, leave.clone());
    let mut answer = String::new();
    while let Some(event) = stream.next().await {
        match event? {
            GenerationEvent::Text(text) => answer.push_str(&text),
            GenerationEvent::Finished { reason: FinishReason::Cancelled, .. } => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(answer))
}

/// The JSON in an answer: endpoints that know no grammar wrap it in words, thoughts and fences.
fn json(answer: &str) -> Option<&str> {
    let begin = answer.rfind("</think>").map_or(0, |at| at + "</think>".len());
    let answer = &answer[begin..];
    let first = answer.find(['{', '['])?;
    let last = answer.rfind(['}', ']'])?;
    answer.get(first..=last)
}

#[cfg(test)]
mod tests {
    use super::json;

    #[test]
    fn json_is_found_in_what_stands_around_it() {
        for (answer, found) in [
            ("[]", Some("[]")),
            ("Sure!\n```json\n{\"a\": [1]}\n```", Some("{\"a\": [1]}")),
            ("<think>[hm]</think> [{\"a\": 1}] That is all.", Some("[{\"a\": 1}]")),
            ("Nothing here.", None),
            ("] [", None),
            ("", None),
        ] {
            assert_eq!(json(answer), found, "{answer}");
        }
    }
}
