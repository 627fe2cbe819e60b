//! Tools in the prompt: the definitions, and the rounds of each reply in front of it.

use domain::ToolRound;
use domain::prompt::{PromptMessage, PromptRole, PromptToolRound, PromptTools};

use super::PlannedBlock;
use super::draft::PlanDraft;
use super::layout::{OpenTurn, PromptLayout};
use crate::chat_template::{RenderedCall, RenderedDefinition, RenderedTools};
use crate::frame::{BlockKind, HistoryMessage, Priority, Source, Zone};
use crate::reason::BlockReason;
use crate::tools::{ToolForm, wording};

/// Role of a turn of the prompt in a tool round.
#[derive(Clone, Copy)]
pub(super) enum ToolTurn<'a> {
    Calls(&'a ToolRound),
    /// All results of the round, or one of them where the chat template has a message for each.
    Results(&'a ToolRound, Option<usize>),
}

impl<'a> PlanDraft<'a> {
    /// Tokens of the definitions that are sent next to the messages.
    pub(super) fn definition_tokens(&mut self) -> u32 {
        let tools = &self.frame.tools;
        match tools.form {
            _ if tools.definitions.is_empty() => 0,
            // They are part of the head.
            ToolForm::Text => 0,
            ToolForm::Request | ToolForm::Template => {
                self.costs.plain(wording::definitions(&tools.definitions))
            }
        }
    }

    /// Tokens of rounds, including the messages around them.
    pub(super) fn round_tokens(&mut self, rounds: &[ToolRound]) -> u32 {
        let around = self.overhead.of(PromptRole::Character) + self.overhead.of(PromptRole::User);
        rounds
            .iter()
            .map(|round| {
                self.costs.plain(wording::calls(round))
                    + self.costs.plain(wording::results(round))
                    + around
            })
            .sum()
    }

    /// Lists the definitions that are sent next to the messages. A chat template turns them into
    /// parts of the prompt.
    pub(super) fn lay_out_definitions(&self, layout: &mut PromptLayout<'a>) {
        let tools = &self.frame.tools;
        if tools.definitions.is_empty() || tools.form == ToolForm::Text {
            return;
        }
        let source = Source::Setting {
            key: "tools".to_owned(),
        };
        let block = row(Zone::Head, source, BlockReason::Always, PromptRole::System);
        let text = match tools.form {
            // The chat template writes them.
            ToolForm::Template => String::new(),
            _ => wording::definitions(&tools.definitions),
        };
        layout.blocks.push(PlannedBlock { text, ..block });
    }

    /// Lays out the rounds in front of `message`, or those of the reply that is being written.
    pub(super) fn lay_out_rounds(
        &self,
        layout: &mut PromptLayout<'a>,
        rounds: &'a [ToolRound],
        message: Option<&HistoryMessage>,
    ) {
        let zone = if message.is_some() {
            Zone::Window
        } else {
            Zone::Input
        };
        let id = message.map(|message| message.id);
        for (number, round) in (0..).zip(rounds) {
            let names = round
                .calls
                .iter()
                .map(|call| call.name.as_str())
                .collect::<Vec<_>>()
                .join(", ");
            let reason = if message.is_some() {
                BlockReason::RecentMessage
            } else {
                BlockReason::ReplyToContinue
            };
            let block = |role| {
                let results = role == PromptRole::User;
                let source = Source::ToolRound {
                    message: id,
                    round: number,
                    names: names.clone(),
                    results,
                };
                PlannedBlock {
                    message: id,
                    ..row(zone, source, reason.clone(), role)
                }
            };
            layout.tool_turn(PromptRole::Character, ToolTurn::Calls(round));
            match self.frame.tools.form {
                ToolForm::Template => {
                    if !round.text.trim().is_empty() {
                        layout.put(block(PromptRole::Character), round.text.trim().to_owned());
                    }
                    for (index, result) in round.results.iter().enumerate() {
                        layout.tool_turn(PromptRole::User, ToolTurn::Results(round, Some(index)));
                        layout.put(block(PromptRole::User), result.text.clone());
                    }
                }
                ToolForm::Request | ToolForm::Text => {
                    layout.put(block(PromptRole::Character), wording::calls(round));
                    layout.tool_turn(PromptRole::User, ToolTurn::Results(round, None));
                    layout.put(block(PromptRole::User), wording::results(round));
                }
            }
        }
    }

    /// The messages of the prompt. An endpoint gets the rounds apart from them, so blocks of later
    /// messages get other numbers.
    pub(super) fn messages(
        &self,
        layout: &mut PromptLayout<'a>,
    ) -> (Vec<PromptMessage>, Vec<usize>, PromptTools) {
        let tools = &self.frame.tools;
        let apart = tools.form == ToolForm::Request;
        let mut messages = Vec::with_capacity(layout.turns.len());
        let mut placed = Vec::new();
        let mut rounds = Vec::new();
        let mut numbers = Vec::with_capacity(layout.turns.len());
        for turn in &layout.turns {
            numbers.push((!apart || turn.tool.is_none()).then_some(messages.len()));
            match turn.tool {
                Some(ToolTurn::Calls(round)) if apart => {
                    rounds.push(PromptToolRound {
                        before: messages.len(),
                        round: round.clone(),
                    });
                }
                Some(ToolTurn::Results(..)) if apart => {}
                _ => {
                    placed.extend(turn.placed.then_some(messages.len()));
                    messages.push(PromptMessage {
                        role: turn.role,
                        text: text_of(turn, layout),
                    });
                }
            }
        }
        for block in &mut layout.blocks {
            block.turn = block.turn.and_then(|turn| numbers[turn]);
        }
        if !apart {
            return (messages, placed, PromptTools::default());
        }
        let definitions = tools.definitions.clone();
        let choice = tools.choice.clone();
        let single_call = tools.single_call;
        (
            messages,
            placed,
            PromptTools {
                definitions,
                choice,
                single_call,
                rounds,
            },
        )
    }

    /// The tools for the chat template, with a part for each of their texts.
    pub(super) fn rendered_tools(&self, layout: &mut PromptLayout<'a>) -> RenderedTools {
        let mut rendered = RenderedTools::default();
        let tools = &self.frame.tools;
        if tools.form != ToolForm::Template {
            return rendered;
        }
        let of_definitions = layout
            .blocks
            .iter()
            .position(|block| block.kind == BlockKind::Tool && block.turn.is_none());
        if let Some(block) = of_definitions {
            for tool in &tools.definitions {
                let description = layout.part(block, tool.description.clone());
                let parameters = layout.part(block, tool.parameters.to_string());
                rendered.definitions.push(RenderedDefinition {
                    name: tool.name.clone(),
                    description,
                    parameters,
                });
            }
        }
        for turn in 0..layout.turns.len() {
            match layout.turns[turn].tool {
                Some(ToolTurn::Calls(round)) => {
                    let block = layout.block_of_round(turn);
                    let mut calls = Vec::with_capacity(round.calls.len());
                    for call in &round.calls {
                        let arguments = layout.part(block, call.arguments.text().to_owned());
                        let id = call.id.clone().unwrap_or_default();
                        calls.push(RenderedCall {
                            id,
                            name: call.name.clone(),
                            arguments,
                        });
                    }
                    rendered.calls.push((turn, calls));
                }
                Some(ToolTurn::Results(round, Some(index))) => {
                    let id = round
                        .results
                        .get(index)
                        .map(|result| result.call_id.clone())
                        .unwrap_or_default();
                    let name = round
                        .calls
                        .get(index)
                        .map(|call| call.name.clone())
                        .unwrap_or_default();
                    rendered.results.push((turn, id, name));
                }
                _ => {}
            }
        }
        rendered
    }
}

fn text_of(turn: &OpenTurn<'_>, layout: &PromptLayout<'_>) -> String {
    turn.parts
        .iter()
        .map(|part| layout.parts[*part].1.as_str())
        .collect()
}

fn row(zone: Zone, source: Source, reason: BlockReason, role: PromptRole) -> PlannedBlock {
    PlannedBlock {
        zone,
        priority: if zone == Zone::Window {
            Priority::Trimmable
        } else {
            Priority::Must
        },
        role,
        dropped: None,
        tokens: 0,
        ..PlannedBlock::left_out(BlockKind::Tool, source, reason, "")
    }
}
