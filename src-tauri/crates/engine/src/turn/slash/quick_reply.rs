//! Runs quick replies: a text is sent, and commands run like those that the user types.

use domain::ChatId;
use domain::chat::Chat;
use domain::quick_reply::{QuickReplyAction, UnsupportedLine, fill};
use domain::slash::{self, Typed};

use crate::api::{CommandOutcome, Event, QuickReplyRun, TurnOptions};
use crate::base::error::{ApiResult, bad_input, not_found, without_content};
use crate::library::quick_replies::automatic::Moment;
use crate::library::quick_replies::sets::ActiveQuickReplies;
use crate::turn::slash::Slash;

impl Slash {
    /// Runs the quick reply at `index` of a set that the chat shows. `typed` is the text in the
    /// composer, which some quick replies include.
    ///
    /// # Errors
    /// `BadInput` if its script is not supported or the chat does not show the set. The errors of
    /// [`Self::run_command_with`].
    pub(crate) async fn run_quick_reply(
        &self,
        chat: ChatId,
        set: String,
        index: u32,
        typed: String,
    ) -> ApiResult<QuickReplyRun> {
        let row = self.library().chat_lookup.chat(chat).await?;
        let active = self.library().quick_replies.active_set(&row, &set).await?;
        let reply = active
            .set
            .replies
            .get(index as usize)
            .ok_or_else(|| not_found("quick reply"))?;
        match reply.action() {
            QuickReplyAction::Text(message) => {
                self.send_quick_reply(&row, &active, message, &typed).await
            }
            QuickReplyAction::Commands(commands) => self.run_all(chat, &commands, &typed).await,
            QuickReplyAction::Unsupported(UnsupportedLine { line, text }) => Err(bad_input(
                format!("Not supported in line {line}: {text}"),
                "Quick replies can send a text or run the commands that /help lists.",
            )),
        }
    }

    async fn send_quick_reply(
        &self,
        chat: &Chat,
        active: &ActiveQuickReplies,
        message: &str,
        typed: &str,
    ) -> ApiResult<QuickReplyRun> {
        let (text, used_text) = active.set.text(message, typed);
        if active.set.only_inserts {
            return Ok(QuickReplyRun {
                outcomes: vec![CommandOutcome::Insert { text }],
                used_text,
            });
        }
        // The text in the composer may have made a command of it.
        if let Typed::Command(_) = slash::read(&text) {
            let outcome = self
                .run_command_with(chat.id, text, TurnOptions::default())
                .await?;
            return Ok(QuickReplyRun {
                outcomes: vec![outcome],
                used_text,
            });
        }
        let started = self
            .sending()
            .send_with(chat.id, text, TurnOptions::default())
            .await?;
        // Sending clears the stored draft, but the text in the composer was not sent.
        if !used_text && !typed.is_empty() {
            self.library()
                .chats
                .keep_draft(chat.id, typed.to_owned())
                .await?;
        }
        Ok(QuickReplyRun {
            outcomes: vec![CommandOutcome::Started { started }],
            used_text,
        })
    }

    async fn run_all(
        &self,
        chat: ChatId,
        commands: &[&str],
        typed: &str,
    ) -> ApiResult<QuickReplyRun> {
        let mut outcomes = Vec::new();
        let mut used_text = false;
        // The composer may not have stored its text yet, and a command must not write over it.
        if !typed.trim().is_empty() {
            self.library()
                .chats
                .keep_draft(chat, typed.to_owned())
                .await?;
        }
        for command in commands {
            let (command, used) = fill(command, typed);
            let outcome = self
                .run_command_with(chat, command, TurnOptions::default())
                .await?;
            used_text |= used;
            let ends = matches!(outcome, CommandOutcome::Refused { .. });
            outcomes.push(outcome);
            if ends {
                break;
            }
        }
        Ok(QuickReplyRun {
            outcomes,
            used_text,
        })
    }

    /// Runs the quick replies of a chat that was opened, as far as the user allowed it.
    pub(crate) async fn run_opening_quick_replies(&self, chat: ChatId) -> ApiResult<()> {
        let chat = self.library().chat_lookup.chat(chat).await?;
        self.run_automatic(&chat, Moment::Opened).await
    }

    /// Runs the quick replies for `moment`, and announces each outcome. A failure of one does not
    /// stop the next one.
    pub(crate) async fn run_automatic(&self, chat: &Chat, moment: Moment) -> ApiResult<()> {
        let id = chat.id;
        for reply in self.library().quick_replies.automatic(chat, moment).await? {
            let QuickReplyAction::Commands(commands) = reply.action() else {
                continue;
            };
            let outcomes = match Box::pin(self.run_all(id, &commands, "")).await {
                Ok(run) => run.outcomes,
                Err(error) => {
                    tracing::warn!(
                        error = without_content(&error),
                        "a quick reply could not run by itself"
                    );
                    continue;
                }
            };
            let event = Event::QuickReplyRan {
                chat: id,
                label: reply.label.clone(),
                outcomes,
            };
            self.base().events().announce(event);
        }
        Ok(())
    }
}
