//! Search over everything: messages, their earlier texts, notes, memories, lorebook entries and
//! characters.

use engine::Engine;
use engine::api::{
    ExcerptPart, ItemHit, ItemPlace, SearchGroup, SearchGroupKind, SearchHit, SearchPage,
    SearchResults,
};

use crate::failure::CommandError;
use crate::find;
use crate::output::Output;

const NOT_EMBEDDED: &str = "Nothing is embedded, so only the words were searched.";

pub(super) async fn search(
    engine: &Engine,
    query: &[String],
    chat: Option<String>,
    meaning: bool,
    out: &Output,
) -> Result<(), CommandError> {
    let chat = match chat {
        Some(chat) => Some(find::chat(engine, &chat).await?.id),
        None => None,
    };
    let found = engine.search(query.join(" "), chat, meaning).await?;
    let note = if meaning && !found.can_find_meaning {
        NOT_EMBEDDED
    } else {
        ""
    };
    out.answer(&found, |found| {
        [note, &text(found)].join("\n").trim_start().to_owned()
    })
}

fn text(
    SearchResults {
        messages,
        earlier,
        groups,
        can_find_meaning: _,
    }: &SearchResults,
) -> String {
    let parts = [
        page("Messages", messages),
        page("Earlier texts of messages", earlier),
    ];
    let parts = parts.into_iter().chain(groups.iter().map(group));
    parts
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn page(name: &str, page: &SearchPage) -> String {
    section(name, page.hits.iter().map(message), page.more)
}

fn group(SearchGroup { kind, items, more }: &SearchGroup) -> String {
    let name = match kind {
        SearchGroupKind::Notes => "Notes",
        SearchGroupKind::Memories => "Memories",
        SearchGroupKind::Entries => "Lorebook entries",
        SearchGroupKind::Characters => "Characters",
    };
    section(name, items.iter().map(item), *more)
}

/// Empty without lines.
fn section(name: &str, lines: impl Iterator<Item = String>, more: bool) -> String {
    let lines: Vec<String> = lines.map(|line| format!("  {line}")).collect();
    if lines.is_empty() {
        return String::new();
    }
    let rest = if more {
        "\n  There are more. Add words to narrow the search."
    } else {
        ""
    };
    format!("{name}\n{}{rest}", lines.join("\n"))
}

fn message(hit: &SearchHit) -> String {
    let chat = if hit.title.is_empty() {
        &hit.character
    } else {
        &hit.title
    };
    let version = if hit.is_shown {
        ""
    } else {
        ", another version"
    };
    let name = hit.name.as_deref().unwrap_or("you");
    let excerpt = excerpt(&hit.excerpt);
    format!(
        "{}  {name} ({chat}{version}{}): {excerpt}",
        hit.message,
        by_meaning(hit.by_meaning)
    )
}

fn item(
    ItemHit {
        place,
        title,
        context,
        excerpt: parts,
        by_meaning: similar,
    }: &ItemHit,
) -> String {
    let id = match place {
        ItemPlace::Note => "all chats".to_owned(),
        ItemPlace::ChatNote { chat } | ItemPlace::ChatText { chat, .. } => chat.to_string(),
        ItemPlace::CharacterNote { character }
        | ItemPlace::CardEntry { character, .. }
        | ItemPlace::Character { character, .. } => character.to_string(),
        ItemPlace::Memory { memory, .. } => memory.to_string(),
        ItemPlace::Entry { book, .. } => book.to_string(),
    };
    let names: Vec<&str> = [title.as_str(), context.as_str()]
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect();
    let names = if names.is_empty() {
        String::new()
    } else {
        format!("  {}", names.join(" · "))
    };
    format!("{id}{names}{}: {}", by_meaning(*similar), excerpt(parts))
}

fn by_meaning(is: bool) -> &'static str {
    if is { ", by meaning" } else { "" }
}

fn excerpt(parts: &[ExcerptPart]) -> String {
    let text: String = parts.iter().map(|part| part.text.as_str()).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
