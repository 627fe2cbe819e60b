//! The plan alone: selecting from 10,000 memories next to a full window. Run with `cargo bench -p
//! context --bench plan`.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the bench")]

use context::frame::{BlockKind, Candidate, HeadPart, Source};
use context::{Budget, ChatTemplate, Estimate, Frame, HistoryMessage, Setup, assemble};
use divan::{Bencher, black_box};
use domain::chat::{Role, WindowState};
use domain::prompt::PromptRole;
use domain::{MessageId, Timestamp};

const MEMORIES: usize = 10_000;

fn main() {
    divan::main();
}

fn id(number: usize) -> MessageId {
    serde_json::from_value(serde_json::json!(format!("{number:032x}"))).unwrap()
}

/// About 60 tokens, all different.
fn text(number: usize) -> String {
    format!("In the year {number} the lamp burned low, and whoever waited at the window heard {number} steps. ")
        .repeat(3)
}

fn memory(number: usize) -> Candidate {
    let source = Source::Memory {
        id: number.to_string(),
    };
    Candidate::new(
        BlockKind::Memory,
        source,
        context::Reasons::default(),
        text(number),
    )
    .with_score((number * 7919 % MEMORIES) as f32)
}

/// A head of 600 tokens, `messages` messages, and the memories.
fn frame(messages: usize) -> Frame {
    let said = |number: usize| {
        let role = if number.is_multiple_of(2) {
            Role::Character
        } else {
            Role::User
        };
        HistoryMessage::new(id(number), role, "Mira", text(number), Timestamp(0))
    };
    let head = HeadPart {
        kind: BlockKind::Description,
        source: Source::BuiltIn,
        reasons: context::Reasons::default(),
        role: PromptRole::System,
        text: text(0).repeat(10),
        written: None,
    };
    Frame {
        head: vec![head],
        history: (0..messages).map(said).collect(),
        context: (0..MEMORIES).map(memory).collect(),
        ..Frame::default()
    }
}

/// Context size in tokens, and number of messages in the window.
#[divan::bench(args = [(8_192, 80), (200_000, 2_000)], sample_count = 50)]
fn ten_thousand_memories(bencher: Bencher, (limit, messages): (u32, usize)) {
    let (frame, template) = (frame(messages), ChatTemplate::chatml());
    let setup = Setup::new(Some(&template), "model", Budget::local(limit, 512));
    bencher.bench(|| {
        assemble(
            black_box(&frame),
            &setup,
            &WindowState::default(),
            &Estimate,
        )
        .unwrap()
    });
}
