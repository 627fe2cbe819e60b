//! Reads the JSON with which servers publish their settings, and with which other apps store them.

use std::path::Path;

use serde_json::{Map, Value};

use crate::text::clean_line;

/// Servers of one text.
const MAX_SERVERS: usize = 50;

/// Arguments, variables or headers of one server.
const MAX_ITEMS: usize = 64;

/// Bytes of one value.
const MAX_VALUE: usize = 8 << 10;

/// A server as a text describes it. An empty value is missing: the user has to enter it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastedServer {
    Process {
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
    },
    Http {
        url: String,
        headers: Vec<(String, String)>,
    },
}

/// One entry of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted {
    pub name: String,
    /// The server, or the reason why it cannot be added.
    pub server: Result<PastedServer, &'static str>,
}

/// The text contains no server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PasteError {
    #[error("the text is not valid JSON (line {line}): {reason}")]
    NotJson { line: usize, reason: String },
    #[error("the JSON contains no server")]
    NoServer,
    #[error("the text contains more than {MAX_SERVERS} servers")]
    TooMany,
}

/// Keys under which apps keep their servers: Claude Desktop, Cursor, Windsurf and Cline; VS Code;
/// Zed.
const LISTS: [&str; 3] = ["mcpServers", "servers", "context_servers"];

/// Reads all servers of a text: the settings of an app, the part that a server's documentation
/// shows, or one server.
///
/// # Errors
/// [`PasteError`] if there is no server in it. A single server that cannot be used is an entry with
/// a reason.
pub fn read_servers(text: &str) -> Result<Vec<Pasted>, PasteError> {
    let value = parse(text)?;
    let object = value.as_object().ok_or(PasteError::NoServer)?;
    let servers: Vec<Pasted> = match list(object) {
        Some(list) => list
            .iter()
            .map(|(name, server)| entry(name, server))
            .collect(),
        None if is_server(object) => vec![entry(&derived_name(object), &value)],
        None => {
            let named = object
                .iter()
                .filter(|(_, server)| server.as_object().is_some_and(is_server));
            named.map(|(name, server)| entry(name, server)).collect()
        }
    };
    match servers.len() {
        0 => Err(PasteError::NoServer),
        1..=MAX_SERVERS => Ok(servers),
        _ => Err(PasteError::TooMany),
    }
}

/// Parses JSON as people paste it: with comments, trailing commas, or without the outer braces.
fn parse(text: &str) -> Result<Value, PasteError> {
    let strict = without_comments(text.trim_start_matches('\u{feff}'));
    let error = match serde_json::from_str::<Value>(&strict) {
        Ok(value @ Value::Object(_)) => return Ok(value),
        Ok(_) => return braced(&strict).ok_or(PasteError::NoServer),
        Err(error) => error,
    };
    // The error refers to the text that the user sees.
    let reason = clean_line(
        error
            .to_string()
            .split(" at line")
            .next()
            .unwrap_or_default(),
        200,
    );
    braced(&strict).ok_or(PasteError::NotJson {
        line: error.line(),
        reason,
    })
}

fn braced(text: &str) -> Option<Value> {
    let text = text.trim().trim_end_matches(',');
    let starts_with_key = text.starts_with('"') && text.contains(':');
    starts_with_key
        .then(|| serde_json::from_str(&format!("{{{text}}}")).ok())
        .flatten()
}

/// Replaces comments and trailing commas with spaces. Line numbers stay.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut in_text = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if in_text => {
                kept.push(letter);
                kept.extend(letters.next());
            }
            '"' => {
                in_text = !in_text;
                kept.push(letter);
            }
            '/' if !in_text && letters.peek() == Some(&'/') => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
            }
            '/' if !in_text && letters.peek() == Some(&'*') => {
                let mut last = ' ';
                letters.next();
                for letter in letters.by_ref() {
                    if letter == '\n' {
                        kept.push(letter);
                    }
                    if last == '*' && letter == '/' {
                        break;
                    }
                    last = letter;
                }
            }
            '}' | ']' if !in_text => {
                drop_trailing_comma(&mut kept);
                kept.push(letter);
            }
            letter => kept.push(letter),
        }
    }
    kept
}

fn drop_trailing_comma(kept: &mut String) {
    let end = kept.trim_end().len();
    if kept[..end].ends_with(',') {
        kept.replace_range(end - 1..end, " ");
    }
}

/// The map of servers in the settings of an app.
fn list(object: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let direct = LISTS.iter().find_map(|key| object.get(*key)?.as_object());
    direct.or_else(|| list(object.get("mcp")?.as_object()?))
}

fn is_server(object: &Map<String, Value>) -> bool {
    ["command", "url", "serverUrl", "httpUrl"]
        .iter()
        .any(|key| object.contains_key(*key))
}

fn entry(name: &str, server: &Value) -> Pasted {
    let name = clean_line(name, 100);
    let name = if name.is_empty() {
        "server".to_owned()
    } else {
        name
    };
    Pasted {
        name,
        server: server
            .as_object()
            .ok_or("it is not an object")
            .and_then(read),
    }
}

fn read(object: &Map<String, Value>) -> Result<PastedServer, &'static str> {
    let kind = text_of(object, &["type", "transport", "transportType"]).unwrap_or_default();
    if kind.eq_ignore_ascii_case("sse") {
        return Err("it uses the older SSE transport, which is not supported");
    }
    match object.get("command") {
        // Zed nests the program.
        Some(Value::Object(nested)) => process(text_of(nested, &["path", "command"]), nested),
        Some(_) => process(text_of(object, &["command"]), object),
        None => {
            let url = text_of(object, &["url", "serverUrl", "httpUrl"])
                .ok_or("it has no command and no address")?;
            let headers = pairs(object.get("headers"))?;
            Ok(PastedServer::Http {
                url: placeholders_removed(&url),
                headers,
            })
        }
    }
}

fn process(
    command: Option<String>,
    object: &Map<String, Value>,
) -> Result<PastedServer, &'static str> {
    let command = command
        .filter(|command| !command.trim().is_empty())
        .ok_or("its command is not a text")?;
    let args = match object.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(args)) if args.len() <= MAX_ITEMS => args
            .iter()
            .map(scalar)
            .collect::<Option<_>>()
            .ok_or("one of its arguments is not a text")?,
        Some(_) => return Err("its arguments are not a list of texts"),
    };
    Ok(PastedServer::Process {
        command: command.trim().to_owned(),
        args,
        env: pairs(object.get("env"))?,
    })
}

fn pairs(value: Option<&Value>) -> Result<Vec<(String, String)>, &'static str> {
    let Some(Value::Object(map)) = value else {
        return if matches!(value, None | Some(Value::Null)) {
            Ok(Vec::new())
        } else {
            Err("its values are not a map")
        };
    };
    if map.len() > MAX_ITEMS {
        return Err("it has too many values");
    }
    let pair = |(name, value): (&String, &Value)| {
        Some((name.clone(), placeholders_removed(&scalar(value)?)))
    };
    map.iter()
        .map(pair)
        .collect::<Option<_>>()
        .ok_or("one of its values is not a text")
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
    .filter(|text| text.len() <= MAX_VALUE && !text.contains('\0'))
}

fn text_of(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| scalar(object.get(*key)?))
}

/// A value such as `${input:key}`, `<YOUR_KEY>` or `YOUR_API_KEY` is a placeholder: the user has to
/// enter the value. Our own environment is never read for it.
fn placeholders_removed(value: &str) -> String {
    let trimmed = value.trim();
    let is_name = |text: &str| {
        text.chars()
            .all(|letter| letter.is_ascii_uppercase() || matches!(letter, '_' | '-'))
    };
    let bracketed = trimmed.starts_with('<') && trimmed.ends_with('>');
    let shouted =
        is_name(trimmed) && (trimmed.starts_with("YOUR_") || trimmed.starts_with("YOUR-"));
    if trimmed.contains("${") || bracketed || shouted {
        String::new()
    } else {
        value.to_owned()
    }
}

/// A name for a server that is pasted without one: its package, program or host.
fn derived_name(object: &Map<String, Value>) -> String {
    if let Some(url) = text_of(object, &["url", "serverUrl", "httpUrl"]) {
        return url::Url::parse(&url)
            .ok()
            .and_then(|url| url.host_str().map(str::to_owned))
            .unwrap_or(url);
    }
    let args = object
        .get("args")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let package = args
        .filter(|arg| !arg.starts_with('-'))
        .find(|arg| arg.contains("mcp") || arg.contains("server"));
    let program = package
        .map(str::to_owned)
        .or_else(|| text_of(object, &["command"]))
        .unwrap_or_default();
    Path::new(&program)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests;
