//! Recall on real conversations: one conversation of LoCoMo, with a floor three points below the
//! goals. Without the data the test reports that and passes; `planted.rs` covers generated text
//! everywhere.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use engine::Encoder;
use engine::corpus::{CorpusMessage, CorpusQuery, rank};
use jiff::civil::DateTime;
use serde_json::Value;

/// Minimum percentage of relevant messages among the first ten.
const BY_WORDS: f64 = 74.0 - 3.0;
const BY_MEANING: f64 = 82.5 - 3.0;
/// Category of questions without an answer.
const ADVERSARIAL: i64 = 5;

struct Conversation {
    messages: Vec<CorpusMessage>,
    queries: Vec<CorpusQuery>,
    /// Relevant messages by question.
    answers: HashMap<String, HashSet<String>>,
    user: String,
}

/// Returns the first conversation of the development set, or `None` if the data is missing.
fn conversation() -> Option<Conversation> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/locomo/locomo_dev.json");
    let Ok(text) = std::fs::read_to_string(&file) else {
        eprintln!("LoCoMo is missing: the test is skipped");
        return None;
    };
    let all: Value = serde_json::from_str(&text).unwrap();
    let (said, asked) = (&all[0]["conversation"], &all[0]["qa"]);
    let messages: Vec<CorpusMessage> = (1..)
        .map_while(|session| Some((session, said[format!("session_{session}")].as_array()?)))
        .flat_map(|(session, turns)| {
            let when = said[format!("session_{session}_date_time")]
                .as_str()
                .and_then(date);
            turns.iter().map(move |turn| message(turn, when.clone()))
        })
        .collect();
    let known: HashSet<&str> = messages.iter().map(|message| message.id.as_str()).collect();
    let (mut queries, mut answers) = (Vec::new(), HashMap::new());
    for (number, question) in asked.as_array().unwrap().iter().enumerate() {
        let evidence: HashSet<String> = question["evidence"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|id| {
                id.as_str()
                    .filter(|id| known.contains(id))
                    .map(str::to_owned)
            })
            .collect();
        if evidence.is_empty() || question["category"] == ADVERSARIAL {
            continue;
        }
        let question_id = number.to_string();
        answers.insert(question_id.clone(), evidence);
        let question = question["question"].as_str().unwrap().to_owned();
        queries.push(CorpusQuery {
            conversation_id: String::new(),
            question_id,
            question,
        });
    }
    let user = said["speaker_a"].as_str().unwrap().to_owned();
    Some(Conversation {
        messages,
        queries,
        answers,
        user,
    })
}

fn message(turn: &Value, time: Option<String>) -> CorpusMessage {
    let text = |key: &str| turn[key].as_str().map(str::to_owned);
    CorpusMessage {
        conversation_id: String::new(),
        id: text("dia_id").unwrap(),
        speaker: text("speaker").unwrap(),
        text: text("text").unwrap(),
        time,
        caption: text("blip_caption"),
    }
}

/// Converts "1:56 pm on 8 May, 2023" to ISO 8601.
fn date(told: &str) -> Option<String> {
    DateTime::strptime("%I:%M %p on %d %B, %Y", told)
        .ok()
        .map(|date| date.to_string())
}

/// Returns the mean recall among the first ten, in percent.
async fn found(of: &Conversation, encoder: Option<&Encoder>) -> f64 {
    let users = [of.user.clone()];
    let rankings = rank(of.messages.clone(), of.queries.clone(), &users, encoder)
        .await
        .unwrap();
    let share = |ranking: &engine::corpus::CorpusRanking| {
        let answers = &of.answers[&ranking.question_id];
        let first = ranking.ranked_ids.iter().take(10);
        first.filter(|id| answers.contains(*id)).count() as f64 / answers.len() as f64
    };
    rankings.iter().map(share).sum::<f64>() / rankings.len() as f64 * 100.0
}

#[tokio::test(flavor = "multi_thread")]
async fn lexical_recall_meets_its_floor() {
    let Some(conversation) = conversation() else {
        return;
    };
    assert!(
        conversation.queries.len() > 100,
        "{} questions were read",
        conversation.queries.len()
    );
    let found = found(&conversation, None).await;
    assert!(found >= BY_WORDS, "{found:.1} of {BY_WORDS} %");
}

#[tokio::test(flavor = "multi_thread")]
async fn encoder_recall_meets_its_floor() {
    let Some(conversation) = conversation() else {
        return;
    };
    let folder = std::env::var_os("INGLENOOK_MODELS").map(PathBuf::from);
    let folder = folder
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/inglenook/models")));
    let encoder = Encoder::find(&[folder.unwrap()])
        .unwrap()
        .expect("an encoder: run `cargo xtask setup`");
    let found = found(&conversation, Some(&encoder)).await;
    assert!(found >= BY_MEANING, "{found:.1} of {BY_MEANING} %");
}
