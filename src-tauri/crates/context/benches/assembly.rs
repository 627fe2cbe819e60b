//! Assembly of a turn with all token counts known: the user's wait before the model call, without
//! reading the store.

use std::collections::HashMap;

use context::{
    AssembleError, BlockKind, Budget, Candidate, ChatTemplate, CountTokens, Estimate, Frame,
    HeadPart, HistoryMessage, Setup, Source, assemble,
};
use divan::Bencher;
use domain::chat::{Role, WindowState};
use domain::prompt::{PromptRole, Segment};
use domain::{MessageId, Timestamp};

fn main() {
    divan::main();
}

fn head() -> Vec<HeadPart> {
    let field = |field: &str| Source::CardField {
        card: "Mira".into(),
        field: field.into(),
    };
    let parts = [
        (
            BlockKind::Rules,
            Source::BuiltIn,
            "Write the next reply of Mira.",
        ),
        (
            BlockKind::Description,
            field("description"),
            "Mira keeps the lamps of the harbour, and speaks little.",
        ),
        (BlockKind::Scenario, field("scenario"), "A storm is coming."),
        (
            BlockKind::Examples,
            field("examples"),
            "Mira: The lamps do not wait.",
        ),
    ];
    let part = |(kind, source, text): (_, _, &str)| HeadPart {
        kind,
        source,
        reasons: context::Reasons::default(),
        role: PromptRole::System,
        text: text.into(),
        written: None,
    };
    parts.into_iter().map(part).collect()
}

/// `count` messages of about `words` tokens.
fn history(count: usize, words: usize) -> Vec<HistoryMessage> {
    let message = |index: usize| {
        let role = if index % 2 == 1 {
            Role::User
        } else {
            Role::Character
        };
        let id: MessageId = format!("{index:032x}")
            .parse()
            .unwrap_or(MessageId(Default::default()));
        let text = (0..words)
            .map(|word| format!("w{} ", (index * 31 + word * 7) % 999))
            .collect::<String>();
        HistoryMessage::new(id, role, "Sam", text, Timestamp(index as i64 * 60_000))
    };
    (0..count).map(message).collect()
}

fn candidates(lore: usize, memories: usize) -> Vec<Candidate> {
    let text = |index: usize| {
        (0..20)
            .map(|word| format!("c{} ", index * 20 + word))
            .collect::<String>()
    };
    let lore = (0..lore).map(|index| {
        let source = Source::Lore {
            book: "book".into(),
            entry: index.to_string(),
            title: format!("Entry {index}"),
        };
        Candidate::new(
            BlockKind::Lore,
            source,
            context::Reasons::default(),
            text(index),
        )
        .with_score((index * 7919 % 1000) as f32)
    });
    let memories = (0..memories).map(|index| {
        let source = Source::Memory {
            id: index.to_string(),
        };
        Candidate::new(
            BlockKind::Fact,
            source,
            context::Reasons::default(),
            text(index + 5_000),
        )
        .with_score((index * 104_729 % 10_000) as f32)
    });
    lore.chain(memories).collect()
}

fn frame(messages: usize, words: usize, lore: usize, memories: usize) -> Frame {
    let (history, context) = (history(messages, words), candidates(lore, memories));
    Frame {
        head: head(),
        history,
        context,
        ..Frame::default()
    }
}

/// Counts computed beforehand, as by the tokenizer of a model.
#[derive(Default)]
struct Counts(HashMap<Segment, u32>);

impl CountTokens for Counts {
    fn count(&self, segment: &Segment) -> Option<u32> {
        self.0.get(segment).copied()
    }

    fn exact(&self) -> bool {
        true
    }
}

/// A chat within an epoch: counts known, window placed.
struct Warm {
    frame: Frame,
    template: ChatTemplate,
    budget: Budget,
    counts: Counts,
    state: WindowState,
}

impl Warm {
    fn new(frame: Frame, limit: u32) -> Self {
        let budget = Budget::local(limit, 1_024);
        let (template, counts, state) = (
            ChatTemplate::chatml(),
            Counts::default(),
            WindowState::default(),
        );
        let mut warm = Self {
            frame,
            template,
            budget,
            counts,
            state,
        };
        warm.state = warm.turn().window;
        warm.turn();
        warm
    }

    fn turn(&mut self) -> context::Assembled {
        loop {
            match self.assemble() {
                Ok(assembled) => return assembled,
                Err(AssembleError::Uncounted(segments)) => {
                    for segment in segments {
                        let count = Estimate.count(&segment).unwrap_or(0);
                        self.counts.0.insert(segment, count);
                    }
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn assemble(&self) -> Result<context::Assembled, AssembleError> {
        let setup = Setup::new(Some(&self.template), "model", self.budget);
        assemble(&self.frame, &setup, &self.state, &self.counts)
    }
}

fn measure(bencher: Bencher<'_, '_>, warm: &Warm) {
    bencher.bench(|| warm.assemble());
}

/// A window of 200k tokens that holds all of 10,000 short messages.
#[divan::bench]
fn ten_thousand_messages_in_a_window_of_200k(bencher: Bencher<'_, '_>) {
    measure(bencher, &Warm::new(frame(10_000, 8, 0, 0), 200_000));
}

/// A window of 200k tokens, filled with the newest of 10,000 longer messages.
#[divan::bench]
fn a_full_window_of_200k_of_ten_thousand_messages(bencher: Bencher<'_, '_>) {
    measure(bencher, &Warm::new(frame(10_000, 120, 0, 0), 200_000));
}

/// A turn of a long chat at the size of a local model.
#[divan::bench]
fn five_thousand_messages_with_lore_and_memories_8k(bencher: Bencher<'_, '_>) {
    measure(bencher, &Warm::new(frame(5_000, 40, 1_000, 10_000), 8_192));
}

#[divan::bench]
fn five_thousand_messages_with_lore_and_memories_32k(bencher: Bencher<'_, '_>) {
    measure(bencher, &Warm::new(frame(5_000, 40, 1_000, 10_000), 32_768));
}

/// The same without candidates: the window alone.
#[divan::bench]
fn five_thousand_messages_32k(bencher: Bencher<'_, '_>) {
    measure(bencher, &Warm::new(frame(5_000, 40, 0, 0), 32_768));
}
