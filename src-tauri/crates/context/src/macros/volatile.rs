//! Finds macros that change from turn to turn. In the head of a prompt they would invalidate the
//! whole cache.

use super::parse::{HeadKind, Parsed};

const CHANGING: [&str; 31] = [
    "time",
    "time_utc",
    "date",
    "weekday",
    "isotime",
    "isodate",
    "datetimeformat",
    "idleduration",
    "idle_duration",
    "random",
    "roll",
    "dice",
    "lastmessage",
    "lastmessageid",
    "lastusermessage",
    "lastcharmessage",
    "firstincludedmessageid",
    "lastswipeid",
    "currentswipeid",
    "allchatrange",
    "lastgenerationtype",
    "input",
    "history",
    "addvar",
    "incvar",
    "decvar",
    "addglobalvar",
    "incglobalvar",
    "decglobalvar",
    "lorebook",
    "summary",
];

/// The volatile macros of a text, each once and in lower case, in order of appearance. It includes
/// macros in conditions, arguments, branches and comments.
pub fn volatile_macros(text: &str) -> Vec<String> {
    let parsed = Parsed::new(text);
    let mut names: Vec<String> = Vec::new();
    for index in 0..parsed.spans.len() {
        let name = match &parsed.spans[index].head.kind {
            HeadKind::Named { name, args } if name == "if" => condition(&parsed, index, *args),
            HeadKind::Named { name, .. } => name.clone(),
            HeadKind::Variable { at, .. } => stepping(&parsed, index, *at),
            _ => continue,
        };
        if changes(&name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// True if a text contains a macro that changes from turn to turn.
pub fn is_volatile(text: &str) -> bool {
    !volatile_macros(text).is_empty()
}

/// True if the result depends only on the two names and on the regex match.
pub(crate) fn is_settled(text: &str) -> bool {
    let settled = [
        "char", "bot", "user", "match", "newline", "space", "noop", "trim", "//", "comment",
        "reverse",
    ];
    Parsed::new(text)
        .spans
        .iter()
        .all(|span| match &span.head.kind {
            HeadKind::Named { name, .. } => settled.contains(&name.as_str()),
            HeadKind::Variable { .. } => false,
            HeadKind::Sum { .. } | HeadKind::Other => true,
        })
}

pub(super) fn changes(name: &str) -> bool {
    CHANGING.contains(&name)
}

/// The macro that a condition names.
fn condition(parsed: &Parsed<'_>, index: usize, args: usize) -> String {
    let condition = parsed.arguments(index, args).into_iter().next();
    let name = condition
        .and_then(|condition| parsed.literal(&condition))
        .unwrap_or_default();
    name.trim_start_matches('!').trim().to_ascii_lowercase()
}

/// `{{.name++}}` is equivalent to `{{incvar}}`.
fn stepping(parsed: &Parsed<'_>, index: usize, at: usize) -> String {
    let inner = parsed.inner(index, at);
    let text = &parsed.source[inner.text.start..parsed.literal_end(&inner)];
    if text.contains("++") || text.contains("+=") {
        "incvar".into()
    } else if text.contains("--") || text.contains("-=") {
        "decvar".into()
    } else {
        String::new()
    }
}
