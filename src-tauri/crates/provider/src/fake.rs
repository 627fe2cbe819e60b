//! Scripted provider for tests and previews. It records every request and plays a script, without a
//! model, a clock or a network. It is always compiled so that tests of other crates can use it.
//!
//! Its tokens are words, so that a reader can count them. It records `max_tokens` and `prompt.stop`
//! but does not apply them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use async_stream::stream;
use domain::prompt::{Prompt, PromptRole};
use domain::token_choice::TokenChoice;
use domain::{SignedThought, ToolArguments, ToolCall};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    EventStream, FinishReason, GenerationEvent, Provider, ProviderError, ProviderErrorKind,
    Request, Timings, Usage,
};

/// A scripted provider. Clones share the scripts and the recorded requests.
#[derive(Debug, Clone)]
pub struct FakeProvider {
    state: Arc<watch::Sender<FakeState>>,
}

#[derive(Debug, Default)]
struct FakeState {
    requests: Vec<Request>,
    scripts: VecDeque<ReplyScript>,
    /// The words of the last prompt of each cache key.
    cached: HashMap<String, Vec<String>>,
}

impl Default for FakeProvider {
    fn default() -> Self {
        Self {
            state: Arc::new(watch::Sender::new(FakeState::default())),
        }
    }
}

impl FakeProvider {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a script for one more request. [`echo`] answers requests beyond the last script.
    pub fn play(&self, script: ReplyScript) -> &Self {
        self.state
            .send_modify(|state| state.scripts.push_back(script));
        self
    }

    /// Adds a script that streams `text` word by word.
    pub fn reply(&self, text: &str) -> &Self {
        self.play(ReplyScript::new().words(text))
    }

    /// Adds a script that fails immediately.
    pub fn fail(&self, error: ProviderError) -> &Self {
        self.play(ReplyScript::new().error(error))
    }

    /// Returns every request so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.state.borrow().requests.clone()
    }

    pub fn last_request(&self) -> Option<Request> {
        self.state.borrow().requests.last().cloned()
    }

    /// Waits until at least `count` requests were made and returns them.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<Request> {
        let mut watcher = self.state.subscribe();
        match watcher
            .wait_for(|state| state.requests.len() >= count)
            .await
        {
            Ok(state) => state.requests.clone(),
            // `self` holds the sender, so the channel is never closed here.
            Err(_) => self.requests(),
        }
    }

    fn record(&self, request: Request) -> (ReplyScript, Usage) {
        let words = words_of(&request.prompt);
        let mut script = None;
        let mut reused = 0;
        self.state.send_modify(|state| {
            script = state.scripts.pop_front();
            let before = state
                .cached
                .insert(request.cache_key.clone(), words.clone())
                .unwrap_or_default();
            reused = before
                .iter()
                .zip(&words)
                .take_while(|(old, new)| old == new)
                .count();
            state.requests.push(request.clone());
        });
        let usage = Usage {
            prompt: Some(count(words.len())),
            reused: Some(count(reused)),
            evaluated: Some(count(words.len() - reused)),
            generated: Some(0),
        };
        (
            script.unwrap_or_else(|| ReplyScript::new().words(&echo(&request.prompt))),
            usage,
        )
    }
}

impl Provider for FakeProvider {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        // Recorded on the call instead of on the first poll.
        let (script, usage) = self.record(request);
        Box::pin(perform(script, usage, cancel))
    }
}

/// Reply of a provider without a script: a pure function of the prompt.
pub fn echo(prompt: &Prompt) -> String {
    if prompt.continues {
        return " and so on.".to_owned();
    }
    let last = prompt
        .messages
        .iter()
        .rfind(|message| message.role == PromptRole::User);
    format!(
        "You said: {}",
        last.map_or("nothing", |message| message.text.as_str())
    )
}

/// Events of one request, in order. A script without an ending finishes with
/// [`FinishReason::Stop`].
#[derive(Debug, Default)]
pub struct ReplyScript {
    steps: VecDeque<ScriptStep>,
}

#[derive(Debug)]
enum ScriptStep {
    Event(GenerationEvent),
    Gate(ReplyGate),
    Fail(ProviderError),
    Panic,
    Finish(FinishReason),
}

impl ReplyScript {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `text` as one piece.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.event(GenerationEvent::Text(text.into()))
    }

    /// Adds `text` in one piece per word, each with the space after it.
    pub fn words(self, text: &str) -> Self {
        text.split_inclusive(' ').fold(self, Self::text)
    }

    pub fn queued(self) -> Self {
        self.event(GenerationEvent::Queued)
    }

    pub fn loading(self, fraction: f32) -> Self {
        self.event(GenerationEvent::Loading { fraction })
    }

    pub fn prefill(self, done: u32, total: u32, reused: u32) -> Self {
        self.event(GenerationEvent::Prefill {
            done,
            total,
            reused,
        })
    }

    pub fn retrying(self, attempt: u32, after_ms: u64, why: impl Into<String>) -> Self {
        self.event(GenerationEvent::Retrying {
            attempt,
            after_ms,
            why: why.into(),
        })
    }

    /// Adds a tool call.
    pub fn call(self, name: &str, arguments: &str) -> Self {
        let arguments = ToolArguments::read(arguments);
        self.event(GenerationEvent::ToolCall(ToolCall {
            id: None,
            name: name.to_owned(),
            arguments,
        }))
    }

    /// Adds a piece of thoughts apart from the text.
    pub fn thought(self, text: &str) -> Self {
        self.event(GenerationEvent::Thoughts(text.to_owned()))
    }

    /// Adds a thought that the service demands back.
    pub fn signed(self, thought: SignedThought) -> Self {
        self.event(GenerationEvent::SignedThought(thought))
    }

    /// Reports the tokens of the text so far.
    pub fn choices(self, tokens: Vec<TokenChoice>) -> Self {
        self.event(GenerationEvent::Choices(tokens))
    }

    pub fn stalled(self, seconds: u32) -> Self {
        self.event(GenerationEvent::Stalled { seconds })
    }

    /// Waits here until the test opens `gate` or the request is cancelled.
    pub fn gate(self, gate: &ReplyGate) -> Self {
        self.step(ScriptStep::Gate(gate.clone()))
    }

    /// Ends with `error`.
    pub fn error(self, error: ProviderError) -> Self {
        self.step(ScriptStep::Fail(error))
    }

    /// Panics, to simulate a bug in our code.
    pub fn panic(self) -> Self {
        self.step(ScriptStep::Panic)
    }

    /// Ends as if the connection were lost.
    pub fn cut(self) -> Self {
        self.error(ProviderError::new(
            ProviderErrorKind::Cut,
            "the connection ended before the reply did",
            "What has arrived is kept; continue the reply.",
        ))
    }

    /// Ends with `reason`.
    pub fn finish(self, reason: FinishReason) -> Self {
        self.step(ScriptStep::Finish(reason))
    }

    fn event(self, event: GenerationEvent) -> Self {
        self.step(ScriptStep::Event(event))
    }

    fn step(mut self, step: ScriptStep) -> Self {
        self.steps.push_back(step);
        self
    }
}

/// A point in a script where a test can act in the middle of a reply, without sleeping.
#[derive(Debug, Clone, Default)]
pub struct ReplyGate {
    reached: CancellationToken,
    opened: CancellationToken,
}

impl ReplyGate {
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until the script has reached this gate. The reader has received every event before it.
    pub async fn reached(&self) {
        self.reached.cancelled().await;
    }

    /// Marks the gate as reached and waits until it is open. For scripts and for servers of tests.
    pub async fn pass(&self) {
        self.reached.cancel();
        self.opened.cancelled().await;
    }

    /// Lets the script continue. The gate stays open.
    pub fn open(&self) {
        self.opened.cancel();
    }
}

fn perform(
    script: ReplyScript,
    mut usage: Usage,
    cancel: CancellationToken,
) -> impl futures_util::Stream<Item = Result<GenerationEvent, ProviderError>> + Send {
    stream! {
        let mut generated = 0;
        let mut ending = FinishReason::Stop;
        for step in script.steps {
            if cancel.is_cancelled() {
                break;
            }
            match step {
                ScriptStep::Event(event) => {
                    if let GenerationEvent::Text(text) = &event {
                        generated += text.split_whitespace().count();
                    }
                    yield Ok(event);
                }
                ScriptStep::Gate(gate) => {
                    cancel.run_until_cancelled(gate.pass()).await;
                }
                ScriptStep::Fail(error) => {
                    yield Err(error);
                    return;
                }
                ScriptStep::Panic => panic!("a scripted defect"),
                ScriptStep::Finish(reason) => {
                    ending = reason;
                    break;
                }
            }
        }
        usage.generated = Some(count(generated));
        let reason = if cancel.is_cancelled() { FinishReason::Cancelled } else { ending };
        yield Ok(GenerationEvent::Finished { reason, usage, timings: Timings::default() });
    }
}

fn words_of(prompt: &Prompt) -> Vec<String> {
    let texts: Vec<&str> = if prompt.segments.is_empty() {
        prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect()
    } else {
        prompt
            .segments
            .iter()
            .map(|segment| segment.text.as_str())
            .collect()
    };
    texts
        .iter()
        .flat_map(|text| text.split_whitespace())
        .map(str::to_owned)
        .collect()
}

fn count(words: usize) -> u32 {
    u32::try_from(words).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use domain::prompt::PromptMessage;
    use domain::sampling::SamplerOptions;
    use futures_util::StreamExt;

    use super::*;

    fn request(user: &str) -> Request {
        let message = PromptMessage {
            role: PromptRole::User,
            text: user.to_owned(),
        };
        Request {
            cache_key: "chat".to_owned(),
            background: false,
            prompt: Prompt {
                messages: vec![message],
                ..Prompt::default()
            },
            sampling: SamplerOptions::default().resolve(1),
            response_schema: None,
        }
    }

    /// Formats the events of a reply as one line: text as is, the ending in brackets.
    async fn shown(mut events: EventStream) -> String {
        let mut line = String::new();
        while let Some(event) = events.next().await {
            match event {
                Ok(GenerationEvent::Text(text)) => line += &text,
                Ok(GenerationEvent::Finished { reason, .. }) => line += &format!("[{reason:?}]"),
                Ok(other) => line += &format!("<{other:?}>"),
                Err(error) => line += &format!("[{:?}]", error.kind),
            }
        }
        line
    }

    #[tokio::test]
    async fn echoes_and_records_without_a_script() {
        let fake = FakeProvider::new();
        let reply = shown(fake.stream(request("Good evening."), CancellationToken::new())).await;
        assert_eq!(reply, "You said: Good evening.[Stop]");
        assert_eq!(fake.requests(), [request("Good evening.")]);
    }

    #[tokio::test]
    async fn plays_one_script_per_request_in_order() {
        let fake = FakeProvider::new();
        fake.reply("The lamp is lit.")
            .play(
                ReplyScript::new()
                    .loading(0.5)
                    .prefill(3, 9, 2)
                    .text("Half")
                    .cut(),
            )
            .play(
                ReplyScript::new()
                    .words("one two")
                    .finish(FinishReason::Length)
                    .text("never sent"),
            );
        let mut replies = Vec::new();
        for _ in 0..3 {
            replies.push(shown(fake.stream(request("Go on."), CancellationToken::new())).await);
        }
        assert_eq!(
            replies,
            [
                "The lamp is lit.[Stop]",
                "<Loading { fraction: 0.5 }><Prefill { done: 3, total: 9, reused: 2 }>Half[Cut]",
                "one two[Length]",
            ]
        );
    }

    #[tokio::test]
    async fn gate_pauses_a_reply_for_the_test() {
        let fake = FakeProvider::new();
        let gate = ReplyGate::new();
        fake.play(ReplyScript::new().text("before ").gate(&gate).text("after"));
        let reply = tokio::spawn(shown(
            fake.stream(request("Hello."), CancellationToken::new()),
        ));
        gate.reached().await;
        assert_eq!(fake.wait_for_requests(1).await.len(), 1);
        gate.open();
        assert_eq!(reply.await.unwrap(), "before after[Stop]");
    }

    #[tokio::test]
    async fn cancelled_reply_keeps_text_and_usage() {
        let fake = FakeProvider::new();
        let gate = ReplyGate::new();
        let cancel = CancellationToken::new();
        fake.play(
            ReplyScript::new()
                .words("two words")
                .gate(&gate)
                .text("never sent"),
        );
        let events = tokio::spawn(
            fake.stream(request("Say a lot."), cancel.clone())
                .collect::<Vec<_>>(),
        );
        gate.reached().await;
        cancel.cancel();
        let last = events.await.unwrap().pop().unwrap().unwrap();
        let usage = Usage {
            prompt: Some(3),
            reused: Some(0),
            evaluated: Some(3),
            generated: Some(2),
        };
        assert_eq!(
            last,
            GenerationEvent::Finished {
                reason: FinishReason::Cancelled,
                usage,
                timings: Timings::default()
            }
        );
    }

    #[tokio::test]
    async fn reuses_the_common_prefix_of_a_grown_prompt() {
        let fake = FakeProvider::new();
        shown(fake.stream(request("one two three"), CancellationToken::new())).await;
        let mut events = fake.stream(request("one two three four"), CancellationToken::new());
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event.unwrap());
        }
        let Some(GenerationEvent::Finished { usage, .. }) = last else {
            panic!("no ending: {last:?}")
        };
        assert_eq!((usage.reused, usage.evaluated), (Some(3), Some(1)));
    }
}
