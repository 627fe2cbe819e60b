//! Runs a text from the composer: sends it, or runs its command.

use domain::ChatId;
use domain::chat::{Chat, Role};
use domain::slash::{self, COMMANDS, CommandInfo, SlashCommand, Typed, TypedCommand};

use crate::api::{
    ChatFileFormat, CommandHelp, CommandOutcome, CommandSetting, Picture, RefusalCode,
    RegenerateOptions, TurnOptions,
};
use crate::base::error::ApiResult;
use crate::base::random::random_below;
use crate::base::records::convert;
use crate::turn::assembly::hint;
use crate::turn::slash::Slash;
use crate::turn::slash::choose::choose;
use crate::turn::slash::halt::{
    self, Halt, argument_missing, no_message, no_reply, refused, unknown_command,
};
use crate::turn::slash::speakers::Participant;

/// Maximum number of messages that one command hides or shows.
const MAX_HIDDEN: u32 = 200;
/// The argument that removes a text.
pub(super) const NOTHING: &str = "-";

/// Formats for `/export`, with the names that users write.
pub(crate) const FORMATS: [(&str, ChatFileFormat); 4] = [
    ("markdown", ChatFileFormat::Markdown),
    ("html", ChatFileFormat::Html),
    ("text", ChatFileFormat::Text),
    ("jsonl", ChatFileFormat::Jsonl),
];

impl Slash {
    /// Sends `text`, or runs it if it is a slash command. `pictures` belong to a message and stay
    /// with the composer if it is a command.
    pub(crate) async fn run_command(
        &self,
        chat: ChatId,
        text: String,
        pictures: Vec<Picture>,
    ) -> ApiResult<CommandOutcome> {
        self.run_command_with(
            chat,
            text,
            TurnOptions {
                pictures,
                ..TurnOptions::default()
            },
        )
        .await
    }

    /// Works like [`Self::run_command`], with options for a message that is sent.
    ///
    /// # Errors
    /// The errors of [`Sending::send_with`](crate::turn::sending::Sending::send_with) and of the
    /// operations behind the commands. A command that cannot run as typed is no error but
    /// [`CommandOutcome::Refused`].
    pub(crate) async fn run_command_with(
        &self,
        chat: ChatId,
        text: String,
        options: TurnOptions,
    ) -> ApiResult<CommandOutcome> {
        let typed = match slash::read(&text) {
            Typed::Message(message) => {
                let started = self
                    .sending()
                    .send_with(chat, message.to_owned(), options)
                    .await?;
                return Ok(CommandOutcome::Started { started });
            }
            Typed::Command(typed) => typed,
        };
        let chat = self.library().chat_lookup.chat(chat).await?;
        if slash::command(typed.name).is_some_and(|info| info.command == SlashCommand::Impersonate)
        {
            // The model writes into the composer. Only the command itself makes room there.
            self.clear_draft(&chat, &text).await?;
        }
        let ran = halt::outcome(self.run(&chat, typed).await)?;
        if !matches!(
            ran,
            CommandOutcome::Refused { .. } | CommandOutcome::Drafting
        ) {
            self.clear_draft(&chat, &text).await?;
        }
        Ok(ran)
    }

    /// Removes the command from the stored draft. A text that was typed meanwhile stays.
    async fn clear_draft(&self, chat: &Chat, text: &str) -> ApiResult<()> {
        let chat = self.library().chat_lookup.chat(chat.id).await?;
        if !chat.draft.is_empty() && chat.draft.trim() == text.trim() {
            self.library()
                .chats
                .keep_draft(chat.id, String::new())
                .await
        } else {
            Ok(())
        }
    }

    async fn run(&self, chat: &Chat, typed: TypedCommand<'_>) -> Result<CommandOutcome, Halt> {
        let Some(info) = slash::command(typed.name) else {
            return Err(unknown_command(typed.name));
        };
        let id = chat.id;
        let text = typed.arguments;
        match info.command {
            SlashCommand::Continue => Ok(CommandOutcome::Started {
                started: self.sending().continue_reply(id).await?,
            }),
            SlashCommand::Regenerate => {
                let wanted = RegenerateOptions {
                    hint: hint::typed(text),
                    model: None,
                };
                Ok(CommandOutcome::Started {
                    started: self.sending().regenerate_with(id, wanted).await?,
                })
            }
            SlashCommand::Swipe => self.swipe(info, chat, text).await,
            SlashCommand::DeleteSwipe => self.delete_swipe_of_last(info, chat, text).await,
            SlashCommand::Impersonate => {
                self.sending().impersonate(id).await?;
                Ok(CommandOutcome::Drafting)
            }
            SlashCommand::As => self.speak_as(info, chat, text).await,
            SlashCommand::SendAs => self.send_as(info, chat, text).await,
            SlashCommand::Narrate if text.is_empty() => {
                self.call(chat, Participant::Narrator).await
            }
            SlashCommand::Narrate => self.store_as(chat, Participant::Narrator, text).await,
            SlashCommand::Sys => self.event(info, chat, text).await,
            SlashCommand::Roll => {
                let message = self.roll_dice(info, chat, text, random_below).await?;
                Ok(CommandOutcome::Added { message })
            }
            SlashCommand::Scene => self.scene(chat, text).await,
            SlashCommand::Note => self.note(chat, text).await,
            SlashCommand::Mode => self.choose_mode(info, chat, text).await,
            SlashCommand::Persona => self.choose_persona(info, chat, text).await,
            SlashCommand::Model => self.choose_model(info, chat, text).await,
            SlashCommand::Template => self.choose_template(info, chat, text).await,
            SlashCommand::Remember => self.remember_text(info, chat, text).await,
            SlashCommand::Forget => self.forget_text(info, chat, text).await,
            SlashCommand::Branch => self.branch(info, chat, text).await,
            SlashCommand::Checkpoint => self.checkpoint_last(info, chat, text).await,
            SlashCommand::Hide => self.hide(info, chat, text, true).await,
            SlashCommand::Unhide => self.hide(info, chat, text, false).await,
            SlashCommand::Search if text.is_empty() => Err(argument_missing(info)),
            SlashCommand::Search => Ok(CommandOutcome::Search {
                text: text.to_owned(),
            }),
            SlashCommand::Export => export(info, text),
            SlashCommand::Help => help(text),
        }
    }

    /// Selects the swipe with this number. Without a number, the next one; after the last one, a
    /// new one is written.
    async fn swipe(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let id = chat.id;
        let (_, last) = self.inputs().chat_and_last(id).await?;
        let last = last
            .filter(|last| convert::is_reply(last.role))
            .ok_or_else(|| no_reply(info))?;
        let count = last.swipes.len() as u32;
        let index = match number(info, text, count)? {
            Some(wanted) => wanted - 1,
            None if last.selected + 1 >= count => {
                return Ok(CommandOutcome::Started {
                    started: self.sending().regenerate(id).await?,
                });
            }
            None => last.selected + 1,
        };
        let message = self.edits().select_swipe(last.id, index).await?;
        Ok(CommandOutcome::Updated {
            messages: vec![message],
        })
    }

    /// Deletes the swipe of the last reply with this number, or the shown one.
    async fn delete_swipe_of_last(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let (_, last) = self.inputs().chat_and_last(chat.id).await?;
        let last = last
            .filter(|last| convert::is_reply(last.role))
            .ok_or_else(|| no_reply(info))?;
        let wanted = number(info, text, last.swipes.len() as u32)?;
        let index = wanted.map_or(last.selected, |number| number - 1);
        let message = self.edits().delete_swipe(last.id, index).await?;
        Ok(CommandOutcome::Updated {
            messages: vec![message],
        })
    }

    async fn send_as(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let (_, said) =
            slash::named_argument(text, "name").unwrap_or_else(|| slash::leading_word(text));
        if said.is_empty() {
            Err(argument_missing(info))
        } else {
            self.speak_as(info, chat, text).await
        }
    }

    async fn event(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        if text.is_empty() {
            Err(argument_missing(info))
        } else {
            Ok(CommandOutcome::Added {
                message: self.add_message(chat, Role::Event, None, text).await?,
            })
        }
    }

    async fn scene(&self, chat: &Chat, text: &str) -> Result<CommandOutcome, Halt> {
        self.previews().new_scene(chat.id).await?;
        if text.is_empty() {
            Ok(CommandOutcome::Set {
                setting: CommandSetting::Scene,
                value: String::new(),
            })
        } else {
            self.store_as(chat, Participant::Narrator, text).await
        }
    }

    /// Copies the chat into a new one, up to its last message.
    async fn branch(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        let (_, last) = self.inputs().chat_and_last(chat.id).await?;
        let last = last.ok_or_else(|| no_message(info))?;
        let title = Some(text.to_owned()).filter(|title| !title.is_empty());
        let branch = self.edits().branch_chat(last.id, None, title).await?;
        Ok(CommandOutcome::Opened {
            chat: branch.id,
            title: branch.title,
        })
    }

    async fn checkpoint_last(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        if text.is_empty() {
            return Err(argument_missing(info));
        }
        let (_, last) = self.inputs().chat_and_last(chat.id).await?;
        let last = last.ok_or_else(|| no_message(info))?;
        let value = if text == NOTHING {
            String::new()
        } else {
            text.to_owned()
        };
        let name = Some(value.clone()).filter(|name| !name.is_empty());
        self.library().chats.set_checkpoint(last.id, name).await?;
        Ok(CommandOutcome::Set {
            setting: CommandSetting::Checkpoint,
            value,
        })
    }

    /// Hides the last messages from the model, or sends them again. Messages that are hidden, or
    /// not, already are counted too.
    async fn hide(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
        hidden: bool,
    ) -> Result<CommandOutcome, Halt> {
        let count = number(info, text, MAX_HIDDEN)?.unwrap_or(1);
        let id = chat.id;
        let last = self
            .base()
            .store()
            .read(move |store| store.messages().page(id, None, count))
            .await?;
        let mut messages = Vec::new();
        for message in last.into_iter().filter(|message| message.hidden != hidden) {
            messages.push(self.edits().hide_message(message.id, hidden).await?);
        }
        Ok(CommandOutcome::Updated { messages })
    }
}

/// A number from 1 to `most`; `None` without a text.
fn number(info: &CommandInfo, text: &str, most: u32) -> Result<Option<u32>, Halt> {
    if text.is_empty() {
        return Ok(None);
    }
    let read = text
        .parse::<u32>()
        .ok()
        .filter(|number| (1..=most).contains(number));
    let wrong = || format!("\"{text}\" is not possible. Write a number from 1 to {most}.");
    read.map(Some)
        .ok_or_else(|| refused(RefusalCode::BadNumber, info.name, text, wrong()))
}

fn export(info: &CommandInfo, text: &str) -> Result<CommandOutcome, Halt> {
    if text.is_empty() {
        return Ok(CommandOutcome::Export {
            format: FORMATS[0].1,
        });
    }
    let formats = FORMATS
        .iter()
        .map(|(name, format)| ((*name).to_owned(), *format))
        .collect();
    Ok(CommandOutcome::Export {
        format: choose(info, text, formats)?.1,
    })
}

fn help(text: &str) -> Result<CommandOutcome, Halt> {
    let wanted = text.trim_start_matches('/');
    let shown: Vec<&CommandInfo> = match wanted {
        "" => COMMANDS.iter().collect(),
        name => vec![slash::command(name).ok_or_else(|| unknown_command(name))?],
    };
    let row = |info: &CommandInfo| CommandHelp {
        name: info.name.to_owned(),
        usage: info.usage.to_owned(),
        help: info.help.to_owned(),
    };
    Ok(CommandOutcome::Help {
        commands: shown.into_iter().map(row).collect(),
    })
}

pub(super) fn firsts<T>(items: Vec<(String, T)>) -> Vec<String> {
    items.into_iter().map(|(name, _)| name).collect()
}
