//! Blocks of a frame that no section of the template names: instructions for tools and emotions,
//! notes, texts at a depth.

use context::frame::{BlockKind, Candidate, HeadPart, Source, USUAL_ORDER};
use context::reason::BlockReason;
use context::tools::{ToolForm, wording};
use domain::prompt::PromptRole;
use serde_json::Value;

use crate::library::groups::scene::named;
use crate::library::snapshots::macro_scope;
use crate::turn::assembly::frame::Builder;
use crate::turn::assembly::{emotion_prompt, notes};

impl Builder<'_> {
    /// The instruction to begin replies with a tag, at the end of the head.
    pub(super) fn emotion_tags(&mut self) {
        let Some(text) = emotion_prompt::instruction(&self.turn.inputs.values) else {
            return;
        };
        self.built.frame.head.push(HeadPart {
            kind: BlockKind::Section,
            source: Source::Setting {
                key: "emotion_tags".to_owned(),
            },
            reasons: BlockReason::Always.into(),
            role: PromptRole::System,
            text,
            written: None,
        });
    }

    /// Explains tools to a model that knows none.
    pub(super) fn tool_instructions(&mut self) {
        let tools = &self.turn.tools.frame;
        if tools.form != ToolForm::Text || tools.definitions.is_empty() {
            return;
        }
        self.built.frame.head.push(HeadPart {
            kind: BlockKind::Section,
            source: Source::Setting {
                key: "tools_as_text".to_owned(),
            },
            reasons: BlockReason::Always.into(),
            role: PromptRole::System,
            text: wording::instructions(&tools.definitions),
            written: None,
        });
    }

    /// The system messages of a program that uses the local API, verbatim: the first at the end of
    /// the head, later ones with this turn's message.
    pub(super) fn client_instructions(&mut self) {
        let Some(client) = self.turn.inputs.client.clone() else {
            return;
        };
        let source = Source::Client;
        let reasons = BlockReason::Always;
        if !client.instructions.trim().is_empty() {
            let kind = BlockKind::Section;
            let role = PromptRole::System;
            let text = client.instructions.trim().to_owned();
            self.built.frame.head.push(HeadPart {
                kind,
                source,
                reasons: reasons.into(),
                role,
                text,
                written: None,
            });
        }
        if !client.late_instructions.trim().is_empty() {
            let text = client.late_instructions.trim();
            self.built.frame.context.push(Candidate::new(
                BlockKind::Section,
                Source::Client,
                BlockReason::Always,
                text,
            ));
        }
    }

    /// The card's note at a depth, as SillyTavern's cards store it.
    pub(super) fn depth_prompt(&mut self) {
        let card = self.turn.inputs.voice().0;
        let written = macro_scope::depth_prompt(card);
        let text = if self.turn.inputs.known.is_scene {
            self.say_now(&named(written, card.display_name()))
        } else {
            self.say_now(written)
        };
        let note = card.extensions().and_then(|all| all.get("depth_prompt"));
        let number = |name: &str| note.and_then(|note| note.get(name)).and_then(Value::as_u64);
        let spoken_as = note
            .and_then(|note| note.get("role"))
            .and_then(Value::as_str);
        let role = match spoken_as {
            Some("user") => PromptRole::User,
            Some("assistant") => PromptRole::Character,
            _ => PromptRole::System,
        };
        let source = Source::CardField {
            card: card.display_name().to_owned(),
            field: "depth_prompt".to_owned(),
        };
        let candidate = Candidate::new(BlockKind::Note, source, BlockReason::CardNote, text)
            .with_source_text(written);
        let depth = number("depth").unwrap_or(4).try_into().unwrap_or(4);
        self.place(candidate, (depth, USUAL_ORDER), role);
    }

    /// The speaker's own texts in a group scene.
    pub(super) fn speaker_texts(&mut self) {
        for (candidate, own) in self.turn.inputs.texts_of_turn() {
            // The template's text stays in the head, so `{{original}}` adds nothing here.
            let expanded = self
                .words
                .expand_over(&own.text, Some(""), &self.now, &mut self.state);
            let text = self.noticed(expanded, &own.card);
            if !text.is_empty() {
                let written = own.text.as_str();
                self.built
                    .frame
                    .context
                    .push(Candidate { text, ..candidate }.with_source_text(written));
            }
        }
    }

    /// The notes that this turn includes. The X-ray lists the others.
    pub(super) fn notes(&mut self) {
        let inputs = &self.turn.inputs;
        for note in notes::of(&inputs.values, inputs.user_messages) {
            if let Some(block) = note.left_out() {
                self.built.left_out.push(block);
                continue;
            }
            let placed = note.placed(self.say_now(note.written), &inputs.values);
            if !placed.candidate.text.is_empty() {
                self.built.frame.placed.push(placed);
            }
        }
    }
}
