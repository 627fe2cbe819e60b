//! Tests of `mcp`, with the client of `rmcp` at the other end of the pipes.

use std::process::Stdio;

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::world::{World, card};

pub(crate) struct Client {
    service: RunningService<RoleClient, ()>,
    child: Child,
}

impl Client {
    pub(crate) async fn start(world: &World) -> Self {
        let mut command = Command::from(world.command(&["mcp"]));
        let mut child = command
            .stdin(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        Self {
            service: ().serve(pipes).await.unwrap(),
            child,
        }
    }

    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let arguments = arguments.as_object().cloned().unwrap();
        self.service
            .call_tool(CallToolRequestParams::new(tool).with_arguments(arguments))
            .await
            .unwrap()
    }

    /// Closes the pipes, and waits until the program exits.
    pub(crate) async fn end(self) -> i32 {
        let Self { service, mut child } = self;
        service.cancel().await.unwrap();
        child.wait().await.unwrap().code().unwrap()
    }
}

pub(crate) fn text(result: &CallToolResult) -> String {
    serde_json::to_value(&result.content[0]).unwrap()["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

pub(crate) fn data(result: &CallToolResult) -> &Value {
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.as_ref().unwrap()
}

#[tokio::test]
async fn lists_its_tools_with_instructions() {
    let world = World::without_model();
    let client = Client::start(&world).await;
    let tools = client.service.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(
        names,
        ["list_characters", "list_chats", "chat", "search_memory"]
    );
    assert!(
        client
            .service
            .peer_info()
            .unwrap()
            .instructions
            .as_ref()
            .unwrap()
            .contains("list_characters first")
    );
    assert!(
        !world.data_dir().exists(),
        "nothing is opened before the first call"
    );
    assert_eq!(client.end().await, 0);
}

#[tokio::test]
async fn lists_characters_and_searches_memory() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    world.json(&[
        "memory",
        "add",
        "--character",
        "Mira Quay",
        "Ida is allergic to nuts.",
    ]);
    let client = Client::start(&world).await;
    let characters = client.call("list_characters", json!({})).await;
    assert!(text(&characters).contains("Mira Quay: "), "{characters:?}");
    let found = client
        .call(
            "search_memory",
            json!({ "character": "mira quay", "query": "nuts" }),
        )
        .await;
    assert_eq!(text(&found), "Ida is allergic to nuts.");
    assert_eq!(data(&found)["memories"].as_array().unwrap().len(), 1);
    client.end().await;
}

#[tokio::test]
async fn failed_reply_keeps_the_message_and_says_why() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let client = Client::start(&world).await;
    // It is a message, not a command.
    let failed = client
        .call(
            "chat",
            json!({ "character": "Mira Quay", "message": "/sys Hello" }),
        )
        .await;
    assert_eq!(failed.is_error, Some(true));
    assert!(text(&failed).ends_with("(noModel)"), "{failed:?}");
    let chats = client
        .call("list_chats", json!({ "character": "Mira Quay" }))
        .await;
    let chat = data(&chats)["chats"][0]["id"].as_str().unwrap().to_owned();
    client.end().await;
    let shown = world.json(&["show", "chat", &chat]);
    assert_eq!(
        shown["page"]["messages"][1]["swipes"][0]["text"],
        "/sys Hello"
    );
}

#[tokio::test]
async fn wrong_arguments_are_typed_errors() {
    let world = World::without_model();
    let client = Client::start(&world).await;
    for (tool, arguments, kind) in [
        (
            "chat",
            json!({ "character": "Nobody", "message": "Hi" }),
            "notFound",
        ),
        ("chat", json!({ "character": "Nobody" }), "badInput"),
        ("search_memory", json!({ "character": 7 }), "badInput"),
        ("fly", json!({}), "notFound"),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        assert!(text(&result).ends_with(&format!("({kind})")), "{result:?}");
    }
    client.end().await;
}

#[tokio::test]
async fn folder_in_use_is_an_error_of_the_call() {
    let world = World::without_model();
    let client = Client::start(&world).await;
    let mut serving = world.start(&["serve", "--json"]);
    serving.line();
    let refused = client.call("list_characters", json!({})).await;
    assert_eq!(refused.is_error, Some(true));
    assert!(text(&refused).ends_with("(inUse)"), "{refused:?}");
    drop(serving);
    client.end().await;
}
