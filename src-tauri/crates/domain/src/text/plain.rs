//! Text without the marks of Markdown and HTML, for lists and excerpts.

use std::ops::Range;

/// Maximum bytes of code, a link or a tag in a line. Longer ones stay as they are, so that odd text
/// takes no time.
const LONGEST: usize = 2_000;
/// Maximum number of opening marks that wait for a partner.
const MOST_OPEN: usize = 32;
/// Maximum bytes that a line of a list is made of.
const READ: usize = 16 * 1024;

/// The plain text of a message. Marks without a partner, such as the stars of `2 * 3 * 4`, stay.
pub fn plain(text: &str) -> String {
    let mut removed = Vec::new();
    let mut at = 0;
    let mut in_code = false;
    for line in text.split_inclusive('\n') {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        if body.starts_with("```") || body.starts_with("~~~") {
            removed.push(at..at + line.len());
            in_code = !in_code;
        } else if !in_code {
            let head = line_mark(body);
            if head > 0 {
                removed.push(at..at + indent + head);
            }
            inline_marks(line, indent + head, at, &mut removed);
        }
        at += line.len();
    }
    without(text, removed)
}

/// Length of the mark at the start of a line: headings, quotes, list items.
fn line_mark(body: &str) -> usize {
    let mut rest = body;
    loop {
        let mark = match rest.as_bytes() {
            [b'>', ..] => 1,
            [b'-' | b'*' | b'+', b' ', ..] => 1,
            [b'#', ..] => {
                let signs = rest.len() - rest.trim_start_matches('#').len();
                if signs <= 6 && rest[signs..].starts_with(' ') {
                    signs
                } else {
                    0
                }
            }
            _ => 0,
        };
        if mark == 0 {
            return body.len() - rest.len();
        }
        rest = rest[mark..].trim_start_matches(' ');
    }
}

/// An opening mark that waits for its partner.
struct OpenedMark {
    sign: char,
    range: Range<usize>,
}

/// Finds the marks in a line from `from` on; the line begins at `at` in the text.
fn inline_marks(line: &str, from: usize, at: usize, removed: &mut Vec<Range<usize>>) {
    let mut open: Vec<OpenedMark> = Vec::new();
    let mut place = from;
    while let Some(sign) = line[place..].chars().next() {
        let rest = &line[place..];
        let length = rest.len() - rest.trim_start_matches(sign).len();
        match sign {
            '\\' if rest[1..].starts_with(|next: char| next.is_ascii_punctuation()) => {
                removed.push(at + place..at + place + 1);
                place += 2;
                continue;
            }
            '`' => {
                let fence = &rest[..length];
                let closing = near(&rest[length..]).find(fence);
                if let Some(inside) = closing {
                    removed.push(at + place..at + place + length);
                    let end = place + length + inside;
                    removed.push(at + end..at + end + length);
                    place = end;
                }
                place += length;
                continue;
            }
            '*' | '_' | '~' if sign != '~' || length == 2 => {
                delimiter(line, sign, place..place + length, at, &mut open, removed);
                place += length;
                continue;
            }
            '!' | '[' => {
                if let Some((name, end)) = link(rest) {
                    removed.push(at + place..at + place + name.start);
                    removed.push(at + place + name.end..at + place + end);
                    inline_marks(&line[..place + name.end], place + name.start, at, removed);
                    place += end;
                    continue;
                }
            }
            '<' => {
                if let Some(end) = tag(rest) {
                    removed.push(at + place..at + place + end);
                    place += end;
                    continue;
                }
            }
            _ => {}
        }
        place += sign.len_utf8();
    }
}

/// Removes a run of signs with its partner, or keeps it as an opening mark.
fn delimiter(
    line: &str,
    sign: char,
    run: Range<usize>,
    at: usize,
    open: &mut Vec<OpenedMark>,
    removed: &mut Vec<Range<usize>>,
) {
    let before = line[..run.start].chars().next_back();
    let after = line[run.end..].chars().next();
    let is_space = |letter: Option<char>| letter.is_none_or(char::is_whitespace);
    let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    // An underscore inside a word is a part of it.
    let inside = sign == '_' && is_word(before) && is_word(after);
    let closes = !is_space(before) && !inside;
    let partner = open
        .iter()
        .rposition(|mark| mark.sign == sign)
        .filter(|_| closes);
    if let Some(partner) = partner {
        let first = open[partner].range.clone();
        open.truncate(partner);
        let paired = first.len().min(run.len());
        removed.push(at + first.end - paired..at + first.end);
        removed.push(at + run.start..at + run.start + paired);
        if first.len() > paired {
            open.push(OpenedMark {
                sign,
                range: first.start..first.end - paired,
            });
        }
        if run.len() > paired {
            delimiter(line, sign, run.start + paired..run.end, at, open, removed);
        }
    } else if !is_space(after) && !inside {
        if open.len() == MOST_OPEN {
            open.remove(0);
        }
        open.push(OpenedMark { sign, range: run });
    }
}

/// The part of a text in which a mark may end.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

/// The place of the name in `[name](address)` or `![name](address)`, and the end of the link.
fn link(rest: &str) -> Option<(Range<usize>, usize)> {
    let start = if rest.starts_with("![") {
        2
    } else if rest.starts_with('[') {
        1
    } else {
        return None;
    };
    let name_end = start + near(&rest[start..]).find(']')?;
    let address = near(rest[name_end + 1..].strip_prefix('(')?);
    let end = address
        .find([')', '\n'])
        .filter(|end| address[*end..].starts_with(')'))?;
    Some((start..name_end, name_end + 2 + end + 1))
}

/// The end of an HTML tag or comment.
fn tag(rest: &str) -> Option<usize> {
    if rest.starts_with("<!--") {
        return near(rest).find("-->").map(|end| end + 3);
    }
    let name = rest[1..].strip_prefix('/').unwrap_or(&rest[1..]);
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        .then_some(())?;
    near(rest).find('>').map(|end| end + 1)
}

fn without(text: &str, mut removed: Vec<Range<usize>>) -> String {
    removed.sort_by_key(|range| range.start);
    let mut plain = String::with_capacity(text.len());
    let mut from = 0;
    for range in removed {
        if range.start >= from {
            plain.push_str(&text[from..range.start]);
        }
        from = from.max(range.end);
    }
    plain.push_str(&text[from..]);
    plain
}

/// The start of the plain text as one line, at most `most` characters, cut between words.
pub fn plain_line(text: &str, most: usize) -> String {
    let line = plain(&text[..text.floor_char_boundary(READ)])
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some((end, _)) => {
            let cut = &line[..end];
            let words = cut
                .rfind(' ')
                .filter(|space| cut[*space..].chars().count() < 24)
                .map_or(cut, |end| &cut[..end]);
            format!("{words}…")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(plain(text), expected);
    }

    #[test]
    fn marks_with_partners_are_removed() {
        check(
            "**she says**. *She points north.*",
            "she says. She points north.",
        );
        check(
            "***Both*** __bold__ _thin_ ~~gone~~ `code`",
            "Both bold thin gone code",
        );
        check("*a **b** c* and **d *e***", "a b c and d e");
        check("「*はい*」と**言う**。", "「はい」と言う。");
        check(
            "# Title\n> quoted\n- item\n1. one",
            "Title\nquoted\nitem\n1. one",
        );
        check(
            "[name](https://example.org) ![*picture*](a.png)",
            "name picture",
        );
        check("a<br>b <b>c</b> <!-- d -->e", "ab c e");
        check("```rust\nlet a = *b;\n```\nafter", "let a = *b;\nafter");
        check("\\*not bold\\*", "*not bold*");
        check("`a *b* c` and ``d ` e``", "a *b* c and d ` e");
    }

    #[test]
    fn signs_without_partners_stay() {
        check(
            "2 * 3 * 4, foo_bar_baz, 5* hotel, **open",
            "2 * 3 * 4, foo_bar_baz, 5* hotel, **open",
        );
        check(
            "a < b > c, I <3 you, [brackets], #tag, C#, ~5",
            "a < b > c, I <3 you, [brackets], #tag, C#, ~5",
        );
        check("2 * * *", "2 * * *");
        check("*", "*");
        check("", "");
    }

    #[test]
    fn lines_are_cut_between_words() {
        assert_eq!(plain_line("**One** two\n\nthree", 40), "One two three");
        assert_eq!(plain_line("*One* two three", 9), "One two…");
        assert_eq!(plain_line(&"桜".repeat(30), 4), "桜桜桜桜…");
        let long = format!("**{}**", "word ".repeat(100).trim());
        assert!(
            !plain_line(&long, 20).contains('*'),
            "a mark whose partner is far away"
        );
    }

    proptest::proptest! {
        #[test]
        fn plain_text_is_never_longer(text in "[ab*_`~#>\\[\\]()<!/ \\\\\n桜-]{0,40}") {
            proptest::prop_assert!(plain(&text).len() <= text.len());
        }
    }
}
