//! The tools of the server.

use domain::ChatId;
use engine::api::{
    CharacterSummary, ChatSummary, EndReason, Event, Memory, MemoryFilter, MessageSource,
};
use engine::{Engine, Events, TurnOptions};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::failure::{CommandError, ErrorReason};
use crate::find;
use crate::verbs::chat::with;
use crate::verbs::library::shown;

/// Chats or memories in one answer.
const MAX_ITEMS: usize = 50;

/// The result of a call: text for a model, and the same as data.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) data: Value,
}

pub(super) fn definitions() -> Vec<Tool> {
    vec![
        tool("list_characters", "List the characters, with one line about each.", json!({}), &[])
            .with_annotations(reads()),
        tool(
            "list_chats",
            "List the newest chats, of all characters or of one.",
            json!({ "character": text("Name or id of the character") }),
            &[],
        )
        .with_annotations(reads()),
        tool(
            "chat",
            "Send a message to a character and return the reply. The chat is stored, and the character remembers it.",
            json!({
                "character": text("Name or id of the character"),
                "message": text("What to say"),
                "chat": text("Id of the chat to continue; without it, a new chat starts"),
            }),
            &["character", "message"],
        ),
        tool(
            "search_memory",
            "Search what a character remembers.",
            json!({ "character": text("Name or id of the character"), "query": text("Words to search for; empty lists the newest memories") }),
            &["character"],
        )
        .with_annotations(reads()),
    ]
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn reads() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}

fn tool(name: &'static str, about: &'static str, properties: Value, required: &[&str]) -> Tool {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Tool::new(name, about, schema.as_object().cloned().unwrap_or_default())
}

/// # Errors
/// A reason that the calling model can read.
pub(super) async fn call(
    engine: &Engine,
    tool: &str,
    arguments: &JsonObject,
    cancel: &CancellationToken,
) -> Result<Answer, CommandError> {
    match tool {
        "list_characters" => characters(engine).await,
        "list_chats" => chats(engine, optional(arguments, "character")?).await,
        "chat" => {
            let character = required(arguments, "character")?;
            let message = required(arguments, "message")?;
            chat(
                engine,
                character,
                message,
                optional(arguments, "chat")?,
                cancel,
            )
            .await
        }
        "search_memory" => {
            let query = optional(arguments, "query")?.unwrap_or_default();
            memories(engine, required(arguments, "character")?, query).await
        }
        other => Err(CommandError::not_found(format!(
            "there is no tool named \"{other}\""
        ))),
    }
}

async fn characters(engine: &Engine) -> Result<Answer, CommandError> {
    let all = engine.list_characters().await?;
    let line = |one: &CharacterSummary| format!("{}: {}", one.name, one.tagline);
    let data =
        |one: &CharacterSummary| json!({ "id": one.id, "name": one.name, "about": one.tagline });
    Ok(Answer {
        text: joined(all.iter().map(line), "There are no characters."),
        data: json!({ "characters": all.iter().map(data).collect::<Vec<_>>() }),
    })
}

async fn chats(engine: &Engine, character: Option<&str>) -> Result<Answer, CommandError> {
    let mut all = engine.list_chats().await?;
    if let Some(name) = character {
        let id = find::character(engine, name).await?.id;
        all.retain(|chat| chat.character == id);
    }
    all.sort_by(|one, other| other.updated.cmp(&one.updated));
    all.truncate(MAX_ITEMS);
    let line = |one: &ChatSummary| {
        format!(
            "{} with {}, {} messages, {} (id {})",
            one.title, one.character_name, one.message_count, one.updated, one.id
        )
    };
    let data = |one: &ChatSummary| {
        json!({
            "id": one.id, "title": one.title, "character": one.character_name, "messages": one.message_count,
            "updated": one.updated, "last_line": one.last_line,
        })
    };
    Ok(Answer {
        text: joined(all.iter().map(line), "There are no chats."),
        data: json!({ "chats": all.iter().map(data).collect::<Vec<_>>() }),
    })
}

async fn memories(engine: &Engine, character: &str, query: &str) -> Result<Answer, CommandError> {
    let character = find::character(engine, character).await?.id;
    let found = engine
        .find_memories(character, query.to_owned(), MemoryFilter::default(), 1)
        .await?;
    let found = &found.memories[..found.memories.len().min(MAX_ITEMS)];
    let data = |one: &Memory| json!({ "id": one.id, "text": one.text, "type": one.kind, "importance": one.importance });
    Ok(Answer {
        text: joined(
            found.iter().map(|one| one.text.clone()),
            "Nothing was found.",
        ),
        data: json!({ "memories": found.iter().map(data).collect::<Vec<_>>() }),
    })
}

/// Sends the message as it is: an outside program cannot run slash commands.
async fn chat(
    engine: &Engine,
    character: &str,
    message: &str,
    chat: Option<&str>,
    cancel: &CancellationToken,
) -> Result<Answer, CommandError> {
    let character = find::character(engine, character).await?;
    let chat = match chat {
        Some(chat) => with(engine, chat, character.id).await?,
        None => engine.new_chat(character.id).await?.id,
    };
    // Subscribes first, so that the end of a fast reply is not missed.
    let mut events = engine.subscribe_without_user();
    let options = TurnOptions {
        source: MessageSource::Tool,
        ..TurnOptions::default()
    };
    engine.send_with(chat, message.to_owned(), options).await?;
    let reply = wait_for_reply(engine, chat, &mut events, cancel).await?;
    let text = format!("{reply}\n\n[To continue, pass this chat: {chat}]");
    Ok(Answer {
        text,
        data: json!({ "reply": reply, "chat": chat }),
    })
}

/// The text of the reply, or of all replies in a group.
async fn wait_for_reply(
    engine: &Engine,
    chat: ChatId,
    events: &mut Events,
    cancel: &CancellationToken,
) -> Result<String, CommandError> {
    let mut replies = Vec::new();
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = cancel.cancelled() => {
                engine.stop(chat).await?;
                return Err(CommandError::because("cancelled", "the call was cancelled; the text so far is kept"));
            }
        };
        match event {
            None => return Err(CommandError::because("internal", "the engine stopped")),
            Some(Event::Ended {
                chat: of,
                message,
                reason,
                following,
                ..
            }) if of == chat => {
                replies.extend(message.as_ref().map(|message| shown(message).to_owned()));
                if let EndReason::Failed { error } = &reason {
                    return Err(CommandError::Because(ErrorReason::from(error)));
                }
                if following == 0 {
                    return Ok(replies.join("\n\n"));
                }
            }
            Some(Event::Missed) => {
                let open = engine.open_chat(chat).await?;
                if open.generating.is_none() {
                    let last = open.page.messages.last();
                    return Ok(last.map_or(String::new(), |message| shown(message).to_owned()));
                }
            }
            Some(_) => {}
        }
    }
}

fn joined(lines: impl Iterator<Item = String>, none: &str) -> String {
    let text = lines.collect::<Vec<_>>().join("\n");
    if text.is_empty() {
        none.to_owned()
    } else {
        text
    }
}

fn required<'a>(arguments: &'a JsonObject, name: &str) -> Result<&'a str, CommandError> {
    optional(arguments, name)?
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| CommandError::because("badInput", format!("the argument {name} is missing")))
}

fn optional<'a>(arguments: &'a JsonObject, name: &str) -> Result<Option<&'a str>, CommandError> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(CommandError::because(
            "badInput",
            format!("the argument {name} must be a text"),
        )),
    }
}
