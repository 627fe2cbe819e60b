//! Limits on grammars and JSON schemas before llama.cpp reads them. Its parsers recurse without a
//! limit, so a deeply nested text would overflow the stack of the worker.

/// Maximum size of a grammar or schema, in bytes.
pub const MAX_BYTES: usize = 65_536;

/// Maximum nesting of groups in a grammar, and of values in a schema.
const MAX_DEPTH: usize = 64;

/// Maximum number of references and groups in a grammar. llama.cpp follows each chain of references
/// recursively.
const MAX_RULES: usize = 4_000;

/// Maximum number of members and items in a schema. llama.cpp reads the optional properties of an
/// object recursively.
const MAX_MEMBERS: usize = 2_000;

/// Reason why a grammar or schema is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrammarRefusal {
    #[error("it is longer than 64 KiB")]
    TooLong,
    #[error("it is nested more than 64 levels deep")]
    TooDeep,
    #[error("it has too many rules, groups or properties")]
    TooManyRules,
    #[error("it has no rule named root")]
    NoRoot,
    #[error("it is not a JSON object: {0}")]
    NotAnObject(String),
}

/// Checks the size and nesting of a GBNF grammar. llama.cpp checks everything else.
///
/// # Errors
/// The limit that the grammar exceeds.
pub fn check_grammar(grammar: &str) -> Result<(), GrammarRefusal> {
    if grammar.len() > MAX_BYTES {
        return Err(GrammarRefusal::TooLong);
    }
    let mut depth = 0_usize;
    let mut rules = grammar.matches("::=").count();
    let mut quote = None;
    let mut escaped = false;
    for letter in grammar.chars() {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some(end), '\\') if end != '\n' => escaped = true,
            (Some(end), letter) if letter == end => quote = None,
            (Some(_), _) => {}
            (None, '"') => quote = Some('"'),
            (None, '[') => quote = Some(']'),
            // A token of the model by its text or id.
            (None, '<') => quote = Some('>'),
            (None, '#') => quote = Some('\n'),
            (None, '(') => (depth, rules) = (depth + 1, rules + 1),
            (None, ')') => depth = depth.saturating_sub(1),
            (None, '*' | '+' | '?' | '{') => rules += 1,
            (None, _) => {}
        }
        if depth > MAX_DEPTH {
            return Err(GrammarRefusal::TooDeep);
        }
    }
    if rules > MAX_RULES {
        return Err(GrammarRefusal::TooManyRules);
    }
    let names_root = |line: &str| {
        line.trim_start()
            .strip_prefix("root")
            .is_some_and(|rest| rest.trim_start().starts_with("::="))
    };
    let root = grammar.lines().any(names_root);
    if root {
        Ok(())
    } else {
        Err(GrammarRefusal::NoRoot)
    }
}

/// Checks that a text is a JSON object within the limits.
///
/// # Errors
/// The limit that it exceeds, or the mistake in the JSON.
pub fn check_schema(schema: &str) -> Result<(), GrammarRefusal> {
    if schema.len() > MAX_BYTES {
        return Err(GrammarRefusal::TooLong);
    }
    let value: serde_json::Value = serde_json::from_str(schema)
        .map_err(|error| GrammarRefusal::NotAnObject(error.to_string()))?;
    if !value.is_object() {
        return Err(GrammarRefusal::NotAnObject(
            "it has another type".to_owned(),
        ));
    }
    let Extent { members, depth } = extent(&value);
    match () {
        () if depth > MAX_DEPTH => Err(GrammarRefusal::TooDeep),
        () if members > MAX_MEMBERS => Err(GrammarRefusal::TooManyRules),
        () => Ok(()),
    }
}

/// Size of a schema.
#[derive(Clone, Copy, Default)]
struct Extent {
    members: usize,
    depth: usize,
}

/// The JSON parser limits the nesting to 128 levels, so this recursion is bounded.
fn extent(value: &serde_json::Value) -> Extent {
    let all = |members: usize, parts: &mut dyn Iterator<Item = &serde_json::Value>| {
        parts
            .map(extent)
            .fold(Extent { members, depth: 1 }, |sum, part| Extent {
                members: sum.members + part.members,
                depth: sum.depth.max(1 + part.depth),
            })
    };
    match value {
        serde_json::Value::Array(items) => all(items.len(), &mut items.iter()),
        serde_json::Value::Object(members) => all(members.len(), &mut members.values()),
        // llama.cpp reads the groups of a pattern recursively.
        serde_json::Value::String(text) => Extent {
            members: 0,
            depth: text.matches('(').count(),
        },
        _ => Extent::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_common_grammars() {
        for grammar in [
            "root ::= \"yes\" | \"no\"",
            "# a comment with ((((\nroot  ::= [^\"\\]()]+ (\"(\" item \")\")*\nitem ::= [a-z]{1,40}\n",
        ] {
            assert_eq!(check_grammar(grammar), Ok(()), "{grammar}");
        }
        assert_eq!(
            check_schema(r#"{"type": "object", "properties": {"a": {"enum": ["b"]}}}"#),
            Ok(())
        );
    }

    #[test]
    fn refuses_hostile_grammars_with_the_reason() {
        let deep = format!("root ::= {}\"a\"{}", "(".repeat(30_000), ")".repeat(30_000));
        assert_eq!(check_grammar(&deep), Err(GrammarRefusal::TooDeep));
        // A group may span several lines, and so may a text.
        assert_eq!(
            check_grammar(&format!("root ::= {}", "(\n".repeat(100))),
            Err(GrammarRefusal::TooDeep)
        );
        let hidden = format!("root ::= \"\n\" {}", "(".repeat(100));
        assert_eq!(check_grammar(&hidden), Err(GrammarRefusal::TooDeep));
        assert_eq!(
            check_grammar(&"x".repeat(MAX_BYTES + 1)),
            Err(GrammarRefusal::TooLong)
        );
        let chain: String = (0..5_000)
            .map(|rule| format!("r{rule}::=r{}\n", rule + 1))
            .collect();
        let chain: String = chain.chars().take(MAX_BYTES).collect();
        assert_eq!(check_grammar(&chain), Err(GrammarRefusal::TooManyRules));
        assert_eq!(
            check_grammar("answer ::= \"a\""),
            Err(GrammarRefusal::NoRoot)
        );
        assert_eq!(check_grammar(""), Err(GrammarRefusal::NoRoot));
    }

    #[test]
    fn refuses_hostile_schemas_with_the_reason() {
        let nested =
            |levels: usize| format!("{}{{}}{}", "{\"not\":".repeat(levels), "}".repeat(levels));
        assert_eq!(check_schema(&nested(100)), Err(GrammarRefusal::TooDeep));
        assert!(matches!(
            check_schema(&nested(1_000)),
            Err(GrammarRefusal::NotAnObject(_))
        ));
        let pattern = format!(r#"{{"pattern": "{}"}}"#, "(".repeat(100));
        assert_eq!(check_schema(&pattern), Err(GrammarRefusal::TooDeep));
        let wide: Vec<String> = (0..2_001).map(|at| format!("\"{at}\":{{}}")).collect();
        assert_eq!(
            check_schema(&format!("{{{}}}", wide.join(","))),
            Err(GrammarRefusal::TooManyRules)
        );
        assert!(matches!(
            check_schema("[]"),
            Err(GrammarRefusal::NotAnObject(_))
        ));
        assert!(matches!(
            check_schema("{"),
            Err(GrammarRefusal::NotAnObject(_))
        ));
        assert_eq!(
            check_schema(&" ".repeat(MAX_BYTES + 1)),
            Err(GrammarRefusal::TooLong)
        );
    }
}
