//! The suite that every provider passes, with the worker and a real model.

use domain::prompt::{Prompt, PromptRole, Segment};
use provider::conformance::{self, Abilities};
use provider::{EventStream, Provider, Request};
use tokio_util::sync::CancellationToken;

use crate::support::*;

/// Renders the messages of the suite as ChatML, because the worker reads segments. The engine does
/// it with the model's own template.
struct Rendered<'p>(&'p dyn Provider);

impl Provider for Rendered<'_> {
    fn stream(&self, mut request: Request, cancel: CancellationToken) -> EventStream {
        if request.prompt.segments.is_empty() {
            request.prompt.segments = chatml(&request.prompt);
        }
        self.0.stream(request, cancel)
    }
}

fn chatml(prompt: &Prompt) -> Vec<Segment> {
    let mut segments = Vec::new();
    for message in &prompt.messages {
        let role = match message.role {
            PromptRole::System => "system",
            PromptRole::User => "user",
            PromptRole::Character => "assistant",
        };
        segments.extend([
            control(&format!("<|im_start|>{role}\n")),
            plain(&message.text),
            control("<|im_end|>\n"),
        ]);
    }
    if prompt.continues {
        segments.pop();
    } else {
        segments.push(control("<|im_start|>assistant\n"));
    }
    segments
}

#[tokio::test]
async fn worker_conforms() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let request = request(chat(&["Tell me a very long story."]), 40);
    conformance::check(&*provider, &request).await.unwrap();
    // Calls are text to the worker. The engine demands them by a grammar and reads them.
    let abilities = Abilities {
        prefill: true,
        ..Abilities::default()
    };
    conformance::check_abilities(&Rendered(&*provider), &request, abilities)
        .await
        .unwrap();
}
