use serde_json::json;

use super::*;

/// The grammar read as a regular expression, so that strings can be tried.
fn accepts(pattern: &str, text: &str) -> bool {
    let written = expression(pattern).unwrap_or_else(|error| panic!("{error}"));
    let hexadecimal = regex::Regex::new(r"\\U([0-9A-F]{8})").unwrap();
    let written = hexadecimal.replace_all(&written, r"\x{$1}");
    let json = Value::from(text).to_string();
    regex::Regex::new(&format!("^(?:{written})$"))
        .unwrap()
        .is_match(&json[1..json.len() - 1])
}

#[test]
fn classes_and_anchors_are_translated() {
    for (pattern, matching, other) in [
        (r"^\d{4}$", "1978", "197"),
        (r"^\w+$", "a_Z9", "a b"),
        (r"^\S+\s\S+$", "a b", "ab"),
        (r"^\D$", "x", "7"),
        (r"^[\w.-]+@[\w-]+\.[a-z]{2,}$", "a.b@c-d.org", "a@b"),
        (r"^[^\d]+$", "abc", "ab1"),
        (r"\d{4}", "in 1978!", "in 197"),
        (r"^INV-", "INV-7", "XINV-7"),
        (r"-END$", "a-END", "-ENDx"),
        ("^a|b$", "a!", "ca"),
        ("^(a|b)$", "b", "c"),
        (r"^(?:\d{3}-)?\d{4}$", "123-4567", "1234567"),
        (r"^(?<year>\d{2})\/\d{2}$", "12/34", "1234"),
        ("^\\u00e4[[&~]$", "ä[", "äx"),
        ("^😀+$", "😀😀", "x"),
        ("^.$", "\"", ""),
        (r#"^"\\\n$"#, "\"\\\n", "\"\\n"),
        (r"^\$\^\.$", "$^.", "a"),
        ("^x*?$", "xx", "y"),
        ("", "anything", "\u{1}"),
    ] {
        assert!(accepts(pattern, matching), "{pattern} {matching}");
        assert!(!accepts(pattern, other), "{pattern} {other}");
    }
}

#[test]
fn other_features_are_refused_by_name() {
    for (pattern, reason) in [
        (r"^(?=a)b$", "look-around"),
        (r"^(a)\1$", "backreferences"),
        (r"^a\bb$", "`\\b` not at all"),
        ("^a$b$", "only possible at its ends"),
        ("^[$", "unclosed"),
        ("^a{2000}$", "more than 1,000"),
        ("^(a$", "unclosed"),
        ("^[^\\s\\S]$", "no character"),
    ] {
        let error = expression(pattern).unwrap_err();
        assert!(error.reason.contains(reason), "{error}");
        assert_eq!(error.pattern, pattern);
    }
    assert!(expression(&"(".repeat(100_000)).is_err());
}

#[test]
fn only_patterns_of_schemas_are_rewritten() {
    let schema = json!({
        "type": "object",
        "properties": { "pattern": { "type": "string", "pattern": r"^\d$" }, "b": { "items": { "pattern": "^b$" } } },
        "enum": [{ "pattern": r"\d" }],
    });
    let written: Value =
        serde_json::from_str(&with_patterns_for_llama(&schema.to_string()).unwrap()).unwrap();
    assert_eq!(written["properties"]["pattern"]["pattern"], "^[0-9]$");
    assert_eq!(written["properties"]["b"]["items"]["pattern"], "^[b]$");
    assert_eq!(written["enum"], schema["enum"]);
    for same in [r#"{ "type":  "object" }"#, "no JSON", "[]"] {
        assert_eq!(with_patterns_for_llama(same).unwrap(), same);
    }
    assert!(check_patterns(&json!({ "anyOf": [{ "pattern": "(?!a)" }] })).is_err());
}
