//! The steps of turns, from the log of this process.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, Once};

use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

type Listener = Arc<dyn Fn(&str, &str) + Send + Sync>;

static LISTENERS: Mutex<Vec<Listener>> = Mutex::new(Vec::new());

/// Calls `listener` with the chat and the name of each step from now on, before the step's turn
/// continues.
pub(crate) fn on_step(listener: impl Fn(&str, &str) + Send + Sync + 'static) {
    // `cargo test` runs all tests in one process, which can have only one global subscriber.
    static SUBSCRIBE: Once = Once::new();
    SUBSCRIBE.call_once(|| {
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Steps))
            .unwrap();
    });
    LISTENERS.lock().unwrap().push(Arc::new(listener));
}

struct Steps;

impl<S: tracing::Subscriber> Layer<S> for Steps {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "inglenook::turn" {
            let mut step = Fields::default();
            event.record(&mut step);
            // A listener may block, so it runs without the lock.
            let listeners = LISTENERS.lock().unwrap().clone();
            listeners
                .iter()
                .for_each(|listener| listener(&step.chat, &step.step));
        }
    }
}

#[derive(Default)]
struct Fields {
    chat: String,
    step: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "chat" => self.chat = format!("{value:?}"),
            "step" => self.step = format!("{value:?}"),
            // A step contains no text of the user.
            other => panic!("a step contains `{other}`: {value:?}"),
        }
    }
}
