//! Compares a reply on its whole way, through the local API or through the events of the window,
//! with the worker alone and with llama.cpp's own server: alternating runs on an idle machine.

use std::path::Path;

use tests::speed::{PythonServer, TimedReply, median, processor_time, python};

use super::api::ApiWay;
use super::window::WindowWay;
use super::{CONTEXT, measure, server_of};

/// One of the replies of a round.
type Side = fn(&Round) -> Option<&TimedReply>;

/// A way of a reply from the worker to its reader.
pub(super) enum Way {
    Api(ApiWay),
    Window(WindowWay),
}

/// The way, the worker alone, and llama.cpp's server if it is installed.
struct Round {
    through: TimedReply,
    worker: TimedReply,
    theirs: Option<TimedReply>,
}

impl Way {
    async fn open(name: &str) -> Self {
        match name {
            "api" => Self::Api(ApiWay::open().await),
            "window" => Self::Window(WindowWay::open().await),
            _ => panic!("`--through {name}` is no way; use `api` or `window`"),
        }
    }

    /// The process of the engine.
    fn pid(&self) -> u32 {
        match self {
            Self::Api(api) => api.pid(),
            Self::Window(_) => std::process::id(),
        }
    }

    async fn measure(&self, round: usize) -> TimedReply {
        match self {
            Self::Api(api) => measure(&api.client, round).await,
            Self::Window(window) => window.measure(round).await,
        }
    }

    async fn close(self) {
        match self {
            Self::Api(api) => api.close().await,
            Self::Window(window) => window.close().await,
        }
    }
}

/// Measures the way `name` in `rounds` rounds.
pub(super) async fn compare(name: &str, model: &Path, rounds: usize) {
    let (host, ours) = tests::speed::worker(tests::speed::worker_settings(), model, CONTEXT).await;
    let installed = python("INGLENOOK_OPENAI_SERVER", "openai-server-venv").exists();
    let mut server: Option<PythonServer> = installed.then(|| server_of(model));
    let theirs = match &mut server {
        Some(server) => Some(server.client().await),
        None => None,
    };
    let way = Way::open(name).await;
    let (mut processor, mut generated, mut measured) = (0.0, 0, Vec::new());
    // The first round loads the models.
    for round in 0..=rounds {
        let (mut through, mut worker, mut other) = (None, None, None);
        for turn in 0..3 {
            match (turn + round) % 3 {
                0 => {
                    let before = processor_time(way.pid());
                    let reply = way.measure(round).await;
                    if round > 0 {
                        processor += processor_time(way.pid()) - before;
                        generated += reply.generated;
                    }
                    through = Some(reply);
                }
                1 => worker = Some(measure(ours.as_ref(), round).await),
                _ => {
                    if let Some(theirs) = &theirs {
                        other = Some(measure(theirs, round).await);
                    }
                }
            }
        }
        if let (Some(through), Some(worker), true) = (through, worker, round > 0) {
            let replies = Round {
                through,
                worker,
                theirs: other,
            };
            print(round, &replies);
            measured.push(replies);
        }
    }
    summary(name, &measured);
    let share = processor * 1_000.0 / f64::from(generated) * 100.0;
    println!("processor time of the engine: {share:.1} ms for 100 tokens");
    way.close().await;
    host.shutdown().await;
}

fn print(round: usize, measured: &Round) {
    let (a, b) = (
        measured.through.decode_speed(),
        measured.worker.decode_speed(),
    );
    let theirs = measured.theirs.as_ref().map(TimedReply::decode_speed);
    let theirs = theirs.map_or_else(String::new, |speed| format!(", llama.cpp {speed:.1}"));
    println!(
        "round {round:>2}: decode {a:>6.1} against {b:>6.1} = {:.2}{theirs}",
        a / b
    );
}

fn summary(name: &str, rounds: &[Round]) {
    let sides: [(&str, Side); 3] = [
        (name, |round| Some(&round.through)),
        ("worker alone", |round| Some(&round.worker)),
        ("llama.cpp", |round| round.theirs.as_ref()),
    ];
    println!(
        "{:>14} {:>18} {:>22} {:>16}",
        "medians", "decode, tokens/s", "ratio of pairs to it", "first text, ms"
    );
    for (label, side) in sides {
        let pairs = || {
            rounds
                .iter()
                .filter_map(|round| Some((&round.through, side(round)?)))
        };
        if pairs().next().is_none() {
            continue;
        }
        let speed = median(pairs().map(|(_, other)| other.decode_speed()));
        let ratio = median(pairs().map(|(one, other)| one.decode_speed() / other.decode_speed()));
        let first = median(pairs().map(|(_, other)| other.first.as_secs_f64() * 1_000.0));
        println!("{label:>14} {speed:>18.1} {ratio:>22.2} {first:>16.0}");
    }
}
