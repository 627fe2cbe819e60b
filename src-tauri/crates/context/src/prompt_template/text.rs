//! Parses `${variables}` in template texts.

use super::compose_error::ComposeError;

/// A part of a template text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePiece<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// Prefixes of tokens that a model writes and the engine reads; in a template they are text, not
/// variables.
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
            pieces.extend([
                TemplatePiece::Text(&rest[..at - 1]),
                TemplatePiece::Text("${"),
            ]);
            rest = &rest[at + 2..];
            continue;
        }
        let after = &rest[at + 2..];
        let malformed = || Malformed {
            found: rest[at..].chars().take(40).collect(),
        };
        let end = after.find('}').ok_or_else(malformed)?;
        let name = after[..end].trim();
        let whole = &rest[at..at + 2 + end + 1];
        pieces.push(TemplatePiece::Text(&rest[..at]));
        pieces.push(match name {
            _ if MEDIA.iter().any(|media| name.starts_with(media)) => TemplatePiece::Text(whole),
            _ if is_name(name) => TemplatePiece::Variable(name),
            _ => {
                return Err(Malformed {
                    found: whole.chars().take(40).collect(),
                });
            }
        });
        rest = &after[end + 1..];
    }
    pieces.push(TemplatePiece::Text(rest));
    Ok(pieces)
}

/// Letters, digits, dots and underscores, with a letter first.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
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
    /// True if empty variables leave nothing of the text.
    pub(super) hollow: bool,
}

/// Replaces variables by their values. Values are not parsed again, so a card cannot inject a
/// variable.
///
/// Sentences with an empty variable are left out. Parentheses around an empty variable are dropped,
/// and the sentence stays.
pub(super) fn expand<'v>(
    text: &str,
    value: impl Fn(&str) -> Option<std::borrow::Cow<'v, str>>,
    room: usize,
) -> Result<ExpandedTemplate, ComposeError> {
    let mut expanded = ExpandedTemplate::default();
    // Offsets in the text at which an empty variable stands.
    let mut holes: Vec<usize> = Vec::new();
    // The last piece was an empty variable.
    let mut closes = false;
    for piece in pieces(text)? {
        match piece {
            TemplatePiece::Text("") => {}
            TemplatePiece::Text(text) => {
                let rest = if std::mem::take(&mut closes) {
                    without_parentheses(&mut expanded.text, &mut holes, text)
                } else {
                    text
                };
                expanded.text.push_str(rest);
            }
            TemplatePiece::Variable(name) => {
                let value = value(name).ok_or_else(|| ComposeError::UnknownVariable {
                    name: name.to_owned(),
                })?;
                let value = value.trim();
                if expanded.text.len() + value.len() > room {
                    return Err(ComposeError::TooLong {
                        most: super::MAX_COMPOSED,
                    });
                }
                closes = value.is_empty();
                if closes {
                    holes.push(expanded.text.len());
                }
                expanded.text.push_str(value);
                if !expanded.used.iter().any(|used| used == name) {
                    expanded.used.push(name.to_owned());
                }
            }
        }
    }
    if !holes.is_empty() {
        expanded.text = without_sentences(&expanded.text, &holes);
    }
    let nothing = !expanded.used.is_empty() && expanded.text.trim().is_empty();
    // A number or a dash may be left of a list.
    expanded.hollow =
        nothing || (!holes.is_empty() && !expanded.text.contains(char::is_alphabetic));
    Ok(expanded)
}

/// Drops `(` from the end of `before` and `)` from the start of `after` if both are there, with the
/// holes between them.
fn without_parentheses<'t>(before: &mut String, holes: &mut Vec<usize>, after: &'t str) -> &'t str {
    match (before.ends_with('('), after.strip_prefix(')')) {
        (true, Some(after)) => {
            holes.retain(|at| *at < before.len());
            before.pop();
            before.truncate(before.trim_end_matches(' ').len());
            after
        }
        _ => after,
    }
}

/// The text without the sentences in which `holes` are. A hole that stands between sentences takes
/// none of them.
fn without_sentences(text: &str, holes: &[usize]) -> String {
    let (apart, holes): (Vec<usize>, Vec<usize>) = holes
        .iter()
        .copied()
        .partition(|at| stands_apart(text, *at));
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    let mut lower = 0;
    while from < text.len() {
        let sentence = sentence(text, from);
        let last = sentence.next == text.len();
        let upper = if last && !sentence.closed {
            usize::MAX
        } else {
            sentence.end
        };
        if !holes.iter().any(|at| (lower..upper).contains(at)) {
            let one_blank = apart
                .iter()
                .any(|at| (sentence.end..sentence.next).contains(at));
            let end = if one_blank {
                (sentence.end + 1).min(sentence.next)
            } else {
                sentence.next
            };
            kept.push_str(&text[from..end]);
        }
        (from, lower) = (sentence.next, sentence.end);
    }
    kept.trim().to_owned()
}

/// Whether the variable at this offset was a sentence of its own: one ends before it, and another
/// begins behind it.
fn stands_apart(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let after = &text[at..];
    let ended = before
        .trim_end()
        .trim_end_matches(CLOSING)
        .ends_with(['.', '!', '?', '…']);
    let begins = after
        .trim_start()
        .chars()
        .next()
        .is_none_or(char::is_uppercase);
    let is_parted = (before.is_empty() || (ended && before.ends_with(' ')))
        && (after.is_empty() || after.starts_with(' '));
    is_parted && begins
}

/// Marks that can follow the end of a sentence and belong to it.
const CLOSING: [char; 8] = ['"', '\'', ')', ']', '*', '”', '’', '»'];

struct Sentence {
    /// Behind its last mark.
    end: usize,
    /// Position of the next one, after the blanks.
    next: usize,
    /// It ends with a mark.
    closed: bool,
}

/// The sentence that begins at `from`.
fn sentence(text: &str, from: usize) -> Sentence {
    // Offset behind the mark that ends it, if one was found, and of the blank behind that.
    let (mut ended, mut blank): (bool, Option<usize>) = (false, None);
    for (at, letter) in text[from..].char_indices() {
        let at = from + at;
        match (letter, blank) {
            (letter, Some(end)) if !letter.is_whitespace() => {
                return Sentence {
                    end,
                    next: at,
                    closed: true,
                };
            }
            (_, Some(_)) => {}
            ('。' | '！' | '？', None) => {
                let end = at + letter.len_utf8();
                return Sentence {
                    end,
                    next: end,
                    closed: true,
                };
            }
            ('.' | '!' | '?' | '…', None) => ended = true,
            (letter, None) if ended && CLOSING.contains(&letter) => {}
            (letter, None) if ended && letter.is_whitespace() => blank = Some(at),
            (_, None) => ended = false,
        }
    }
    Sentence {
        end: blank.unwrap_or(text.len()),
        next: text.len(),
        closed: ended,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn value(name: &str) -> Option<Cow<'static, str>> {
        match name {
            "name" => Some(Cow::Borrowed("Mira")),
            "sly" => Some(Cow::Borrowed("${name}")),
            "none" => Some(Cow::Borrowed("")),
            _ => None,
        }
    }

    fn put(text: &str) -> Result<String, ComposeError> {
        expand(text, value, 1000).map(|expanded| expanded.text)
    }

    #[test]
    fn puts_values_in_once() {
        assert_eq!(
            put("I am ${name}, ${ name }. ${sly}").unwrap(),
            "I am Mira, Mira. ${name}"
        );
    }

    #[test]
    fn keeps_media_tokens_macros_and_escaped_signs() {
        let text = "Send ${image.smile,park} or ${audio.Hello there!}, {{char}}, $5";
        assert_eq!(put(text).unwrap(), text);
        assert_eq!(
            put(&escape("let x = `${name}`")).unwrap(),
            "let x = `${name}`"
        );
    }

    #[test]
    fn drops_parentheses_around_empty_value() {
        assert_eq!(put("${name} (${none}). (${name})").unwrap(), "Mira. (Mira)");
    }

    #[test]
    fn sentences_with_an_empty_value_are_left_out() {
        for (text, left) in [
            ("MIX ${none} and ${name} end", ""),
            ("Rated ${none}/${none}.", ""),
            ("${name}/${none}.", ""),
            ("- ${none}", ""),
            ("1. ${none}", ""),
            ("(${none})", ""),
            ("${name} (${none}, ${name})", ""),
            ("You are ${name}. ${none}", "You are Mira."),
            (
                "You are ${name}. She is ${none}. Be kind!",
                "You are Mira. Be kind!",
            ),
            ("Never lie! About ${none}: ${name}", "Never lie!"),
            (
                "You are ${name}. ${none} Be kind!",
                "You are Mira. Be kind!",
            ),
            ("You are ${name}. ${none} is kind.", "You are Mira."),
            ("${none} Be kind!", "Be kind!"),
            ("${none} is kind. Be kind!", "Be kind!"),
            ("${name} (${none}${none}) waits.", "Mira waits."),
            ("她是${name}。她在${none}。好。", "她是Mira。好。"),
            ("${name} says: \"Go.\" It is ${none}.", "Mira says: \"Go.\""),
        ] {
            let expanded = expand(text, value, 1000).unwrap();
            assert_eq!(
                if expanded.hollow { "" } else { &expanded.text },
                left,
                "{text}"
            );
            assert_eq!(expanded.hollow, left.is_empty(), "{text}");
        }
        for text in ["${name}", "no variable", "3.", ""] {
            assert!(!expand(text, value, 1000).unwrap().hollow, "{text}");
        }
    }

    #[test]
    fn never_leaves_a_variable_unresolved() {
        assert_eq!(
            put("${nobody}"),
            Err(ComposeError::UnknownVariable {
                name: "nobody".into()
            })
        );
        assert!(matches!(put("${open"), Err(ComposeError::Malformed(_))));
        assert!(matches!(put("${}"), Err(ComposeError::Malformed(_))));
        assert!(matches!(put("${a b}"), Err(ComposeError::Malformed(_))));
    }
}
