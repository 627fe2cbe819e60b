//! Shows the results of slash commands in `nook chat`.

use engine::api::{ChatFileFormat, CommandHelp, CommandOutcome, CommandSetting, Message};

use crate::failure::{CommandError, ErrorReason};
use crate::verbs::chat::turn::{Talk, TurnOutcome};
use crate::verbs::library::shown;

/// Shows the result of a command that starts no reply.
pub(crate) async fn show(
    talk: &Talk<'_>,
    outcome: CommandOutcome,
) -> Result<TurnOutcome, CommandError> {
    if let CommandOutcome::Refused { refusal } = &outcome {
        let kind = "badInput".to_owned();
        let message = refusal.message.clone();
        return Ok(TurnOutcome::Failed(ErrorReason { kind, message }));
    }
    talk.out.event(&outcome)?;
    let text = match outcome {
        CommandOutcome::Added { message } => line(&message),
        CommandOutcome::Updated { messages } => match messages.as_slice() {
            [] => "Nothing changed.".to_owned(),
            messages => messages.iter().map(line).collect::<Vec<_>>().join("\n"),
        },
        CommandOutcome::Set { setting, value } => set(setting, &value),
        CommandOutcome::Shown {
            setting,
            value,
            choices,
        } => {
            let chosen = if value.is_empty() {
                "none".to_owned()
            } else {
                value
            };
            let listed = choices
                .iter()
                .map(|choice| format!("\n  {choice}"))
                .collect::<String>();
            format!("{}: {chosen}{listed}", name(setting))
        }
        CommandOutcome::Memorized => "Done.".to_owned(),
        CommandOutcome::Search { text } => return search(talk, text).await,
        CommandOutcome::Export { format } => return export(talk, format).await,
        CommandOutcome::Opened { chat, title } => format!("New chat: {title}\n{chat}"),
        CommandOutcome::Insert { text } => text,
        CommandOutcome::Help { commands } => {
            commands.iter().map(help).collect::<Vec<_>>().join("\n")
        }
        CommandOutcome::Started { .. }
        | CommandOutcome::Drafting
        | CommandOutcome::Refused { .. } => String::new(),
    };
    talk.out.print(&text)?;
    Ok(TurnOutcome::Finished)
}

async fn search(talk: &Talk<'_>, text: String) -> Result<TurnOutcome, CommandError> {
    let found = talk
        .engine
        .search_messages(text, Some(talk.chat), 0)
        .await?;
    if found.hits.is_empty() {
        talk.out.print("No message matches.")?;
    }
    for hit in &found.hits {
        let excerpt: String = hit.excerpt.iter().map(|part| part.text.as_str()).collect();
        talk.out.print(&format!(
            "{}: {excerpt}",
            hit.name.as_deref().unwrap_or("You")
        ))?;
    }
    Ok(TurnOutcome::Finished)
}

/// Writes the chat to a new file in the working folder.
async fn export(talk: &Talk<'_>, format: ChatFileFormat) -> Result<TurnOutcome, CommandError> {
    let file = talk.engine.export_chat(talk.chat, format).await?;
    let written = std::fs::File::create_new(&file.file_name)
        .and_then(|mut opened| std::io::Write::write_all(&mut opened, &file.bytes));
    written.map_err(|error| {
        CommandError::because(
            "badInput",
            format!("cannot write {}: {error}", file.file_name),
        )
    })?;
    talk.out
        .print(&format!("Exported to {}.", file.file_name))?;
    Ok(TurnOutcome::Finished)
}

fn line(message: &Message) -> String {
    if message.name.is_empty() {
        shown(message).to_owned()
    } else {
        format!("{}: {}", message.name, shown(message))
    }
}

fn help(command: &CommandHelp) -> String {
    let call = format!("/{} {}", command.name, command.usage);
    format!("{:<22} {}", call.trim_end(), command.help)
}

fn set(setting: CommandSetting, value: &str) -> String {
    match (setting, value) {
        (CommandSetting::Scene, _) => "A new scene begins.".to_owned(),
        (_, "") => format!("{}: none", name(setting)),
        (_, value) => format!("{}: {value}", name(setting)),
    }
}

fn name(setting: CommandSetting) -> &'static str {
    match setting {
        CommandSetting::Mode => "Mode",
        CommandSetting::Persona => "Persona",
        CommandSetting::Model => "Model",
        CommandSetting::Template => "Template",
        CommandSetting::Note => "Author's note",
        CommandSetting::Scene => "Scene",
        CommandSetting::Checkpoint => "Checkpoint",
    }
}
