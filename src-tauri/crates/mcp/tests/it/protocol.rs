//! A well-behaved server in this process, made with the server side of `rmcp`.

use std::sync::Arc;

use mcp::{Connection, McpError, ToolOutput};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, serve_server};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::small;

/// Tools on one page.
const PAGE: usize = 8;

#[derive(Clone)]
struct Library {
    tools: usize,
    /// Signals that a call was cancelled.
    cancelled: CancellationToken,
}

impl Library {
    fn with(tools: usize) -> Self {
        Self {
            tools,
            cancelled: CancellationToken::new(),
        }
    }
}

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .build(),
        )
        .with_server_info(Implementation::new("library", "1.2").with_title("The library"))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let from = request
            .and_then(|page| page.cursor)
            .map_or(0, |cursor| cursor.parse().unwrap());
        let until = (from + PAGE).min(self.tools);
        let schema: Arc<JsonObject> =
            Arc::new(json!({ "type": "object" }).as_object().cloned().unwrap());
        let tool = |index: usize| {
            Tool::new(
                format!("tool{index}"),
                format!("Does {index}."),
                Arc::clone(&schema),
            )
            .with_annotations(ToolAnnotations::new().read_only(index == 0))
        };
        let mut page = ListToolsResult::with_all_items((from..until).map(tool).collect());
        page.next_cursor = (until < self.tools).then(|| until.to_string());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "tool0" => {
                let words = json!(request.arguments.unwrap_or_default()).to_string();
                Ok(CallToolResult::success(vec![ContentBlock::text(words)]).into())
            }
            "tool1" => {
                Ok(CallToolResult::error(vec![ContentBlock::text("The shelf is empty.")]).into())
            }
            "tool2" => {
                context.ct.cancelled().await;
                self.cancelled.cancel();
                Ok(CallToolResult::success(Vec::new()).into())
            }
            _ => Err(ErrorData::invalid_params("no such tool", None)),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![
            Resource::new("book:1", "A book").with_mime_type("text/plain"),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let text = ResourceContents::text("Once upon a time.", request.uri);
        Ok(ReadResourceResult::new(vec![text, ResourceContents::blob("AAAA", "book:2")]).into())
    }
}

async fn connected(server: Library) -> Connection {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    tokio::spawn(async move {
        let running = serve_server(server, tokio::io::split(theirs))
            .await
            .unwrap();
        let _ = running.waiting().await;
    });
    let (read, write) = tokio::io::split(ours);
    Connection::over(read, write, small()).await.unwrap()
}

async fn call(connection: &Connection, tool: &str) -> Result<ToolOutput, McpError> {
    let arguments = json!({ "shelf": 7 }).as_object().cloned().unwrap();
    connection
        .call(tool, arguments, &CancellationToken::new())
        .await
}

#[tokio::test]
async fn lists_the_tools_of_all_pages() {
    let connection = connected(Library::with(18)).await;
    let tools = connection.tools().await.unwrap().tools;
    assert_eq!(tools.len(), 18);
    assert_eq!(
        (tools[17].name.as_str(), tools[17].description.as_str()),
        ("tool17", "Does 17.")
    );
    assert!(tools[0].reads_only && !tools[1].reads_only);
    assert_eq!(
        (
            connection.about().name.as_str(),
            connection.about().version.as_str()
        ),
        ("The library", "1.2")
    );
}

#[tokio::test]
async fn tools_beyond_the_limit_are_left_out() {
    assert_eq!(
        connected(Library::with(500))
            .await
            .tools()
            .await
            .unwrap()
            .tools
            .len(),
        small().tools
    );
}

#[tokio::test]
async fn calls_a_tool_with_its_arguments() {
    let connection = connected(Library::with(3)).await;
    assert_eq!(
        call(&connection, "tool0").await,
        Ok(ToolOutput {
            text: r#"{"shelf":7}"#.into(),
            error: false
        })
    );
}

#[tokio::test]
async fn failed_tool_is_an_output() {
    let connection = connected(Library::with(3)).await;
    assert_eq!(
        call(&connection, "tool1").await,
        Ok(ToolOutput {
            text: "The shelf is empty.".into(),
            error: true
        })
    );
    assert_eq!(
        call(&connection, "tool9").await,
        Err(McpError::Refused {
            message: "no such tool".into()
        })
    );
    assert!(connection.is_open());
}

#[tokio::test]
async fn cancel_reaches_the_server() {
    let server = Library::with(3);
    let (connection, cancel) = (connected(server.clone()).await, CancellationToken::new());
    let (result, ()) = tokio::join!(
        connection.call("tool2", JsonObject::new(), &cancel),
        async {
            tokio::task::yield_now().await;
            cancel.cancel();
        }
    );
    assert_eq!(result, Err(McpError::Cancelled));
    assert!(
        call(&connection, "tool0").await.is_ok(),
        "the connection survives"
    );
}

#[tokio::test]
async fn lists_and_reads_resources() {
    let connection = connected(Library::with(1)).await;
    let resources = connection.resources().await.unwrap();
    assert_eq!(
        (resources[0].uri.as_str(), resources[0].name.as_str()),
        ("book:1", "A book")
    );
    let text = connection.read("book:1").await.unwrap();
    assert_eq!(
        text,
        "Once upon a time.\n[File, unknown type, 1 kB: not shown]"
    );
}
