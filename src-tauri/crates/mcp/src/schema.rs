//! Makes the schema of a tool's arguments the schema of an object. Model services refuse a whole
//! request for one tool with another schema.

use domain::shown_text::{visible, visible_line};
use serde_json::{Map, Value, json};

/// Keywords that model services refuse at the top of a schema.
const COMBINATIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Returns the schema of an object.
///
/// # Errors
/// The reason why the arguments are not an object.
pub(crate) fn of_object(schema: &Value) -> Result<Value, &'static str> {
    let fields = match schema {
        Value::Null => return Err("it says nothing about its arguments"),
        Value::Object(fields) => fields,
        _ => return Err("the schema of its arguments is no schema"),
    };
    if has_hidden_name(schema) {
        return Err("a name of its arguments has invisible letters");
    }
    let mut flat = fields.clone();
    if let Some(target) = flat.remove("$ref") {
        let target = target
            .as_str()
            .and_then(|path| schema.pointer(path.strip_prefix('#')?))
            .and_then(Value::as_object);
        merge(
            &mut flat,
            target.ok_or("the schema of its arguments refers to a missing part")?,
        );
    }
    if !may_be_object(&flat) {
        return Err("its arguments are not an object");
    }
    for keyword in COMBINATIONS {
        let Some(Value::Array(branches)) = flat.remove(keyword) else {
            continue;
        };
        let objects: Vec<_> = branches
            .iter()
            .filter_map(Value::as_object)
            .filter(|one| may_be_object(one))
            .collect();
        if objects.is_empty() && !branches.is_empty() {
            return Err("its arguments are not an object");
        }
        for branch in objects {
            let mut branch = branch.clone();
            if keyword != "allOf" {
                branch.remove("required");
            }
            merge(&mut flat, &branch);
        }
    }
    flat.insert("type".to_owned(), json!("object"));
    if !flat.get("properties").is_some_and(Value::is_object) {
        flat.insert("properties".to_owned(), json!({}));
    }
    let mut flat = Value::Object(flat);
    clean_texts(&mut flat);
    Ok(flat)
}

/// Whether a key has letters that a person does not see.
fn has_hidden_name(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| visible_line(key) != *key || has_hidden_name(value)),
        Value::Array(items) => items.iter().any(has_hidden_name),
        _ => false,
    }
}

/// Removes invisible letters from the texts for the model, and comments, which nobody is shown.
fn clean_texts(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("$comment").is_some_and(Value::is_string) {
                fields.remove("$comment");
            }
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == "description" || key == "title" => {
                        *text = visible(text)
                    }
                    value => clean_texts(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean_texts),
        _ => {}
    }
}

/// Whether a schema without `type`, or with several types, allows an object.
fn may_be_object(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        None | Some(Value::Null) => true,
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(_) => false,
    }
}

/// Adds the parts of `other` that `schema` lacks, and joins the properties of both.
fn merge(schema: &mut Map<String, Value>, other: &Map<String, Value>) {
    for (key, value) in other {
        match (schema.get_mut(key), value) {
            (None, value) => drop(schema.insert(key.clone(), value.clone())),
            (Some(Value::Object(all)), Value::Object(more)) if key == "properties" => {
                for (name, property) in more {
                    all.entry(name.clone()).or_insert_with(|| property.clone());
                }
            }
            (Some(Value::Array(all)), Value::Array(more)) if key == "required" => {
                let new: Vec<Value> = more
                    .iter()
                    .filter(|name| !all.contains(name))
                    .cloned()
                    .collect();
                all.extend(new);
            }
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_of_an_object_stays_usable() {
        let plain = json!({ "type": "object", "properties": { "q": { "type": "string" } }, "required": ["q"] });
        assert_eq!(of_object(&plain).unwrap(), plain);
        let empty = json!({ "type": "object", "properties": {} });
        for schema in [
            json!({}),
            json!({ "type": ["object", "null"] }),
            json!({ "type": "object" }),
        ] {
            assert_eq!(of_object(&schema).unwrap(), empty, "{schema}");
        }
        let any = json!({ "anyOf": [
            { "type": "object", "properties": { "a": {} }, "required": ["a"] },
            { "type": "object", "properties": { "b": {} } },
            { "type": "null" },
        ] });
        assert_eq!(
            of_object(&any).unwrap(),
            json!({ "type": "object", "properties": { "a": {}, "b": {} } })
        );
        let all = json!({ "properties": { "a": {} }, "allOf": [{ "properties": { "b": {} }, "required": ["b"] }] });
        let joined =
            json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["b"] });
        assert_eq!(of_object(&all).unwrap(), joined);
        let referring = json!({ "$ref": "#/$defs/In", "$defs": { "In": { "type": "object", "properties": { "a": {} } } } });
        assert_eq!(
            of_object(&referring).unwrap()["properties"],
            json!({ "a": {} })
        );
    }

    #[test]
    fn texts_for_the_model_are_cleaned() {
        let schema = json!({ "properties": { "a": { "description": "Re\u{200b}ads\u{e0100}.", "$comment": "hidden" } } });
        assert_eq!(
            of_object(&schema).unwrap()["properties"],
            json!({ "a": { "description": "Reads." } })
        );
        assert!(of_object(&json!({ "properties": { "a\u{200b}": {} } })).is_err());
    }

    #[test]
    fn other_schemas_are_refused_with_a_reason() {
        for schema in [
            json!(null),
            json!({ "type": "string" }),
            json!({ "type": ["string", "null"] }),
            json!({ "type": 7 }),
            json!({ "oneOf": [{ "type": "string" }, { "type": "array" }] }),
            json!({ "$ref": "#/$defs/None" }),
            json!({ "$ref": "https://example.org/schema" }),
            json!([]),
            json!("object"),
            json!(true),
        ] {
            assert!(of_object(&schema).is_err(), "{schema}");
        }
    }
}
