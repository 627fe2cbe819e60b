//! Share of reused prompt tokens over 200 scripted turns with the real worker and model, compared
//! with a sliding window over the same chat.
//!
//! Run `cargo xtask bench reuse [--context 8192] [--turns 200]` after `cargo xtask setup`; it takes
//! 15 minutes. The replies are prepared. With `--group` it measures a group of eight on the
//! scripted provider, which takes seconds. With `--write 250` the model writes them, up to that
//! many tokens, which takes an hour. `--idle` leaves a pause after each reply in which the app
//! reads ahead. Without `--write`, a stand-in for the worker then gives the prepared replies and
//! counts the tokens: prepared replies that are put into the database behind the app's back cannot
//! be read ahead. `--without-memory` recalls nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use domain::ModelId;
use local::{LocalHost, WorkerSettings};
use tests::reuse::{ChatRun, Control, Measure, ReplySource, ReuseFigures, script};
use tracing::Subscriber;
use tracing::field::Field;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Number of control turns that the worker also evaluates, to verify the calculated figure.
const CHECKED: usize = 3;

pub(crate) async fn run() {
    if flag("--group") {
        return groups(argument("--turns", 100) as usize).await;
    }
    let read_ahead = ReadAhead::default();
    tracing_subscriber::registry()
        .with(read_ahead.clone())
        .init();
    let measure = Measure {
        context: argument("--context", 8_192),
        turns: argument("--turns", 200) as usize,
        brief: false,
        idle: flag("--idle"),
        memory: !flag("--without-memory"),
        replies: match argument("--write", 0) {
            0 if flag("--idle") => ReplySource::StandIn,
            0 => ReplySource::Prepared(script::LONG),
            tokens => ReplySource::Written(tokens),
        },
    };
    let dir = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let told = |turn: usize, figures: &engine::api::Figures, new_epoch: Option<&str>| {
        let [prompt, reused, wrote] =
            [figures.prompt, figures.reused, figures.generated].map(Option::unwrap_or_default);
        let epoch = new_epoch
            .map(|why| format!(", new epoch: {why}"))
            .unwrap_or_default();
        eprintln!(
            "turn {turn}: {prompt} tokens, {} read, {wrote} written{epoch}, {:.0?}",
            prompt - reused,
            started.elapsed()
        );
    };
    let held = measure.run(dir.path(), told).await;

    let model = measure.model(dir.path());
    let tokenizer = local::open_tokenizer(&model).unwrap();
    let control = Control::new(&tokenizer, &held.head, measure.room(), &held.chat);
    print_ours(&measure, &held, &read_ahead);
    line("sliding window", &control.by_tokens());
    if measure.replies == ReplySource::StandIn {
        return;
    }
    let host = LocalHost::new(WorkerSettings {
        worker: tests::headless::worker(),
        ..WorkerSettings::default()
    })
    .unwrap();
    let row = local::inspect(&model, |_, _| {})
        .unwrap()
        .into_model(ModelId(Default::default()));
    let (measured, counted) = control
        .by_provider(host.provider(&row, measure.context).as_ref(), CHECKED)
        .await;
    host.shutdown().await;
    assert_eq!(
        measured, counted,
        "the worker's reused tokens differ from the common prefix"
    );

    println!(
        "The sliding window's figures are counted over all turns; the worker read its last {CHECKED}, and agreed."
    );
}

fn print_ours(measure: &Measure, held: &ChatRun, read_ahead: &ReadAhead) {
    let turns = measure.turns as u64;
    println!(
        "{} turns at {} tokens of context, {} epochs",
        turns, measure.context, held.epochs
    );
    println!("tokens of a reply, mean: {}", held.generated / turns);
    println!(
        "{:>16} {:>12} {:>34}",
        "", "reused", "tokens read: median, p95, worst"
    );
    line("ours", &held.ours);
    if measure.idle {
        println!(
            "read ahead in the pauses: {} tokens a turn",
            read_ahead.tokens() / turns
        );
    }
}

/// A group of eight with four lorebooks, on the scripted provider.
async fn groups(turns: usize) {
    println!(
        "{turns} turns of a group of eight with four lorebooks at 8192 tokens of context; counts are words"
    );
    println!(
        "{:>16} {:>12} {:>34}",
        "", "reused", "words read: median, p95, worst"
    );
    line(
        "all present",
        &tests::reuse::group(turns, false).await.shared,
    );
    let run = tests::reuse::group(turns, true).await;
    line("one was away", &run.shared);
    line("the one itself", &run.alone);
}

fn line(name: &str, side: &ReuseFigures) {
    let [median, p95, worst] = side.read();
    println!(
        "{name:>16} {:>10.1} % {median:>20} {p95:>6} {worst:>6}",
        side.share() * 100.0
    );
}

fn flag(name: &str) -> bool {
    std::env::args().any(|word| word == name)
}

/// Adds up the tokens that the app says it has read ahead.
#[derive(Clone, Default)]
struct ReadAhead(Arc<AtomicU64>);

impl ReadAhead {
    fn tokens(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl<S: Subscriber> Layer<S> for ReadAhead {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        event.record(&mut |field: &Field, value: &dyn std::fmt::Debug| {
            if field.name() == "read_ahead" {
                self.0
                    .fetch_add(format!("{value:?}").parse().unwrap_or(0), Ordering::Relaxed);
            }
        });
    }
}

/// Returns the number after `name` on the command line. Cargo adds arguments of its own.
fn argument(name: &str, default: u32) -> u32 {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    words.next().map_or(default, |word| {
        word.parse()
            .unwrap_or_else(|_| panic!("{name} takes a number"))
    })
}
