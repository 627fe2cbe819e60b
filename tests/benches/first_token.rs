//! Time to the first token of a reply, compared with the time that its new prompt tokens need at
//! the model's own prompt speed. The goal is 1.05 times that time plus 30 ms.
//!
//! Run `cargo xtask bench first-token` on an idle machine. Each count of new tokens is measured as
//! a whole prompt, and behind a history of 1,000 tokens that was read in idle time.

use domain::prompt::{Prompt, Segment};
use provider::Provider;
use tests::speed::{TimedReply, median, reply, worker, worker_settings};

const COUNTS: [usize; 4] = [20, 100, 400, 1_500];
const HISTORY: usize = 1_000;
/// Least number of tokens with which the prompt speed is measured. Long prompts are compared with
/// as many tokens, because a token costs more the more tokens are before it.
const REFERENCE: usize = 512;
const ROUNDS: usize = 3;
const CONTEXT: u32 = 4_096;
/// Goal: factor, and milliseconds on top.
const FACTOR: f64 = 1.05;
const CONSTANT: f64 = 30.0;

/// Milliseconds of one reply.
struct Figure {
    read: u32,
    first: f64,
    allowed: f64,
}

pub(crate) async fn run() {
    let model = tests::headless::models_dir().join("SmolLM2-135M-Instruct.Q4_1.gguf");
    let (host, model) = worker(worker_settings(), &model, CONTEXT).await;
    let model = model.as_ref();
    // Loads the model.
    after(model, "load", 0, 20).await;
    for (name, history) in [
        ("whole prompt", 0),
        ("behind a history that was read in idle time", HISTORY),
    ] {
        println!("{name}");
        println!(
            "{:>12} {:>12} {:>12} {:>8}",
            "new tokens", "first, ms", "goal, ms", "share"
        );
        let mut figures: [Vec<Figure>; COUNTS.len()] = Default::default();
        for round in 0..ROUNDS {
            for (count, figures) in COUNTS.into_iter().zip(&mut figures) {
                let key = format!("{history} {count} {round}");
                let reference = after(
                    model,
                    &format!("{key} reference"),
                    history,
                    count.max(REFERENCE),
                )
                .await;
                let speed = f64::from(reference.read) / reference.prefill.as_secs_f64();
                let timed = after(model, &key, history, count).await;
                let allowed = FACTOR * f64::from(timed.read) / speed * 1_000.0 + CONSTANT;
                figures.push(Figure {
                    read: timed.read,
                    first: timed.first.as_secs_f64() * 1_000.0,
                    allowed,
                });
            }
        }
        for figures in &figures {
            let middle = |figure: fn(&Figure) -> f64| median(figures.iter().map(figure));
            let share = middle(|figure| figure.first / figure.allowed);
            let (first, allowed) = (
                middle(|figure| figure.first),
                middle(|figure| figure.allowed),
            );
            println!(
                "{:>12} {first:>12.0} {allowed:>12.0} {share:>8.2}",
                figures[0].read
            );
        }
    }
    host.shutdown().await;
}

/// Reads `history` tokens, then times a reply to `new` more.
async fn after(model: &dyn Provider, key: &str, history: usize, new: usize) -> TimedReply {
    // A different start in every round, so that no prompt shares a prefix with one in the cache.
    let start = Segment {
        text: format!("Round {key}. "),
        control: false,
    };
    let words = |count: usize| Segment {
        text: " lamp".repeat(count),
        control: false,
    };
    let mut segments = vec![start, words(history)];
    if history > 0 {
        let prompt = Prompt {
            segments: segments.clone(),
            ..Prompt::default()
        };
        reply(model, key, prompt, 0).await;
    }
    segments.push(words(new));
    reply(
        model,
        key,
        Prompt {
            segments,
            ..Prompt::default()
        },
        4,
    )
    .await
}
