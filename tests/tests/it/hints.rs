//! Another version of a reply with a hint or by another model. Both are for this version alone.

use domain::ChatId;
use engine::api::{
    ApiError, CommandOutcome, Message, ModelRef, Origin, RegenerateHint, RegenerateOptions,
};
use tests::headless::{Headless, ended, selected_text};

/// A word that only the hint contains.
const WISH: &str = "Zanzibarium";

struct Hints {
    app: Headless,
    chat: ChatId,
}

impl Hints {
    /// A chat with one exchange.
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await.id;
        let hints = Self { app, chat };
        hints.say("Good evening.", "Come in.").await;
        hints
    }

    async fn say(&self, text: &str, reply: &str) -> Vec<String> {
        self.app.model.reply(reply);
        self.app.send(self.chat, text).await;
        self.sent()
    }

    async fn regenerate(&self, options: RegenerateOptions) -> Message {
        self.app.model.reply("Sit down.");
        let mut events = self.app.engine.subscribe();
        self.app
            .engine
            .regenerate_with(self.chat, options)
            .await
            .unwrap();
        ended(&mut events, self.chat).await.0.unwrap()
    }

    /// The texts of the last prompt.
    fn sent(&self) -> Vec<String> {
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .into_iter()
            .map(|message| message.text)
            .collect()
    }
}

fn own(text: &str) -> RegenerateOptions {
    RegenerateOptions {
        hint: Some(RegenerateHint::Own { text: text.into() }),
        model: None,
    }
}

#[tokio::test]
async fn hint_ends_one_prompt_and_no_other() {
    let world = Hints::open().await;
    let first = world.sent();
    let reply = world
        .regenerate(own(&format!("{{{{char}}}} says {WISH}.")))
        .await;
    assert_eq!(
        (reply.swipes.len(), selected_text(&reply)),
        (2, "Sit down.")
    );
    let hinted = world.sent();
    let last = hinted.last().unwrap();
    assert!(
        last.contains("Mira says") && last.contains(WISH),
        "macros are expanded: {last}"
    );
    assert_eq!(
        hinted[..first.len() - 1],
        first[..first.len() - 1],
        "the prompt before it is the same"
    );

    let report = world.app.engine.manifest(reply.swipes[1].id).await.unwrap();
    let blocks: Vec<_> = report
        .blocks
        .iter()
        .filter(|block| block.origin == Origin::Hint)
        .collect();
    assert!(
        blocks.len() == 1 && blocks[0].text.contains(WISH),
        "the X-ray shows it: {blocks:?}"
    );

    let transcript = world.app.transcript(world.chat).await.join("\n");
    assert!(!transcript.contains(WISH), "{transcript}");
    let next = world.say("Thank you.", "You are welcome.").await;
    assert!(next.iter().all(|text| !text.contains(WISH)), "{next:?}");
    assert_eq!(
        next[..first.len()],
        first[..],
        "the next turn continues from the prompt without the hint"
    );
    let plain = world.regenerate(RegenerateOptions::default()).await;
    assert!(plain.swipes.len() == 2 && world.sent().iter().all(|text| !text.contains(WISH)));
}

#[tokio::test]
async fn regenerate_command_takes_a_hint() {
    let world = Hints::open().await;
    world.app.model.reply("Sit.");
    let mut events = world.app.engine.subscribe();
    let ran = world
        .app
        .engine
        .run_command(world.chat, "/regenerate shorter".into(), Vec::new())
        .await
        .unwrap();
    assert!(matches!(ran, CommandOutcome::Started { .. }));
    ended(&mut events, world.chat).await;
    assert!(
        world.sent().last().unwrap().contains("Write at most"),
        "{:?}",
        world.sent()
    );
}

#[tokio::test]
async fn version_by_another_model_keeps_the_prompt() {
    let world = Hints::open().await;
    let first = world.sent();
    let model = Some(ModelRef::Remote {
        id: uuid::Uuid::nil().to_string(),
    });
    let reply = world
        .regenerate(RegenerateOptions { hint: None, model })
        .await;
    assert_eq!(
        (reply.swipes.len(), reply.selected, world.sent()),
        (2, 1, first.clone())
    );
    let next = world.say("Thank you.", "You are welcome.").await;
    assert_eq!(next[..first.len()], first[..]);
}

#[tokio::test]
async fn hint_that_is_too_long_is_refused() {
    let world = Hints::open().await;
    let refused = world
        .app
        .engine
        .regenerate_with(world.chat, own(&"x".repeat(5_000)))
        .await;
    assert!(matches!(refused, Err(ApiError::BadInput { .. })));
    let reply = world.regenerate(own("  ")).await;
    assert_eq!(
        reply.swipes.len(),
        2,
        "an empty hint is none, and the chat is not busy"
    );
}
