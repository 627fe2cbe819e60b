//! What a turn is made of, gathered from the store; and the prompt made of it.

use std::time::Instant;

use context::frame::{CardHead, card_head};
use context::{AssembleError, Assembled, Frame, HistoryMessage, Now, Setup, assemble, frozen};
use domain::card::Card;
use domain::chat::{Chat, Role};
use domain::persona::Persona;
use domain::{MessageId, Timestamp};
use uuid::Uuid;

use crate::Engine;
use crate::answer::{Answerer, Counter};
use crate::api::{self, AssemblyTimings, PromptReport};
use crate::characters::card_of;
use crate::error::Answer;

/// The product's own rules for a reply (S4.79), which a card's system prompt may replace.
const RULES: &str = include_str!("../../../../presets/prompts/rules.txt");

const BYTES_A_TOKEN: usize = 8;

/// What the reply answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The last message of the chat.
    Last,
    /// The message before the reply that gets another swipe.
    Before(MessageId),
    /// Words that are not in the chat: a preview.
    Words(String),
}

/// Everything one turn needs from the store.
pub(crate) struct Collected {
    pub(crate) chat: Chat,
    card: Card,
    persona: Persona,
    history: Vec<HistoryMessage>,
    took_ms: f64,
}

impl Collected {
    /// Whose reply it is, as it would name itself.
    pub(crate) fn speaker(&self) -> &str {
        self.card.spoken_name()
    }
}

/// A prompt, and how long its stages took.
pub(crate) struct Made {
    pub(crate) assembled: Assembled,
    timings: AssemblyTimings,
}

impl Engine {
    pub(crate) async fn collect(&self, mut chat: Chat, aim: Aim, answerer: &Answerer) -> Answer<Collected> {
        let started = Instant::now();
        let character = self.character(chat.character).await?;
        let card = card_of(&character)?;
        let persona = self.persona_of(chat.persona).await?;
        // Another model or budget, or an edit, finds its own anchor: it may move back then, and only then.
        let goes_on = chat.window.fingerprint.starts_with(&context::base(&answerer.key, &answerer.budget));
        let (id, anchor) = (chat.id, chat.window.anchor.filter(|_| goes_on));
        let messages = self.store().read(move |store| store.messages().from(id, anchor)).await?;
        let mut history: Vec<HistoryMessage> = messages
            .into_iter()
            .take_while(|message| !matches!(&aim, Aim::Before(reply) if message.id == *reply))
            .filter(|message| !message.text.trim().is_empty())
            .map(|message| HistoryMessage {
                context: message.context_block.as_deref().map(frozen::read),
                pinned: message.pinned,
                importance: message.importance,
                ..HistoryMessage::new(
                    message.id,
                    message.role,
                    speaker(message.role, &card, &persona),
                    said(message.role, message.text),
                    message.created,
                )
            })
            .collect();
        if leave_out_the_distant_past(&mut history, answerer.budget.limit) {
            chat.window.anchor = history.first().map(|message| message.id);
        }
        if let Aim::Words(text) = aim {
            history.push(preview_message(text, &persona, self.now()));
        }
        Ok(Collected { chat, card, persona, history, took_ms: millis(started) })
    }

    /// Makes the prompt, counting what is not counted yet.
    pub(crate) async fn make(&self, collected: &Collected, answerer: &Answerer) -> Answer<Made> {
        let card = &collected.card;
        let head = card_head(&CardHead {
            character: card.spoken_name(),
            description: card.description(),
            personality: card.personality(),
            scenario: card.scenario(),
            examples: card.mes_example(),
            system_prompt: card.system_prompt(),
            post_history: card.post_history_instructions(),
            persona: &collected.persona.name,
            persona_description: &collected.persona.description,
            rules: RULES,
        });
        let history = collected.history.clone();
        let answered = history.last().filter(|message| message.role == Role::User);
        let clock = answered.map(|message| Now { at: message.created, words: self.clock().spoken(message.created) });
        let frame = Frame { head, history, clock, ..Frame::default() };
        // Small models go on with both sides of the conversation; either name at the start of a line ends the reply (S4.79).
        let stop = [&collected.persona.name, card.spoken_name()].map(|name| format!("\n{name}:")).to_vec();
        let mut timings = AssemblyTimings { collect_ms: collected.took_ms, ..AssemblyTimings::default() };
        let mut counter = Counter::new(answerer);
        loop {
            let started = Instant::now();
            let template = answerer.template.as_deref();
            let setup = Setup { stop: &stop, ..Setup::new(template, &answerer.key, answerer.budget) };
            let result = assemble(&frame, &setup, &collected.chat.window, counter.counts());
            timings.plan_ms += millis(started);
            match result {
                Ok(assembled) => return Ok(Made { assembled, timings }),
                Err(AssembleError::Uncounted(segments)) => {
                    let started = Instant::now();
                    counter.count(self, segments).await?;
                    timings.count_ms += millis(started);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A token is rarely more than [`BYTES_A_TOKEN`] bytes: what is further back than that cannot be in the window, and of ten
/// years of chat not all has to be counted to know it. True if something was left out.
fn leave_out_the_distant_past(history: &mut Vec<HistoryMessage>, limit: u32) -> bool {
    let mut room = limit as usize * BYTES_A_TOKEN;
    let near = history.iter().rev().take_while(|message| {
        let left = room.checked_sub(message.text.len());
        room = left.unwrap_or(0);
        left.is_some()
    });
    let kept = near.count().max(1).min(history.len());
    let gone = history.len() - kept;
    history.drain(..gone);
    gone > 0
}

/// A message's words, as the model reads them again: what it thought is not re-sent (S4.72).
fn said(role: Role, text: String) -> String {
    match role {
        Role::Character => context::display::display(&text).map_or(text, |display| display.shown),
        _ => text,
    }
}

fn preview_message(text: String, persona: &Persona, now: Timestamp) -> HistoryMessage {
    HistoryMessage::new(MessageId(Uuid::nil()), Role::User, persona.name.clone(), text, now)
}

fn speaker(role: Role, card: &Card, persona: &Persona) -> String {
    match role {
        Role::User => persona.name.clone(),
        Role::Character => card.spoken_name().to_owned(),
        Role::Narrator | Role::Tool | Role::Event => role.as_str().to_owned(),
    }
}

pub(crate) fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

impl Made {
    /// The control text that opens the reply.
    pub(crate) fn opened(&self) -> &str {
        self.assembled.segments.last().filter(|segment| segment.control).map_or("", |segment| &segment.text)
    }

    /// As the faces and the manifest have it.
    pub(crate) fn report(&self, model: &str) -> PromptReport {
        let Assembled { prompt, segments, blocks, total, budget, exact, window, .. } = &self.assembled;
        let mut by_zone = api::ZoneTokens::default();
        let blocks = blocks
            .iter()
            .enumerate()
            .map(|(index, planned)| {
                let kept = planned.dropped.is_none();
                let (zone, sum) = match planned.zone {
                    context::Zone::Head => (api::Zone::Head, &mut by_zone.head),
                    context::Zone::Digest => (api::Zone::Digest, &mut by_zone.digest),
                    context::Zone::Window => (api::Zone::Window, &mut by_zone.window),
                    context::Zone::Input => (api::Zone::Input, &mut by_zone.input),
                };
                *sum += if kept { planned.tokens } else { 0 };
                api::PromptBlock {
                    id: planned.turn.map_or_else(|| format!("out-{index}"), |turn| format!("turn{turn}-{index}")),
                    zone,
                    kind: planned.kind.as_str().to_owned(),
                    source: planned.source.words(),
                    reason: planned.reason.clone(),
                    tokens: planned.tokens,
                    kept,
                    dropped_reason: planned.dropped.map(|why| why.words().to_owned()),
                    text: planned.text.clone(),
                }
            })
            .collect();
        PromptReport {
            text: segments.iter().map(|segment| segment.text.as_str()).collect(),
            segments: segments
                .iter()
                .map(|segment| api::PromptSegment { text: segment.text.clone(), control: segment.control })
                .collect(),
            messages: prompt
                .messages
                .iter()
                .map(|message| api::PromptMessage {
                    role: role_word(message.role).to_owned(),
                    text: message.text.clone(),
                })
                .collect(),
            blocks,
            tokens: api::PromptTokens {
                total: *total,
                limit: budget.limit,
                reserve: budget.reserve,
                by_zone,
                exact: *exact,
            },
            epoch: window.epoch,
            anchor: window.anchor.map(|id| id.to_string()),
            model: model.to_owned(),
            timings: self.timings,
        }
    }
}

fn role_word(role: domain::prompt::PromptRole) -> &'static str {
    match role {
        domain::prompt::PromptRole::System => "system",
        domain::prompt::PromptRole::User => "user",
        domain::prompt::PromptRole::Character => "character",
    }
}
