//! Extracts headings and paragraphs from HTML, without navigation and hidden parts. Scripts are not
//! run, and nothing is fetched.

use std::cell::RefCell;

use html5ever::LocalName;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};

use super::Passage;
use super::markup::{attribute, decoded, tokenize};
use crate::error::DocumentError;
use crate::text_block::{MAX_BYTES, MAX_FILE, TextBlock, cut};

/// Maximum size of a heading, in bytes. A longer one was probably never closed, so it becomes a
/// paragraph.
const MAX_HEADING: usize = 400;
/// Elements without readable text, and navigation.
const SKIPPED: [&str; 22] = [
    "audio", "button", "canvas", "datalist", "dialog", "iframe", "map", "nav", "noembed",
    "noframes", "noscript", "object", "rp", "rt", "script", "select", "style", "svg", "template",
    "textarea", "title", "video",
];
/// Elements that start and end a paragraph.
const BLOCKS: [&str; 34] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "tr",
    "ul",
];
/// Void elements, which have no end tag.
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];
/// Prefix of a list item.
const ITEM: &str = "- ";
/// Separator between the cells of a row.
const CELL: &str = " | ";

/// Reads a page and splits it into passages, in order. Fails with `TooSlow` when `should_continue`
/// returns false.
///
/// # Errors
/// [`DocumentError`] if the page cannot be read. There is no partial result.
pub fn read(
    file: &[u8],
    should_continue: &dyn Fn() -> bool,
) -> Result<Vec<Passage>, DocumentError> {
    if file.len() > MAX_FILE {
        return Err(DocumentError::TooLarge {
            bytes: file.len(),
            limit: MAX_FILE,
        });
    }
    cut(&pieces(file, should_continue)?)
}

pub(super) fn pieces(
    file: &[u8],
    should_continue: &dyn Fn() -> bool,
) -> Result<Vec<TextBlock>, DocumentError> {
    let mut page = tokenize(&decoded(file), HtmlPage::default(), should_continue)?
        .0
        .into_inner();
    page.end_block();
    Ok(page.pieces)
}

#[derive(Default)]
struct HtmlPage(RefCell<HtmlReader>);

impl TokenSink for HtmlPage {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut reading = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => reading.text(&text),
            Token::TagToken(tag) => {
                reading.tag(&tag);
                return contents(&tag);
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }

    /// Allows CDATA sections, which pages of books contain.
    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        true
    }
}

/// Returns how the tokenizer must read the contents of an element. A self-closing element, as in
/// XML, has none.
fn contents(tag: &Tag) -> TokenSinkResult<()> {
    if tag.kind == TagKind::EndTag || tag.self_closing {
        return TokenSinkResult::Continue;
    }
    match &*tag.name {
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
            TokenSinkResult::RawData(RawKind::Rawtext)
        }
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        _ => TokenSinkResult::Continue,
    }
}

#[derive(Default)]
struct HtmlReader {
    pieces: Vec<TextBlock>,
    /// Total size of the pieces, in bytes.
    written_bytes: usize,
    /// Text of the current heading or paragraph.
    text: String,
    heading: bool,
    preformatted: bool,
    skipping: Option<SkippedElement>,
}

impl HtmlReader {
    fn tag(&mut self, tag: &Tag) {
        if let Some(skipped) = &mut self.skipping {
            if !skipped.ends_with(tag) {
                return;
            }
            self.skipping = None;
            if tag.kind == TagKind::EndTag {
                return;
            }
        }
        match tag.kind {
            TagKind::StartTag => self.start(tag),
            TagKind::EndTag => self.end(&tag.name),
        }
    }

    fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        if SKIPPED.contains(&name) || is_hidden(tag) {
            if !tag.self_closing && !VOID.contains(&name) {
                self.skipping = Some(SkippedElement {
                    name: tag.name.clone(),
                    depth: 1,
                });
            }
            return;
        }
        match name {
            "br" => self.line_break(),
            "td" | "th" => self.cell(),
            _ if is_heading(name) => {
                self.end_block();
                self.heading = !tag.self_closing;
            }
            _ if BLOCKS.contains(&name) => {
                self.block();
                if name == "li" && !self.heading {
                    self.text.clear();
                    self.text.push_str(ITEM);
                }
                self.preformatted |= name == "pre";
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            _ if is_heading(name) => self.end_block(),
            _ if BLOCKS.contains(&name) => {
                self.block();
                // Discards the marker of an empty, unclosed list item.
                if matches!(name, "li" | "ol" | "ul") {
                    self.text.clear();
                }
                self.preformatted &= name != "pre";
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.skipping.is_some() {
            return;
        }
        for letter in text.chars() {
            match letter {
                '\u{ad}' => {}
                letter if self.preformatted && !self.heading => self.text.push(letter),
                letter if letter.is_ascii_whitespace() || letter == '\u{a0}' => self.space(),
                letter => self.text.push(letter),
            }
        }
        if self.heading && self.text.len() > MAX_HEADING {
            self.heading = false;
        }
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn line_break(&mut self) {
        if self.heading {
            return self.space();
        }
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
    }

    fn cell(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        if !self.text.is_empty() && self.text != ITEM.trim_end() {
            self.text.push_str(CELL);
        }
    }

    /// Starts or ends a paragraph. Inside a heading, this is only a space.
    fn block(&mut self) {
        if self.heading {
            self.space();
        } else if self.text != ITEM {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        let text = std::mem::take(&mut self.text);
        let heading = std::mem::take(&mut self.heading);
        match text.trim_matches(['\n', ' ']) {
            "" => {}
            text if text == ITEM.trim_end() => {}
            text if heading => self.keep(TextBlock::Heading(text.to_owned())),
            text => self.keep(TextBlock::Paragraph(text.to_owned())),
        }
    }

    /// Stops storing above the size limit, which the caller then reports as an error.
    fn keep(&mut self, piece: TextBlock) {
        if self.written_bytes <= MAX_BYTES {
            self.written_bytes += piece.size();
            self.pieces.push(piece);
        }
    }
}

/// A skipped element.
struct SkippedElement {
    name: LocalName,
    /// Number of open elements with that name.
    depth: usize,
}

impl SkippedElement {
    fn ends_with(&mut self, tag: &Tag) -> bool {
        let name = &*tag.name;
        let same = tag.name == self.name;
        let in_ruby = matches!(&*self.name, "rt" | "rp");
        match tag.kind {
            TagKind::StartTag if in_ruby || &*self.name == "p" => {
                same || (in_ruby && matches!(name, "rt" | "rp" | "rb"))
            }
            TagKind::StartTag => {
                self.depth += usize::from(same && !tag.self_closing);
                false
            }
            TagKind::EndTag if same => {
                self.depth -= 1;
                self.depth == 0
            }
            TagKind::EndTag => name == "body" || (in_ruby && name == "ruby"),
        }
    }
}

fn is_heading(name: &str) -> bool {
    matches!(name.as_bytes(), [b'h', b'1'..=b'6'])
}

/// Whether the page itself hides the element.
fn is_hidden(tag: &Tag) -> bool {
    let says = |name: &str, value: &str| {
        attribute(tag, name).is_some_and(|said| said.trim().eq_ignore_ascii_case(value))
    };
    let style: String = attribute(tag, "style")
        .unwrap_or_default()
        .split_whitespace()
        .collect::<String>()
        .to_lowercase();
    attribute(tag, "hidden").is_some()
        || says("aria-hidden", "true")
        || says("role", "navigation")
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}

#[cfg(test)]
mod tests;
