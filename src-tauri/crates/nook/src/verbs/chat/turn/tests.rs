use domain::ChatId;
use engine::api::{ApiError, Figures};
use serde_json::Value;

use super::*;

#[test]
fn figures_line_shows_the_known_figures() {
    let figures = Figures {
        prompt: Some(200),
        reused: Some(192),
        generated: Some(412),
        first_text_ms: Some(312.0),
        ..Figures::default()
    };
    assert_eq!(figures_line(&figures), "412 tokens · 96 % reused · 0.3 s");
    assert_eq!(figures_line(&Figures::default()), "");
}

#[test]
fn reply_that_failed_early_still_ends_with_a_line() {
    let error = ApiError::NoModel {
        message: "no model is set up".into(),
        hint: "Add one.".into(),
    };
    let chat: ChatId = "0190a0a0-0000-7000-8000-000000000000".parse().unwrap();
    let line = end_line(chat, None, &EndReason::Failed { error });
    assert_eq!(line["reason"], "failed");
    assert_eq!(line["text"], "");
    assert_eq!(
        line["error"],
        json!({ "kind": "noModel", "message": "no model is set up. Add one." })
    );
    assert_eq!(line["usage"]["prompt"], Value::Null);
}
