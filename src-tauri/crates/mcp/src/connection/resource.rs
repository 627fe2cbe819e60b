//! Resources of a server.

use serde_json::Value;

use crate::McpError;
use crate::text::clean_line;
use crate::tool_list::MAX_LINE;

/// A text or file that a server offers to read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ServerResource {
    pub uri: String,
    pub name: String,
    pub description: String,
    pub mime_type: Option<String>,
}

/// The items of a page of a list.
pub(super) fn listed<'v>(page: &'v Value, list: &str) -> Result<&'v [Value], McpError> {
    let items = page[list].as_array().map(Vec::as_slice);
    items.ok_or_else(|| McpError::Protocol {
        detail: format!("its answer has no list of {list}"),
    })
}

pub(super) fn next_page(page: &Value) -> Option<String> {
    page["nextCursor"]
        .as_str()
        .filter(|cursor| !cursor.is_empty())
        .map(str::to_owned)
}

/// `None` without an address. Other odd fields are ignored.
pub(super) fn resource(resource: &Value) -> Option<ServerResource> {
    let uri = resource["uri"].as_str()?;
    let name = resource["title"]
        .as_str()
        .or_else(|| resource["name"].as_str())
        .unwrap_or(uri);
    Some(ServerResource {
        uri: clean_line(uri, 4 * MAX_LINE),
        name: clean_line(name, MAX_LINE),
        description: clean_line(
            resource["description"].as_str().unwrap_or_default(),
            MAX_LINE,
        ),
        mime_type: resource["mimeType"]
            .as_str()
            .map(|kind| clean_line(kind, 100)),
    })
}
