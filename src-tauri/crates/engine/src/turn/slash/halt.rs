//! The ways in which a command ends without an effect.

use domain::slash::{COMMANDS, CommandInfo, similar};

use crate::api::{ApiError, CommandOutcome, CommandRefusal, RefusalCode};
use crate::base::error::ApiResult;

/// A refusal, which the user can correct in the composer, or an error.
pub(crate) enum Halt {
    Refused(CommandRefusal),
    Failed(ApiError),
}

impl<E: Into<ApiError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A refusal is a result, so that the text stays in the composer.
pub(crate) fn outcome(ran: Result<CommandOutcome, Halt>) -> ApiResult<CommandOutcome> {
    match ran {
        Ok(outcome) => Ok(outcome),
        Err(Halt::Refused(refusal)) => Ok(CommandOutcome::Refused { refusal }),
        Err(Halt::Failed(error)) => Err(error),
    }
}

pub(crate) fn refused(code: RefusalCode, command: &str, value: &str, message: String) -> Halt {
    let command = command.to_owned();
    let value = value.to_owned();
    Halt::Refused(CommandRefusal {
        code,
        command,
        value,
        near: Vec::new(),
        message,
    })
}

pub(crate) fn unknown_command(name: &str) -> Halt {
    let near: Vec<String> = similar(name, COMMANDS.iter().map(|info| info.name))
        .into_iter()
        .map(str::to_owned)
        .collect();
    let meant = if near.is_empty() {
        String::new()
    } else {
        format!(" Did you mean /{}?", near.join(" or /"))
    };
    let message = format!("There is no command /{name}.{meant} To send it as text, start with //.");
    let command = name.to_owned();
    let value = name.to_owned();
    Halt::Refused(CommandRefusal {
        code: RefusalCode::UnknownCommand,
        command,
        value,
        near,
        message,
    })
}

/// The command needs an argument.
pub(crate) fn argument_missing(info: &CommandInfo) -> Halt {
    let message = format!("Something is missing. Write /{} {}.", info.name, info.usage);
    refused(RefusalCode::ArgumentMissing, info.name, info.usage, message)
}

pub(crate) fn no_reply(info: &CommandInfo) -> Halt {
    refused(
        RefusalCode::NoReply,
        info.name,
        "",
        "The last message is not a reply. Send a message first.".to_owned(),
    )
}

pub(crate) fn no_message(info: &CommandInfo) -> Halt {
    refused(
        RefusalCode::NoMessage,
        info.name,
        "",
        "The chat has no message. Send one first.".to_owned(),
    )
}
