//! Tokenizes HTML, and the XML in EPUB books, with `html5ever`. No tree is built, so deep nesting
//! is harmless. Nothing is fetched.

use std::cell::RefCell;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

use crate::error::DocumentError;

/// Number of bytes between two calls of `should_continue`.
const CHUNK: usize = 4 << 10;
/// Number of bytes searched for an encoding declaration.
const DECLARED_WITHIN: usize = 1_024;

/// Feeds `text` to `sink` while `should_continue` returns true. The time limit matters because a
/// tag with n attributes takes O(n²).
pub(super) fn tokenize<S: TokenSink>(
    text: &str,
    sink: S,
    should_continue: &dyn Fn() -> bool,
) -> Result<S, DocumentError> {
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut rest = text;
    while !rest.is_empty() {
        if !should_continue() {
            return Err(DocumentError::TooSlow);
        }
        let end = (1..=rest.len().min(CHUNK))
            .rev()
            .find(|end| rest.is_char_boundary(*end))
            .unwrap_or(rest.len());
        let (next, later) = rest.split_at(end);
        queue.push_back(StrTendril::from_slice(next));
        let _ = tokenizer.feed(&queue);
        rest = later;
    }
    tokenizer.end();
    Ok(tokenizer.sink)
}

/// Decodes a page: by its byte order mark, else as UTF-8 if valid, else as declared, else as
/// Windows-1252 like browsers.
pub(super) fn decoded(file: &[u8]) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(file) {
        return encoding
            .decode_without_bom_handling(&file[mark..])
            .0
            .into_owned();
    }
    match std::str::from_utf8(file) {
        Ok(text) => text.to_owned(),
        Err(_) => declared(file)
            .decode_without_bom_handling(file)
            .0
            .into_owned(),
    }
}

fn declared(file: &[u8]) -> &'static Encoding {
    let beginning =
        String::from_utf8_lossy(&file[..file.len().min(DECLARED_WITHIN)]).to_lowercase();
    let declared = ["charset=", "encoding="]
        .iter()
        .find_map(|word| beginning.split_once(word));
    let Some((_, label)) = declared else {
        return WINDOWS_1252;
    };
    let label = label.trim_start_matches(['"', '\'', ' ']);
    let end = label.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter));
    Encoding::for_label(&label.as_bytes()[..end.unwrap_or(label.len())]).unwrap_or(UTF_8)
}

/// Returns the value of an attribute.
pub(super) fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    tag.attrs
        .iter()
        .find(|attribute| &*attribute.name.local == name)
        .map(|attribute| &*attribute.value)
}

/// An XML tag with a lower-case local name, or the text between two tags.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum XmlToken {
    Start {
        name: String,
        attributes: Vec<(String, String)>,
    },
    End {
        name: String,
    },
    Text(String),
}

impl XmlToken {
    /// Value of an attribute, if this is a start tag with that name.
    pub(super) fn attribute(&self, tag: &str, wanted: &str) -> Option<&str> {
        match self {
            Self::Start { name, attributes } if name == tag => attributes
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value.as_str()),
            _ => None,
        }
    }
}

/// Returns the tags and texts of an XML file, in order. Skips malformed parts.
pub(super) fn xml_tokens(
    file: &[u8],
    should_continue: &dyn Fn() -> bool,
) -> Result<Vec<XmlToken>, DocumentError> {
    Ok(
        tokenize(&decoded(file), XmlTokenSink::default(), should_continue)?
            .0
            .into_inner(),
    )
}

#[derive(Default)]
struct XmlTokenSink(RefCell<Vec<XmlToken>>);

impl TokenSink for XmlTokenSink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut xml_tokens = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => xml_tokens.extend(of_tag(&tag)),
            Token::CharacterTokens(text) => match xml_tokens.last_mut() {
                Some(XmlToken::Text(known)) => known.push_str(&text),
                _ => xml_tokens.push(XmlToken::Text(text.to_string())),
            },
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        true
    }
}

fn of_tag(tag: &Tag) -> impl Iterator<Item = XmlToken> + use<> {
    let name = tag.name.rsplit(':').next().unwrap_or_default().to_owned();
    let end = (tag.kind == TagKind::EndTag || tag.self_closing)
        .then(|| XmlToken::End { name: name.clone() });
    let attributes = tag
        .attrs
        .iter()
        .map(|one| (one.name.local.to_string(), one.value.to_string()));
    let start = (tag.kind == TagKind::StartTag).then(|| XmlToken::Start {
        attributes: attributes.collect(),
        name,
    });
    start.into_iter().chain(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_the_declared_encoding() {
        assert_eq!(decoded("caf\u{e9} 灯".as_bytes()), "café 灯");
        assert_eq!(decoded(b"\xef\xbb\xbfcaf\xc3\xa9"), "café");
        assert_eq!(decoded(b"\xff\xfec\0a\0f\0\xe9\0"), "café");
        assert_eq!(decoded(b"caf\xe9"), "café");
        assert_eq!(
            decoded(b"<meta charset=\"shift_jis\">\x93\x94"),
            "<meta charset=\"shift_jis\">灯"
        );
        assert_eq!(
            decoded(b"<?xml encoding='iso-8859-2'?>\xb1"),
            "<?xml encoding='iso-8859-2'?>ą"
        );
        assert_eq!(
            decoded(b"<meta charset=utf-8>caf\xe9"),
            "<meta charset=utf-8>caf\u{fffd}"
        );
    }

    #[test]
    fn xml_tags_lose_their_prefixes() {
        let found = xml_tokens(
            b"<?xml version=\"1.0\"?><opf:Item ID='a&amp;b'/><dc:title>A<![CDATA[ & B]]></dc:title>",
            &|| true,
        );
        let start = |name: &str, attributes: &[(&str, &str)]| XmlToken::Start {
            name: name.into(),
            attributes: attributes
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
        };
        let end = |name: &str| XmlToken::End { name: name.into() };
        let expected = [
            start("item", &[("id", "a&b")]),
            end("item"),
            start("title", &[]),
            XmlToken::Text("A & B".into()),
            end("title"),
        ];
        assert_eq!(found.unwrap(), expected);
    }

    #[test]
    fn stops_when_the_caller_asks() {
        assert_eq!(xml_tokens(b"<a>", &|| false), Err(DocumentError::TooSlow));
    }
}
