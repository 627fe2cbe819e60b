//! The transactions of one message. Each is a round trip to another thread, and an edit between two reads of a row gives a
//! turn two versions of it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tests::headless::{Headless, ended};
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

/// Maximum number of transactions from the user's message to the end of the reply, with the first reads of the idle work,
/// which may begin before this test sees the end. There were 79 before a turn began with one snapshot.
const MAX_JOBS: usize = 38;

/// Work in the background that any change may start.
const BACKGROUND: &str = "stale_caches.rs";

/// The places in the code that asked for a transaction, in order.
#[derive(Clone, Default)]
struct Jobs(Arc<Mutex<Vec<String>>>);

impl<S: tracing::Subscriber> Layer<S> for Jobs {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "store::job" {
            event.record(&mut Caller(self));
        }
    }
}

struct Caller<'a>(&'a Jobs);

impl Visit for Caller<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "from" {
            self.0.0.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

#[tokio::test]
async fn message_needs_few_transactions() {
    let jobs = Jobs::default();
    // Only this thread, which runs the whole engine.
    let _listening = tracing::subscriber::set_default(tracing_subscriber::registry().with(jobs.clone()));
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    // The first turn reads ahead and fills caches.
    app.model.reply("Evening.");
    app.send(&chat, "Good evening.").await;
    app.engine.settle().await;
    jobs.0.lock().unwrap().clear();
    app.model.reply("It is.");
    let mut events = app.engine.subscribe();
    app.engine.send_message(chat.clone(), "A fine evening.".into()).await.unwrap();
    ended(&mut events, &chat).await;
    let jobs = jobs.0.lock().unwrap().clone();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for job in jobs.iter().filter(|job| !job.contains(BACKGROUND)) {
        *places.entry(job).or_default() += 1;
    }
    let count: usize = places.values().sum();
    assert!(count > 10 && count <= MAX_JOBS, "{count} transactions: {places:#?}");
}
