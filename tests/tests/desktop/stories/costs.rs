use std::collections::VecDeque;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::desk::{PATIENCE, TestEnvironment, until};
use crate::processes;

/// Number of samples, a quarter of a second each, without change until memory is considered
/// settled.
const STILL: usize = 8;

/// Number of starts of each program; the result is the median.
const STARTS: usize = 3;

/// Measures startup time and memory before the first message, compared with an empty Tauri window
/// in the same run.
pub(crate) async fn measured(desk: TestEnvironment) {
    let (empty, app) = ("empty window", "Inglenook");
    // The first start of each program warms the page cache, and the app creates its sample
    // characters.
    start(&desk, empty).await.end().await;
    start(&desk, app).await.end().await;
    let (mut empty_starts, mut app_starts) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        empty_starts.push(start(&desk, empty).await.end().await);
        app_starts.push(start(&desk, app).await.end().await);
    }
    let empty = start(&desk, empty)
        .await
        .settled(&desk, median(empty_starts))
        .await;
    let app = start(&desk, app)
        .await
        .settled(&desk, median(app_starts))
        .await;
    eprintln!(
        "empty window: shown after {:?}, {:.0} MiB",
        empty.shown, empty.memory
    );
    eprintln!(
        "Inglenook: shown after {:?}, {:.0} MiB and the worker's {:.0} MiB",
        app.shown, app.memory, app.worker
    );
    // The targets for a release build are 1.3 and 1.25; a debug build has looser limits.
    assert!(
        app.memory < empty.memory * 2.0,
        "{:.0} MiB against {:.0}",
        app.memory,
        empty.memory
    );
    assert!(
        app.shown < empty.shown * 4,
        "{:?} against {:?}",
        app.shown,
        empty.shown
    );
}

struct Running {
    child: Child,
    shown: Duration,
}

struct Cost {
    shown: Duration,
    /// Proportional share of memory of all processes except the worker, in MiB.
    memory: f64,
    /// The same for the worker with its loaded model, in MiB.
    worker: f64,
}

/// Starts the program with this window title and waits for the window.
async fn start(desk: &TestEnvironment, title: &str) -> Running {
    let program = if title == "Inglenook" {
        desk.app()
    } else {
        desk.empty_window()
    };
    let begin = Instant::now();
    let child = desk.command(program).spawn().unwrap();
    until(title, || async { desk.display.windows(title).pop() }).await;
    Running {
        child,
        shown: begin.elapsed(),
    }
}

impl Running {
    async fn settled(self, desk: &TestEnvironment, shown: Duration) -> Cost {
        let id = self.child.id();
        let mut samples = VecDeque::from([f64::MAX]);
        let deadline = Instant::now() + PATIENCE;
        while spread(&samples) > 1.0 || samples.len() < STILL {
            assert!(
                Instant::now() < deadline,
                "the memory does not settle: {samples:?}"
            );
            tokio::time::sleep(Duration::from_millis(250)).await;
            samples.push_back(processes::memory_of_tree(id));
            if samples.len() > STILL {
                samples.pop_front();
            }
        }
        let all = samples.back().copied().unwrap_or_default();
        let worker = processes::running(&desk.worker())
            .into_iter()
            .map(processes::memory_of_tree)
            .sum::<f64>();
        self.end().await;
        Cost {
            shown,
            memory: all - worker,
            worker,
        }
    }

    /// Ends the program and all its processes, which would affect the next measurement. Returns how
    /// long its window took to appear.
    async fn end(mut self) -> Duration {
        let family = processes::tree(self.child.id());
        processes::signal(self.child.id(), "TERM");
        until("the end", || {
            let ended = self.child.try_wait().unwrap().is_some()
                && !family.iter().any(|id| processes::is_alive(*id));
            async move { ended.then_some(()) }
        })
        .await;
        self.shown
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn spread(samples: &VecDeque<f64>) -> f64 {
    let (least, most) = samples
        .iter()
        .fold((f64::MAX, f64::MIN), |(least, most), it| {
            (least.min(*it), most.max(*it))
        });
    most - least
}
