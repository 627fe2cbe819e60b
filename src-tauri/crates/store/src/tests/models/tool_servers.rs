//! Tool servers and the grants for their tools.

use domain::tool_server::{ServerTool, ToolServer, ToolServerTransport};
use domain::{ChatId, ToolServerId};
use serde_json::json;
use uuid::Uuid;

use crate::tests::{CHAT, furnished};
use crate::{Store, StoredGrant};

const SERVER: ToolServerId = ToolServerId(Uuid::from_u128(3));

fn server(name: &str) -> ToolServer {
    ToolServer {
        id: SERVER,
        name: name.into(),
        enabled: false,
        transport: ToolServerTransport::Process {
            command: "npx".into(),
            args: vec!["-y".into(), "files".into()],
            env: vec!["KEY".into()],
        },
        tools: Vec::new(),
    }
}

fn grant(chat: Option<ChatId>, allowed: bool) -> StoredGrant {
    StoredGrant {
        chat,
        allowed,
        definition: "abc".into(),
    }
}

async fn with_server() -> Store {
    let store = furnished().await;
    store
        .write(|w| w.tool_servers_mut().insert(&server("files")))
        .await
        .unwrap();
    store
}

async fn grants(store: &Store, chat: Option<ChatId>) -> Vec<StoredGrant> {
    store
        .read(move |r| r.tool_servers().grants(SERVER, "read", chat))
        .await
        .unwrap()
}

#[tokio::test]
async fn server_is_stored_with_its_tools() {
    let store = with_server().await;
    let tools = vec![ServerTool {
        name: "read".into(),
        title: None,
        description: "Reads.".into(),
        parameters: json!({ "type": "object" }),
        reads_only: true,
    }];
    let known = tools.clone();
    store
        .write(move |w| {
            w.tool_servers_mut().set_enabled(SERVER, true)?;
            w.tool_servers_mut().set_tools(SERVER, &known)
        })
        .await
        .unwrap();
    let stored = store
        .read(|r| r.tool_servers().get(SERVER))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        stored,
        ToolServer {
            enabled: true,
            tools,
            ..server("files")
        }
    );
}

#[tokio::test]
async fn two_servers_cannot_share_a_name() {
    let store = with_server().await;
    let twin = ToolServer {
        id: ToolServerId(Uuid::from_u128(4)),
        ..server("FILES")
    };
    assert!(
        store
            .write(move |w| w.tool_servers_mut().insert(&twin))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn grant_applies_in_its_chat_only() {
    let store = with_server().await;
    let grants_made = [
        grant(Some(CHAT), true),
        grant(None, false),
        grant(None, true),
    ];
    store
        .write(move |w| {
            grants_made
                .iter()
                .try_for_each(|one| w.tool_servers_mut().insert_grant(SERVER, "read", one))
        })
        .await
        .unwrap();
    assert_eq!(
        grants(&store, None).await,
        [grant(None, true)],
        "a second decision replaces the first"
    );
    assert_eq!(grants(&store, Some(CHAT)).await.len(), 2);
    assert_eq!(
        grants(&store, Some(ChatId(Uuid::from_u128(99))))
            .await
            .len(),
        1
    );
    store
        .write(|w| w.tool_servers_mut().delete_grants(SERVER, Some("read")))
        .await
        .unwrap();
    assert!(grants(&store, Some(CHAT)).await.is_empty());
}

#[tokio::test]
async fn deleted_server_takes_its_grants_along() {
    let store = with_server().await;
    store
        .write(|w| {
            w.tool_servers_mut()
                .insert_grant(SERVER, "read", &grant(Some(CHAT), true))?;
            w.tool_servers_mut().delete(SERVER)?;
            w.tool_servers_mut().insert(&server("files"))
        })
        .await
        .unwrap();
    assert!(grants(&store, Some(CHAT)).await.is_empty());
}
