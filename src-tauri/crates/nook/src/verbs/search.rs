//! Search over the messages of all chats.

use engine::Engine;
use engine::api::SearchHit;

use super::library::{ItemList, lines};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;

pub(super) async fn search(
    engine: &Engine,
    query: &[String],
    chat: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    let chat = match chat {
        Some(chat) => Some(find::chat(engine, &chat).await?.id),
        None => None,
    };
    let items = engine.search_messages(query.join(" "), chat, 0).await?.hits;
    lines(ItemList { items }, out, line)
}

fn line(hit: &SearchHit) -> String {
    let text: String = hit.excerpt.iter().map(|part| part.text.as_str()).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let chat = if hit.title.is_empty() { &hit.character } else { &hit.title };
    let version = if hit.is_shown { "" } else { ", another version" };
    format!("{}  {} ({chat}{version}): {text}", hit.message, hit.name.as_deref().unwrap_or("you"))
}
