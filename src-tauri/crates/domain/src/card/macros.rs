//! The macros that every card may count on: names, the text that is replaced, and comments.
//!
//! Others stay as they are. What is put in is never read again, so a name cannot smuggle a macro in (V1-03).

use std::collections::HashMap;

/// Who is who.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names<'a> {
    /// The character, by its nickname if it has one: [`Card::spoken_name`](super::Card::spoken_name).
    pub char: &'a str,
    pub user: &'a str,
    /// The text that a card's `system_prompt` or `post_history_instructions` replaces (V2-06); `None` elsewhere.
    pub original: Option<&'a str>,
}

/// Replaces, in any case, `{{char}}`, `<BOT>`, `<CHAR>` (V1-01, MC-01), `{{user}}`, `<USER>` (MC-02) and `{{original}}`, and
/// removes `{{// comments}}` (MC-06).
pub fn expand(text: &str, names: &Names<'_>) -> String {
    let closings = closings(text);
    let mut expanded = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while let Some(step) = text[at..].find(['{', '<']) {
        let here = at + step;
        at = here + 1;
        if let Some((replacement, end)) = replacement(text, here, &closings, names) {
            expanded.push_str(&text[copied..here]);
            expanded.push_str(replacement);
            (copied, at) = (end, end);
        }
    }
    expanded.push_str(&text[copied..]);
    expanded
}

/// What stands for the macro that begins at `here`, and where the text goes on.
fn replacement<'a>(
    text: &str,
    here: usize,
    closings: &HashMap<usize, usize>,
    names: &Names<'a>,
) -> Option<(&'a str, usize)> {
    if text[here..].starts_with('<') {
        return angled(&text[here..], names).map(|(name, length)| (name, here + length));
    }
    let end = *closings.get(&here)?;
    let inner = text[here + 2..end - 2].trim();
    let replacement = match inner {
        _ if inner.starts_with("//") => "",
        _ if inner.eq_ignore_ascii_case("char") => names.char,
        _ if inner.eq_ignore_ascii_case("user") => names.user,
        _ if inner.eq_ignore_ascii_case("original") => names.original?,
        _ => return None,
    };
    Some((replacement, end))
}

fn angled<'a>(text: &str, names: &Names<'a>) -> Option<(&'a str, usize)> {
    let known = [("<user>", names.user), ("<char>", names.char), ("<bot>", names.char)];
    let starts = |mark: &str| text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    known.into_iter().find(|(mark, _)| starts(mark)).map(|(mark, name)| (name, mark.len()))
}

/// Where each `{{` ends, just behind its `}}`. Found in one pass, so that hostile text costs no more than any other.
fn closings(text: &str) -> HashMap<usize, usize> {
    let bytes = text.as_bytes();
    let (mut open, mut closings, mut at) = (Vec::new(), HashMap::new(), 0);
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            // Of three braces the last two open the macro.
            b"{{" if bytes.get(at + 2) != Some(&b'{') => {
                open.push(at);
                at += 2;
            }
            b"}}" => {
                if let Some(start) = open.pop() {
                    closings.insert(start, at + 2);
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
    closings
}

#[cfg(test)]
mod tests {
    use super::{Names, expand};

    fn check(text: &str, expanded: &str) {
        let names = Names { char: "Mira", user: "{{char}}", original: Some("Be kind.") };
        assert_eq!(expand(text, &names), expanded);
    }

    #[test]
    fn names_in_every_spelling() {
        check("{{char}} {{CHAR}} {{ Char }} <BOT> <bot> <Char>", "Mira Mira Mira Mira Mira Mira");
        check("{{{char}}} and {{{{char}}}}", "{Mira} and {{Mira}}");
        check("You are {{char}}. {{original}}", "You are Mira. Be kind.");
    }

    #[test]
    fn what_is_put_in_is_not_read_again() {
        check("{{user}} waves at {{char}}, <USER>.", "{{char}} waves at Mira, {{char}}.");
    }

    #[test]
    fn comments_go_with_what_they_hold() {
        check("a{{// not for {{user}} }}b{{//}}c", "abc");
        check("a {{// never closed, {{char}}", "a {{// never closed, Mira");
    }

    #[test]
    fn others_stay_with_their_inner_names_filled_in() {
        check("{{random:{{char}},b}} {{roll:d6}} <START> <3 ü<", "{{random:Mira,b}} {{roll:d6}} <START> <3 ü<");
        check("{{ } } }} {{", "{{ } } }} {{");
    }

    #[test]
    fn original_stays_where_nothing_is_replaced() {
        let names = Names { char: "Mira", user: "Ann", original: None };
        assert_eq!(expand("{{original}}", &names), "{{original}}");
    }

    #[test]
    fn a_megabyte_of_braces_takes_no_time() {
        let hostile = "{{//".repeat(250_000);
        check(&hostile, &hostile);
    }
}
