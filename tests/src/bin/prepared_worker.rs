//! A stand-in for the worker that answers with prepared replies and computes nothing. It splits
//! texts into the model's own tokens and keeps what it has read like the worker, so that a bench
//! can count the tokens of a long chat in minutes. Embeddings are left to the real worker next to
//! this program.

use std::collections::HashMap;
use std::io::{stdin, stdout};
use std::path::Path;
use std::process::{Command, ExitCode};

use domain::prompt::Segment;
use local::Tokenizer;
use tests::reuse::script;
use worker::frame;
use worker::protocol::{
    Done, FinishReason, Generate, Load, LoadedModelInfo, PROTOCOL, Placement, Timings, Usage,
    WireSegment, WorkerReply, WorkerRequest,
};

/// Reply to a background job: a JSON object without content.
const NOTHING: &str = "{}";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "replies") {
        return real_worker(&arguments);
    }
    send(&WorkerReply::Ready {
        protocol: PROTOCOL,
        build: "prepared".to_owned(),
        devices: Vec::new(),
    });
    let mut model = None;
    while let Some(request) = frame::read(&mut stdin().lock()).expect("a frame") {
        match (request, &mut model) {
            (WorkerRequest::Shutdown, _) => break,
            (WorkerRequest::Load(load), model) => *model = Some(PreparedModel::load(&load)),
            (WorkerRequest::Generate(generate), Some(model)) => model.reply(&generate),
            (WorkerRequest::Count { id, texts }, Some(model)) => {
                let counts = texts
                    .iter()
                    .map(|text| model.tokens(text).len() as u32)
                    .collect();
                send(&WorkerReply::Counts { id, counts });
            }
            (WorkerRequest::Tokenize { id, texts }, Some(model)) => {
                let ids = |text| {
                    model
                        .tokens(text)
                        .into_iter()
                        .map(u32::cast_signed)
                        .collect()
                };
                send(&WorkerReply::Tokens {
                    id,
                    tokens: texts.iter().map(ids).collect(),
                });
            }
            _ => {}
        }
    }
    ExitCode::SUCCESS
}

fn real_worker(arguments: &[String]) -> ExitCode {
    let this = std::env::current_exe().expect("a running program");
    let status = Command::new(this.with_file_name("inglenook-worker"))
        .args(arguments)
        .status()
        .expect("the worker");
    if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn send(reply: &WorkerReply) {
    frame::write(&mut stdout().lock(), reply).expect("the pipe is open");
}

struct PreparedModel {
    tokenizer: Tokenizer,
    /// Tokens of the last prompt and reply for each cache key.
    caches: HashMap<String, Vec<u32>>,
    replies: usize,
}

impl PreparedModel {
    fn load(load: &Load) -> Self {
        let tokenizer =
            local::open_tokenizer(Path::new(&load.path)).expect("a supported tokenizer");
        let placement = Placement::default();
        send(&WorkerReply::Loaded(LoadedModelInfo {
            context: load.context,
            vocab: 0,
            dimensions: 0,
            bos: false,
            placement,
        }));
        Self {
            tokenizer,
            caches: HashMap::new(),
            replies: 0,
        }
    }

    fn tokens(&self, text: &WireSegment) -> Vec<u32> {
        self.tokenizer.tokenize(&Segment {
            text: text.text.clone(),
            control: text.control,
        })
    }

    fn reply(&mut self, request: &Generate) {
        let id = request.id;
        let mut tokens: Vec<u32> = request
            .segments
            .iter()
            .flat_map(|segment| self.tokens(segment))
            .collect();
        let total = tokens.len() as u32;
        let cache = self.caches.entry(request.cache_key.clone()).or_default();
        let shared = cache
            .iter()
            .zip(&tokens)
            .take_while(|(cached, token)| cached == token)
            .count();
        // The logits of the last token are always needed again.
        let reused = (shared as u32).min(total.saturating_sub(1));
        send(&WorkerReply::Prefill {
            id,
            done: total,
            total,
            reused,
        });
        let text = match (request.max_tokens, request.background) {
            (0, _) => String::new(),
            (_, true) => NOTHING.to_owned(),
            _ => {
                self.replies += 1;
                script::replied(self.replies - 1, script::LONG)
            }
        };
        let written = self.tokenizer.tokenize(&Segment {
            text: text.clone(),
            control: false,
        });
        let generated = written.len() as u32;
        tokens.extend(written);
        // The last token of a reply is never read.
        tokens.truncate(tokens.len() - usize::from(generated > 0));
        self.caches.insert(request.cache_key.clone(), tokens);
        if !text.is_empty() {
            let tokens = Vec::new();
            send(&WorkerReply::Text { id, text, tokens });
        }
        let usage = Usage {
            prompt: total,
            reused,
            evaluated: total - reused,
            generated,
        };
        let reason = if request.max_tokens == 0 {
            FinishReason::Length
        } else {
            FinishReason::Stop
        };
        send(&WorkerReply::Done(Done {
            id,
            reason,
            usage,
            timings: Timings::default(),
        }));
    }
}
