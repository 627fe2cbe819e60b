//! Commands that store a message without a reply: `/narrate`, `/sys`, `/sendas`, `/roll`.

use context::macros::MacroState;
use domain::chat::{Chat, Role, Speaker, SwipeState};
use domain::dice::DiceFormula;
use domain::regex_script::ScriptTarget;
use domain::slash::CommandInfo;
use domain::{MessageId, SwipeId};
use store::{NewMessage, NewSwipe};
use uuid::Uuid;

use crate::api::{Message, RefusalCode};
use crate::base::error::{ApiResult, bad_input};
use crate::library::snapshots::macro_variables;
use crate::turn::slash::Slash;
use crate::turn::slash::halt::{Halt, argument_missing, refused};

impl Slash {
    /// Appends a message that the user wrote in the role of another. Macros are expanded once, now.
    ///
    /// # Errors
    /// `Busy` while a reply is being written in the chat.
    pub(crate) async fn add_message(
        &self,
        chat: &Chat,
        role: Role,
        speaker: Option<Speaker>,
        text: &str,
    ) -> ApiResult<Message> {
        crate::turn::sending::send::check(text, false)?;
        let _reservation = self.base().running().begin(chat.id)?;
        let snapshot = self.library().snapshots.snapshot(chat.clone()).await?;
        let before = snapshot.variables.clone();
        let mut after: MacroState = before.clone();
        let text = self
            .inputs()
            .resolve(
                &snapshot,
                text.to_owned(),
                ScriptTarget::SlashCommand,
                &mut after,
            )
            .await?;
        if text.trim().is_empty() {
            return Err(bad_input(
                "The text is empty after its macros.",
                "Write something.",
            ));
        }
        let now = self.base().now();
        let id = MessageId(Uuid::now_v7());
        let swipe = NewSwipe {
            id: SwipeId(Uuid::now_v7()),
            text,
            state: SwipeState::Finished,
            created: now,
            model: None,
        };
        let new = NewMessage {
            id,
            chat: chat.id,
            role,
            created: now,
            swipes: vec![swipe],
            selected: 0,
            context_block: None,
        };
        let row = chat.clone();
        let write = self.base().store().write(move |store| {
            macro_variables::keep(store, &row, &before, &after)?;
            store.messages_mut().append(&new)?;
            speaker.map_or(Ok(()), |speaker| {
                store.groups_mut().set_speaker(id, &speaker)
            })
        });
        write.await?;
        self.library().chat_lookup.messages_changed(chat.id);
        self.library().chats.shown_message(id).await
    }

    /// Rolls the dice at the start of `arguments` and stores the result, with the rest of the text.
    pub(crate) async fn roll_dice(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        arguments: &str,
        draw: impl FnMut(u64) -> u64,
    ) -> Result<Message, Halt> {
        if arguments.is_empty() {
            return Err(argument_missing(info));
        }
        let Some((formula, dice, why)) = leading_dice(arguments) else {
            let message = format!(
                "\"{arguments}\" is no dice formula. Write one such as 2d6+1, d20 or 4d6kh3."
            );
            return Err(refused(RefusalCode::BadDice, info.name, arguments, message));
        };
        let persona = self.library().personas.persona_in(chat).await?.name;
        let why = if why.is_empty() {
            String::new()
        } else {
            format!(" – {why}")
        };
        let text = format!("{persona}: {formula} = {}{why}", dice.roll(draw));
        Ok(self.add_message(chat, Role::Event, None, &text).await?)
    }
}

/// The longest formula at the start of the text, which may contain spaces, and the rest.
fn leading_dice(text: &str) -> Option<(&str, DiceFormula, &str)> {
    let ends = text
        .char_indices()
        .filter(|(_, letter)| letter.is_whitespace())
        .map(|(at, _)| at);
    // A formula is short, so only the first words are tried.
    let mut ends: Vec<usize> = ends.take(20).collect();
    if ends.len() < 20 {
        ends.push(text.len());
    }
    ends.into_iter().rev().find_map(|end| {
        let formula = Some(text[..end].trim()).filter(|formula| is_joined(formula))?;
        Some((formula, DiceFormula::parse(formula)?, text[end..].trim()))
    })
}

/// Whether an operator stands at every space: `2d6 + 1` is one formula, `2d6 7` is not.
fn is_joined(formula: &str) -> bool {
    let words: Vec<&str> = formula.split_whitespace().collect();
    words
        .windows(2)
        .all(|pair| pair[0].ends_with(['+', '-']) || pair[1].starts_with(['+', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_ends_where_the_words_begin() {
        let parts = |text| leading_dice(text).map(|(formula, _, why)| (formula, why));
        assert_eq!(parts("2d6 + 1 to climb"), Some(("2d6 + 1", "to climb")));
        assert_eq!(parts("d20"), Some(("d20", "")));
        assert_eq!(parts("luck d20"), None);
        assert_eq!(parts("2d6 7"), Some(("2d6", "7")));
    }
}
