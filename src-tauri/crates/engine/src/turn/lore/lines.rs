//! The messages that lorebook keys are searched in.

use std::borrow::Cow;

use context::frame::HistoryMessage;
use context::lore::LoreMessage;
use domain::chat::Role;

use crate::base::records::group_events;
use crate::turn::inputs::turn_inputs::TurnInputs;

/// A message, with the events that follow it.
pub(crate) struct LoreLine<'i> {
    name: &'i str,
    text: Cow<'i, str>,
    from_user: bool,
}

impl LoreLine<'_> {
    pub(crate) fn message(&self) -> LoreMessage<'_> {
        LoreMessage {
            name: self.name,
            text: &self.text,
            from_user: self.from_user,
            hidden: false,
        }
    }
}

/// The messages of the window. An event has no place of its own in the scan depth: its text is
/// searched with the message before it. Events about the group itself, such as "(Bo's turn.)", are
/// not searched.
pub(crate) fn of(inputs: &TurnInputs) -> Vec<LoreLine<'_>> {
    lines(&inputs.history, |message| {
        inputs.speakers.others.contains_key(&message.id)
    })
}

fn lines(
    history: &[HistoryMessage],
    calls_upon: impl Fn(&HistoryMessage) -> bool,
) -> Vec<LoreLine<'_>> {
    let mut lines: Vec<LoreLine<'_>> = Vec::with_capacity(history.len());
    for message in history {
        if message.role != Role::Event {
            let name = message.speaker.as_str();
            let from_user = message.role == Role::User;
            lines.push(LoreLine {
                name,
                text: Cow::Borrowed(&message.text),
                from_user,
            });
            continue;
        }
        if calls_upon(message) || !group_events::read(&message.text).is_empty() {
            continue;
        }
        match lines.last_mut() {
            Some(line) => line.text = Cow::Owned(format!("{}\n{}", line.text, message.text)),
            None => lines.push(LoreLine {
                name: "",
                text: Cow::Borrowed(&message.text),
                from_user: false,
            }),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use domain::{MessageId, Timestamp};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn events_take_no_place() {
        let message = |number: u128, role, text: &str| {
            HistoryMessage::new(
                MessageId(Uuid::from_u128(number)),
                role,
                "Bo",
                text,
                Timestamp(0),
            )
        };
        let history = [
            message(1, Role::Event, "A storm rises."),
            message(2, Role::User, "The mine?"),
            message(3, Role::Character, "Yes."),
            message(4, Role::Event, "(Bo's turn.)"),
            message(5, Role::Event, "(Ada joins.)"),
            message(6, Role::Event, "Tom: d20 = 7"),
        ];
        let lines = lines(&history, |message| message.id == history[3].id);
        let texts: Vec<&str> = lines.iter().map(|line| line.message().text).collect();
        assert_eq!(texts, ["A storm rises.", "The mine?", "Yes.\nTom: d20 = 7"]);
    }
}
