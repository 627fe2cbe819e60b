//! `story`: branches, checkpoints, and the tree of chats.

use domain::MessageId;
use engine::Engine;
use engine::api::{Chat, Message, StoryNode, StoryTree};
use serde_json::json;

use crate::cli::StoryVerb;
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;

/// Length of the text of a message in the tree, in characters.
const EXCERPT: usize = 60;

pub(super) async fn story(
    engine: &Engine,
    verb: StoryVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        StoryVerb::Branch { chat, at, title } => {
            let message = message(engine, &chat, at).await?;
            out.answer(&engine.branch_chat(message, None, title).await?, created)
        }
        StoryVerb::Checkpoint { chat, at, name, .. } => {
            let marks = engine
                .set_checkpoint(message(engine, &chat, at).await?, name)
                .await?;
            out.answer(&marks, |marks| {
                marks
                    .checkpoints
                    .iter()
                    .map(|mark| format!("{}  {}", mark.message, mark.name))
                    .collect::<Vec<_>>()
                    .join("\n")
            })
        }
        StoryVerb::Tree { chat } => {
            let tree = engine
                .story_tree(find::chat(engine, &chat).await?.id)
                .await?;
            out.answer(&tree, drawn)
        }
        StoryVerb::Scene { chat, text } => scene(engine, &chat, text, out).await,
        StoryVerb::DeleteVersion { chat, version, at } => {
            delete_version(engine, &chat, at, version, out).await
        }
        StoryVerb::Split { chat, at } => {
            let split = engine
                .split_chat(message(engine, &chat, Some(at)).await?)
                .await?;
            out.answer(&split, |split| created(&split.chat))
        }
        StoryVerb::Join { chat, other } => join(engine, &chat, &other, out).await,
    }
}

async fn join(engine: &Engine, chat: &str, other: &str, out: &Output) -> Result<(), CommandError> {
    let chat = find::chat(engine, chat).await?.id;
    let other = find::chat(engine, other).await?.id;
    let joined = engine.join_chats(chat, other).await?;
    out.answer(&joined, |joined| {
        format!(
            "added {} messages to \"{}\"",
            joined.added.len(),
            joined.chat.title
        )
    })
}

async fn scene(
    engine: &Engine,
    chat: &str,
    text: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    let chat = find::chat(engine, chat).await?;
    match text {
        Some(text) => {
            _ = engine
                .run_command(chat.id, format!("/scene {text}"), Vec::new())
                .await?
        }
        None => engine.new_scene(chat.id).await?,
    }
    out.answer(&json!({ "chat": chat.id }), |_| {
        format!("new scene in \"{}\"", chat.title)
    })
}

async fn delete_version(
    engine: &Engine,
    chat: &str,
    at: Option<usize>,
    version: Option<usize>,
    out: &Output,
) -> Result<(), CommandError> {
    let message = whole_message(engine, chat, at).await?;
    let number = version.unwrap_or(message.selected as usize + 1);
    let missing = || CommandError::because("badInput", format!("there is no version {number}"));
    let index = number
        .checked_sub(1)
        .and_then(|index| u32::try_from(index).ok())
        .ok_or_else(missing)?;
    let left = engine.delete_swipe(message.id, index).await?;
    out.answer(&left, |left| {
        format!("deleted version {number}; {} left", left.swipes.len())
    })
}

/// The id of a chat's message with this number, or of its last one.
async fn message(
    engine: &Engine,
    chat: &str,
    at: Option<usize>,
) -> Result<MessageId, CommandError> {
    Ok(whole_message(engine, chat, at).await?.id)
}

async fn whole_message(
    engine: &Engine,
    chat: &str,
    at: Option<usize>,
) -> Result<Message, CommandError> {
    let chat = engine
        .whole_chat(find::chat(engine, chat).await?.id)
        .await?;
    let count = chat.page.messages.len();
    let number = at.unwrap_or(count);
    let found = number
        .checked_sub(1)
        .and_then(|index| chat.page.messages.into_iter().nth(index));
    let missing = || {
        CommandError::because(
            "badInput",
            format!("the chat has no message {number}; it has {count} messages"),
        )
    };
    found.ok_or_else(missing)
}

fn created(chat: &Chat) -> String {
    format!("created \"{}\" ({})", chat.title, chat.id)
}

/// One line per node, indented below its parent.
fn drawn(tree: &StoryTree) -> String {
    let mut depths: Vec<usize> = Vec::new();
    let mut lines = Vec::new();
    for node in &tree.nodes {
        let depth = node
            .parent
            .and_then(|parent| depths.get(parent as usize))
            .map_or(0, |depth| depth + 1);
        depths.push(depth);
        lines.push(format!("{}{}", "  ".repeat(depth), line(node)));
    }
    lines.join("\n")
}

fn line(node: &StoryNode) -> String {
    let text = node.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().take(EXCERPT).collect();
    let checkpoints = node.checkpoints.iter().map(|name| format!("  #{name}"));
    let ends = node.ends.iter().map(|end| format!("  [{}]", end.title));
    let marks: String = checkpoints.chain(ends).collect();
    format!("{} {text}{marks}", node.number)
}
