//! Completions of a command in the composer.

use domain::ChatId;
use domain::chat::Chat;
use domain::slash::{self, Argument, COMMANDS, CommandInfo, Typed};

use crate::api::CommandCompletion;
use crate::base::error::ApiResult;
use crate::turn::slash::Slash;
use crate::turn::slash::run::{FORMATS, firsts};

/// Maximum number of completions.
const MOST: usize = 40;

impl Slash {
    /// Completions of `text`, best first. A text that is no command has none.
    pub(crate) async fn complete_command(
        &self,
        chat: ChatId,
        text: String,
    ) -> ApiResult<Vec<CommandCompletion>> {
        let Some(begun) = text
            .strip_prefix('/')
            .filter(|begun| !begun.starts_with('/'))
        else {
            return Ok(Vec::new());
        };
        let Some((name, argument)) = begun.split_once(char::is_whitespace) else {
            return Ok(commands(begun));
        };
        let known = match slash::read(&text) {
            Typed::Command(_) => slash::command(name),
            Typed::Message(_) => None,
        };
        let Some(info) = known else {
            return Ok(Vec::new());
        };
        let chat = self.library().chat_lookup.chat(chat).await?;
        Ok(arguments(
            info,
            argument.trim_start(),
            self.choices(&chat, info.argument).await?,
        ))
    }

    async fn choices(&self, chat: &Chat, argument: Argument) -> ApiResult<Vec<String>> {
        Ok(match argument {
            Argument::None | Argument::Text => Vec::new(),
            Argument::Mode => self.mode_names().await?,
            Argument::Persona => firsts(self.persona_names().await?),
            Argument::Model => firsts(self.model_names().await?),
            Argument::Template => firsts(self.template_names().await?),
            Argument::Speaker => {
                let quoted = |name: String| {
                    if name.contains(char::is_whitespace) {
                        format!("\"{name}\"")
                    } else {
                        name
                    }
                };
                self.participants(chat)
                    .await?
                    .into_iter()
                    .map(|(name, _)| quoted(name))
                    .collect()
            }
            Argument::Format => FORMATS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            Argument::Command => COMMANDS.iter().map(|info| info.name.to_owned()).collect(),
        })
    }
}

/// The commands that begin with `begun`. One that takes an argument ends in a space.
fn commands(begun: &str) -> Vec<CommandCompletion> {
    let begun = begun.to_lowercase();
    let fits = |info: &&CommandInfo| info.name.starts_with(&begun);
    let row = |info: &CommandInfo| CommandCompletion {
        text: match info.argument {
            Argument::None => format!("/{}", info.name),
            _ => format!("/{} ", info.name),
        },
        name: info.name.to_owned(),
        usage: info.usage.to_owned(),
        help: info.help.to_owned(),
    };
    let is_typed = |info: &&CommandInfo| info.argument == Argument::None && info.name == begun;
    COMMANDS
        .iter()
        .filter(fits)
        .filter(|info| !is_typed(info))
        .map(row)
        .collect()
}

fn arguments(info: &CommandInfo, begun: &str, choices: Vec<String>) -> Vec<CommandCompletion> {
    let folded = begun.trim_start_matches('"').to_lowercase();
    let plain = |choice: &str| choice.trim_matches('"').to_lowercase();
    let after = if info.argument == Argument::Speaker {
        " "
    } else {
        ""
    };
    let mut found: Vec<(usize, String)> = choices
        .into_iter()
        .filter(|choice| choice != begun)
        .filter_map(|choice| plain(&choice).find(&folded).map(|at| (at.min(1), choice)))
        .collect();
    found.sort_by_key(|(at, _)| *at);
    let row = |(_, choice): (usize, String)| CommandCompletion {
        text: format!("/{} {choice}{after}", info.name),
        name: info.name.to_owned(),
        usage: String::new(),
        help: String::new(),
    };
    found.into_iter().take(MOST).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(completions: Vec<CommandCompletion>) -> Vec<String> {
        completions.into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn completes_names_of_commands() {
        assert_eq!(texts(commands("mo")), ["/mode ", "/model "]);
        assert_eq!(texts(commands("MODE")), ["/mode ", "/model "]);
        assert_eq!(texts(commands("im")), ["/impersonate"]);
        assert!(commands("impersonate").is_empty());
        assert!(commands("teleport").is_empty());
        assert_eq!(commands("").len(), COMMANDS.len());
    }

    #[test]
    fn completes_arguments_by_their_start_or_a_part() {
        let names = || ["Ann", "\"Mary Ann\"", "Bo"].map(str::to_owned).into();
        let speakers = slash::command("as").unwrap();
        assert_eq!(
            texts(arguments(speakers, "an", names())),
            ["/as Ann ", "/as \"Mary Ann\" "]
        );
        assert_eq!(
            texts(arguments(speakers, "\"mary a", names())),
            ["/as \"Mary Ann\" "]
        );
        let modes = slash::command("mode").unwrap();
        assert!(arguments(modes, "Bo", names()).is_empty());
    }
}
