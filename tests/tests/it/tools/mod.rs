//! Tools in whole turns: rounds, limits, permissions, and what later turns see of them.

mod built_in;
mod history;
mod injection;
mod permission;
mod rounds;

use std::sync::{Arc, Mutex};

use domain::ChatId;
use engine::api::{EndReason, Event, Message, SettingOwner, ToolDecision, ToolRequest, ToolUse};
use engine::{Events, SourceTool, ToolOutput, ToolSource};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use tests::headless::Headless;
use tokio_util::sync::CancellationToken;

/// Switches settings of a chat on.
pub(super) async fn switch_on(app: &Headless, chat: ChatId, keys: &[&str]) {
    for key in keys {
        set(app, chat, key, "on").await;
    }
}

pub(super) async fn set(app: &Headless, chat: ChatId, key: &str, value: &str) {
    let owner = SettingOwner::Chat { id: chat };
    app.engine
        .set_setting_in_words(owner, key.to_owned(), value.to_owned())
        .await
        .unwrap();
}

type Answer = Box<dyn Fn(&str, &Map<String, Value>) -> ToolOutput + Send + Sync>;

/// A server named "lab" whose tools answer as the test says. It records its calls.
pub(super) struct Lab {
    tools: Vec<String>,
    answer: Answer,
    pub(super) calls: Mutex<Vec<String>>,
}

impl Lab {
    pub(super) fn with(
        app: &Headless,
        tools: &[&str],
        answer: impl Fn(&str, &Map<String, Value>) -> ToolOutput + Send + Sync + 'static,
    ) -> Arc<Self> {
        let tools = tools.iter().map(|name| (*name).to_owned()).collect();
        let lab = Arc::new(Self {
            tools,
            answer: Box::new(answer),
            calls: Mutex::default(),
        });
        app.tools.set(vec![lab.clone()]);
        lab
    }

    pub(super) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

impl ToolSource for Lab {
    fn name(&self) -> &str {
        "lab"
    }

    fn tools(&self) -> BoxFuture<'_, Vec<SourceTool>> {
        let tool = |name: &String| SourceTool {
            model_name: None,
            name: name.clone(),
            description: format!("Does {name}."),
            parameters: json!({ "type": "object", "properties": { "at": { "type": "string" } } }),
            reads_only: true,
            // A server cannot free its own tools.
            harmless: true,
        };
        Box::pin(async move { self.tools.iter().map(tool).collect() })
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Map<String, Value>,
        _: CancellationToken,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            self.calls
                .lock()
                .unwrap()
                .push(format!("{tool}{}", Value::Object(arguments.clone())));
            (self.answer)(tool, &arguments)
        })
    }
}

/// Sends `text`, answers every question with `decision`, and returns the reply with the questions.
pub(super) async fn send_answering(
    app: &Headless,
    chat: ChatId,
    text: &str,
    decision: ToolDecision,
) -> (Message, EndReason, Vec<ToolRequest>) {
    let mut events = app.engine.subscribe();
    app.engine
        .send_message(chat, text.to_owned())
        .await
        .unwrap();
    let mut asked = Vec::new();
    loop {
        match events.next().await.unwrap() {
            Event::ToolAsked { request, .. } => {
                app.engine
                    .answer_tool(request.id.clone(), decision)
                    .await
                    .unwrap();
                asked.push(request);
            }
            Event::Ended {
                chat: of,
                message,
                reason,
                ..
            } if of == chat => return (message.unwrap(), reason, asked),
            _ => {}
        }
    }
}

/// Waits for a question.
pub(super) async fn asked(events: &mut Events) -> ToolRequest {
    loop {
        if let Event::ToolAsked { request, .. } = events.next().await.unwrap() {
            return request;
        }
    }
}

/// The calls of all rounds of the selected swipe.
pub(super) fn used(message: &Message) -> Vec<ToolUse> {
    let rounds = &message.swipes[message.selected as usize].tool_rounds;
    rounds
        .iter()
        .flat_map(|round| round.calls.clone())
        .collect()
}
