//! Quick replies: buttons that send a text or run slash commands. The file format is SillyTavern's,
//! in both versions.

pub mod edit;

use serde_json::{Map, Value};

use crate::slash::{self, Argument, SlashCommand, Typed};

/// Maximum number of replies of a set. More are ignored.
pub const MAX_REPLIES: usize = 1_000;
/// Maximum length of a label, in characters.
const MAX_LABEL: usize = 80;
/// Maximum length of a hint, in characters.
const MAX_HINT: usize = 300;
/// Maximum length of a line that an error quotes, in characters.
const MAX_LINE: usize = 200;
/// The macro for the text in the composer.
const INPUT: &str = "{{input}}";
/// Parts of scripts that no command understands: closures, and macros of the script's own
/// variables.
const SCRIPT_ONLY: [&str; 5] = ["{:", "{{pipe}}", "{{var::", "{{arg::", "{{timesIndex}}"];

/// A set as its file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickReplySet {
    /// At most [`MAX_REPLIES`].
    pub replies: Vec<QuickReply>,
    /// A text is put into the composer instead of being sent.
    pub only_inserts: bool,
    /// How a text is joined with the text in the composer; `None` if it is not.
    pub joins: Option<Join>,
}

/// The place of a quick reply's text next to the text in the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    Before,
    After,
}

/// A button.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuickReply {
    /// One line without control characters; never empty.
    pub label: String,
    /// The title, else the start of the message.
    pub hint: String,
    pub message: String,
    /// It has no button.
    pub is_hidden: bool,
    /// Runs by itself when the app or the chat is opened.
    pub on_open: bool,
    /// Runs by itself after a message of the user.
    pub on_user_message: bool,
    /// Runs by itself after a reply.
    pub on_reply: bool,
}

/// The action of a quick reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuickReplyAction<'m> {
    Text(&'m str),
    /// Slash commands, one after the other.
    Commands(Vec<&'m str>),
    /// A part of the script is not supported, so nothing of it runs.
    Unsupported(UnsupportedLine),
}

/// The first part of a script that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedLine {
    /// Counted from 1.
    pub line: u32,
    pub text: String,
}

impl QuickReply {
    pub fn action(&self) -> QuickReplyAction<'_> {
        action(&self.message)
    }

    /// Whether it can run by itself: it is marked so, and it neither sends a message nor starts a
    /// reply. Otherwise each run could cause the next one.
    pub fn is_automatic(&self) -> bool {
        let marked = self.on_open || self.on_user_message || self.on_reply;
        // The text in the composer may be empty when it runs.
        let quiet = |commands: &[&str]| {
            let filled = commands.iter().map(|command| fill(command, "").0);
            !filled.into_iter().any(|command| starts_reply(&command))
        };
        marked && matches!(self.action(), QuickReplyAction::Commands(commands) if quiet(&commands))
    }
}

impl QuickReplySet {
    /// Reads a file of either version; `None` if it is no set.
    pub fn read(file: &Value) -> Option<Self> {
        let set = file.as_object()?;
        let flag = |names: [&str; 2]| names.iter().any(|name| is_on(set, name));
        let replies = replies(set)?
            .iter()
            .take(MAX_REPLIES)
            .filter_map(reply)
            .collect();
        let place = if flag(["placeBeforeInput", "placeBeforeInputEnabled"]) {
            Join::Before
        } else {
            Join::After
        };
        Some(Self {
            replies,
            only_inserts: flag(["disableSend", "quickActionEnabled"]),
            joins: flag(["injectInput", "AutoInputInject"]).then_some(place),
        })
    }

    /// The text of a reply, with the text in the composer where the set or the macro `{{input}}`
    /// includes it, and whether it is included.
    pub fn text(&self, message: &str, typed: &str) -> (String, bool) {
        let (filled, included) = fill(message, typed);
        let typed = typed.trim();
        match self.joins {
            Some(join) if !included && !typed.is_empty() => match join {
                Join::Before => (format!("{filled} {typed}"), true),
                Join::After => (format!("{typed} {filled}"), true),
            },
            _ => (filled, included),
        }
    }
}

/// Replaces the macro for the text in the composer, and returns whether there was one.
pub fn fill(message: &str, typed: &str) -> (String, bool) {
    (message.replace(INPUT, typed), message.contains(INPUT))
}

/// The list of a set of either version.
pub fn replies(set: &Map<String, Value>) -> Option<&Vec<Value>> {
    ["qrList", "quickReplySlots"]
        .iter()
        .find_map(|list| set.get(*list)?.as_array())
}

fn reply(value: &Value) -> Option<QuickReply> {
    let reply = value.as_object()?;
    let text = |names: [&str; 2]| {
        names
            .iter()
            .find_map(|name| reply.get(*name)?.as_str())
            .unwrap_or_default()
    };
    let flag = |names: &[&str]| names.iter().any(|name| is_on(reply, name));
    let message = text(["message", "mes"]);
    let label = one_line(text(["label", "title"]), MAX_LABEL);
    let start = one_line(message, MAX_LABEL);
    // The first version stores empty slots.
    if label.is_empty() && start.is_empty() {
        return None;
    }
    let title = one_line(text(["title", "title"]), MAX_HINT);
    Some(QuickReply {
        label: if label.is_empty() { start } else { label },
        hint: if title.is_empty() {
            one_line(message, MAX_HINT)
        } else {
            title
        },
        message: message.to_owned(),
        is_hidden: flag(&["isHidden", "hidden"]),
        on_open: flag(&[
            "executeOnStartup",
            "executeOnChatChange",
            "autoExecute_appStartup",
            "autoExecute_chatLoad",
        ]),
        on_user_message: flag(&["executeOnUser", "autoExecute_userMessage"]),
        on_reply: flag(&["executeOnAi", "autoExecute_botMessage"]),
    })
}

fn is_on(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// The first `most` characters as one line, without control and direction characters: a label must
/// not change the order of the texts around it.
fn one_line(text: &str, most: usize) -> String {
    let visible = |letter: &char| {
        let hidden = matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{061c}');
        !hidden && (!letter.is_control() || letter.is_whitespace())
    };
    let mut line = String::new();
    // A label needs few characters, and a message may have millions.
    for letter in text.chars().take(most * 8).filter(visible) {
        if !letter.is_whitespace() {
            line.push(letter);
        } else if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
    }
    let short: String = line.trim_end().chars().take(most).collect();
    short.trim_end().to_owned()
}

/// A message that begins with a slash is a script: commands, separated by `|`.
fn action(message: &str) -> QuickReplyAction<'_> {
    if !is_script(message) {
        return QuickReplyAction::Text(message.trim());
    }
    let mut commands: Vec<&str> = Vec::new();
    for (at, part) in parts(message) {
        if part.is_empty() || part.starts_with("//") || part.starts_with("/#") {
            continue;
        }
        let follows_reply = commands.last().is_some_and(|last| starts_reply(last));
        if follows_reply || !is_supported(part) {
            let first = part.lines().next().unwrap_or_default();
            let line = message[..at].matches('\n').count() as u32 + 1;
            return QuickReplyAction::Unsupported(UnsupportedLine {
                line,
                text: one_line(first, MAX_LINE),
            });
        }
        commands.push(part);
    }
    QuickReplyAction::Commands(commands)
}

/// Beginnings of scripts that are no commands: comments, and the call of another quick reply.
const SCRIPT_STARTS: [&str; 4] = ["//", "/#", "/*", "/:"];

/// Whether the message is a script and not a text to send.
fn is_script(message: &str) -> bool {
    let trimmed = message.trim_start();
    SCRIPT_STARTS.iter().any(|start| trimmed.starts_with(start))
        || matches!(slash::read(trimmed), Typed::Command(_))
}

/// The place behind the spaces and block comments that begin at `begin`.
fn after_comments(script: &str, mut begin: usize) -> usize {
    loop {
        let rest = &script[begin..];
        let spaces = rest.len() - rest.trim_start().len();
        match rest[spaces..]
            .strip_prefix('/')
            .and_then(slash::comment_length)
        {
            Some(length) => begin += spaces + 1 + length,
            None => return begin,
        }
    }
}

/// The trimmed texts between bars, each with its place in the script. `\|` separates nothing, and
/// neither does a bar in a block comment.
fn parts(script: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut begin = after_comments(script, 0);
    let bars = script
        .match_indices('|')
        .map(|(at, _)| at)
        .filter(|at| !script[..*at].ends_with('\\'));
    for end in bars.chain([script.len()]) {
        if end < begin {
            continue;
        }
        let part = &script[begin..end];
        let spaces = part.len() - part.trim_start().len();
        parts.push((begin + spaces, part.trim()));
        begin = after_comments(script, (end + 1).min(script.len()));
    }
    parts
}

/// Whether the part is one of the app's commands, with arguments that mean the same in
/// SillyTavern's scripts.
fn is_supported(part: &str) -> bool {
    let Typed::Command(typed) = slash::read(part) else {
        return false;
    };
    let Some(info) = slash::command(typed.name) else {
        return false;
    };
    let arguments = typed.arguments;
    let named = arguments.split_whitespace().next().is_some_and(|word| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| !name.is_empty() && name.chars().all(char::is_alphanumeric))
    });
    let may_be_named = matches!(info.command, SlashCommand::SendAs | SlashCommand::As);
    let differs = match info.command {
        // There, a number is the place of a message and not a count.
        SlashCommand::Hide | SlashCommand::Unhide => !arguments.is_empty(),
        _ => info.argument == Argument::None && !arguments.is_empty(),
    };
    !differs && (!named || may_be_named) && !SCRIPT_ONLY.iter().any(|only| part.contains(only))
}

/// Whether a command may start a reply.
fn starts_reply(command: &str) -> bool {
    let Typed::Command(typed) = slash::read(command) else {
        return true;
    };
    let Some(info) = slash::command(typed.name) else {
        return true;
    };
    match info.command {
        SlashCommand::Continue | SlashCommand::Regenerate | SlashCommand::Impersonate => true,
        SlashCommand::Swipe | SlashCommand::Narrate => typed.arguments.is_empty(),
        SlashCommand::As => slash::named_argument(typed.arguments, "name")
            .unwrap_or_else(|| slash::leading_word(typed.arguments))
            .1
            .is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
