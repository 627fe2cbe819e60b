//! Grammars and JSON schemas of the answers of background jobs. The grammar limits the length of
//! every text, because a small model may not stop by itself.

use std::sync::LazyLock;

use provider::ResponseSchema;
use serde_json::{Value, json};

use crate::learn::extraction::KINDS;

/// The answer with a keyframe.
pub(crate) static KEYFRAME: LazyLock<ResponseSchema> = LazyLock::new(|| {
    ResponseSchema {
    grammar: r#"root ::= "{\"summary\": " summary ", \"analysis\": " analysis ", \"rating\": " rating ", \"characters\": [" (name (", " name){0,7})? "]}"
summary ::= "\"" letter{1,520} "\""
analysis ::= "\"" letter{0,420} "\""
rating ::= "10" | [1-9]
name ::= "\"" letter{1,40} "\""
letter ::= [^"\\\x00-\x1F\x7F] | "\\" ["\\n]
"#
    .to_owned(),
    schema: object(json!({
        "summary": { "type": "string" },
        "analysis": { "type": "string" },
        "rating": { "type": "integer" },
        "characters": { "type": "array", "items": { "type": "string" } },
    })),
}
});

/// The answer with a list of facts, which may be empty. A schema must describe an object, so there
/// the list is in one.
pub(crate) static FACTS: LazyLock<ResponseSchema> = LazyLock::new(|| {
    let kinds: Vec<String> = KINDS
        .iter()
        .map(|kind| format!(r#""\"{}\"""#, kind.as_str()))
        .collect();
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.as_str()).collect();
    let fact = object(json!({
        "person": { "type": "string" },
        "text": { "type": "string" },
        "type": { "enum": names },
        "importance": { "type": "integer" },
    }));
    ResponseSchema {
        grammar: format!(
            "{}kind ::= {}\n",
            r#"root ::= "[]" | "[" fact (", " fact){0,3} "]"
fact ::= "{\"person\": " name ", \"text\": " text ", \"type\": " kind ", \"importance\": " importance "}"
text ::= "\"" letter{1,200} "\""
name ::= "\"" letter{1,40} "\""
importance ::= "10" | [1-9]
letter ::= [^"\\\x00-\x1F\x7F] | "\\" ["\\]
"#,
            kinds.join(" | ")
        ),
        schema: object(json!({ "facts": { "type": "array", "maxItems": 4, "items": fact } })),
    }
});

/// The schema of an object that has all of `properties` and no others.
fn object(properties: Value) -> Value {
    let names: Vec<&String> = properties
        .as_object()
        .into_iter()
        .flat_map(serde_json::Map::keys)
        .collect();
    json!({ "type": "object", "required": names, "properties": properties, "additionalProperties": false })
}
