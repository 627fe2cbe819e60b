//! The steps of a turn run in their defined order, as recorded in the log.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use engine::api::EndReason;
use provider::FinishReason;
use provider::fake::Script;
use tests::headless::Headless;
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

const UNTIL_THE_CALL: [&str; 7] = ["Said", "Collect", "Activate", "Frame", "Plan", "Freeze", "Call"];

/// Steps from the log, each with its chat.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<Vec<(String, String)>>>);

impl Trace {
    /// Records the log of this process from now on.
    fn of_this_process() -> Self {
        let trace = Self::default();
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(trace.clone())).unwrap();
        trace
    }

    /// Returns the steps of `chat` since the last call.
    fn take(&self, chat: &str) -> Vec<String> {
        let told = std::mem::take(&mut *self.0.lock().unwrap());
        assert!(told.iter().all(|(of, _)| of == chat), "a step names another chat: {told:?}");
        told.into_iter().map(|(_, step)| step).collect()
    }
}

impl<S: tracing::Subscriber> Layer<S> for Trace {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "inglenook::turn" {
            let mut step = Fields::default();
            event.record(&mut step);
            self.0.lock().unwrap().push((step.chat, step.step));
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

/// Sends `text`, waits for all background work, and returns how the reply ended.
async fn say(app: &Headless, chat: &str, text: &str) -> EndReason {
    let (_, end) = app.say(chat, text).await;
    app.engine.settle().await;
    end
}

fn behind_the_call(steps: &[&'static str]) -> Vec<&'static str> {
    UNTIL_THE_CALL.iter().chain(steps).copied().collect()
}

#[tokio::test]
async fn turn_runs_its_steps_in_order() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.engine.settle().await;
    let trace = Trace::of_this_process();

    app.model.reply("It is late.");
    say(&app, &chat, "Good evening.").await;
    assert_eq!(trace.take(&chat), behind_the_call(&["Stream", "Finish", "Keep", "Idle"]));

    app.model.play(Script::new().text("I will look it up. ").call("lamp", "{}").finish(FinishReason::Stop));
    say(&app, &chat, "Which lamp is out?").await;
    let asked = trace.take(&chat);
    assert_eq!(
        asked,
        behind_the_call(&["Stream", "Tool", "Finish", "Keep", "Idle"]),
        "a tool's call is read before the end"
    );

    app.model.play(Script::new().text("Half a").cut());
    let end = say(&app, &chat, "And then?").await;
    assert!(matches!(end, EndReason::Failed { .. }), "{end:?}");
    assert_eq!(trace.take(&chat), behind_the_call(&["Stream", "Keep"]), "no idle work follows an interrupted reply");
}
