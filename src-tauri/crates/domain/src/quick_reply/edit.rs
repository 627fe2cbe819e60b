//! Edits a set of quick replies as a form shows it. Fields that the form does not show stay as they
//! are.

use serde_json::{Map, Value, json};

use crate::quick_reply::{MAX_REPLIES, replies};

/// Maximum length of the text or script of a quick reply, in characters.
pub const MAX_MESSAGE: usize = 100_000;

/// A quick reply in the form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormRow {
    /// Its place in the list of the set, from 0; `None` for a new one.
    pub from: Option<usize>,
    pub label: String,
    /// Tooltip of the button.
    pub title: String,
    /// The text or the commands.
    pub message: String,
    pub is_hidden: bool,
}

/// Names of the fields of a quick reply in one version of the file.
struct Names {
    list: &'static str,
    message: &'static str,
    hidden: &'static str,
}

const OLD: Names = Names {
    list: "quickReplySlots",
    message: "mes",
    hidden: "hidden",
};
const NEW: Names = Names {
    list: "qrList",
    message: "message",
    hidden: "isHidden",
};

/// Lists the quick replies of a set of either version, at most [`MAX_REPLIES`]. Empty slots are
/// left out.
pub fn rows(file: &Value) -> Vec<FormRow> {
    let Some(set) = file.as_object() else {
        return Vec::new();
    };
    let names = names(set);
    let row = |(at, value): (usize, &Value)| {
        let fields = value.as_object()?;
        let text = |name: &str| {
            fields
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let row = FormRow {
            from: Some(at),
            label: text("label"),
            title: text("title"),
            message: text(names.message),
            is_hidden: fields
                .get(names.hidden)
                .and_then(Value::as_bool)
                .unwrap_or(false),
        };
        (!row.label.is_empty() || !row.title.is_empty() || !row.message.is_empty()).then_some(row)
    };
    replies(set)
        .into_iter()
        .flatten()
        .enumerate()
        .take(MAX_REPLIES)
        .filter_map(row)
        .collect()
}

/// Writes the name and the rows, in their order, into the file of a set. A new set is
/// `Value::Null`.
pub fn write(file: Value, name: &str, rows: &[FormRow]) -> Value {
    let mut set = match file {
        Value::Object(set) => set,
        _ => new_set(),
    };
    let names = names(&set);
    let before = replies(&set).cloned().unwrap_or_default();
    let mut next = before
        .iter()
        .filter_map(|reply| reply.get("id")?.as_u64())
        .max()
        .unwrap_or(0);
    let mut list = Vec::with_capacity(rows.len());
    for row in rows.iter().take(MAX_REPLIES) {
        let kept = row.from.and_then(|at| before.get(at)?.as_object()).cloned();
        let mut fields = kept.unwrap_or_else(|| {
            next = next.saturating_add(1);
            Map::from_iter([("id".to_owned(), json!(next))])
        });
        set_text(&mut fields, "label", &row.label);
        set_text(&mut fields, "title", &row.title);
        set_text(&mut fields, names.message, &row.message);
        fields.insert(names.hidden.to_owned(), json!(row.is_hidden));
        list.push(Value::Object(fields));
    }
    set.insert("name".to_owned(), json!(name));
    if names.list == NEW.list {
        set.insert("idIndex".to_owned(), json!(next));
    }
    set.insert(names.list.to_owned(), Value::Array(list));
    Value::Object(set)
}

fn set_text(fields: &mut Map<String, Value>, name: &str, text: &str) {
    fields.insert(name.to_owned(), json!(text));
}

/// A set without replies, with the fields that SillyTavern expects.
fn new_set() -> Map<String, Value> {
    let fields = json!({"version": 2, "disableSend": false, "placeBeforeInput": false, "injectInput": false});
    fields.as_object().cloned().unwrap_or_default()
}

fn names(set: &Map<String, Value>) -> &'static Names {
    let is_old = !set.contains_key(NEW.list) && set.contains_key(OLD.list);
    if is_old { &OLD } else { &NEW }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::quick_reply::QuickReplySet;

    #[test]
    fn unchanged_form_changes_nothing() {
        let new = json!({"version": 2, "name": "A", "color": "red", "qrList": [
            {"id": 4, "label": "Go", "title": "On", "message": "/continue", "isHidden": false, "executeOnAi": true, "contextList": [{"set": "B"}]}],
            "idIndex": 4});
        let old = json!({"name": "B", "quickActionEnabled": true, "quickReplySlots": [
            {"mes": "Hi", "label": "Hello", "title": "", "hidden": true, "autoExecute_chatLoad": true}]});
        assert_eq!(write(new.clone(), "A", &rows(&new)), new);
        assert_eq!(write(old.clone(), "B", &rows(&old)), old);
    }

    #[test]
    fn row_moves_with_the_fields_that_the_form_hides() {
        let file = json!({"version": 2, "name": "A", "qrList": [
            {"id": 1, "label": "One", "message": "1", "executeOnAi": true}, {"id": 7, "label": "Two", "message": "2"}]});
        let mut form = rows(&file);
        form.reverse();
        form[0].message = "two".into();
        form.insert(
            1,
            FormRow {
                label: "New".into(),
                message: "/mode study".into(),
                ..FormRow::default()
            },
        );
        let written = write(file, "B", &form);
        let ids: Vec<_> = written["qrList"]
            .as_array()
            .unwrap()
            .iter()
            .map(|reply| reply["id"].clone())
            .collect();
        assert_eq!(
            (written["name"].as_str(), ids),
            (Some("B"), vec![json!(7), json!(8), json!(1)])
        );
        assert_eq!(
            (
                &written["qrList"][0]["message"],
                &written["qrList"][2]["executeOnAi"]
            ),
            (&json!("two"), &json!(true))
        );
    }

    #[test]
    fn new_set_is_read_like_an_imported_one() {
        let row = FormRow {
            label: "Wave".into(),
            message: "I wave.".into(),
            ..FormRow::default()
        };
        let set = write(Value::Null, "Mine", &[row]);
        let read = QuickReplySet::read(&set).unwrap();
        assert_eq!(
            (
                read.replies[0].label.as_str(),
                read.replies[0].message.as_str()
            ),
            ("Wave", "I wave.")
        );
    }

    proptest! {
        #[test]
        fn any_file_and_form_make_a_readable_set(list in "[a-zA-Z]{0,16}", texts in proptest::collection::vec("\\PC{0,9}", 0..6), from in proptest::option::of(0usize..9)) {
            let file = json!({ list: [1, null, {"label": 7}, {"id": u64::MAX - 9, "message": "m"}] });
            let form: Vec<_> = texts.iter().map(|text| FormRow { from, label: text.clone(), message: text.clone(), ..FormRow::default() }).collect();
            prop_assert!(QuickReplySet::read(&write(file, "A", &form)).is_some());
        }
    }
}
