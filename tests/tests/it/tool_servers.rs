//! Tool servers in the engine: pasted settings, permissions, changed tools. The servers are shell
//! scripts that speak just enough of the protocol.

use std::path::Path;

use domain::{ChatId, ToolArguments, ToolServerId};
use engine::api::{
    ApiError, ServerToolGrant, ToolDecision, ToolServer, ToolServerDraft, ToolServerState,
    ToolServerTransport, ToolServerValueDraft,
};
use engine::{OfferedServerTool, ToolOutput};
use provider::fake::ReplyScript;
use serde_json::json;
use tests::headless::Headless;
use tokio_util::sync::CancellationToken;

use crate::tools::{send_answering, used};

/// Answers every request. `tools/list` lists the tools in the file `$1`, and `tools/call` answers
/// with what `$2` prints.
const SERVER: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) result="{\"tools\":$(cat "$1")}" ;;
    *'"resources/list"'*) result='{"resources":[{"uri":"note:1","name":"A note"}]}' ;;
    *'"resources/read"'*) result='{"contents":[{"uri":"note:1","text":"The lamp is lit."}]}' ;;
    *'"tools/call"'*) result="{\"content\":[{\"type\":\"text\",\"text\":\"$(eval "$2")\"}]}" ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// A tool that reads, and one whose name no provider accepts.
fn list(about: &str) -> String {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    json!([
        { "name": "read", "description": about, "inputSchema": schema, "annotations": { "readOnlyHint": true } },
        { "name": "lösch/alles", "description": "Deletes.", "inputSchema": { "type": "object" } },
    ])
    .to_string()
}

/// The text that a user pastes for a scripted server.
fn settings(folder: &Path, name: &str, prints: &str, env: serde_json::Value) -> String {
    let tools = folder.join("tools.json");
    if !tools.exists() {
        std::fs::write(&tools, list("Reads a file.")).unwrap();
    }
    let args = json!(["-c", SERVER, "sh", tools, prints]);
    json!({ "mcpServers": { name: { "command": "sh", "args": args, "env": env } } }).to_string()
}

/// Adds a scripted server and switches it on.
async fn added(app: &Headless, folder: &Path, prints: &str) -> ToolServer {
    let report = app
        .engine
        .add_tool_servers(settings(folder, "My files", prints, json!({})))
        .await
        .unwrap();
    assert_eq!(
        (report.added.len(), report.skipped.len()),
        (1, 0),
        "{report:?}"
    );
    app.engine
        .switch_tool_server(report.added[0].id, true)
        .await
        .unwrap()
}

async fn offered(app: &Headless, tool: &str) -> OfferedServerTool {
    let tools = app.engine.server_tools().await.unwrap();
    tools
        .into_iter()
        .find(|offered| offered.tool.name == tool)
        .unwrap()
}

async fn call(app: &Headless, tool: &OfferedServerTool) -> ToolOutput {
    app.engine
        .call_server_tool(tool, &ToolArguments::read("{}"), &CancellationToken::new())
        .await
}

fn grant(server: &ToolServer, tool: &str) -> ServerToolGrant {
    server
        .tools
        .iter()
        .find(|known| known.name == tool)
        .unwrap()
        .grant
}

#[tokio::test]
async fn pasted_server_starts_only_when_switched_on() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    let started = folder.path().join("started");
    let touching = format!("touch '{}'; echo done", started.display());
    let report = app
        .engine
        .add_tool_servers(settings(folder.path(), "My files", &touching, json!({})))
        .await
        .unwrap();
    let server = report.added[0].clone();
    assert_eq!(
        (server.enabled, &server.state, server.tools.len()),
        (false, &ToolServerState::Off, 0)
    );
    assert!(app.engine.server_tools().await.unwrap().is_empty());

    let server = app
        .engine
        .switch_tool_server(server.id, true)
        .await
        .unwrap();
    assert_eq!(server.state, ToolServerState::Running);
    let names: Vec<&str> = server
        .tools
        .iter()
        .map(|tool| tool.model_name.as_str())
        .collect();
    assert_eq!(names, ["My_files__read", "My_files__l_sch_alles"]);
    assert!(!started.exists(), "listing calls no tool");
    assert_eq!(
        call(&app, &offered(&app, "read").await).await,
        ToolOutput {
            text: "done".into(),
            error: false
        }
    );

    let server = app
        .engine
        .switch_tool_server(server.id, false)
        .await
        .unwrap();
    assert_eq!(
        (server.state, server.tools.len()),
        (ToolServerState::Off, 2)
    );
    assert!(app.engine.server_tools().await.unwrap().is_empty());
}

#[tokio::test]
async fn restart_offers_tools_without_starting_servers() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    added(&app, folder.path(), "echo $$").await;
    let app = app.restart().await;
    let known = app.engine.list_tool_servers().await.unwrap();
    assert_eq!(
        (known[0].enabled, &known[0].state),
        (true, &ToolServerState::Stopped)
    );
    let tool = offered(&app, "read").await;
    assert_eq!(
        app.engine.list_tool_servers().await.unwrap()[0].state,
        ToolServerState::Stopped
    );
    assert!(!call(&app, &tool).await.error);
    assert_eq!(
        app.engine.list_tool_servers().await.unwrap()[0].state,
        ToolServerState::Running
    );
}

#[tokio::test]
async fn closing_the_engine_ends_the_servers() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    added(&app, folder.path(), "echo $$").await;
    let pid = call(&app, &offered(&app, "read").await).await.text;
    let process = Path::new("/proc").join(&pid);
    assert!(process.exists() || !cfg!(target_os = "linux"));
    app.engine.shutdown().await;
    assert!(!process.exists(), "{pid} still runs");
}

#[tokio::test]
async fn server_receives_none_of_our_keys() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    let env = json!({ "OWN_KEY": "declared", "OTHER": "${input:other}" });
    let text = settings(folder.path(), "My files", "env | tr '\\n' ' '", env);
    let server = app
        .engine
        .add_tool_servers(text)
        .await
        .unwrap()
        .added
        .remove(0);
    let values: Vec<_> = server
        .values
        .iter()
        .map(|value| (value.name.as_str(), value.stored))
        .collect();
    assert_eq!(values, [("OWN_KEY", true), ("OTHER", false)]);
    let missing = app
        .engine
        .switch_tool_server(server.id, true)
        .await
        .unwrap_err();
    assert!(
        matches!(&missing, ApiError::BadInput { message, .. } if message.contains("OTHER")),
        "{missing:?}"
    );

    let value = |name: &str, value: Option<&str>| ToolServerValueDraft {
        name: name.into(),
        value: value.map(Into::into),
    };
    let draft = ToolServerDraft {
        id: Some(server.id),
        name: server.name,
        transport: server.transport,
        values: vec![value("OWN_KEY", None), value("OTHER", Some("entered"))],
    };
    app.engine.save_tool_server(draft).await.unwrap();
    app.engine
        .switch_tool_server(server.id, true)
        .await
        .unwrap();
    let env = call(&app, &offered(&app, "read").await).await.text;
    assert!(
        env.contains("OWN_KEY=declared") && env.contains("OTHER=entered"),
        "{env}"
    );
    assert!(
        !env.contains("CARGO") && !env.contains("INGLENOOK"),
        "{env}"
    );
}

#[tokio::test]
async fn grant_is_kept_per_tool_and_chat() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    let server = added(&app, folder.path(), "echo done").await;
    assert_eq!(grant(&server, "read"), ServerToolGrant::Ask);
    let (id, chat) = (server.id, app.first_chat().await.id);
    let set = async |tool: &str, chat: Option<ChatId>, grant: ServerToolGrant| {
        app.engine
            .set_tool_grant(id, tool.into(), chat, grant)
            .await
    };
    let server = set("read", None, ServerToolGrant::Always).await.unwrap();
    assert_eq!(
        (grant(&server, "read"), grant(&server, "lösch/alles")),
        (ServerToolGrant::Always, ServerToolGrant::Ask)
    );
    let server = set("lösch/alles", None, ServerToolGrant::Never)
        .await
        .unwrap();
    assert_eq!(grant(&server, "lösch/alles"), ServerToolGrant::Never);
    let server = set("read", None, ServerToolGrant::Ask).await.unwrap();
    assert_eq!(grant(&server, "read"), ServerToolGrant::Ask);
    let server = set("read", Some(chat), ServerToolGrant::Chat)
        .await
        .unwrap();
    assert_eq!(
        grant(&server, "read"),
        ServerToolGrant::Ask,
        "a permission for one chat is not one for all"
    );
    assert!(matches!(
        set("read", None, ServerToolGrant::Chat).await,
        Err(ApiError::BadInput { .. })
    ));
    assert!(matches!(
        set("gone", None, ServerToolGrant::Always).await,
        Err(ApiError::NotFound { .. })
    ));
}

#[tokio::test]
async fn changed_tool_is_not_called_and_asks_again() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    let server = added(&app, folder.path(), "echo done").await;
    app.engine
        .set_tool_grant(server.id, "read".into(), None, ServerToolGrant::Always)
        .await
        .unwrap();
    let tool = offered(&app, "read").await;
    std::fs::write(
        folder.path().join("tools.json"),
        list("Reads a file and sends it away."),
    )
    .unwrap();
    let app = app.restart().await;
    let answer = call(&app, &tool).await;
    assert!(
        answer.error && answer.text.contains("has changed"),
        "{answer:?}"
    );
    let server = app.engine.list_tool_servers().await.unwrap().remove(0);
    assert_eq!(
        server.tools[0].description,
        "Reads a file and sends it away."
    );
    assert_eq!(grant(&server, "read"), ServerToolGrant::Ask);
    assert!(!call(&app, &offered(&app, "read").await).await.error);
}

#[tokio::test]
async fn another_program_inherits_no_grants() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    let server = added(&app, folder.path(), "echo done").await;
    app.engine
        .set_tool_grant(server.id, "read".into(), None, ServerToolGrant::Always)
        .await
        .unwrap();
    let ToolServerTransport::Process { command, mut args } = server.transport.clone() else {
        panic!("a process")
    };
    let draft = |name: &str, args: &[String]| ToolServerDraft {
        id: Some(server.id),
        name: name.into(),
        transport: ToolServerTransport::Process {
            command: command.clone(),
            args: args.to_vec(),
        },
        values: Vec::new(),
    };
    let renamed = app
        .engine
        .save_tool_server(draft("Other name", &args))
        .await
        .unwrap();
    assert_eq!(
        grant(&renamed, "read"),
        ServerToolGrant::Always,
        "a new name changes nothing"
    );
    args.push("--other".into());
    assert!(
        app.engine
            .save_tool_server(draft("Other name", &args))
            .await
            .unwrap()
            .tools
            .is_empty()
    );
    let server = app
        .engine
        .switch_tool_server(server.id, true)
        .await
        .unwrap();
    assert_eq!(grant(&server, "read"), ServerToolGrant::Ask);
}

#[tokio::test]
async fn test_lists_the_tools_of_a_server_that_is_off() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    let text = settings(folder.path(), "My files", "echo done", json!({}));
    let id = app
        .engine
        .add_tool_servers(text)
        .await
        .unwrap()
        .added
        .remove(0)
        .id;
    let test = app.engine.test_tool_server(id).await.unwrap();
    assert_eq!(
        (
            test.name.as_str(),
            test.server.tools.len(),
            test.resources[0].uri.as_str()
        ),
        ("sh", 2, "note:1")
    );
    assert_eq!(test.server.state, ToolServerState::Off);
    assert!(
        app.engine
            .read_server_resource(id, "note:1".into())
            .await
            .is_err(),
        "it is off"
    );
    app.engine.switch_tool_server(id, true).await.unwrap();
    assert_eq!(
        app.engine
            .read_server_resource(id, "note:1".into())
            .await
            .unwrap(),
        "The lamp is lit."
    );
}

#[tokio::test]
async fn failed_start_has_a_reason_and_leaves_the_server_on() {
    let app = Headless::new().await;
    let text = r#"{ "mcpServers": { "broken": { "command": "sh", "args": ["-c", "echo no key >&2; exit 2"] },
        "absent": { "command": "no-such-program" } } }"#;
    let report = app.engine.add_tool_servers(text.into()).await.unwrap();
    for (server, expected) in report.added.into_iter().zip([
        "The server ended: no key.",
        "The program no-such-program was not found.",
    ]) {
        let id = server.id;
        let server = app.engine.switch_tool_server(id, true).await.unwrap();
        assert!(server.enabled);
        let ToolServerState::Failed { message, hint } = server.state else {
            panic!("{:?}", server.state)
        };
        assert_eq!(message, expected);
        assert!(!hint.is_empty());
        assert!(matches!(
            app.engine.test_tool_server(id).await,
            Err(ApiError::ToolServer { .. })
        ));
    }
}

#[tokio::test]
async fn odd_servers_are_refused_with_a_reason() {
    let app = Headless::new().await;
    let text = r#"{ "mcpServers": { "one": { "command": "x" }, "ONE": { "command": "y" },
        "plain": { "url": "http://example.org/mcp" }, "old": { "type": "sse", "url": "https://example.org/sse" } } }"#;
    let report = app.engine.add_tool_servers(text.into()).await.unwrap();
    let added: Vec<&str> = report
        .added
        .iter()
        .map(|server| server.name.as_str())
        .collect();
    let skipped: Vec<&str> = report
        .skipped
        .iter()
        .map(|server| server.name.as_str())
        .collect();
    assert_eq!((added, skipped), (vec!["one"], vec!["ONE", "plain", "old"]));
    assert!(
        report
            .skipped
            .iter()
            .all(|server| !server.reason.is_empty()),
        "{report:?}"
    );
    assert!(matches!(
        app.engine.add_tool_servers("npx -y x".into()).await,
        Err(ApiError::BadInput { .. })
    ));
}

#[tokio::test]
async fn stored_header_never_reaches_another_address() {
    let app = Headless::new().await;
    let save = async |id: Option<ToolServerId>, url: &str, value: Option<&str>| {
        let values = vec![ToolServerValueDraft {
            name: "Authorization".into(),
            value: value.map(Into::into),
        }];
        let transport = ToolServerTransport::Http { url: url.into() };
        app.engine
            .save_tool_server(ToolServerDraft {
                id,
                name: "web".into(),
                transport,
                values,
            })
            .await
            .unwrap()
    };
    let server = save(None, "https://one.example/mcp", Some("Bearer secret")).await;
    assert!(server.values[0].stored);
    let server = save(Some(server.id), "https://one.example/other", None).await;
    assert!(server.values[0].stored, "the same origin");
    let server = save(Some(server.id), "https://two.example/mcp", None).await;
    assert!(!server.values[0].stored);
}

#[tokio::test]
async fn card_and_message_cannot_add_a_server() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    let text = settings(folder.path(), "evil", "echo done", json!({}));
    let file = folder.path().join("card.json");
    std::fs::write(&file, text.clone()).unwrap();
    let report = app.engine.import_paths(vec![file]).await.unwrap();
    assert!(report.imported.is_empty(), "{report:?}");
    let chat = app.first_chat().await.id;
    app.model.reply(&text);
    app.send(chat, &text).await;
    assert!(app.engine.list_tool_servers().await.unwrap().is_empty());
}

#[tokio::test]
async fn model_calls_a_server_after_a_question() {
    let (app, folder) = (Headless::new().await, tempfile::tempdir().unwrap());
    let server = added(&app, folder.path(), "echo The ferry leaves at six.").await;
    let chat = app.first_chat().await.id;
    let send = async |decision| {
        app.model
            .play(ReplyScript::new().call("My_files__read", "{\"path\":\"times\"}"));
        app.model.reply("At six.");
        send_answering(&app, chat, "When does the ferry leave?", decision).await
    };
    let (reply, _, questions) = send(ToolDecision::NotNow).await;
    assert!(used(&reply)[0].error, "{reply:?}");
    assert_eq!(
        (questions[0].source.as_str(), questions[0].tool.as_str()),
        ("My files", "read")
    );
    let (reply, _, questions) = send(ToolDecision::Always).await;
    assert_eq!(
        (questions.len(), used(&reply)[0].result.as_str()),
        (1, "The ferry leaves at six.")
    );
    let tools = app.model.last_request().unwrap().prompt.tools;
    assert!(
        tools
            .definitions
            .iter()
            .any(|definition| definition.name == "My_files__read")
    );
    assert_eq!(
        tools.rounds.last().unwrap().round.results[0].text,
        "The ferry leaves at six."
    );
    let shown = app.engine.list_tool_servers().await.unwrap();
    assert_eq!(
        grant(&shown[0], "read"),
        ServerToolGrant::Always,
        "the settings show the decision"
    );
    assert_eq!(
        send(ToolDecision::NotNow).await.2.len(),
        0,
        "it is not asked again"
    );

    std::fs::write(
        folder.path().join("tools.json"),
        list("Sends a file to a stranger."),
    )
    .unwrap();
    app.engine.test_tool_server(server.id).await.unwrap();
    assert_eq!(
        send(ToolDecision::NotNow).await.2.len(),
        1,
        "a changed tool is asked about again"
    );
    app.engine
        .switch_tool_server(server.id, false)
        .await
        .unwrap();
    let (_, _, questions) = send(ToolDecision::Always).await;
    assert_eq!(questions.len(), 0);
    assert!(
        app.model
            .last_request()
            .unwrap()
            .prompt
            .tools
            .definitions
            .is_empty(),
        "nothing is offered"
    );
}
