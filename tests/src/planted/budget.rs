//! Group J: a long card, a long lorebook and a long chat compete for the token budget.

use engine::scenario::{Character, Lorebook, Pair, Probe, Say, ScenarioEntry, Set, Step};

use super::prose;
use super::{Expectation, ExpectedRecall, PlanBuilder};

const PAIR: &str = "heavy";
const CHAT: &str = "long";
const CHARACTER: &str = "Archivist";
const LIMITS: [u32; 4] = [2_048, 4_096, 8_192, 16_384];
/// More messages than the largest window holds.
const MESSAGES: usize = 400;
/// Tokens that the app reserves for a reply by default; in a small context it reserves a quarter.
const REPLY: u32 = 512;
/// Number of messages that the budget must never drop.
const NEWEST: usize = 2;
const TOLD: &str = "Long ago my uncle bought the boat {x}, the pride of the quay.";
const ASKED: &str = "What was the boat called that my uncle bought, the pride of the quay?";

pub(super) fn plant(builder: &mut PlanBuilder) {
    let answer = builder.world.canary();
    builder.canaries.insert(answer.clone(), PAIR.to_owned());
    introduce(builder);
    say(builder, 0, TOLD.replace("{x}", &answer));
    let mut newest = Vec::new();
    for at in 1..MESSAGES {
        let text = if at + NEWEST < MESSAGES {
            prose::small_talk(&mut builder.world.random)
        } else {
            last(at)
        };
        if at + NEWEST >= MESSAGES {
            newest.push(text.clone());
        }
        say(builder, at, text);
    }
    for limit in LIMITS {
        set(builder, "context_limit", &limit.to_string());
        let fits = ExpectedRecall::Fits {
            reserve: REPLY.min(limit / 4),
            newest: newest.clone(),
        };
        ask(
            builder,
            Expectation {
                name: "J fits, newest messages there".into(),
                goal: 100,
                wants: fits,
            },
        );
        let wants = ExpectedRecall::All(vec![answer.clone()]);
        ask(
            builder,
            Expectation {
                name: "J memory keeps its share".into(),
                goal: 100,
                wants,
            },
        );
    }
}

fn introduce(builder: &mut PlanBuilder) {
    let random = &mut builder.world.random;
    let card = (0..2)
        .map(|_| prose::paragraphs(random))
        .collect::<Vec<_>>()
        .join(" ");
    let entry = |_| ScenarioEntry {
        keys: vec!["quay".into()],
        text: prose::paragraphs(random),
    };
    let entries = (0..40).map(entry).collect();
    let (pair, character) = (PAIR.to_owned(), CHARACTER.to_owned());
    builder.steps([
        Step::Character(Character {
            name: character.clone(),
            description: card,
        }),
        Step::Pair(Pair {
            pair: pair.clone(),
            persona: super::story::PERSONAS[0].into(),
            character,
        }),
        Step::Lorebook(Lorebook {
            pair,
            chat: None,
            name: "All of the quay".into(),
            entries,
        }),
    ]);
    // Only the context size must limit the prompt here.
    set(builder, "history_cap", "auto");
}

fn set(builder: &mut PlanBuilder, key: &str, value: &str) {
    let (pair, chat) = (Some(PAIR.into()), Some(CHAT.into()));
    builder.then(Step::Setting(Set {
        pair,
        chat,
        key: key.into(),
        value: value.into(),
    }));
}

fn last(at: usize) -> String {
    format!("These are words of the very end, number {at}.")
}

fn say(builder: &mut PlanBuilder, at: usize, text: String) {
    let who = if at.is_multiple_of(2) {
        "user"
    } else {
        "character"
    };
    builder.then(Step::Say(Say {
        pair: PAIR.into(),
        chat: CHAT.into(),
        who: who.into(),
        text,
        id: None,
    }));
}

fn ask(builder: &mut PlanBuilder, case: Expectation) {
    let id = format!("q{}", builder.wants.len() + 1);
    let probe = Probe {
        id: id.clone(),
        pair: PAIR.into(),
        chat: CHAT.into(),
        text: ASKED.into(),
        budget: None,
        whole: true,
    };
    builder.then(Step::Probe(probe));
    builder.wants.insert(id, case);
}
