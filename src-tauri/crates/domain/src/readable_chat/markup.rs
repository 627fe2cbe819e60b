//! Paragraphs, quotations, lists, rules and code blocks of a message, as HTML.

use super::inline::{escape, inline};

/// Converts the Markdown that messages usually contain. Everything else is shown as it is written,
/// escaped.
pub(super) fn markup(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(fence) = fence(line) {
            html.push_str("<pre dir=\"ltr\"><code>");
            for code in lines.by_ref().take_while(|line| !closes(line, fence)) {
                escape(code, &mut html);
                html.push('\n');
            }
            html.push_str("</code></pre>\n");
        } else if line.trim().is_empty() {
        } else if is_rule(line) {
            html.push_str("<hr>\n");
        } else if let Some(heading) = heading(line) {
            html.extend([
                "<p class=\"heading\" dir=\"auto\">",
                &inline(heading),
                "</p>\n",
            ]);
        } else {
            let quotes = quoted(line).is_some();
            let mut part = vec![line];
            while let Some(next) = lines.next_if(|next| continues(next, quotes)) {
                part.push(next);
            }
            html.push_str(&paragraph(&part, quotes));
        }
    }
    html
}

fn paragraph(lines: &[&str], quotes: bool) -> String {
    let words = lines.iter().map(|line| match (quotes, quoted(line)) {
        (true, Some(words)) => words.to_owned(),
        _ => item(line),
    });
    let text = inline(&words.collect::<Vec<_>>().join("\n")).replace('\n', "<br>\n");
    if quotes {
        format!("<blockquote dir=\"auto\">{text}</blockquote>\n")
    } else {
        format!("<p dir=\"auto\">{text}</p>\n")
    }
}

/// Whether a line belongs to the paragraph or quotation before it.
fn continues(line: &str, quotes: bool) -> bool {
    let ends =
        line.trim().is_empty() || fence(line).is_some() || is_rule(line) || heading(line).is_some();
    !ends && quoted(line).is_some() == quotes
}

/// The mark of a code block, `` ``` `` or `~~~`, that begins with this line.
fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"]
        .into_iter()
        .find(|mark| line.trim_start().starts_with(mark))
}

fn closes(line: &str, fence: &str) -> bool {
    line.trim() == fence
}

fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|letter| !letter.is_whitespace());
    let Some(first) = marks
        .next()
        .filter(|first| matches!(first, '-' | '*' | '_'))
    else {
        return false;
    };
    let others = marks.try_fold(0, |count, mark| (mark == first).then_some(count + 1));
    others.is_some_and(|others| others >= 2)
}

fn heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    (1..=6)
        .contains(&level)
        .then(|| words.strip_prefix(' '))
        .flatten()
}

fn quoted(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('>')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// A line of a list gets a bullet, so that its mark is no emphasis.
fn item(line: &str) -> String {
    let words = line.trim_start();
    match words
        .strip_prefix("- ")
        .or_else(|| words.strip_prefix("* "))
        .or_else(|| words.strip_prefix("+ "))
    {
        Some(words) => format!("• {words}"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_blocks_become_elements() {
        for (text, html) in [
            (
                "One\ntwo\n\nthree",
                "<p dir=\"auto\">One<br>\ntwo</p>\n<p dir=\"auto\">three</p>\n",
            ),
            (
                "> so\n> it is\nno",
                "<blockquote dir=\"auto\">so<br>\nit is</blockquote>\n<p dir=\"auto\">no</p>\n",
            ),
            (
                "a\n***\nb",
                "<p dir=\"auto\">a</p>\n<hr>\n<p dir=\"auto\">b</p>\n",
            ),
            (
                "```rust\n<x>*y*\n```\nz",
                "<pre dir=\"ltr\"><code>&lt;x&gt;*y*\n</code></pre>\n<p dir=\"auto\">z</p>\n",
            ),
            (
                "## A *title*",
                "<p class=\"heading\" dir=\"auto\">A <em>title</em></p>\n",
            ),
            ("* one\n- two", "<p dir=\"auto\">• one<br>\n• two</p>\n"),
            (
                "*starts\nhere*",
                "<p dir=\"auto\"><em>starts<br>\nhere</em></p>\n",
            ),
            ("", ""),
        ] {
            assert_eq!(markup(text), html, "{text}");
        }
    }

    #[test]
    fn unclosed_code_block_ends_with_the_message() {
        assert_eq!(
            markup("~~~\n<b>"),
            "<pre dir=\"ltr\"><code>&lt;b&gt;\n</code></pre>\n"
        );
    }
}
