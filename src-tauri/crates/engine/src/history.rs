//! The messages of a turn: which of them it may send, and what they say there.

use std::collections::HashMap;

use context::frame::HistoryMessage;
use context::frozen;
use context::regex_script::{Channel, Occasion};
use domain::MessageId;
use domain::chat::{Picture, Role};
use domain::regex_script::Placement;
use store::{Preset, WindowMessage};

use crate::Engine;
use crate::collect::{Collected, placement};
use crate::convert::{self, Speakers};
use crate::error::Answer;
use crate::scripts::Run;
use crate::words::Moment;

const BYTES_A_TOKEN: usize = 8;

impl Engine {
    /// Runs the regex scripts that change what is sent, and not what is stored, over the history. Scripts that ask for the
    /// depth get the exact one under classic placement. Cache-first holds on to what they made of a message when it was first
    /// sent, until a new epoch begins: else the prefix would change in its middle whenever a message gets deep enough.
    /// `own` are the user's scripts.
    pub(crate) async fn rewrite(&self, collected: &mut Collected, own: Vec<Preset>) -> Answer<()> {
        let mut history = std::mem::take(&mut collected.history);
        let words = collected.words();
        let scripts = self.scripts_among(own, collected.chat.character, &words, &collected.variables_before).await?;
        let mut run = Run::new(&scripts, &words, Moment::default());
        let mut state = collected.variables_before.clone();
        let exact = |index: usize| (history.len() - 1 - index) as u32;
        let exact: Vec<u32> = (0..history.len()).map(exact).collect();
        let first = match placement(collected) {
            context::Placement::CacheFirst => frozen::depths(&collected.chat.window.frozen, &history),
            context::Placement::Classic => exact.clone(),
        };
        for (message, (exact, first)) in history.iter_mut().zip(exact.into_iter().zip(first)) {
            let placement = match message.role {
                Role::User => Placement::UserInput,
                _ => Placement::AiOutput,
            };
            let now = Occasion { placement, channel: Channel::Prompt, depth: Some(exact), edited: false };
            let then = Occasion { depth: Some(first), ..now };
            if !scripts.concern(&now) && !scripts.concern(&then) {
                continue;
            }
            if !scripts.alike(&then, &now) {
                message.anew = Some(run.apply(&message.text, now, &mut state.clone()));
            }
            let anew = message.anew.as_ref().is_some_and(|anew| anew.text != message.text);
            match run.rewritten(&message.text, then, &mut state) {
                Some(sent) => {
                    let changed = anew || sent.text != message.text;
                    let said = std::mem::replace(&mut message.text, sent.text);
                    (message.written, message.scripts) = (changed.then_some(said), sent.scripts);
                }
                None => message.written = anew.then(|| message.text.clone()),
            }
            // Patterns can take their time, and somebody may press Stop.
            if run.has_worked() {
                tokio::task::yield_now().await;
            }
        }
        let notices: Vec<String> = scripts.broken().chain(run.notices()).collect();
        collected.notices.extend(notices);
        (collected.history, collected.scripts) = (history, scripts);
        Ok(())
    }
}

pub(crate) fn in_prompt(message: WindowMessage, speakers: &Speakers) -> HistoryMessage {
    HistoryMessage {
        context: message.context_block.as_deref().map(frozen::read),
        pinned: message.pinned,
        importance: message.importance,
        ..HistoryMessage::new(
            message.id,
            message.role,
            speakers.of(message.id, message.role),
            said(message.role, message.text),
            message.created,
        )
    }
}

/// A message's words, as the model reads them again: what it thought is not re-sent (S4.72).
pub(crate) fn said(role: Role, text: String) -> String {
    match convert::is_reply(role) {
        true => crate::chats::first_words(text),
        false => text,
    }
}

/// Of the messages from the anchor on those that this turn may send, for a reply in the place of `until`, or one that `goes_on`
/// right behind its words. A token is rarely more than [`BYTES_A_TOKEN`] bytes: what is further back than `limit` tokens cannot
/// be in the window, and of ten years of chat not all has to be counted to know it.
pub(crate) fn near(
    messages: Vec<WindowMessage>,
    pictures: &HashMap<MessageId, Vec<Picture>>,
    until: Option<MessageId>,
    goes_on: bool,
    limit: u32,
) -> Vec<WindowMessage> {
    let mut history: Vec<WindowMessage> =
        messages.into_iter().take_while(|message| Some(message.id) != until).collect();
    if let Some(open) = history.last_mut().filter(|last| goes_on && last.role == Role::Character) {
        open.tool_calls.clear();
    }
    history.retain(|message| {
        let silent = message.text.trim().is_empty() && message.tool_calls.is_empty();
        !silent || pictures.contains_key(&message.id)
    });
    let mut room = limit as usize * BYTES_A_TOKEN;
    let near = history.iter().rev().take_while(|message| {
        let left = room.checked_sub(message.text.len());
        room = left.unwrap_or(0);
        left.is_some()
    });
    let kept = near.count().max(1).min(history.len());
    history.drain(..history.len() - kept);
    history
}
