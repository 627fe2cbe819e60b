//! Adapts a chat to a template that rejects some forms. The limits of a template are probed once.
//!
//! - No system role: the system text becomes a paragraph before the first user message.
//! - No system turn within the chat: its text becomes part of a user message.
//! - Roles must alternate: adjacent messages of one role become one, separated by a blank line.
//! - The user must be first, but the character has the greeting: a short neutral user turn is
//!   inserted before it. The greeting stays a turn of the character, because inside the system text
//!   it would not show the model how to write.
//! - Contents must be lists of parts: they are passed as lists.
//! - Tools must be a list: an empty list is passed. Otherwise no tools are passed.

use domain::prompt::PromptRole;

use super::RenderedTurn;

/// User turn before a greeting, for templates that require the user to be first.
pub(super) const OPENING: &str = "[The chat begins.]";

/// The forms that a template accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoleShape {
    pub(super) system: bool,
    pub(super) later_system: bool,
    pub(super) repeats: bool,
    pub(super) greeting: bool,
    pub(super) wants: Wants,
}

/// The form of the arguments that a template expects besides the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Wants {
    /// Contents are lists of parts.
    pub(super) typed: bool,
    /// Absent tools are an empty list.
    pub(super) lists_tools: bool,
}

/// A message as passed to the template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TemplateMessage {
    pub(super) role: PromptRole,
    /// `None` for [`OPENING`].
    pub(super) parts: Option<Vec<usize>>,
    /// Index of the first turn in it.
    pub(super) turn: Option<usize>,
    /// The text of the system in a user message.
    folded: bool,
}

impl Wants {
    pub(super) const PLAIN: Self = Self {
        typed: false,
        lists_tools: false,
    };
    /// The most common form first.
    const ALL: [Self; 4] = [
        Self::PLAIN,
        Self {
            typed: true,
            lists_tools: false,
        },
        Self {
            typed: false,
            lists_tools: true,
        },
        Self {
            typed: true,
            lists_tools: true,
        },
    ];
}

impl RoleShape {
    /// The forms that every template accepts.
    pub(super) const STRICT: Self = Self {
        system: false,
        later_system: false,
        repeats: false,
        greeting: false,
        wants: Wants::PLAIN,
    };

    /// The forms of a template without restrictions.
    pub(super) const FREE: Self = Self {
        system: true,
        later_system: true,
        repeats: true,
        greeting: true,
        wants: Wants::PLAIN,
    };

    /// Probes the forms that a template accepts. `takes` returns true if it renders a chat with
    /// these roles completely.
    pub(super) fn probe(mut takes: impl FnMut(&[PromptRole], Wants) -> bool) -> Self {
        use PromptRole::{Character as C, System as S, User as U};
        let wants = Wants::ALL
            .into_iter()
            .find(|wants| takes(&[U], *wants))
            .unwrap_or_default();
        let mut takes = |roles: &[PromptRole]| takes(roles, wants);
        // Some templates put the system text before the last user turn, which would prevent any
        // reuse of the prefix.
        let system = takes(&[S, U]) && takes(&[S, U, C, U]);
        let greeting = if system {
            takes(&[S, C, U])
        } else {
            takes(&[C, U])
        };
        Self {
            system,
            later_system: system && takes(&[S, U, C, S, U]) && takes(&[S, S, U]),
            repeats: takes(&[U, U, C, C, U]),
            greeting,
            wants,
        }
    }

    /// The chat in the form that the template accepts.
    pub(super) fn adapt(&self, turns: &[RenderedTurn]) -> Vec<TemplateMessage> {
        self.adapt_with(turns, |_| false)
    }

    /// Works like [`Self::adapt`]. Turns that are `fixed` stay messages of their own.
    pub(super) fn adapt_with(
        &self,
        turns: &[RenderedTurn],
        fixed: impl Fn(usize) -> bool,
    ) -> Vec<TemplateMessage> {
        let head = turns
            .iter()
            .take_while(|turn| turn.role == PromptRole::System)
            .count();
        let mut messages: Vec<TemplateMessage> = Vec::with_capacity(turns.len() + 1);
        for (index, turn) in turns.iter().enumerate() {
            let takes = if index < head {
                self.system
            } else {
                self.later_system
            };
            let folded = turn.role == PromptRole::System && !takes;
            let role = if folded { PromptRole::User } else { turn.role };
            let message = TemplateMessage {
                role,
                parts: Some(turn.parts.clone()),
                turn: Some(index),
                folded,
            };
            match messages.last_mut() {
                Some(last)
                    if !fixed(index)
                        && !last.turn.is_some_and(&fixed)
                        && self.merges(last, &message) =>
                {
                    last.take(message);
                }
                _ => messages.push(message),
            }
        }
        if !self.greeting {
            let first = messages
                .iter()
                .position(|message| message.role != PromptRole::System);
            if let Some(first) =
                first.filter(|first| messages[*first].role == PromptRole::Character)
            {
                messages.insert(
                    first,
                    TemplateMessage {
                        role: PromptRole::User,
                        parts: None,
                        turn: None,
                        folded: false,
                    },
                );
            }
        }
        messages
    }

    fn merges(&self, last: &TemplateMessage, next: &TemplateMessage) -> bool {
        let system = last.role == PromptRole::System && !self.later_system;
        last.role == next.role && (!self.repeats || system || last.folded || next.folded)
    }
}

impl TemplateMessage {
    fn take(&mut self, next: Self) {
        self.folded = next.folded;
        if let (Some(parts), Some(more)) = (&mut self.parts, next.parts) {
            parts.extend(more);
        }
    }
}
