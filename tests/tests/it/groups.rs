//! Group scenes: several characters and a narrator, one of whom speaks per turn.

use domain::prompt::PromptRole;
use domain::{CharacterId, ChatId};
use engine::api::{
    ApiError, EndReason, Message, RegexScriptRow, Role, SettingOwner, SettingValue, WhatIf,
};
use serde_json::json;
use tests::headless::{Headless, ended, selected_text};

/// Mira's workshop with Ada and Bo.
struct Scene {
    app: Headless,
    chat: ChatId,
    mira: CharacterId,
    ada: CharacterId,
    bo: CharacterId,
}

async fn character(app: &Headless, name: &str, description: &str) -> CharacterId {
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": name, "description": description, "personality": "", "scenario": "", "first_mes": "Hello.",
        "mes_example": "", "creator_notes": "", "system_prompt": "", "post_history_instructions": "",
        "alternate_greetings": [], "tags": [], "creator": "", "character_version": "", "extensions": {} } });
    let report = app
        .engine
        .import_bytes(format!("{name}.json"), card.to_string().into_bytes())
        .await
        .unwrap();
    report.imported[0].id.parse().unwrap()
}

impl Scene {
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await;
        let ada = character(&app, "Ada", "{{char}} keeps the lighthouse.").await;
        let bo = character(&app, "Bo", "{{char}} sails for {{user}}.").await;
        let scene = Self {
            app,
            chat: chat.id,
            mira: chat.character,
            ada,
            bo,
        };
        scene.members(&[scene.ada, scene.bo]).await.unwrap();
        scene
    }

    async fn members(&self, ids: &[CharacterId]) -> Result<(), ApiError> {
        self.app.engine.set_members(self.chat, ids.to_vec()).await
    }

    async fn say(&self, text: &str, reply: &str) -> Message {
        self.app.model.reply(reply);
        let (reply, reason) = self.app.send(self.chat, text).await;
        assert_eq!(reason, EndReason::Stop);
        reply.unwrap()
    }

    async fn let_speak(&self, speaker: Option<CharacterId>, reply: &str) -> Message {
        self.app.model.reply(reply);
        let mut events = self.app.engine.subscribe();
        let started = self
            .app
            .engine
            .let_speak(self.chat, speaker.map(|id| id.to_string()))
            .await
            .unwrap();
        let (reply, _) = ended(&mut events, self.chat).await;
        let reply = reply.unwrap();
        assert_eq!(
            started.reply.unwrap().name,
            reply.name,
            "the speaker is known from the start"
        );
        reply
    }

    fn sent(&self) -> Vec<(PromptRole, String)> {
        let prompt = self.app.model.last_request().expect("a request").prompt;
        prompt
            .messages
            .into_iter()
            .map(|message| (message.role, message.text))
            .collect()
    }

    /// Returns the context block before the answered message.
    fn context(&self) -> String {
        self.sent().pop().unwrap().1
    }
}

#[tokio::test]
async fn characters_speak_in_turn_under_their_names() {
    let scene = Scene::open().await;
    // Mira has sent the greeting, so Ada is next.
    let reply = scene.say("Good evening, all.", "Ada: Evening.").await;
    assert_eq!(
        (
            reply.name.as_str(),
            reply.speaker.as_deref(),
            selected_text(&reply)
        ),
        ("Ada", Some(scene.ada.to_string().as_str()), "Evening.")
    );
    let head = scene.sent().remove(0).1;
    for told in [
        "a scene with Mira, Ada, Bo and Traveller",
        "Ada keeps the lighthouse.",
        "Bo sails for Traveller.",
    ] {
        assert!(head.contains(told), "{told:?} is not in the head:\n{head}");
    }
    assert!(
        scene
            .context()
            .contains("It is Ada's turn to speak, and nobody else's."),
        "{}",
        scene.context()
    );
    assert_eq!(scene.say("And the sea?", "Calm.").await.name, "Bo");
    assert_eq!(
        scene.say("And you, Ada?", "Fine.").await.name,
        "Ada",
        "a named character is next"
    );
    assert_eq!(
        scene.say("Bobby is fine.", "Aye.").await.name,
        "Bo",
        "a name inside a word does not match"
    );
    assert_eq!(scene.say("Go on.", "So.").await.name, "Mira");

    let said: Vec<String> = scene.sent().into_iter().map(|(_, text)| text).collect();
    assert_eq!(said[0], head, "the head does not depend on the speaker");
    assert!(
        said.iter().any(|text| text == "Ada: Evening.")
            && said.iter().any(|text| text == "Bo: Calm."),
        "{said:?}"
    );
    let names: Vec<String> = scene
        .app
        .transcript(scene.chat)
        .await
        .into_iter()
        .skip(1)
        .collect();
    assert_eq!(
        names[..4],
        [
            "Traveller: Good evening, all.",
            "Ada: Evening.",
            "Traveller: And the sea?",
            "Bo: Calm."
        ]
    );
}

/// A character speaks neither for the user nor for another character.
#[tokio::test]
async fn reply_ends_at_another_speaker() {
    let scene = Scene::open().await;
    assert_eq!(scene.say("Hello.", "Evening.").await.name, "Ada");
    let stop = scene.app.model.last_request().unwrap().prompt.stop;
    for (name, times) in [
        ("Traveller", 1),
        ("Mira", 1),
        ("Ada", 0),
        ("Bo", 1),
        ("Narrator", 1),
    ] {
        assert_eq!(
            stop.iter()
                .filter(|text| **text == format!("\n{name}:"))
                .count(),
            times,
            "{name}: {stop:?}"
        );
    }
    assert!(
        scene.sent()[0]
            .1
            .contains("Never speak or decide for Traveller, nor for another character.")
    );
}

#[tokio::test]
async fn any_character_and_the_narrator_can_be_called() {
    let scene = Scene::open().await;
    scene.say("Hello.", "Evening.").await;
    assert_eq!(scene.let_speak(Some(scene.bo), "Aye.").await.name, "Bo");
    assert!(
        scene.context().ends_with("(Bo's turn.)"),
        "{}",
        scene.context()
    );
    assert_eq!(
        scene.let_speak(Some(scene.mira), "Sit down.").await.speaker,
        None
    );

    let told = scene
        .let_speak(None, "<think>Rain?</think>The rain stops.")
        .await;
    assert_eq!(
        (told.role, told.name.as_str()),
        (Role::Narrator, "Narrator")
    );
    assert_eq!(
        told.swipes[0].display.as_ref().unwrap().text,
        "The rain stops."
    );
    assert!(
        scene.context().contains("Now the narrator tells"),
        "{}",
        scene.context()
    );
    scene.app.model.reply("The wind turns.");
    let mut events = scene.app.engine.subscribe();
    scene.app.engine.regenerate(scene.chat).await.unwrap();
    let (again, _) = ended(&mut events, scene.chat).await;
    let again = again.unwrap();
    assert_eq!(
        (again.role, again.swipes.len(), selected_text(&again)),
        (Role::Narrator, 2, "The wind turns.")
    );
    assert_eq!(
        scene.say("At last.", "Hm.").await.name,
        "Ada",
        "after Mira, regardless of narration in between"
    );
    let sent = scene.sent();
    assert!(
        sent.contains(&(PromptRole::User, "Narrator: The wind turns.".into())),
        "{sent:?}"
    );
}

#[tokio::test]
async fn swipe_keeps_the_speaker_and_matches_the_preview() {
    let scene = Scene::open().await;
    let preview = scene
        .app
        .engine
        .preview_prompt(scene.chat, "Bo, sing!".into(), WhatIf::default())
        .await
        .unwrap();
    let reply = scene.say("Bo, sing!", "La la.").await;
    assert_eq!(reply.name, "Bo");
    let sent: Vec<String> = scene.sent().into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        preview
            .messages
            .iter()
            .map(|message| message.text.clone())
            .collect::<Vec<_>>(),
        sent
    );
    scene.app.model.reply("Bo: No.");
    let mut events = scene.app.engine.subscribe();
    scene.app.engine.regenerate(scene.chat).await.unwrap();
    let (again, _) = ended(&mut events, scene.chat).await;
    let again = again.unwrap();
    assert_eq!((again.name.as_str(), selected_text(&again)), ("Bo", "No."));
    assert_eq!(
        scene
            .sent()
            .into_iter()
            .map(|(_, text)| text)
            .collect::<Vec<_>>(),
        sent
    );
}

/// Prompts are append-only for every speaker, unless the speaker's own texts are sent. Narration is
/// part of the history too.
#[tokio::test]
async fn group_prompt_is_append_only_across_restarts() {
    let mut scene = Scene::open().await;
    set(&scene.app, scene.chat, "group_texts", "group").await;
    for turn in 0..3 {
        scene.say(&format!("Question {turn}."), "Hm.").await;
        scene.let_speak(None, "Time passes.").await;
    }
    scene.app = scene.app.restart().await;
    assert_eq!(
        scene.say("Who is here?", "I am.").await.name,
        "Ada",
        "after Ada, Bo and Mira"
    );
    let requests = scene.app.model.requests();
    for pair in requests.windows(2) {
        let (before, after) = (&pair[0].prompt.messages, &pair[1].prompt.messages);
        assert_eq!(after[..before.len()], before[..]);
    }
    let report = scene
        .app
        .engine
        .preview_prompt(scene.chat, "So?".into(), WhatIf::default())
        .await
        .unwrap();
    let event = report
        .blocks
        .iter()
        .find(|block| block.text == "(The narrator goes on.)")
        .unwrap();
    assert!(event.kept && event.kind == "message" && event.tokens > 0);
}

#[tokio::test]
async fn participants_are_validated_and_can_change() {
    let scene = Scene::open().await;
    let open = async || scene.app.engine.open_chat(scene.chat).await.unwrap();
    assert_eq!(
        open()
            .await
            .members
            .iter()
            .map(|one| one.name.as_str())
            .collect::<Vec<_>>(),
        ["Ada", "Bo"]
    );
    for refused in [vec![scene.mira], vec![scene.ada, scene.ada]] {
        assert!(matches!(
            scene.members(&refused).await,
            Err(ApiError::BadInput { .. })
        ));
    }
    let nobody = "00000000-0000-7000-8000-000000000000".parse().unwrap();
    assert!(matches!(
        scene.members(&[nobody]).await,
        Err(ApiError::NotFound { .. })
    ));
    scene.say("Hello.", "Evening.").await;
    scene.members(&[]).await.unwrap();
    assert!(matches!(
        scene
            .app
            .engine
            .let_speak(scene.chat, Some(scene.ada.to_string()))
            .await,
        Err(ApiError::BadInput { .. })
    ));
    let reply = scene.say("Are we alone?", "We are.").await;
    assert_eq!((reply.name.as_str(), reply.speaker), ("Mira", None));
    assert_eq!(
        open().await.page.messages[2].name,
        "Ada",
        "earlier messages keep their speaker"
    );
    assert!(!scene.sent()[0].1.contains("a scene with"));
}

/// Greetings for groups only come first in groups, and are used nowhere else. The others follow as
/// swipes.
#[tokio::test]
async fn group_only_greetings_are_used_in_groups() {
    let app = Headless::new().await;
    let mut ids = Vec::new();
    for (name, all) in [
        ("Ada", &["All of you?", " ", "You again?"][..]),
        ("Bo", &[]),
        ("Cy", &["{{char}} nods."]),
    ] {
        let fields = engine::api::CharacterFields {
            name: name.into(),
            first_message: format!("I am {name}."),
            alternate_greetings: vec!["Hm.".into()],
            group_only_greetings: all.iter().map(|text| (*text).to_owned()).collect(),
            ..engine::api::CharacterFields::default()
        };
        ids.push(app.engine.create_character(fields).await.unwrap().id);
    }
    let texts = |message: &Message| {
        message
            .swipes
            .iter()
            .map(|swipe| swipe.text.clone())
            .collect::<Vec<_>>()
    };
    let chat = app
        .engine
        .new_group(String::new(), ids.clone())
        .await
        .unwrap();
    let greetings: Vec<_> = chat
        .page
        .messages
        .iter()
        .map(|message| (message.name.as_str(), texts(message)))
        .collect();
    let all = ["All of you?", "You again?", "I am Ada.", "Hm."]
        .map(str::to_owned)
        .to_vec();
    let cy = ["Cy nods.", "I am Cy.", "Hm."].map(str::to_owned).to_vec();
    assert_eq!(
        greetings,
        [("Ada", all), ("Cy", cy)],
        "Bo has no greeting for groups"
    );
    app.engine
        .select_swipe(chat.page.messages[0].id, 1)
        .await
        .unwrap();
    assert_eq!(app.transcript(chat.id).await[0], "Ada: You again?");
    let alone = app.engine.new_chat(ids[0]).await.unwrap();
    assert_eq!(texts(&alone.page.messages[0]), ["I am Ada.", "Hm."]);
}

/// The prompt has the English text of an event; the window gets codes to translate.
#[tokio::test]
async fn events_have_codes_for_translation() {
    use engine::api::{GroupEvent, GroupEventKind};
    let scene = Scene::open().await;
    scene.say("Hello.", "Evening.").await;
    scene.members(&[scene.bo]).await.unwrap();
    scene
        .app
        .engine
        .set_member(scene.chat, scene.bo, false, true)
        .await
        .unwrap();
    let chat = scene.app.engine.whole_chat(scene.chat).await.unwrap();
    let events: Vec<&Message> = chat
        .page
        .messages
        .iter()
        .filter(|message| message.role == Role::Event)
        .collect();
    let told = |kind, name: &str| {
        vec![GroupEvent {
            kind,
            name: name.into(),
        }]
    };
    assert_eq!(events[0].events, told(GroupEventKind::Leaves, "Ada"));
    assert_eq!(
        (selected_text(events[0]), &events[1].events),
        ("(Ada leaves.)", &told(GroupEventKind::GoesAway, "Bo"))
    );
    scene
        .app
        .engine
        .edit_message(events[0].id, "(Ada storms out.)".into())
        .await
        .unwrap();
    let chat = scene.app.engine.whole_chat(scene.chat).await.unwrap();
    let edited = chat
        .page
        .messages
        .iter()
        .find(|message| message.id == events[0].id)
        .unwrap();
    assert!(edited.events.is_empty(), "an edited text is shown as it is");
}

/// A template that the user selected stays; only the automatic one changes for a group.
#[tokio::test]
async fn selected_template_stays() {
    let scene = Scene::open().await;
    let owner = SettingOwner::Chat { id: scene.chat };
    let sms = SettingValue::Text("sms".into());
    scene
        .app
        .engine
        .set_setting(owner, "template".into(), Some(sms))
        .await
        .unwrap();
    scene.say("Hello.", "hey").await;
    assert!(!scene.sent()[0].1.contains("a scene with"));
}

/// In a group scene, the participant macros list all participants.
#[tokio::test]
async fn macros_list_the_participants() {
    let scene = Scene::open().await;
    let owner = SettingOwner::Chat { id: scene.chat };
    let note = SettingValue::Text("Present: {{group}}. Besides {{char}}: {{notChar}}.".into());
    scene
        .app
        .engine
        .set_setting(owner, "author_note".into(), Some(note))
        .await
        .unwrap();
    scene.say("We meet {{group}}.", "Hello.").await;
    let context = scene.context();
    assert!(
        context.contains("Present: Mira, Ada, Bo.") && context.ends_with("We meet Mira, Ada, Bo."),
        "{context}"
    );
    assert!(context.contains("Besides Mira: Ada, Bo"), "{context}");
}

/// `{{char}}` is the speaker. With cache-first placement the head stays the same, so it names all
/// members there.
#[tokio::test]
async fn char_macro_follows_the_speaker() {
    for placement in ["cache-first", "classic"] {
        let scene = Scene::open().await;
        for (key, value) in [
            ("placement", placement),
            ("extra_instructions", "HEAD {{char}}, not {{notChar}}."),
            (
                "author_note",
                "NOTE {{char}}, not {{notChar}}: {{description}}",
            ),
        ] {
            set(&scene.app, scene.chat, key, value).await;
        }
        let expect = |speaker: &str, others: &str, description: &str| {
            let texts: Vec<String> = scene.sent().into_iter().map(|(_, text)| text).collect();
            let head = match placement {
                "classic" => format!("HEAD {speaker}, not {others}, Traveller."),
                _ => "HEAD Mira, Ada, Bo, not Traveller.".to_owned(),
            };
            for text in [
                head,
                format!("NOTE {speaker}, not {others}, Traveller: {description}"),
            ] {
                assert!(
                    texts.iter().any(|sent| sent.contains(&text)),
                    "{placement}: {text}\n{texts:#?}"
                );
            }
        };
        scene.let_speak(Some(scene.bo), "Aye.").await;
        expect("Bo", "Mira, Ada", "Bo sails for Traveller.");
        scene.let_speak(Some(scene.ada), "Evening.").await;
        expect("Ada", "Mira, Bo", "Ada keeps the lighthouse.");
        scene.let_speak(None, "Night falls.").await;
        expect("Narrator", "Mira, Ada, Bo", "");
    }
}

/// Scripts on replies, stored or displayed, see the speaker as `{{char}}`.
#[tokio::test]
async fn scripts_see_the_speaker() {
    let scene = Scene::open().await;
    for (name, find, more) in [
        ("stored", "SIGN", json!({})),
        ("displayed", "MARK", json!({ "markdownOnly": true })),
    ] {
        let mut script = json!({ "scriptName": name, "findRegex": find, "replaceString": "{{char}}", "placement": [2] });
        script
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let row = RegexScriptRow {
            id: String::new(),
            name: name.into(),
            json: script.to_string(),
            enabled: true,
            problem: None,
        };
        scene.app.engine.save_regex_script(row).await.unwrap();
    }
    let display = |message: &Message| message.swipes[0].display.clone().unwrap_or_default().text;
    for (speaker, name) in [(scene.bo, "Bo"), (scene.ada, "Ada"), (scene.mira, "Mira")] {
        let reply = scene
            .let_speak(Some(speaker), "By SIGN, seen as MARK.")
            .await;
        assert_eq!(selected_text(&reply), format!("By {name}, seen as MARK."));
        assert_eq!(display(&reply), format!("By {name}, seen as {name}."));
    }
    let narrated = scene.let_speak(None, "By SIGN, seen as MARK.").await;
    assert_eq!(display(&narrated), "By Narrator, seen as Narrator.");
    let page = scene
        .app
        .engine
        .open_chat(scene.chat)
        .await
        .unwrap()
        .page
        .messages;
    let shown: Vec<String> = page
        .iter()
        .map(display)
        .filter(|text| text.starts_with("By "))
        .collect();
    let all = ["Bo", "Ada", "Mira", "Narrator"].map(|name| format!("By {name}, seen as {name}."));
    assert_eq!(shown, all);
}

#[tokio::test]
async fn group_goes_on_when_its_first_character_is_deleted() {
    let scene = Scene::open().await;
    scene.say("Who is there?", "Only me.").await;
    let before = scene.app.engine.open_chat(scene.chat).await.unwrap();
    let names = |messages: &[Message]| {
        messages
            .iter()
            .map(|each| each.name.clone())
            .collect::<Vec<_>>()
    };
    let said_before = names(&before.page.messages);
    scene.app.engine.delete_character(scene.mira).await.unwrap();

    let chats = scene.app.engine.list_chats().await.unwrap();
    let group = chats
        .iter()
        .find(|chat| chat.id == scene.chat)
        .unwrap_or_else(|| panic!("{chats:?}"));
    assert_eq!(
        (
            group.character_name.as_str(),
            group.other_member.as_ref().unwrap().name.as_str()
        ),
        ("Ada", "Bo")
    );
    let open = scene.app.engine.open_chat(scene.chat).await.unwrap();
    assert_eq!(
        (open.character, names(&open.page.messages)),
        (scene.ada, said_before)
    );
    let reply = scene.let_speak(Some(scene.bo), "I am Bo.").await;
    assert_eq!(reply.name, "Bo");
    assert!(
        scene
            .sent()
            .iter()
            .any(|(_, text)| text.starts_with("Mira: ")),
        "Mira's line stays hers"
    );

    scene
        .app
        .engine
        .restore_character(scene.mira)
        .await
        .unwrap();
    let back = scene.app.engine.open_chat(scene.chat).await.unwrap();
    let members: Vec<CharacterId> = back.members.iter().map(|member| member.id).collect();
    assert_eq!(
        (back.character, members),
        (scene.mira, vec![scene.ada, scene.bo])
    );
}

/// A group of Cy, Di and Ed, whose cards have their own instructions.
async fn instructed(placement: &str) -> (Headless, ChatId) {
    let app = Headless::new().await;
    let mut ids = Vec::new();
    for name in ["Cy", "Di", "Ed"] {
        let fields = engine::api::CharacterFields {
            name: name.into(),
            scenario: format!("SCENE-{name}: {{{{char}}}} waits."),
            system_prompt: format!("SYS-{name} {{{{char}}}}. {{{{original}}}}"),
            post_history_instructions: format!("END-{name}"),
            message_examples: format!("<START>\n{{{{char}}}}: EXAMPLE-{name}"),
            ..engine::api::CharacterFields::default()
        };
        ids.push(app.engine.create_character(fields).await.unwrap().id);
    }
    let chat = app.engine.new_group(String::new(), ids).await.unwrap().id;
    one_answers(&app, chat).await;
    set(&app, chat, "placement", placement).await;
    (app, chat)
}

/// Only one character answers a message.
async fn one_answers(app: &Headless, chat: ChatId) {
    let order = engine::api::TurnOrder::List;
    let options = engine::api::GroupOptions {
        order,
        self_responses: false,
        several_replies: false,
        auto_delay: 5,
    };
    app.engine.set_group(chat, options).await.unwrap();
}

async fn set(app: &Headless, chat: ChatId, key: &str, value: &str) {
    let owner = SettingOwner::Chat { id: chat };
    app.engine
        .set_setting(owner, key.into(), Some(SettingValue::Text(value.into())))
        .await
        .unwrap();
}

/// The texts of the cards that the last prompt contains.
fn card_texts(app: &Headless) -> Vec<&'static str> {
    let prompt = app.model.last_request().unwrap().prompt.messages;
    let all = prompt
        .iter()
        .map(|message| message.text.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    let texts = [
        "SYS-Cy Cy",
        "SYS-Di Di",
        "SYS-Ed Ed",
        "END-Cy",
        "END-Di",
        "END-Ed",
        "SCENE-Cy: Cy",
        "SCENE-Di: Di",
        "SCENE-Ed: Ed",
    ];
    texts
        .into_iter()
        .filter(|text| all.contains(text))
        .collect()
}

async fn say(app: &Headless, chat: ChatId, text: &str) {
    app.model.reply("Hm.");
    app.send(chat, text).await;
}

#[tokio::test]
async fn speaker_has_its_own_instructions() {
    for placement in ["cache-first", "classic"] {
        let (app, chat) = instructed(placement).await;
        say(&app, chat, "Di, hello.").await;
        assert_eq!(
            card_texts(&app),
            ["SYS-Di Di", "END-Di", "SCENE-Di: Di"],
            "{placement}"
        );
        say(&app, chat, "Ed, hello.").await;
        assert_eq!(
            card_texts(&app),
            ["SYS-Ed Ed", "END-Ed", "SCENE-Ed: Ed"],
            "{placement}: nothing of Di stays"
        );
        say(&app, chat, "Cy, hello.").await;
        assert_eq!(
            card_texts(&app),
            ["SYS-Cy Cy", "END-Cy", "SCENE-Cy: Cy"],
            "{placement}: the first one too"
        );
        let prompt = app.model.last_request().unwrap().prompt.messages;
        let all = prompt
            .iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        for name in ["Cy", "Di", "Ed"] {
            let example = format!("How {name} talks:\n{name}: EXAMPLE-{name}");
            assert!(all.contains(&example), "{placement}: {example}\n{all}");
        }
        assert!(
            !all.contains("{{original}}") && !all.contains("Examples of how Cy"),
            "{all}"
        );
        let report = app
            .engine
            .preview_prompt(chat, "Di?".into(), WhatIf::default())
            .await
            .unwrap();
        let sources: Vec<&str> = report
            .blocks
            .iter()
            .filter(|block| block.kept && block.text.contains("-Di"))
            .map(|block| block.source.as_str())
            .collect();
        let of_di = sources
            .iter()
            .filter(|source| **source == "card of Di")
            .count();
        assert_eq!(of_di, 3, "{placement}: {sources:?}");
    }
}

#[tokio::test]
async fn group_may_have_shared_instructions() {
    for placement in ["cache-first", "classic"] {
        let (app, chat) = instructed(placement).await;
        set(&app, chat, "group_texts", "group").await;
        say(&app, chat, "Di, hello.").await;
        assert_eq!(card_texts(&app), ["SCENE-Cy: Cy"], "{placement}");
    }
    let (app, chat) = instructed("cache-first").await;
    let field = engine::api::CardField::SystemPrompt;
    app.engine
        .set_chat_text(chat, field, Some("Write like a play.".into()))
        .await
        .unwrap();
    say(&app, chat, "Di, hello.").await;
    assert_eq!(
        card_texts(&app),
        ["END-Di", "SCENE-Di: Di"],
        "the chat's text precedes those of the cards"
    );
    let mut events = app.engine.subscribe();
    app.engine.let_speak(chat, None).await.unwrap();
    ended(&mut events, chat).await;
    assert_eq!(
        card_texts(&app),
        ["SCENE-Cy: Cy"],
        "the narrator has no instructions"
    );
}

/// Events take no place among the messages: in macros, in the scan depth and before texts at a
/// depth.
#[tokio::test]
async fn events_are_no_messages() {
    let scene = Scene::open().await;
    let book = scene
        .app
        .engine
        .create_lorebook("Mine".into())
        .await
        .unwrap()
        .about
        .id;
    let entry = json!({ "keys": ["mine"], "content": "THE-MINE is deep.", "enabled": true, "insertion_order": 1, "extensions": {} });
    let file = json!({ "name": "Deep", "entries": [entry], "extensions": {} });
    scene.app.engine.delete_lorebook(book).await.unwrap();
    let report = scene
        .app
        .engine
        .import_bytes("Deep.json".into(), file.to_string().into_bytes())
        .await
        .unwrap();
    set(
        &scene.app,
        scene.chat,
        "author_note",
        "Last: {{lastMessage}} #{{lastMessageId}}",
    )
    .await;
    scene.say("The mine?", "Dark.").await;
    let global = vec![engine::api::LorebookBinding::Global];
    scene
        .app
        .engine
        .bind_lorebook(report.imported[0].id.parse().unwrap(), global)
        .await
        .unwrap();
    scene.let_speak(Some(scene.bo), "Cold.").await;
    let context = scene.context();
    assert!(
        context.contains("THE-MINE"),
        "the user's message is still the second last: {context}"
    );
    assert!(context.contains("Last: Dark. #2"), "{context}");
    let event = scene
        .app
        .engine
        .run_command(scene.chat, "/sys A storm rises.".into(), Vec::new())
        .await;
    event.unwrap();
    scene
        .say("Bo? {{lastMessage}} #{{lastMessageId}}", "Aye.")
        .await;
    assert!(
        scene.context().ends_with("Bo? Cold. #3"),
        "{}",
        scene.context()
    );
}

#[tokio::test]
async fn greeting_of_a_group_names_all_members() {
    let app = Headless::new().await;
    let mut ids = Vec::new();
    for name in ["Ada", "Bo", "Bo"] {
        let fields = engine::api::CharacterFields {
            name: name.into(),
            first_message: "{{char}} in {{group}}; besides: {{notChar}}; {{charIfNotGroup}}."
                .into(),
            group_only_greetings: Vec::new(),
            ..engine::api::CharacterFields::default()
        };
        ids.push(app.engine.create_character(fields).await.unwrap().id);
    }
    let chat = app
        .engine
        .new_group(String::new(), ids.clone())
        .await
        .unwrap();
    let text = selected_text(&chat.page.messages[0]);
    assert!(
        text.starts_with("Ada in Ada, Bo, Bo (2); besides: "),
        "{text}"
    );
    let names: Vec<&str> = chat
        .members
        .iter()
        .map(|member| member.name.as_str())
        .collect();
    assert_eq!(names, ["Bo", "Bo (2)"], "two of one name can be told apart");
    one_answers(&app, chat.id).await;
    app.model.reply("Aye.");
    let (reply, _) = app.send(chat.id, "Bo (2), are you there?").await;
    let reply = reply.unwrap();
    assert_eq!(
        (reply.name.as_str(), reply.speaker.as_deref()),
        ("Bo (2)", Some(ids[2].to_string().as_str()))
    );
    say(&app, chat.id, "Ada?").await;
    let sent = app.model.last_request().unwrap().prompt.messages;
    assert!(
        sent.iter().any(|message| message.text == "Bo (2): Aye."),
        "{sent:?}"
    );
}
