//! Results of tools as text for a model.

use rmcp::model::{CallToolResult, ContentBlock, ReadResourceResult, ResourceContents};

use crate::text::{clean, clean_line};

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    pub text: String,
    /// The tool failed; `text` gives the reason.
    pub error: bool,
}

/// Text of a result. Pictures, sounds and files become notes.
pub(crate) fn of_call(result: &CallToolResult, most: usize) -> ToolOutput {
    let mut parts: Vec<String> = result.content.iter().map(block).collect();
    if parts.iter().all(|part| part.trim().is_empty()) {
        parts = result.structured_content.iter().map(ToString::to_string).collect();
    }
    let text = clean(parts.join("\n").trim(), most);
    let text = if text.is_empty() { "The tool returned nothing.".to_owned() } else { text };
    ToolOutput { text, error: result.is_error == Some(true) }
}

/// Text of a resource.
pub(crate) fn of_resource(result: &ReadResourceResult, most: usize) -> String {
    let parts: Vec<String> = result.contents.iter().map(contents).collect();
    clean(&parts.join("\n"), most)
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => note("Picture", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => note("Sound", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(embedded) => contents(&embedded.resource),
        ContentBlock::ResourceLink(link) => {
            format!("[Resource {}: {}]", clean_line(&link.name, 200), clean_line(&link.uri, 500))
        }
        // A later version of the protocol.
        _ => "[Content of an unknown kind: not shown]".to_owned(),
    }
}

fn contents(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => text.clone(),
        ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
            note("File", mime_type.as_deref().unwrap_or("unknown type"), blob.len())
        }
        _ => "[Content of an unknown kind: not shown]".to_owned(),
    }
}

/// `base64` is the length of the encoded data, which is a third longer than the data.
fn note(what: &str, kind: &str, base64: usize) -> String {
    format!("[{what}, {}, {} kB: not shown]", clean_line(kind, 100), (base64 / 4 * 3).div_ceil(1000))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(result: serde_json::Value) -> ToolOutput {
        of_call(&serde_json::from_value(result).unwrap(), 40)
    }

    #[test]
    fn text_of_all_blocks_is_joined() {
        let both = json!({ "content": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two\u{1b}" }] });
        assert_eq!(output(both), ToolOutput { text: "one\ntwo".into(), error: false });
    }

    #[test]
    fn pictures_become_notes() {
        let picture =
            json!({ "content": [{ "type": "image", "data": "AAAA", "mimeType": "image/png" }], "isError": true });
        assert_eq!(output(picture), ToolOutput { text: "[Picture, image/png, 1 kB: not shown]".into(), error: true });
    }

    #[test]
    fn structured_content_replaces_missing_text() {
        let only = json!({ "content": [], "structuredContent": { "hour": 7 } });
        assert_eq!(output(only).text, r#"{"hour":7}"#);
        assert_eq!(output(json!({ "content": [] })).text, "The tool returned nothing.");
    }

    #[test]
    fn long_result_is_cut() {
        let long = json!({ "content": [{ "type": "text", "text": "x".repeat(100) }] });
        assert_eq!(output(long).text, format!("{}…", "x".repeat(40)));
    }
}
