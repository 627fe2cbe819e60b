//! The first line of a formatted text, as plain words for lists.

/// Elements whose content is no text.
const HIDDEN: [&str; 3] = ["style", "script", "head"];
/// Elements that end a line.
const BLOCKS: [&str; 16] = [
    "br",
    "p",
    "div",
    "hr",
    "li",
    "ul",
    "ol",
    "tr",
    "table",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
];
const ENTITIES: [(&str, &str); 8] = [
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("mdash", "—"),
    ("hellip", "…"),
    ("amp", "&"),
];

/// The first line of `text` that has words, without HTML tags and Markdown marks. Empty if there
/// are only marks.
pub fn plain_line(text: &str) -> String {
    let text = without_tags(text);
    let lines = text.lines().map(|line| entities(&without_marks(line)));
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    words
        .into_iter()
        .find(|line| line.chars().any(char::is_alphanumeric))
        .unwrap_or_default()
}

fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        match tag(rest) {
            Some((name, length)) => {
                let closes = rest.starts_with("</");
                rest = &rest[length..];
                if HIDDEN.contains(&name.as_str()) && !closes {
                    rest = after_element(rest, &name);
                }
                plain.push_str(if BLOCKS.contains(&name.as_str()) {
                    "\n"
                } else {
                    ""
                });
            }
            None => {
                plain.push('<');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// Name and length of the tag or comment at the start of `text`.
fn tag(text: &str) -> Option<(String, usize)> {
    if text.starts_with("<!--") {
        return Some((
            String::new(),
            text.find("-->").map_or(text.len(), |at| at + 3),
        ));
    }
    let inside = &text[1..];
    let name = inside.strip_prefix('/').unwrap_or(inside);
    if !name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '!') {
        return None;
    }
    let name: String = name
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    Some((name.to_ascii_lowercase(), text.find('>')? + 1))
}

/// The text after the end of an element whose content is skipped.
fn after_element<'t>(text: &'t str, name: &str) -> &'t str {
    let end = text.to_ascii_lowercase().find(&format!("</{name}"));
    end.map_or("", |end| &text[end..])
}

/// A line of Markdown without its marks.
fn without_marks(line: &str) -> String {
    let mut line = line.trim();
    while let Some(rest) = leading_mark(line) {
        line = rest.trim_start();
    }
    let line = links(line).replace(['*', '`', '~', '|'], "");
    line.split(' ')
        .map(|word| word.trim_matches('_'))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The line without the mark of a heading, a quotation or a list at its start.
fn leading_mark(line: &str) -> Option<&str> {
    let heading = line.trim_start_matches('#');
    if heading.len() < line.len() && (heading.is_empty() || heading.starts_with(' ')) {
        return Some(heading);
    }
    if let Some(quoted) = line.strip_prefix('>') {
        return Some(quoted);
    }
    let number = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let numbered = (number.len() < line.len())
        .then(|| number.strip_prefix(". "))
        .flatten();
    numbered.or_else(|| {
        ["- ", "* ", "+ "]
            .into_iter()
            .find_map(|mark| line.strip_prefix(mark))
    })
}

/// Replaces links by their words, and pictures by nothing.
fn links(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('[') {
        let is_picture = rest[..at].ends_with('!');
        let Some((words, after)) = link(&rest[at..]) else {
            plain.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        plain.push_str(rest[..at].strip_suffix('!').unwrap_or(&rest[..at]));
        if !is_picture {
            plain.push_str(&links(words));
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// The words of the link at the start of `text`, and the text after it.
fn link(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut end = None;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' if depth == 1 => {
                end = Some(at);
                break;
            }
            ']' => depth -= 1,
            _ => {}
        }
    }
    let words = &text[1..end?];
    let after = &text[end? + 1..];
    let address = after.strip_prefix('(')?;
    Some((words, &address[address.find(')')? + 1..]))
}

fn entities(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, letter) in ENTITIES {
        text = text.replace(&format!("&{name};"), letter);
    }
    text.replace("&#39;", "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatted_text_becomes_plain_words() {
        for (written, plain) in [
            ("<b>Notes</b> by *Ann*", "Notes by Ann"),
            (
                "<style>p { color: red }</style>\n<p align=\"center\">A <i>calm</i> harbour</p>",
                "A calm harbour",
            ),
            ("# A **bold** title\nmore", "A bold title"),
            (
                "> - [Her page](https://x.example/a) and ![face](b.png)rest",
                "Her page and rest",
            ),
            (
                "[![face](b.png)](https://x.example)\n---\n_Old_ friend",
                "Old friend",
            ),
            ("<!-- hidden -->Tom &amp; Jerry &lt;3", "Tom & Jerry <3"),
            ("I <3 you, 2 < 3", "I <3 you, 2 < 3"),
            ("<div><br><hr></div>", ""),
            ("***\n![](x.png)\n", ""),
            ("1. First\n2. Second", "First"),
            ("snake_case [note] stays", "snake_case [note] stays"),
            ("```\ncode\n```", "code"),
            ("日本語の*メモ*", "日本語のメモ"),
            ("<b unclosed", "<b unclosed"),
        ] {
            assert_eq!(plain_line(written), plain, "{written}");
        }
    }
}
