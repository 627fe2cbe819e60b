//! Emphasis and code within a line of a message, as HTML. Takes time in proportion to the text.

/// A mark that opens or closes a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Strong,
    Emphasis,
    Underscore,
    Struck,
}

impl Mark {
    fn text(self) -> &'static str {
        match self {
            Self::Strong => "**",
            Self::Emphasis => "*",
            Self::Underscore => "_",
            Self::Struck => "~~",
        }
    }

    fn tag(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Emphasis | Self::Underscore => "em",
            Self::Struck => "s",
        }
    }
}

#[derive(Debug)]
enum InlinePiece<'t> {
    Text(&'t str),
    Code(&'t str),
    /// A mark that has no partner yet.
    Literal(Mark),
    Open(Mark),
    Close(Mark),
}

/// Converts `*emphasis*`, `**strong**`, `~~struck~~` and `` `code` `` to elements, and escapes
/// everything else.
pub(super) fn inline(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    for piece in pieces(text) {
        match piece {
            InlinePiece::Text(words) => escape(words, &mut html),
            InlinePiece::Code(words) => {
                html.push_str("<code dir=\"ltr\">");
                escape(words, &mut html);
                html.push_str("</code>");
            }
            InlinePiece::Literal(mark) => html.push_str(mark.text()),
            InlinePiece::Open(mark) => html.extend(["<", mark.tag(), ">"]),
            InlinePiece::Close(mark) => html.extend(["</", mark.tag(), ">"]),
        }
    }
    html
}

/// Appends `text`, escaped for the content and for quoted attributes of elements.
pub(super) fn escape(text: &str, html: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            letter => html.push(letter),
        }
    }
}

fn pieces(text: &str) -> Vec<InlinePiece<'_>> {
    let mut pieces = Vec::new();
    // The open marks with their places in `pieces`. Each mark is open at most once.
    let mut open: Vec<(Mark, usize)> = Vec::new();
    let mut begun = 0;
    let mut at = 0;
    let mut has_code = true;
    while let Some(found) = text[at..]
        .find(['*', '_', '~', '`'])
        .map(|found| at + found)
    {
        let rest = &text[found..];
        if rest.starts_with('`') {
            let end = has_code.then(|| rest[1..].find('`')).flatten();
            has_code = end.is_some();
            at = found + 1;
            if let Some(end) = end.filter(|end| *end > 0) {
                pieces.extend([
                    InlinePiece::Text(&text[begun..found]),
                    InlinePiece::Code(&rest[1..=end]),
                ]);
                at = found + end + 2;
                begun = at;
            }
            continue;
        }
        let last = open.last().map(|(mark, _)| *mark);
        let Some(mark) = mark_at(rest, last) else {
            at = found + rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let end = found + mark.text().len();
        pieces.push(InlinePiece::Text(&text[begun..found]));
        (begun, at) = (end, end);
        pieces.push(InlinePiece::Literal(mark));
        let place = pieces.len() - 1;
        let before = text[..found].chars().next_back();
        let after = text[end..].chars().next();
        match open.iter().rposition(|(known, _)| *known == mark) {
            Some(depth) if closes(mark, before, after) => {
                pieces[open[depth].1] = InlinePiece::Open(mark);
                pieces[place] = InlinePiece::Close(mark);
                open.truncate(depth);
            }
            None if opens(mark, before, after) => open.push((mark, place)),
            _ => {}
        }
    }
    pieces.push(InlinePiece::Text(&text[begun..]));
    pieces
}

/// The mark at the start of `rest`. `last` is the mark that was opened last.
fn mark_at(rest: &str, last: Option<Mark>) -> Option<Mark> {
    let stars = rest
        .bytes()
        .take(3)
        .take_while(|byte| *byte == b'*')
        .count();
    match stars {
        0 if rest.starts_with("~~") => Some(Mark::Struck),
        0 => rest.starts_with('_').then_some(Mark::Underscore),
        1 => Some(Mark::Emphasis),
        3 if last == Some(Mark::Emphasis) => Some(Mark::Emphasis),
        _ => Some(Mark::Strong),
    }
}

fn opens(mark: Mark, before: Option<char>, after: Option<char>) -> bool {
    let within_word = mark == Mark::Underscore && before.is_some_and(char::is_alphanumeric);
    after.is_some_and(|after| !after.is_whitespace()) && !within_word
}

fn closes(mark: Mark, before: Option<char>, after: Option<char>) -> bool {
    let within_word = mark == Mark::Underscore && after.is_some_and(char::is_alphanumeric);
    before.is_some_and(|before| !before.is_whitespace()) && !within_word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_become_elements() {
        for (text, html) in [
            (
                "*waves* **now** ~~no~~ `a*b`",
                "<em>waves</em> <strong>now</strong> <s>no</s> <code dir=\"ltr\">a*b</code>",
            ),
            ("***both***", "<strong><em>both</em></strong>"),
            ("**a *b* c**", "<strong>a <em>b</em> c</strong>"),
            ("_so_ snake_case_name", "<em>so</em> snake_case_name"),
            ("2 * 3 * 4 and *open", "2 * 3 * 4 and *open"),
            ("*a **b* c**", "<em>a **b</em> c**"),
            ("``", "``"),
            ("a ` b", "a ` b"),
        ] {
            assert_eq!(inline(text), html, "{text}");
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for text in [
            "*".repeat(200_000),
            "*a".repeat(100_000),
            "`".repeat(200_001),
            "_*~~".repeat(60_000),
        ] {
            assert!(inline(&text).len() >= text.len());
        }
    }

    proptest! {
        #[test]
        fn elements_are_nested_and_text_is_escaped(text in "[a *_~`<>&\"'灯]{0,40}") {
            let html = inline(&text);
            let mut open = Vec::new();
            for tag in html.split('<').skip(1).map(|rest| rest.split_once('>').unwrap().0) {
                match tag.strip_prefix('/') {
                    Some(name) => prop_assert_eq!(open.pop(), Some(name)),
                    None => {
                        prop_assert!(["strong", "em", "s", "code dir=\"ltr\""].contains(&tag));
                        open.push(tag.split(' ').next().unwrap());
                    }
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
