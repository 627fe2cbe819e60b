//! Parses `${variables}` in template texts.

use super::compose::ComposeError;

/// A part of a template text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePiece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Prefixes of tokens that a model writes and the engine reads; in a template they are text, not variables.
const MEDIA: [&str; 2] = ["image.", "audio."];

/// A malformed `${`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is not a valid variable; write `${{name}}` with letters, digits, dots and underscores, or `$${{` for a literal `${{`"
)]
pub struct Malformed {
    pub found: String,
}

/// Splits `text` into parts. `$${` is the text `${`; `{{macros}}` are text here.
pub(super) fn pieces(text: &str) -> Result<Vec<TemplatePiece<'_>>, Malformed> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            pieces.extend([TemplatePiece::Text(&rest[..at - 1]), TemplatePiece::Text("${")]);
            rest = &rest[at + 2..];
            continue;
        }
        let after = &rest[at + 2..];
        let malformed = || Malformed { found: rest[at..].chars().take(40).collect() };
        let end = after.find('}').ok_or_else(malformed)?;
        let name = after[..end].trim();
        let whole = &rest[at..at + 2 + end + 1];
        pieces.push(TemplatePiece::Text(&rest[..at]));
        pieces.push(match name {
            _ if MEDIA.iter().any(|media| name.starts_with(media)) => TemplatePiece::Text(whole),
            _ if is_name(name) => TemplatePiece::Variable(name),
            _ => return Err(Malformed { found: whole.chars().take(40).collect() }),
        });
        rest = &after[end + 1..];
    }
    pieces.push(TemplatePiece::Text(rest));
    Ok(pieces)
}

/// Letters, digits, dots and underscores, with a letter first.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
}

/// Escapes `text` so that a template outputs it unchanged.
pub(crate) fn escape(text: &str) -> String {
    text.replace("${", "$${")
}

/// A text with variables resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExpandedTemplate {
    pub(super) text: String,
    /// The variables in it, in order, each once.
    pub(super) used: Vec<String>,
    /// True if it contains variables and all of them are empty.
    pub(super) hollow: bool,
}

/// Replaces variables by their values. Values are not parsed again, so a card cannot inject a variable.
/// Parentheses around an empty variable are dropped.
pub(super) fn expand<'v>(
    text: &str,
    value: impl Fn(&str) -> Option<std::borrow::Cow<'v, str>>,
    room: usize,
) -> Result<ExpandedTemplate, ComposeError> {
    let mut expanded = ExpandedTemplate::default();
    let mut filled = false;
    let mut closes = false;
    for piece in pieces(text)? {
        match piece {
            TemplatePiece::Text(text) => {
                let text =
                    if std::mem::take(&mut closes) { without_parentheses(&mut expanded.text, text) } else { text };
                expanded.text.push_str(text);
            }
            TemplatePiece::Variable(name) => {
                let value = value(name).ok_or_else(|| ComposeError::UnknownVariable { name: name.to_owned() })?;
                let value = value.trim();
                if expanded.text.len() + value.len() > room {
                    return Err(ComposeError::TooLong { most: super::MAX_COMPOSED });
                }
                filled |= !value.is_empty();
                closes = value.is_empty();
                expanded.text.push_str(value);
                if !expanded.used.iter().any(|used| used == name) {
                    expanded.used.push(name.to_owned());
                }
            }
        }
    }
    expanded.hollow = !expanded.used.is_empty() && !filled;
    Ok(expanded)
}

/// Drops `(` from the end of `before` and `)` from the start of `after` if both are there.
fn without_parentheses<'t>(before: &mut String, after: &'t str) -> &'t str {
    match (before.ends_with('('), after.strip_prefix(')')) {
        (true, Some(after)) => {
            before.pop();
            before.truncate(before.trim_end_matches(' ').len());
            after
        }
        _ => after,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn put(text: &str) -> Result<String, ComposeError> {
        let value = |name: &str| match name {
            "name" => Some(Cow::Borrowed("Mira")),
            "sly" => Some(Cow::Borrowed("${name}")),
            "none" => Some(Cow::Borrowed("")),
            _ => None,
        };
        expand(text, value, 1000).map(|expanded| expanded.text)
    }

    #[test]
    fn puts_values_in_once() {
        assert_eq!(put("I am ${name}, ${ name }. ${sly}").unwrap(), "I am Mira, Mira. ${name}");
    }

    #[test]
    fn keeps_media_tokens_macros_and_escaped_signs() {
        let text = "Send ${image.smile,park} or ${audio.Hello there!}, {{char}}, $5";
        assert_eq!(put(text).unwrap(), text);
        assert_eq!(put(&escape("let x = `${name}`")).unwrap(), "let x = `${name}`");
    }

    #[test]
    fn drops_parentheses_around_empty_value() {
        assert_eq!(put("${name} (${none}). (${name})").unwrap(), "Mira. (Mira)");
    }

    #[test]
    fn never_leaves_a_variable_unresolved() {
        assert_eq!(put("${nobody}"), Err(ComposeError::UnknownVariable { name: "nobody".into() }));
        assert!(matches!(put("${open"), Err(ComposeError::Malformed(_))));
        assert!(matches!(put("${}"), Err(ComposeError::Malformed(_))));
        assert!(matches!(put("${a b}"), Err(ComposeError::Malformed(_))));
    }
}
