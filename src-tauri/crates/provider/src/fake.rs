//! The scripted provider, for tests and previews: it records every request and plays what it was told, without a model,
//! a clock or a network. Always compiled, so that the crates above can use it in their own tests.
//!
//! Its tokens are words, so a reader can count along. `max_tokens` and `prompt.stop` are recorded, not obeyed: a test
//! that needs their effect says so in its script.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use async_stream::stream;
use domain::prompt::{Prompt, PromptRole};
use domain::{Arguments, ToolCall};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    EventStream, FinishReason, GenerationEvent, Provider, ProviderError, ProviderErrorKind, Request, Timings, Usage,
};

/// A handle to one scripted provider; clones share its scripts and its records.
#[derive(Debug, Clone)]
pub struct FakeProvider {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<Request>,
    scripts: VecDeque<Script>,
    /// The words of the last prompt of each cache key.
    cached: HashMap<String, Vec<String>>,
}

impl Default for FakeProvider {
    fn default() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }
}

impl FakeProvider {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the script of one more request. Requests beyond the last script are answered by [`echo`].
    pub fn play(&self, script: Script) -> &Self {
        self.state.send_modify(|state| state.scripts.push_back(script));
        self
    }

    /// Adds a script that says `text`, word by word.
    pub fn reply(&self, text: &str) -> &Self {
        self.play(Script::new().words(text))
    }

    /// Adds a script that fails at once.
    pub fn fail(&self, error: ProviderError) -> &Self {
        self.play(Script::new().error(error))
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.state.borrow().requests.clone()
    }

    pub fn last_request(&self) -> Option<Request> {
        self.state.borrow().requests.last().cloned()
    }

    /// Waits until at least `count` requests were made, and returns them.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<Request> {
        let mut watcher = self.state.subscribe();
        match watcher.wait_for(|state| state.requests.len() >= count).await {
            Ok(state) => state.requests.clone(),
            // `self` holds the sender, so the channel is never closed here.
            Err(_) => self.requests(),
        }
    }

    fn record(&self, request: Request) -> (Script, Usage) {
        let words = words_of(&request.prompt);
        let mut script = None;
        let mut reused = 0;
        self.state.send_modify(|state| {
            script = state.scripts.pop_front();
            let before = state.cached.insert(request.cache_key.clone(), words.clone()).unwrap_or_default();
            reused = before.iter().zip(&words).take_while(|(old, new)| old == new).count();
            state.requests.push(request.clone());
        });
        let usage = Usage {
            prompt: Some(count(words.len())),
            reused: Some(count(reused)),
            evaluated: Some(count(words.len() - reused)),
            generated: Some(0),
        };
        (script.unwrap_or_else(|| Script::new().words(&echo(&request.prompt))), usage)
    }
}

impl Provider for FakeProvider {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        // Recorded now and not at the first poll: a request is made when it is made.
        let (script, usage) = self.record(request);
        Box::pin(perform(script, usage, cancel))
    }
}

/// What a provider without a script answers: a pure function of the prompt.
pub fn echo(prompt: &Prompt) -> String {
    if prompt.continues {
        return " and so on.".to_owned();
    }
    let heard = prompt.messages.iter().rfind(|message| message.role == PromptRole::User);
    format!("You said: {}", heard.map_or("nothing", |message| message.text.as_str()))
}

/// What happens during one request, in order. Without an ending of its own it finishes with [`FinishReason::Stop`].
#[derive(Debug, Default)]
pub struct Script {
    steps: VecDeque<Step>,
}

#[derive(Debug)]
enum Step {
    Event(GenerationEvent),
    Gate(Gate),
    Fail(ProviderError),
    Panic,
    Finish(FinishReason),
}

impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    /// One piece of text, as it is.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.event(GenerationEvent::Text(text.into()))
    }

    /// `text` in pieces, each with the space that follows its word.
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
        self.event(GenerationEvent::Prefill { done, total, reused })
    }

    pub fn retrying(self, attempt: u32, after_ms: u64, why: impl Into<String>) -> Self {
        self.event(GenerationEvent::Retrying { attempt, after_ms, why: why.into() })
    }

    /// Asks for a tool.
    pub fn call(self, name: &str, arguments: &str) -> Self {
        let arguments = Arguments::read(arguments);
        self.event(GenerationEvent::ToolCall(ToolCall { id: None, name: name.to_owned(), arguments }))
    }

    pub fn stalled(self, seconds: u32) -> Self {
        self.event(GenerationEvent::Stalled { seconds })
    }

    /// Stops here until the test opens `gate`, or the request is cancelled.
    pub fn gate(self, gate: &Gate) -> Self {
        self.step(Step::Gate(gate.clone()))
    }

    /// Ends with `error`.
    pub fn error(self, error: ProviderError) -> Self {
        self.step(Step::Fail(error))
    }

    /// Panics, to simulate a bug in our code.
    pub fn panic(self) -> Self {
        self.step(Step::Panic)
    }

    /// Ends as if the connection was lost.
    pub fn cut(self) -> Self {
        self.error(ProviderError::new(
            ProviderErrorKind::Cut,
            "the connection ended before the reply did",
            "What has arrived is kept; continue the reply.",
        ))
    }

    /// Ends for `reason`.
    pub fn finish(self, reason: FinishReason) -> Self {
        self.step(Step::Finish(reason))
    }

    fn event(self, event: GenerationEvent) -> Self {
        self.step(Step::Event(event))
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push_back(step);
        self
    }
}

/// A point in a script where a test can act in the middle of a reply, without sleeping.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    reached: CancellationToken,
    opened: CancellationToken,
}

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until a reply stands at the gate: everything before it was taken by the reader.
    pub async fn reached(&self) {
        self.reached.cancelled().await;
    }

    /// Stands at the gate until it is open. Scripts do this; a test's own server may, too.
    pub async fn pass(&self) {
        self.reached.cancel();
        self.opened.cancelled().await;
    }

    /// Lets the reply go on. An open gate stays open.
    pub fn open(&self) {
        self.opened.cancel();
    }
}

fn perform(
    script: Script,
    mut usage: Usage,
    cancel: CancellationToken,
) -> impl futures_util::Stream<Item = Result<GenerationEvent, ProviderError>> + Send {
    stream! {
        let mut said = 0;
        let mut ending = FinishReason::Stop;
        for step in script.steps {
            if cancel.is_cancelled() {
                break;
            }
            match step {
                Step::Event(event) => {
                    if let GenerationEvent::Text(text) = &event {
                        said += text.split_whitespace().count();
                    }
                    yield Ok(event);
                }
                Step::Gate(gate) => {
                    cancel.run_until_cancelled(gate.pass()).await;
                }
                Step::Fail(error) => {
                    yield Err(error);
                    return;
                }
                Step::Panic => panic!("a scripted defect"),
                Step::Finish(reason) => {
                    ending = reason;
                    break;
                }
            }
        }
        usage.generated = Some(count(said));
        let reason = if cancel.is_cancelled() { FinishReason::Cancelled } else { ending };
        yield Ok(GenerationEvent::Finished { reason, usage, timings: Timings::default() });
    }
}

fn words_of(prompt: &Prompt) -> Vec<String> {
    let texts: Vec<&str> = if prompt.segments.is_empty() {
        prompt.messages.iter().map(|message| message.text.as_str()).collect()
    } else {
        prompt.segments.iter().map(|segment| segment.text.as_str()).collect()
    };
    texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
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
        let message = PromptMessage { role: PromptRole::User, text: user.to_owned() };
        Request {
            cache_key: "chat".to_owned(),
            prompt: Prompt { messages: vec![message], ..Prompt::default() },
            sampling: SamplerOptions::default().resolve(1),
            shape: None,
        }
    }

    /// The events of a reply in a line: text as it is, the ending in brackets.
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
    async fn without_a_script_it_echoes_and_records() {
        let fake = FakeProvider::new();
        let reply = shown(fake.stream(request("Good evening."), CancellationToken::new())).await;
        assert_eq!(reply, "You said: Good evening.[Stop]");
        assert_eq!(fake.requests(), [request("Good evening.")]);
    }

    #[tokio::test]
    async fn scripts_are_played_one_per_request_and_in_order() {
        let fake = FakeProvider::new();
        fake.reply("The lamp is lit.")
            .play(Script::new().loading(0.5).prefill(3, 9, 2).text("Half").cut())
            .play(Script::new().words("one two").finish(FinishReason::Length).text("never said"));
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
    async fn a_test_can_act_while_a_reply_stands_at_a_gate() {
        let fake = FakeProvider::new();
        let gate = Gate::new();
        fake.play(Script::new().text("before ").gate(&gate).text("after"));
        let reply = tokio::spawn(shown(fake.stream(request("Hello."), CancellationToken::new())));
        gate.reached().await;
        assert_eq!(fake.wait_for_requests(1).await.len(), 1);
        gate.open();
        assert_eq!(reply.await.unwrap(), "before after[Stop]");
    }

    #[tokio::test]
    async fn a_cancelled_reply_keeps_its_text_and_its_usage() {
        let fake = FakeProvider::new();
        let gate = Gate::new();
        let cancel = CancellationToken::new();
        fake.play(Script::new().words("two words").gate(&gate).text("never said"));
        let events = tokio::spawn(fake.stream(request("Say a lot."), cancel.clone()).collect::<Vec<_>>());
        gate.reached().await;
        cancel.cancel();
        let last = events.await.unwrap().pop().unwrap().unwrap();
        let usage = Usage { prompt: Some(3), reused: Some(0), evaluated: Some(3), generated: Some(2) };
        assert_eq!(
            last,
            GenerationEvent::Finished { reason: FinishReason::Cancelled, usage, timings: Timings::default() }
        );
    }

    #[tokio::test]
    async fn a_prompt_that_only_grew_is_reused() {
        let fake = FakeProvider::new();
        shown(fake.stream(request("one two three"), CancellationToken::new())).await;
        let mut events = fake.stream(request("one two three four"), CancellationToken::new());
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event.unwrap());
        }
        let Some(GenerationEvent::Finished { usage, .. }) = last else { panic!("no ending: {last:?}") };
        assert_eq!((usage.reused, usage.evaluated), (Some(3), Some(1)));
    }
}
