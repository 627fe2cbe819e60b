//! Says what of an imported chat was not kept.

use domain::chat_file::{ChatFile, ChatFileMessage, Losses};

/// Warnings about data of the file that is missing or changed in the chat.
pub(crate) fn differences(chat: &ChatFile, losses: &Losses) -> Vec<String> {
    let count =
        |is: fn(&ChatFileMessage) -> bool| chat.messages.iter().filter(|said| is(said)).count();
    let words = |count: usize, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    let notes = count(|said| said.note);
    let hidden = count(|said| said.hidden);
    let told = [
        (
            notes,
            words(
                notes,
                "note without a speaker is kept",
                "notes without a speaker are kept",
            ) + ", hidden from the model",
        ),
        (
            hidden,
            words(
                hidden,
                "hidden message stays hidden",
                "hidden messages stay hidden",
            ) + ": the model does not read hidden messages",
        ),
        (
            losses.cut_versions,
            words(
                losses.cut_versions,
                "version of a message is",
                "versions of messages are",
            ) + " above the limit of 500 and left out",
        ),
        (
            losses.oversized,
            words(
                losses.oversized,
                "part that this app does not use is",
                "parts that this app does not use are",
            ) + " too large to store and left out",
        ),
    ];
    let told = told
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, told)| told);
    let lines = [
        (
            &losses.unread,
            "line contains no message and is left out",
            "lines contain no message and are left out",
        ),
        (
            &losses.repaired,
            "line had invalid characters, which are now \u{fffd}",
            "lines had invalid characters, which are now \u{fffd}",
        ),
    ];
    let of_lines = lines
        .into_iter()
        .filter(|(lines, ..)| !lines.is_empty())
        .map(|(lines, one, many)| {
            let first = lines
                .iter()
                .take(NAMED)
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ");
            let more = if lines.len() > NAMED { ", ..." } else { "" };
            format!("{}: {first}{more}", words(lines.len(), one, many))
        });
    told.chain(of_lines).collect()
}

/// Number of lines that a warning lists.
pub(super) const NAMED: usize = 8;
