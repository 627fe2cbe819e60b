//! Against the reference: `tests/chat_templates/generate.py` made what it says.

use super::exec::{Input, Program};

/// Renders `source` for the chat in `context.json`.
fn rendered(source: &str) -> Result<String, String> {
    let messages = [
        ("system", "Be brief.".to_owned()),
        ("user", "Hello <b> & \"you\"".to_owned()),
        ("assistant", "Hi\nthere".to_owned()),
    ];
    let now = jiff::civil::date(2026, 11, 21).at(0, 0, 0, 0);
    let input = Input {
        messages: &messages,
        typed: false,
        lists_tools: false,
        add_generation_prompt: true,
        bos: "<s>",
        eos: "</s>",
        now,
    };
    let program = Program::parse(source).map_err(|error| error.to_string())?;
    program.run(&input).map_err(|error| error.to_string())
}

#[test]
fn expressions_mean_what_they_mean_in_the_reference() {
    let goldens: Vec<(String, Option<String>)> =
        serde_json::from_str(include_str!("../../../tests/chat_templates/expressions.json")).unwrap();
    assert!(goldens.len() > 90);
    let mut wrong = Vec::new();
    for (source, expected) in goldens {
        let found = rendered(&source);
        if found.as_ref().ok() != expected.as_ref() {
            wrong.push(format!("{source}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
