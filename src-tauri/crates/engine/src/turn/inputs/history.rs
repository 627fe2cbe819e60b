//! Selects the messages that a turn may send, and prepares their text for the prompt.

use std::collections::HashMap;

use context::frame::HistoryMessage;
use context::frozen;
use context::regex_script::{Channel, ScriptContext};
use domain::chat::{Picture, Role};
use domain::regex_script::ScriptTarget;
use domain::{MessageId, ToolRound};
use store::WindowMessage;

use crate::base::error::ApiResult;
use crate::base::records::convert::Speakers;
use crate::library::chats::chat::said;
use crate::library::scripts::run::ScriptRun;
use crate::library::snapshots::macro_scope::MacroMoment;
use crate::turn::inputs::Inputs;
use crate::turn::inputs::turn_inputs::TurnInputs;

const BYTES_A_TOKEN: usize = 8;

impl Inputs {
    /// Applies the regex scripts that change the prompt, but not the stored text, to the history.
    /// Scripts with a depth get the exact depth under classic placement. Cache-first keeps the
    /// result from when a message was first sent, until a new epoch begins. Otherwise the prefix
    /// would change whenever a message becomes deep enough.
    pub(crate) async fn rewrite(&self, inputs: &mut TurnInputs) -> ApiResult<()> {
        let mut history = std::mem::take(&mut inputs.history);
        let words = inputs.snapshot.macro_names();
        let scripts = self
            .library()
            .scripts
            .scripts_in(&inputs.snapshot, &inputs.snapshot.variables);
        let mut run = ScriptRun::new(&scripts, &words, MacroMoment::default());
        let mut state = inputs.snapshot.variables.clone();
        let exact = depths(&history);
        let first = match inputs.placement() {
            context::Placement::CacheFirst => {
                frozen::depths(&inputs.snapshot.chat.window.frozen, &history)
            }
            context::Placement::Classic => exact.clone(),
        };
        for (message, (exact, first)) in history.iter_mut().zip(exact.into_iter().zip(first)) {
            let placement = match message.role {
                Role::User => ScriptTarget::UserInput,
                _ => ScriptTarget::AiOutput,
            };
            let now = ScriptContext {
                placement,
                channel: Channel::Prompt,
                depth: Some(exact),
                edited: false,
            };
            let then = ScriptContext {
                depth: Some(first),
                ..now
            };
            if !scripts.concern(&now) && !scripts.concern(&then) {
                continue;
            }
            if !scripts.alike(&then, &now) {
                message.anew = Some(run.apply(&message.text, now, &mut state.clone()));
            }
            let anew = message
                .anew
                .as_ref()
                .is_some_and(|anew| anew.text != message.text);
            match run.rewritten(&message.text, then, &mut state) {
                Some(sent) => {
                    let changed = anew || sent.text != message.text;
                    let said = std::mem::replace(&mut message.text, sent.text);
                    (message.written, message.scripts) = (changed.then_some(said), sent.scripts);
                }
                None => message.written = anew.then(|| message.text.clone()),
            }
            // Patterns can be slow, so let a stop request take effect.
            if run.has_worked() {
                tokio::task::yield_now().await;
            }
        }
        let notices: Vec<String> = scripts.broken().chain(run.notices()).collect();
        inputs.notices.extend(notices);
        (inputs.history, inputs.scripts) = (history, scripts);
        Ok(())
    }
}

/// The depth of each message: the number of messages after it. Events are no messages.
fn depths(history: &[HistoryMessage]) -> Vec<u32> {
    let mut after = 0;
    let mut depths: Vec<u32> = history
        .iter()
        .rev()
        .map(|message| {
            let depth = after;
            after += u32::from(message.role != Role::Event);
            depth
        })
        .collect();
    depths.reverse();
    depths
}

pub(crate) fn in_prompt(message: WindowMessage, speakers: &Speakers) -> HistoryMessage {
    HistoryMessage {
        context: message.context_block.as_deref().map(frozen::read),
        pinned: message.pinned,
        importance: message.importance,
        rounds: message.tool_rounds,
        ..HistoryMessage::new(
            message.id,
            message.role,
            speakers.of(message.id, message.role),
            said(message.role, message.text),
            message.created,
        )
    }
}

/// Filters the messages after the anchor to those that this turn may send. The reply replaces
/// `until`, or continues the last message (`goes_on`). A token rarely has more than
/// [`BYTES_A_TOKEN`] bytes, so messages further back than `limit` tokens are cut without being
/// counted.
pub(crate) fn near(
    messages: Vec<WindowMessage>,
    pictures: &HashMap<MessageId, Vec<Picture>>,
    until: Option<MessageId>,
    goes_on: bool,
    limit: u32,
) -> Vec<WindowMessage> {
    let mut history: Vec<WindowMessage> = messages
        .into_iter()
        .take_while(|message| Some(message.id) != until)
        .collect();
    if let Some(open) = history
        .last_mut()
        .filter(|last| goes_on && last.role == Role::Character)
    {
        open.tool_calls.clear();
    }
    history.retain(|message| {
        let silent = message.text.trim().is_empty()
            && message.tool_calls.is_empty()
            && message.tool_rounds.is_empty();
        !silent || pictures.contains_key(&message.id)
    });
    let mut room = limit as usize * BYTES_A_TOKEN;
    let near = history.iter().rev().take_while(|message| {
        let left = room.checked_sub(message.text.len() + rounds_length(&message.tool_rounds));
        room = left.unwrap_or(0);
        left.is_some()
    });
    let kept = near.count().max(1).min(history.len());
    history.drain(..history.len() - kept);
    history
}

/// Bytes of calls and results.
fn rounds_length(rounds: &[ToolRound]) -> usize {
    let of = |round: &ToolRound| {
        let calls: usize = round
            .calls
            .iter()
            .map(|call| call.arguments.text().len())
            .sum();
        calls
            + round
                .results
                .iter()
                .map(|result| result.text.len())
                .sum::<usize>()
    };
    rounds.iter().map(of).sum()
}
