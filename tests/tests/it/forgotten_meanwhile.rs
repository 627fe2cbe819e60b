//! Text that the user forgets while a prompt is built may still be in that prompt but in none after it, because its
//! recalled block is not frozen.

use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tests::headless::{Headless, fact};
use tokio::runtime::Handle;
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

const CANARY: &str = "ZEBULON";

/// Pauses the first turn after planning its prompt, until the test continues it.
struct Hold(Mutex<Option<(Sender<()>, Receiver<()>)>>);

impl<S: tracing::Subscriber> Layer<S> for Hold {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut planned = Planned(false);
        if event.metadata().target() == "inglenook::turn" {
            event.record(&mut planned);
        }
        if let Some((planned, done)) = self.0.lock().unwrap().take_if(|_| planned.0) {
            planned.send(()).unwrap();
            done.recv().unwrap();
        }
    }
}

struct Planned(bool);

impl Visit for Planned {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0 |= field.name() == "step" && format!("{value:?}") == "Plan";
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_forgotten_during_a_turn_is_not_sent_later() {
    let app = Headless::new().await;
    let ada = app.character("Ada").await;
    let chat = app.engine.new_chat(ada.clone()).await.unwrap().id;
    let known = app.engine.save_memory(fact(&ada, "The user owns a boat called ZEBULON.", 5)).await.unwrap().id;

    let ((planned, hears), (done, waits)) = (channel(), channel());
    let hold = Hold(Mutex::new(Some((planned, waits))));
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(hold)).unwrap();
    let (engine, runtime) = (app.engine.clone(), Handle::current());
    let forgetting = thread::spawn(move || {
        hears.recv().unwrap();
        runtime.block_on(engine.delete_memory(known)).unwrap();
        done.send(()).unwrap();
    });
    let tells = async |text: &str| {
        app.model.reply("Hm.");
        app.say(&chat, text).await;
        let prompt = app.model.last_request().unwrap().prompt;
        prompt.messages.iter().any(|message| message.text.contains(CANARY))
    };
    assert!(tells("Where is my boat?").await, "it was found before it was forgotten");
    forgetting.join().unwrap();
    assert!(!tells("And the oars?").await);
}
