//! Chat templates: the Jinja template of a GGUF, run in Rust without access to the contents.
//!
//! The template sees placeholders instead of texts, so no text can imitate a role marker, and the
//! rendered prompt consists of runs of control text and contents. The forms that a template rejects
//! are probed once at parse time, and each chat is adapted (see [`adapter`]). Models without a
//! template use one of the built-in [`formats`].

mod adapter;
mod contents;
mod error;
mod formats;
mod render;
mod tools;

use std::sync::{Arc, LazyLock};

use domain::prompt::PromptRole;
pub use jinja::{RenderError, SyntaxError};

use self::adapter::{OPENING, RoleShape, TemplateMessage, Wants};
use self::error::LONGEST_SOURCE;
pub use self::error::TemplateError;
pub use self::formats::{Format, format, formats, guess};
pub use self::render::{RenderedRun, RenderedTurn, inside_quotes};
use self::render::{provider_word, turns};
pub use self::tools::{RenderedCall, RenderedDefinition, RenderedTools};
use crate::hash;
use crate::tools::CallSyntax;

/// Maximum number of stop strings per template. Each is searched in every reply, and real formats
/// have one to five.
const MOST_STOPS: usize = 32;

/// A parsed chat template. Clones share the parsed program.
#[derive(Clone)]
pub struct ChatTemplate {
    program: Arc<jinja::Program>,
    /// Hash of the source.
    source: u64,
    bos: String,
    eos: String,
    /// Prompts begin with `bos`, even if the template does not write it.
    leads_with_bos: bool,
    now: jiff::civil::DateTime,
    tells_time: bool,
    shape: RoleShape,
    append_only: bool,
    stops: Vec<String>,
    tool_syntax: Option<CallSyntax>,
}

impl ChatTemplate {
    /// Parses `source` and probes the forms that it accepts. `bos` and `eos` are the texts of the
    /// model's begin and end tokens. Templates that ask for the date get `date`, which is fixed so
    /// that the beginning of the prompt does not change.
    ///
    /// Errors [`TemplateError::SourceTooLong`]; [`TemplateError::Syntax`] if the source is not
    /// valid Jinja; [`TemplateError::Render`] if it exceeds a resource limit.
    pub fn parse(
        source: &str,
        bos: &str,
        eos: &str,
        date: jiff::civil::DateTime,
    ) -> Result<Self, TemplateError> {
        if source.len() > LONGEST_SOURCE {
            return Err(TemplateError::SourceTooLong);
        }
        let mut template = Self {
            program: Arc::new(jinja::Program::parse(source)?),
            source: hash::of(&source),
            bos: bos.to_owned(),
            eos: eos.to_owned(),
            leads_with_bos: false,
            now: date,
            tells_time: false,
            shape: RoleShape::FREE,
            append_only: false,
            stops: Vec::new(),
            tool_syntax: None,
        };
        template.learn()?;
        Ok(template)
    }

    /// Probes the properties of the template. A template that exceeds a resource limit fails at
    /// once.
    fn learn(&mut self) -> Result<(), TemplateError> {
        let mut costly = None;
        let shape = RoleShape::probe(|roles, wants| {
            if costly.is_some() {
                return false;
            }
            let rendered = self.run(
                &RoleShape::FREE.adapt(&turns(roles)),
                wants,
                &RenderedTools::default(),
                false,
            );
            let taken = rendered.is_ok();
            costly = rendered.err().filter(TemplateError::is_costly);
            taken
        });
        if let Some(error) = costly {
            return Err(error);
        }
        self.shape = shape;
        self.append_only = self.keeps_prefixes();
        self.tells_time = self.asks_for_the_time();
        self.stops = self.find_stops();
        self.tool_syntax = self.find_tool_syntax();
        Ok(())
    }

    /// ChatML: the template for unknown models without a template.
    ///
    /// Panics
    /// Never: the template is a constant, and a test parses it.
    #[expect(clippy::expect_used, reason = "a built-in constant that a test parses")]
    pub fn chatml() -> Self {
        static PARSED: LazyLock<ChatTemplate> = LazyLock::new(|| {
            let format = format("chatml").expect("the ChatML format must be built in");
            format
                .template("", "<|im_end|>", jiff::civil::DateTime::default())
                .expect("the built-in template must parse")
        });
        PARSED.clone()
    }

    /// The same template at another time. The time is fixed for an epoch, so that the beginning of
    /// the prompt does not change.
    #[must_use]
    pub fn at(&self, now: jiff::civil::DateTime) -> Self {
        Self {
            now,
            ..self.clone()
        }
    }

    /// The same template with additional stop strings. Blank ones are ignored, and only the first
    /// `MOST_STOPS` are kept.
    #[must_use]
    pub fn with_stops<'s>(mut self, stops: impl IntoIterator<Item = &'s str>) -> Self {
        for stop in stops.into_iter().filter(|stop| !stop.trim().is_empty()) {
            if self.stops.len() < MOST_STOPS && !self.stops.iter().any(|known| known == stop) {
                self.stops.push(stop.to_owned());
            }
        }
        self
    }

    /// The same template for a model that needs its begin token at the front. If the template does
    /// not write the token, it becomes a segment of its own, so that all tokens are counted. No
    /// effect if the model has no begin token.
    #[must_use]
    pub fn leading_with_bos(self) -> Self {
        Self {
            leads_with_bos: !self.bos.is_empty(),
            ..self
        }
    }

    /// Identifies templates that may render a chat to different bytes: source, begin and end
    /// tokens, and the time if the template uses it.
    pub fn fingerprint(&self) -> u64 {
        let moment = self.tells_time.then(|| self.now.to_string());
        hash::of(&(
            self.source,
            &self.bos,
            &self.eos,
            self.leads_with_bos,
            moment,
        ))
    }

    /// True if the output depends on the time.
    pub fn tells_time(&self) -> bool {
        self.tells_time
    }

    /// Renders `turns`. With `continues`, the last turn stays open for the model to continue;
    /// otherwise the prompt ends with the markers that open a reply. The turns are adapted to
    /// templates that reject system turns or need alternating roles.
    ///
    /// Errors If the template fails on the adapted turns too, exceeds a resource limit, or loses a
    /// content.
    pub fn render(
        &self,
        turns: &[RenderedTurn],
        continues: bool,
    ) -> Result<Vec<RenderedRun>, TemplateError> {
        self.render_with(turns, &RenderedTools::default(), continues)
    }

    /// Works like [`Self::render`], with tools.
    ///
    /// Errors
    /// As [`Self::render`]; also if the template does not show the tools.
    pub fn render_with(
        &self,
        turns: &[RenderedTurn],
        tools: &RenderedTools,
        continues: bool,
    ) -> Result<Vec<RenderedRun>, TemplateError> {
        let mut pieces = self.write(turns, tools, continues)?;
        let written = matches!(pieces.first(), Some(RenderedRun::Control(text)) if text.starts_with(&self.bos));
        if self.leads_with_bos && !written {
            pieces.insert(0, RenderedRun::Control(self.bos.clone()));
        }
        Ok(pieces)
    }

    fn write(
        &self,
        turns: &[RenderedTurn],
        tools: &RenderedTools,
        continues: bool,
    ) -> Result<Vec<RenderedRun>, TemplateError> {
        let adapted = |shape: &RoleShape| shape.adapt_with(turns, |turn| tools.has_turn(turn));
        let rendered = self.run(&adapted(&self.shape), self.shape.wants, tools, continues);
        let strict = RoleShape {
            wants: self.shape.wants,
            ..RoleShape::STRICT
        };
        match rendered {
            Err(ref error) if error.is_costly() => rendered,
            Err(_) if self.shape != strict => self
                .run(&adapted(&strict), strict.wants, tools, continues)
                .or_else(|_| self.unopened(turns, tools, continues, rendered)),
            Err(_) => self.unopened(turns, tools, continues, rendered),
            Ok(_) => rendered,
        }
    }

    /// True if a prompt and its reply are a prefix of the next prompt, so that the model can reuse
    /// its cache. Templates that treat the last user turn or earlier replies specially are not
    /// append-only.
    pub fn append_only(&self) -> bool {
        self.append_only
    }

    /// Texts that end a reply: the markers between a reply and the next user turn, and the model's
    /// end token.
    pub fn stop_strings(&self) -> &[String] {
        &self.stops
    }

    /// For templates that reject a reply at the end: renders the prompt for that reply and appends
    /// the beginning of the reply.
    fn unopened(
        &self,
        turns: &[RenderedTurn],
        tools: &RenderedTools,
        continues: bool,
        failed: Result<Vec<RenderedRun>, TemplateError>,
    ) -> Result<Vec<RenderedRun>, TemplateError> {
        match turns.split_last() {
            Some((last, before))
                if continues && last.role == PromptRole::Character && !before.is_empty() =>
            {
                let mut pieces = {
                    let before = self.shape.adapt_with(before, |turn| tools.has_turn(turn));
                    self.run(&before, self.shape.wants, tools, false)
                        .or(failed)?
                };
                pieces.extend(last.parts.iter().map(|part| RenderedRun::Part(*part)));
                Ok(pieces)
            }
            _ => failed,
        }
    }

    fn run(
        &self,
        messages: &[TemplateMessage],
        wants: Wants,
        tools: &RenderedTools,
        continues: bool,
    ) -> Result<Vec<RenderedRun>, TemplateError> {
        let mut parts: Vec<contents::MessageParts<'_>> = Vec::with_capacity(messages.len());
        let mut given = Vec::with_capacity(messages.len());
        for message in messages {
            let content = match &message.parts {
                Some(of_message) if of_message.is_empty() => String::new(),
                Some(of_message) => {
                    let result = message.turn.is_some_and(|turn| tools.is_result(turn));
                    parts.push(contents::MessageParts {
                        parts: of_message,
                        result,
                    });
                    contents::placeholder(parts.len() - 1)?.to_string()
                }
                None => OPENING.to_owned(),
            };
            let result = message.turn.is_some_and(|turn| tools.is_result(turn));
            given.push((
                if result {
                    "tool"
                } else {
                    provider_word(message.role)
                },
                content,
            ));
        }
        let of_tools = tools.parts();
        let message_of = |turn| {
            messages
                .iter()
                .position(|message| message.turn == Some(turn))
        };
        let tools = tools.input(parts.len(), message_of)?;
        let rendered = self.program.run(&jinja::Input {
            messages: &given,
            typed: wants.typed,
            lists_tools: wants.lists_tools,
            tools: &tools,
            add_generation_prompt: !continues,
            bos: &self.bos,
            eos: &self.eos,
            now: self.now,
        })?;
        contents::pieces(&rendered, &parts, &of_tools, continues)
    }

    fn keeps_prefixes(&self) -> bool {
        use PromptRole::{Character as C, System as S, User as U};
        let prompt = |roles: &[PromptRole]| self.render(&turns(roles), false).ok();
        let grows = |short: &[PromptRole], long: &[PromptRole]| {
            let (Some(mut short), Some(long)) = (
                prompt(short).map(|pieces| (short.len(), pieces)),
                prompt(long),
            ) else {
                return false;
            };
            short.1.push(RenderedRun::Part(short.0));
            begins_with(&long, &short.1)
        };
        grows(&[S, U], &[S, U, C, U])
            && grows(&[S, U, C, U], &[S, U, C, U, C, U])
            && grows(&[S, C, U], &[S, C, U, C, U])
    }

    fn asks_for_the_time(&self) -> bool {
        use PromptRole::{Character as C, System as S, User as U};
        let one = jiff::civil::date(2001, 2, 3).at(4, 5, 6, 0);
        let other = jiff::civil::date(2014, 11, 27).at(18, 39, 40, 0);
        let chats: [&[PromptRole]; 2] = [&[U], &[S, U, C, U]];
        chats.into_iter().map(turns).any(|chat| {
            self.at(one).render(&chat, false).ok() != self.at(other).render(&chat, false).ok()
        })
    }

    /// The markers between a reply and the next user turn: the first one, and the rest.
    fn find_stops(&self) -> Vec<String> {
        use PromptRole::{Character as C, User as U};
        let mut stops = Vec::new();
        let pieces = self.render(&turns(&[U, C, U]), false).unwrap_or_default();
        let reply = pieces
            .iter()
            .position(|piece| *piece == RenderedRun::Part(1));
        if let Some(RenderedRun::Control(between)) = reply.and_then(|reply| pieces.get(reply + 1)) {
            let (marker, rest) = first_marker(between.trim());
            stops.extend([marker.trim(), rest.trim()].map(str::to_owned));
        }
        stops.push(self.eos.clone());
        let mut unique: Vec<String> = Vec::new();
        for stop in stops {
            if stop.chars().count() > 2 && !unique.contains(&stop) {
                unique.push(stop);
            }
        }
        unique
    }
}

/// Splits after the first `<…>` or `[…]` if the text begins with one.
fn first_marker(text: &str) -> (&str, &str) {
    let end = match text.chars().next() {
        Some('<') => text.find('>'),
        Some('[') => text.find(']'),
        _ => None,
    };
    end.map_or((text, ""), |end| text.split_at(end + 1))
}

/// True if the text of `long` begins with the text of `short`.
fn begins_with(long: &[RenderedRun], short: &[RenderedRun]) -> bool {
    let text = |pieces: &[RenderedRun]| {
        let shown = pieces.iter().map(|piece| match piece {
            RenderedRun::Control(text) => text.clone(),
            RenderedRun::Part(index) | RenderedRun::Quoted(index) => contents::placeholder(*index)
                .map(String::from)
                .unwrap_or_default(),
        });
        shown.collect::<String>()
    };
    text(long).starts_with(&text(short))
}
