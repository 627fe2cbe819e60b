//! Text that the user forgets while a prompt is built may still be in that prompt but in none after
//! it, because its recalled block is not frozen.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;

use tests::headless::{Headless, fact};
use tokio::runtime::Handle;

use crate::turn_log::on_step;

const CANARY: &str = "ZEBULON";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_forgotten_during_a_turn_is_not_sent_later() {
    let app = Headless::new().await;
    let ada = app.character("Ada").await;
    let chat = app.engine.new_chat(ada).await.unwrap().id;
    let known = app
        .engine
        .save_memory(fact(ada, "The user owns a boat called ZEBULON.", 5))
        .await
        .unwrap()
        .id;

    let ((planned, hears), (done, waits)) = (channel(), channel());
    let (hold, of) = (Mutex::new(Some((planned, waits))), chat.to_string());
    // Pauses the first turn after planning its prompt, until the memory is deleted.
    on_step(move |chat, step| {
        if let Some((planned, done)) = hold
            .lock()
            .unwrap()
            .take_if(|_| chat == of && step == "Plan")
        {
            planned.send(()).unwrap();
            done.recv().unwrap();
        }
    });
    let (engine, runtime) = (app.engine.clone(), Handle::current());
    let forgetting = thread::spawn(move || {
        hears.recv().unwrap();
        runtime.block_on(engine.delete_memory(known)).unwrap();
        done.send(()).unwrap();
    });
    let tells = async |text: &str| {
        app.model.reply("Hm.");
        app.send(chat, text).await;
        let prompt = app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .iter()
            .any(|message| message.text.contains(CANARY))
    };
    assert!(
        tells("Where is my boat?").await,
        "it was found before it was forgotten"
    );
    forgetting.join().unwrap();
    assert!(!tells("And the oars?").await);
}
