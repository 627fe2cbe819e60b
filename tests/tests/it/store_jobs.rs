//! The transactions of one message. Each is a round trip to another thread, and an edit between two
//! reads of a row gives a turn two versions of it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tests::headless::{Headless, ended};
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

/// Maximum number of transactions from the user's message to the end of the reply. There were 79
/// before a turn began with one snapshot.
const MAX_JOBS: usize = 26;

/// Work in the background that any change may start.
const BACKGROUND: &str = "stale_caches.rs";

type Places = BTreeMap<String, usize>;

/// Counts the transactions by the place in the code that asked for them, until the idle work after
/// a reply begins.
#[derive(Clone, Default)]
struct Turn {
    /// `None` while nothing is counted.
    counted: Arc<Mutex<Option<Places>>>,
    ended: Arc<Mutex<Places>>,
}

impl<S: tracing::Subscriber> Layer<S> for Turn {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut value = FieldValue::default();
        event.record(&mut value);
        let mut counted = self.counted.lock().unwrap();
        match event.metadata().target() {
            "store::job" if !value.from.contains(BACKGROUND) => {
                if let Some(places) = counted.as_mut() {
                    *places.entry(value.from).or_default() += 1;
                }
            }
            "inglenook::turn" if value.step == "Idle" => {
                if let Some(places) = counted.take() {
                    *self.ended.lock().unwrap() = places;
                }
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct FieldValue {
    from: String,
    step: String,
}

impl Visit for FieldValue {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "from" => self.from = format!("{value:?}"),
            "step" => self.step = format!("{value:?}"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn message_needs_few_transactions() {
    let turn = Turn::default();
    // Only this thread, which runs the whole engine.
    let _listening =
        tracing::subscriber::set_default(tracing_subscriber::registry().with(turn.clone()));
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    // The first turn reads ahead and fills caches.
    app.model.reply("Evening.");
    app.send(chat, "Good evening.").await;
    app.engine.settle().await;
    *turn.counted.lock().unwrap() = Some(Places::new());
    app.model.reply("It is.");
    let mut events = app.engine.subscribe();
    app.engine
        .send_message(chat, "A fine evening.".into())
        .await
        .unwrap();
    ended(&mut events, chat).await;
    app.engine.settle().await;
    let places = turn.ended.lock().unwrap().clone();
    let count: usize = places.values().sum();
    assert!(
        count > 10 && count <= MAX_JOBS,
        "{count} transactions: {places:#?}"
    );
}
