use std::collections::VecDeque;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::desk::{Desk, PATIENCE, until};
use crate::processes;

/// How long the memory must stand still to count as settled, in samples of a quarter of a second.
const STILL: usize = 8;

/// What users pay before they have said a word, beside an empty web view of the same library in the same run (P-11, P-12).
pub(crate) async fn measured(desk: Desk) {
    // The first start of each warms the page cache, and the app's makes its sample characters.
    for _ in 0..2 {
        start(&desk, "empty window").await.end().await;
        start(&desk, "Inglenook").await.end().await;
    }
    let empty = start(&desk, "empty window").await.settled(&desk).await;
    let app = start(&desk, "Inglenook").await.settled(&desk).await;
    eprintln!("empty window: shown after {:?}, {:.0} MiB", empty.shown, empty.memory);
    eprintln!("Inglenook: shown after {:?}, {:.0} MiB and the worker's {:.0} MiB", app.shown, app.memory, app.worker);
    // The targets are 1.3 and 1.25 for a release build; a debug build only must not be out of all proportion.
    assert!(app.memory < empty.memory * 2.0, "{:.0} MiB against {:.0}", app.memory, empty.memory);
    assert!(app.shown < empty.shown * 4, "{:?} against {:?}", app.shown, empty.shown);
}

struct Running {
    child: Child,
    shown: Duration,
}

struct Cost {
    shown: Duration,
    /// Proportional share of all processes but the worker, MiB.
    memory: f64,
    /// The worker with the model it has loaded, MiB.
    worker: f64,
}

/// Starts the program whose window has this title and waits for the window.
async fn start(desk: &Desk, title: &str) -> Running {
    let program = if title == "Inglenook" { desk.app() } else { env!("CARGO_BIN_EXE_empty-window").into() };
    let begin = Instant::now();
    let child = desk.command(program).spawn().unwrap();
    until(title, || async { desk.display.windows(title).pop() }).await;
    Running { child, shown: begin.elapsed() }
}

impl Running {
    async fn settled(self, desk: &Desk) -> Cost {
        let id = self.child.id();
        let mut samples = VecDeque::from([f64::MAX]);
        let deadline = Instant::now() + PATIENCE;
        while spread(&samples) > 1.0 || samples.len() < STILL {
            assert!(Instant::now() < deadline, "the memory does not settle: {samples:?}");
            tokio::time::sleep(Duration::from_millis(250)).await;
            samples.push_back(processes::memory_of_tree(id));
            if samples.len() > STILL {
                samples.pop_front();
            }
        }
        let all = samples.back().copied().unwrap_or_default();
        let worker = processes::running(&desk.worker()).into_iter().map(processes::memory_of_tree).sum::<f64>();
        let shown = self.shown;
        self.end().await;
        Cost { shown, memory: all - worker, worker }
    }

    async fn end(mut self) {
        processes::signal(self.child.id(), "TERM");
        until("the end", || {
            let ended = self.child.try_wait().unwrap();
            async move { ended }
        })
        .await;
    }
}

fn spread(samples: &VecDeque<f64>) -> f64 {
    let (least, most) = samples.iter().fold((f64::MAX, f64::MIN), |(least, most), it| (least.min(*it), most.max(*it)));
    most - least
}
