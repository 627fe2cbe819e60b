//! Stages of a prompt over whole turns: source, filled, after the budget, sent.

use domain::ChatId;
use engine::api::{
    Change, PromptStage, RegexScriptRow, SettingOwner, SettingValue, StageComparison,
    TemplateDocument, WhatIf,
};
use serde_json::{Value, json};
use tests::headless::Headless;

const STAGES: [PromptStage; 4] = [
    PromptStage::Sources,
    PromptStage::Filled,
    PromptStage::Budget,
    PromptStage::Sent,
];

/// A card with macros in a field, in lore, and in examples that do not fit into the window.
fn card() -> Value {
    json!({
        "spec": "chara_card_v3", "spec_version": "3.0",
        "data": {
            "name": "Ada", "description": "{{char}} keeps the lighthouse for {{user}}.", "personality": "", "scenario": "",
            "first_mes": "Evening.", "mes_example": "<START>\n{{char}}: Hear the canary sing.\n".repeat(400),
            "creator_notes": "", "system_prompt": "", "post_history_instructions": "", "alternate_greetings": [],
            "tags": [], "creator": "", "character_version": "1", "group_only_greetings": [], "extensions": {},
            "character_book": { "name": "Rocks", "extensions": {}, "entries": [
                { "keys": ["reef"], "content": "The reef took {{user}}'s boat.\nNobody dives there.", "extensions": {},
                  "enabled": true, "insertion_order": 10, "use_regex": false }
            ] }
        }
    })
}

struct Lighthouse {
    app: Headless,
    chat: ChatId,
}

impl Lighthouse {
    async fn open() -> Self {
        let app = Headless::new().await;
        let report = app
            .engine
            .import_bytes("ada.json".into(), card().to_string().into_bytes())
            .await
            .unwrap();
        let chat = app
            .engine
            .new_chat(report.imported[0].id.parse().unwrap())
            .await
            .unwrap()
            .id;
        let owner = SettingOwner::Chat { id: chat };
        app.engine
            .set_setting(
                owner,
                "context_limit".into(),
                Some(SettingValue::Whole(1_500)),
            )
            .await
            .unwrap();
        Self { app, chat }
    }

    async fn restart(self) -> Self {
        Self {
            app: self.app.restart().await,
            chat: self.chat,
        }
    }

    async fn say(&self, text: &str) {
        self.app.model.reply("Hm.");
        self.app.send(self.chat, text).await;
    }

    /// Returns the stages of the last reply's prompt.
    async fn stages(&self) -> Vec<StageComparison> {
        let chat = self.app.engine.whole_chat(self.chat).await.unwrap();
        let swipe = chat.page.messages.last().unwrap().swipes[0].id;
        let mut stages = Vec::new();
        for stage in STAGES {
            stages.push(self.app.engine.prompt_stage(swipe, stage).await.unwrap());
        }
        stages
    }

    /// Returns the stages of the prompt for `text`.
    async fn next_stages(&self, text: &str) -> Vec<StageComparison> {
        let mut stages = Vec::new();
        for stage in STAGES {
            let next = self
                .app
                .engine
                .next_stage(self.chat, text.into(), WhatIf::default(), stage);
            stages.push(next.await.unwrap());
        }
        stages
    }
}

/// Returns the text of a comparison without the parts marked `gone`.
fn without(comparison: &StageComparison, gone: Change) -> String {
    comparison
        .parts
        .iter()
        .filter(|part| part.change != gone)
        .map(|part| part.text.as_str())
        .collect()
}

fn now(comparison: &StageComparison) -> String {
    without(comparison, Change::Removed)
}

fn only(comparison: &StageComparison, change: Change) -> Vec<&str> {
    comparison
        .parts
        .iter()
        .filter(|part| part.change == change)
        .flat_map(|part| part.text.lines())
        .collect()
}

#[track_caller]
fn check(text: &str, there: &[&str], absent: &[&str]) {
    for words in there {
        assert!(text.contains(words), "{words:?} is missing:\n{text}");
    }
    for words in absent {
        assert!(!text.contains(words), "{words:?} is present:\n{text}");
    }
}

#[tokio::test]
async fn each_stage_of_a_turn_says_what_it_did() {
    let house = Lighthouse::open().await;
    house.say("Tell me of the reef.").await;
    let stages = house.stages().await;
    let [sources, filled, budget, sent] = stages.as_slice() else {
        panic!("{stages:?}")
    };
    let written = [
        "You are ${character.name}, talking with ${persona.name}.\n",
        "{{char}} keeps the lighthouse for {{user}}.\n",
        "{{char}}: Hear the canary sing.\n",
        "The reef took {{user}}'s boat.\nNobody dives there.\n",
        "Tell me of the reef.\n",
    ];
    let put_in = [
        "You are Ada, talking with Traveller.\n",
        "Ada keeps the lighthouse for Traveller.\n",
        "The reef took Traveller's boat.\nNobody dives there.\n",
        "Tell me of the reef.\n",
    ];
    check(
        &now(sources),
        &written,
        &["Ada keeps", "[CONTEXT", "<|im_start|>"],
    );
    check(
        &now(filled),
        &put_in,
        &["${", "{{", "[CONTEXT", "<|im_start|>"],
    );
    check(&now(filled), &["Ada: Hear the canary sing.\n"], &[]);
    check(
        &now(budget),
        &put_in,
        &["canary", "[CONTEXT", "<|im_start|>"],
    );
    let (added, removed) = (only(budget, Change::Added), only(budget, Change::Removed));
    assert!(
        added.is_empty() && removed.iter().any(|line| line.contains("canary")),
        "{added:?} {removed:?}"
    );
    let wire = [
        "<|im_start|>system\n",
        "Lore:\n- The reef took Traveller's boat.\n  Nobody dives there.\n",
    ];
    check(
        &now(sent),
        &[&wire[..], &put_in[..2], &put_in[3..]].concat(),
        &["canary"],
    );
    for pair in stages.windows(2) {
        assert_eq!(pair[1].before, Some(pair[0].stage));
        assert_eq!(
            without(&pair[1], Change::Added),
            now(&pair[0]),
            "a stage begins with the result of the previous one"
        );
    }
    assert_eq!(
        (sources.before, only(sources, Change::Same).len()),
        (None, now(sources).lines().count())
    );
}

/// The stored manifest decides, whether it is stored completely or as a difference to the previous
/// one.
#[tokio::test]
async fn stages_of_a_sent_turn_survive_a_restart() {
    let house = Lighthouse::open().await;
    let foretold = house.next_stages("Tell me of the reef.").await;
    house.say("Tell me of the reef.").await;
    let first = house.stages().await;
    assert_eq!(first, foretold, "the preview equals the sent prompt");
    let house = house.restart().await;
    assert_eq!(house.stages().await, first);

    house.say("And then?").await;
    let second = house.stages().await;
    check(
        &now(&second[0]),
        &["The reef took {{user}}'s boat.", "{{char}} keeps"],
        &["reef took Traveller"],
    );
    assert_eq!(house.restart().await.stages().await, second);
}

#[tokio::test]
async fn source_stage_shows_custom_template_and_script() {
    let house = Lighthouse::open().await;
    let engine = &house.app.engine;
    let TemplateDocument { json, .. } = engine.get_template("base-roleplay".into()).await.unwrap();
    let own = json.replace(
        "You are ${character.name}",
        "You play ${character.name} at {{time}}",
    );
    engine
        .save_template("base-roleplay".into(), own)
        .await
        .unwrap();
    let script = json!({ "scriptName": "sea", "findRegex": "/sea/g", "replaceString": "ocean", "placement": [1],
        "promptOnly": true });
    let script = RegexScriptRow {
        id: String::new(),
        name: "sea".into(),
        json: script.to_string(),
        enabled: true,
        problem: None,
    };
    engine.save_regex_script(script).await.unwrap();
    house.say("How deep is the sea?").await;
    let stages = house.stages().await;
    check(
        &now(&stages[0]),
        &[
            "You play ${character.name} at {{time}}, talking",
            "How deep is the sea?",
        ],
        &["ocean"],
    );
    check(
        &now(&stages[1]),
        &["You play Ada at ", "How deep is the ocean?"],
        &["{{time}}", "the sea"],
    );
}
