//! Titles of imported chats, from file names and texts.

use domain::chat_file::{ChatFile, ChatFileAuthor};
use domain::plain_line::plain_line;

use crate::import::sillytavern::folder::composed;

pub(super) fn ending(file: &str) -> String {
    file.rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase())
        .unwrap_or_default()
}

/// The file's name without its ending.
pub(crate) fn title(file: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem).trim();
    let title: String = stem.chars().take(MAX_TITLE).collect();
    if title.is_empty() {
        "Chat".to_owned()
    } else {
        title
    }
}

/// A title without the time of day that SillyTavern writes after the date: "Nora -
/// 2025-03-01@10h00m00s".
pub(crate) fn without_time(title: &str) -> &str {
    let Some((date, time)) = title.rsplit_once('@') else {
        return title;
    };
    let is_time = time
        .trim_start()
        .starts_with(|first: char| first.is_ascii_digit())
        && time.contains('h')
        && time
            .chars()
            .all(|one| one.is_ascii_digit() || matches!(one, 'h' | 'm' | 's' | ' '));
    let date = date.trim_end();
    let before_day = date.trim_end_matches(|digit: char| digit.is_ascii_digit());
    if is_time && before_day.len() < date.len() && before_day.ends_with('-') {
        date
    } else {
        title
    }
}

/// A title without the character's name, which the list shows beside it: "Nora - 2025-03-01"
/// becomes "2025-03-01". If the name is all, the first words of the user take its place.
pub(super) fn without_name(title: &str, name: &str, chat: &ChatFile) -> String {
    let name = composed(name).to_lowercase();
    let repeats = |part: &&str| composed(part.trim()).to_lowercase() == name;
    let parts: Vec<&str> = title.split(" - ").filter(|part| !repeats(part)).collect();
    if !parts.is_empty() {
        return parts.join(" - ");
    }
    let said = chat
        .messages
        .iter()
        .find(|message| message.by == ChatFileAuthor::User);
    let words = said
        .map(|message| plain_line(&message.shown().text))
        .unwrap_or_default();
    let short: String = words.chars().take(FIRST_WORDS).collect();
    match (short.is_empty(), short.len() < words.len()) {
        (true, _) => title.to_owned(),
        (_, true) => format!(
            "{}…",
            short
                .rsplit_once(' ')
                .map_or(short.as_str(), |(whole, _)| whole)
        ),
        (_, false) => short,
    }
}

/// Maximum length of a title, in characters.
pub(super) const MAX_TITLE: usize = 200;

/// Maximum characters of a title that is made from a message.
pub(super) const FIRST_WORDS: usize = 40;
