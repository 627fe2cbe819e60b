//! The steps of a turn run in their defined order, as recorded in the log.

use std::sync::{Arc, Mutex};

use domain::ChatId;
use engine::api::{EndReason, SettingOwner};
use provider::FinishReason;
use provider::fake::ReplyScript;
use tests::headless::Headless;

use crate::turn_log::on_step;

const UNTIL_THE_CALL: [&str; 7] = [
    "Said", "Collect", "Activate", "Frame", "Plan", "Freeze", "Call",
];

/// Steps of one chat from the log.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    /// Records the steps of `chat` from now on.
    fn of(chat: ChatId) -> Self {
        let (trace, chat) = (Self::default(), chat.to_string());
        let steps = trace.clone();
        on_step(move |of, step| {
            if of == chat {
                steps.0.lock().unwrap().push(step.to_owned());
            }
        });
        trace
    }

    /// Returns the steps since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Sends `text`, waits for all background work, and returns how the reply ended.
async fn say(app: &Headless, chat: ChatId, text: &str) -> EndReason {
    let (_, end) = app.send(chat, text).await;
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
    let trace = Trace::of(chat);

    app.model.reply("It is late.");
    say(&app, chat, "Good evening.").await;
    assert_eq!(
        trace.take(),
        behind_the_call(&["Stream", "Finish", "Keep", "Idle"])
    );

    app.model.play(
        ReplyScript::new()
            .text("I will look it up. ")
            .call("lamp", "{}")
            .finish(FinishReason::Stop),
    );
    say(&app, chat, "Which lamp is out?").await;
    let asked = trace.take();
    assert_eq!(
        asked,
        behind_the_call(&["Stream", "Tool", "Finish", "Keep", "Idle"]),
        "a tool's call is read before the end"
    );

    let owner = SettingOwner::Chat { id: chat };
    app.engine
        .set_setting_in_words(owner, "tool_dice".into(), "on".into())
        .await
        .unwrap();
    app.engine.settle().await;
    trace.take();
    app.model
        .play(ReplyScript::new().call("roll_dice", "{\"dice\":\"d6\"}"));
    app.model.reply("You rolled.");
    say(&app, chat, "Roll for me.").await;
    let round = [
        "Tool",
        "Finish",
        "ToolRound",
        "Frame",
        "Plan",
        "Freeze",
        "Call",
        "Stream",
        "Finish",
        "Keep",
        "Idle",
    ];
    assert_eq!(
        trace.take(),
        behind_the_call(&round),
        "a tool round comes before the reply is stored"
    );

    app.model.play(ReplyScript::new().text("Half a").cut());
    let end = say(&app, chat, "And then?").await;
    assert!(matches!(end, EndReason::Failed { .. }), "{end:?}");
    assert_eq!(
        trace.take(),
        behind_the_call(&["Stream", "Keep"]),
        "no idle work follows an interrupted reply"
    );
}
