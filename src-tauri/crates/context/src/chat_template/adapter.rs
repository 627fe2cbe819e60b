//! What a template refuses, found out once, and how a chat is put so that it does not (S3.6).
//!
//! - No system role: its words go in front of the first words of the user, as a paragraph of their own.
//! - No system turn in mid-chat: its words become the user's.
//! - Speakers must alternate: neighbours of one role become one turn, with a blank line between.
//! - The user must be first, but the character greets: a short neutral turn of the user is put in front. The greeting stays
//!   what it is, a turn of the character; as part of the system's words it would no longer show the model how to write.
//! - Contents must be lists of parts: they are.
//! - Tools must be a list: they are an empty one. Else there are none.

use domain::prompt::PromptRole;

use super::Turn;

/// What the user says in front of a greeting, where a template wants the user first.
pub(super) const OPENING: &str = "[The chat begins.]";

/// What a template takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) system: bool,
    pub(super) later_system: bool,
    pub(super) repeats: bool,
    pub(super) greeting: bool,
    pub(super) wants: Wants,
}

/// How a template wants what it is given, beside the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Wants {
    /// Contents as lists of parts.
    pub(super) typed: bool,
    /// No tools as an empty list.
    pub(super) lists_tools: bool,
}

/// A message as the template gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) role: PromptRole,
    /// None for [`OPENING`].
    pub(super) parts: Option<Vec<usize>>,
    /// Words of the system in the user's mouth.
    folded: bool,
}

impl Wants {
    pub(super) const PLAIN: Self = Self { typed: false, lists_tools: false };
    /// From the most usual on.
    const ALL: [Self; 4] = [
        Self::PLAIN,
        Self { typed: true, lists_tools: false },
        Self { typed: false, lists_tools: true },
        Self { typed: true, lists_tools: true },
    ];
}

impl Shape {
    /// What every template takes.
    pub(super) const STRICT: Self =
        Self { system: false, later_system: false, repeats: false, greeting: false, wants: Wants::PLAIN };

    /// What templates without opinions take.
    pub(super) const FREE: Self =
        Self { system: true, later_system: true, repeats: true, greeting: true, wants: Wants::PLAIN };

    /// Finds out what a template takes. `takes` says whether it renders a chat of these roles with nothing lost.
    pub(super) fn probe(mut takes: impl FnMut(&[PromptRole], Wants) -> bool) -> Self {
        use PromptRole::{Character as C, System as S, User as U};
        let wants = Wants::ALL.into_iter().find(|wants| takes(&[U], *wants)).unwrap_or_default();
        let mut takes = |roles: &[PromptRole]| takes(roles, wants);
        // Some put the system's words in front of the last turn of the user: nothing of that prompt could be kept.
        let system = takes(&[S, U]) && takes(&[S, U, C, U]);
        let greeting = if system { takes(&[S, C, U]) } else { takes(&[C, U]) };
        Self {
            system,
            later_system: system && takes(&[S, U, C, S, U]) && takes(&[S, S, U]),
            repeats: takes(&[U, U, C, C, U]),
            greeting,
            wants,
        }
    }

    /// The chat as the template takes it.
    pub(super) fn adapt(&self, turns: &[Turn]) -> Vec<Message> {
        let head = turns.iter().take_while(|turn| turn.role == PromptRole::System).count();
        let mut messages: Vec<Message> = Vec::with_capacity(turns.len() + 1);
        for (index, turn) in turns.iter().enumerate() {
            let takes = if index < head { self.system } else { self.later_system };
            let folded = turn.role == PromptRole::System && !takes;
            let role = if folded { PromptRole::User } else { turn.role };
            let message = Message { role, parts: Some(turn.parts.clone()), folded };
            match messages.last_mut() {
                Some(last) if self.merges(last, &message) => last.take(message),
                _ => messages.push(message),
            }
        }
        if !self.greeting {
            let first = messages.iter().position(|message| message.role != PromptRole::System);
            if let Some(first) = first.filter(|first| messages[*first].role == PromptRole::Character) {
                messages.insert(first, Message { role: PromptRole::User, parts: None, folded: false });
            }
        }
        messages
    }

    fn merges(&self, last: &Message, next: &Message) -> bool {
        let system = last.role == PromptRole::System && !self.later_system;
        last.role == next.role && (!self.repeats || system || last.folded || next.folded)
    }
}

impl Message {
    fn take(&mut self, next: Self) {
        self.folded = next.folded;
        if let (Some(parts), Some(more)) = (&mut self.parts, next.parts) {
            parts.extend(more);
        }
    }
}
