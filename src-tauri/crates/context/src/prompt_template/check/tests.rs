use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::builtin::built_in;
use super::*;

fn problems(mut template: Value) -> Vec<String> {
    for (field, value) in [
        ("schema", json!(super::super::SCHEMA)),
        ("version", json!(2)),
        ("id", json!("t")),
        ("name", json!("T")),
    ] {
        template
            .as_object_mut()
            .unwrap()
            .entry(field)
            .or_insert(value);
    }
    let found = check(&template.to_string(), built_in().unwrap());
    let found = found
        .into_iter()
        .filter(|it| it.severity == Severity::Error);
    let line = |it: Problem| {
        format!(
            "{} | {} | {}",
            it.section.unwrap_or_default(),
            it.variable.unwrap_or_default(),
            it.message
        )
    };
    found.map(line).collect()
}

#[test]
fn names_section_and_variable() {
    insta::assert_debug_snapshot!(problems(json!({
            "extends": "base-roleplay",
            "variables": [{"name": "a", "text": "${b}"}, {"name": "b", "text": "${a} ${nobody}"}],
            "sections": [
                {"name": "one", "lines": ["Hello ${charcter.name}", "${broken"]},
                {"name": "two", "condition": "hasEpisode", "rules": [{"text": "x", "condition": "mode =="}]},
                {"name": "rules", "condition": "assist"},
                {"name": "nothing", "override": true, "lines": ["x"]},
                {"name": "void"},
                {"name": "end", "slot": "postHistory"},
            ],
        })), @r###"
        [
            " | a | the variables a -> b -> a depend on each other in a circle; remove one of them from the text of another",
            " | nobody | in the template's variable `b`: there is no variable `${nobody}`; correct or remove it",
            "one | charcter.name | there is no variable `${charcter.name}`; correct or remove it",
            "one |  | `${broken` is not a valid variable; write `${name}` with letters, digits, dots and underscores, or `$${` for a literal `${`",
            "two | hasEpisode | `hasEpisode` is neither a flag nor a variable; quote it if it is a text",
            "two |  | the condition ends too early; expected a flag, a variable, a number or a quoted text",
            "nothing |  | no parent template has this section, so there is nothing to override",
            "void |  | the section has no text",
        ]
        "###);
}

#[test]
fn rejects_excluding_a_required_section() {
    let found = problems(
        json!({"extends": "base-roleplay", "sections": [{"name": "rules", "exclude": true}]}),
    );
    assert_eq!(
        found,
        ["rules |  | section `rules` is required and cannot be excluded"]
    );
    let found = problems(
        json!({"sections": [{"name": "a", "required": true, "condition": "assist", "lines": ["x"]}]}),
    );
    assert_eq!(
        found,
        [
            "a |  | a required section cannot have the condition `assist`; remove the condition or `required`"
        ]
    );
}

#[test]
fn finds_cycles_and_missing_parents() {
    assert!(problems(json!({"extends": "t"}))[0].contains("which does not exist"));
    let mut library = TemplateLibrary::default();
    for (id, parent) in [("a", "b"), ("b", "a")] {
        library.put(PromptTemplate {
            id: id.into(),
            name: id.into(),
            extends: Some(parent.into()),
            ..Default::default()
        });
    }
    let json =
            json!({"schema": super::super::SCHEMA, "version": 2, "id": "a", "name": "a", "extends": "b"}).to_string();
    assert!(check(&json, &library)[0].message.contains("a -> b -> a"));
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>(), line in r"[${}a-z. \n]{0,40}", condition in ".{0,30}") {
        let library = built_in().unwrap();
        check(&text, library);
        problems(json!({"extends": text, "sections": [{"name": text, "condition": condition, "lines": [line]}]}));
    }
}
