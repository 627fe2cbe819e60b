//! The control: sends the same chat with a sliding window. Lore is in the head. Whenever the prompt
//! exceeds the limit, the oldest messages are dropped, again on every turn.

use domain::prompt::{Prompt, Segment};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use local::Tokenizer;
use provider::{GenerationEvent, Provider, Request};
use tokio_util::sync::CancellationToken;

use super::{ReuseFigures, script};

/// Number of messages that are scanned for keys: SillyTavern's default.
const SCAN_DEPTH: usize = 2;

/// A message of the replayed chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedMessage {
    pub by_user: bool,
    pub text: String,
}

/// A sliding window over a recorded chat.
pub struct Control<'a> {
    tokenizer: &'a Tokenizer,
    head: &'a str,
    /// Maximum tokens of a prompt.
    room: usize,
    chat: &'a [ReplayedMessage],
    tokens: Vec<usize>,
}

impl<'a> Control<'a> {
    pub fn new(
        tokenizer: &'a Tokenizer,
        head: &'a str,
        room: usize,
        chat: &'a [ReplayedMessage],
    ) -> Self {
        let mut control = Self {
            tokenizer,
            head,
            room,
            chat,
            tokens: Vec::new(),
        };
        control.tokens = chat
            .iter()
            .map(|said| control.ids(&message(said)).len())
            .collect();
        control
    }

    /// Calculates the reuse over the whole chat: the tokens that a prompt shares with the previous
    /// one and its reply.
    pub fn by_tokens(&self) -> ReuseFigures {
        self.shared(&self.asked())
    }

    /// Sends the last turns through `provider`. Returns its own figures, and the calculated ones
    /// for the same turns.
    pub async fn by_provider(
        &self,
        provider: &dyn Provider,
        turns: usize,
    ) -> (ReuseFigures, ReuseFigures) {
        let asked = self.asked();
        let last = &asked[asked.len().saturating_sub(turns + 1)..];
        let mut side = ReuseFigures::default();
        for (index, at) in last.iter().enumerate() {
            let (prompt, reused) = send(provider, self.prompt(*at)).await;
            // The first turn fills the cache.
            if index > 0 {
                side.add(prompt, reused);
            }
        }
        (side, self.shared(last).without_first())
    }

    /// Returns the indexes of the user's messages that have a reply.
    fn asked(&self) -> Vec<usize> {
        let pairs = self.chat.windows(2).enumerate();
        pairs
            .filter(|(_, pair)| pair[0].by_user && !pair[1].by_user)
            .map(|(at, _)| at)
            .collect()
    }

    fn shared(&self, asked: &[usize]) -> ReuseFigures {
        let mut side = ReuseFigures::default();
        let mut before: Vec<u32> = Vec::new();
        for at in asked {
            let now = self.ids(&self.prompt(*at));
            let common = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
            side.add(now.len() as u32, common as u32);
            before = now;
            before.extend(self.tokenizer.tokenize(&plain(&self.chat[at + 1].text)));
        }
        side
    }

    /// Builds the prompt for a reply to the message at `at`.
    fn prompt(&self, at: usize) -> Vec<Segment> {
        let mut prompt = vec![
            control("<|im_start|>system\n"),
            plain(&self.head_with_lore(at)),
            control("<|im_end|>\n"),
        ];
        let opening = control("<|im_start|>assistant\n");
        let fixed = self.ids(&prompt).len() + self.ids(std::slice::from_ref(&opening)).len();
        let mut room = self.room.saturating_sub(fixed);
        let fitting = self.tokens[..=at].iter().rev().take_while(|tokens| {
            let left = room.checked_sub(**tokens);
            room = left.unwrap_or(0);
            left.is_some()
        });
        let first = at + 1 - fitting.count();
        prompt.extend(self.chat[first..=at].iter().flat_map(message));
        prompt.push(opening);
        prompt
    }

    fn head_with_lore(&self, at: usize) -> String {
        let near = &self.chat[(at + 1).saturating_sub(SCAN_DEPTH)..=at];
        let named = |key: &str| near.iter().any(|said| said.text.contains(key));
        let lore = script::entries()
            .filter(|(key, _)| named(key))
            .map(|(_, text)| text);
        std::iter::once(self.head.to_owned())
            .chain(lore)
            .collect::<Vec<_>>()
            .join("\n\n")
    }

    fn ids(&self, segments: &[Segment]) -> Vec<u32> {
        segments
            .iter()
            .flat_map(|segment| self.tokenizer.tokenize(segment))
            .collect()
    }
}

fn message(said: &ReplayedMessage) -> [Segment; 3] {
    let role = if said.by_user { "user" } else { "assistant" };
    [
        control(&format!("<|im_start|>{role}\n")),
        plain(&said.text),
        control("<|im_end|>\n"),
    ]
}

fn control(text: &str) -> Segment {
    Segment {
        text: text.to_owned(),
        control: true,
    }
}

fn plain(text: &str) -> Segment {
    Segment {
        text: text.to_owned(),
        control: false,
    }
}

/// Returns the tokens of the prompt, and how many of them the provider reused.
async fn send(provider: &dyn Provider, segments: Vec<Segment>) -> (u32, u32) {
    let sampling = SamplerOptions {
        max_tokens: Some(1),
        ..SamplerOptions::default()
    }
    .resolve(1);
    let prompt = Prompt {
        segments,
        ..Prompt::default()
    };
    let request = Request {
        cache_key: "control".to_owned(),
        background: false,
        prompt,
        sampling,
        response_schema: None,
    };
    let mut stream = provider.stream(request, CancellationToken::new());
    while let Some(event) = stream.next().await {
        if let GenerationEvent::Finished { usage, .. } = event.expect("the control is answered") {
            return (
                usage.prompt.expect("a prompt's size"),
                usage.reused.expect("the reused tokens"),
            );
        }
    }
    panic!("the stream ended without a word");
}
