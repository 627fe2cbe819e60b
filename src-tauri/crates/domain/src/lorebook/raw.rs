//! Reads and writes the fields of an entry's JSON in both formats, and converts between the
//! formats.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::value::Field;

/// Location of a field in the JSON.
#[derive(Clone, Copy)]
pub(super) enum At {
    Root(&'static str),
    /// A boolean with the opposite meaning.
    Not(&'static str),
    /// In `extensions`, under SillyTavern's name.
    Ext(&'static str),
    /// In our own part of `extensions`, because the format does not define the field.
    Own(&'static str),
}

const OWN: &str = "inglenook";

use At::{Ext, Not, Own, Root};

/// Root fields of each format that the other format stores elsewhere.
pub(super) const NATIVE_ROOT: &[&str] = &[
    "uid",
    "key",
    "keysecondary",
    "selective",
    "selectiveLogic",
    "comment",
    "content",
    "constant",
    "vectorized",
    "order",
    "position",
    "depth",
    "role",
    "outletName",
    "disable",
    "ignoreBudget",
    "excludeRecursion",
    "preventRecursion",
    "delayUntilRecursion",
    "matchPersonaDescription",
    "matchCharacterDescription",
    "matchCharacterPersonality",
    "matchCharacterDepthPrompt",
    "matchScenario",
    "matchCreatorNotes",
    "probability",
    "useProbability",
    "group",
    "groupOverride",
    "groupWeight",
    "useGroupScoring",
    "scanDepth",
    "caseSensitive",
    "matchWholeWords",
    "sticky",
    "cooldown",
    "delay",
    "characterFilter",
    "triggers",
    "automationId",
    "displayIndex",
    "addMemo",
];
pub(super) const CARD_ROOT: &[&str] = &[
    "id",
    "keys",
    "secondary_keys",
    "selective",
    "comment",
    "content",
    "constant",
    "insertion_order",
    "enabled",
    "position",
    "use_regex",
    "case_sensitive",
    "priority",
    "name",
];

/// Names under which each format sets aside fields that the other could misread.
pub(super) const NATIVE_FORM: &str = "native";
pub(super) const CARD_FORM: &str = "card";

/// Returns the fields that the other format does not define, including `extensions`. A field
/// without meaning in its own format, but with one in the other, is set aside under `form`. An
/// example is `depth` at the root of a card's entry.
pub(super) fn unknown_fields(
    raw: &Map<String, Value>,
    known: &[&str],
    other: &[&str],
    form: &str,
) -> Map<String, Value> {
    let unknown = raw
        .iter()
        .filter(|(name, _)| !known.contains(&name.as_str()));
    let (aside, mut carried): (Map<_, _>, Map<_, _>) = unknown
        .map(|(name, value)| (name.clone(), value.clone()))
        .partition(|(name, _)| other.contains(&name.as_str()));
    for (name, value) in aside {
        set_aside(&mut carried, form, &name, value);
    }
    carried
}

pub(super) fn set_aside(raw: &mut Map<String, Value>, form: &str, name: &str, value: Value) {
    object(object(object(raw, "extensions"), OWN), form).insert(name.to_owned(), value);
}

/// Restores fields that an earlier conversion set aside.
pub(super) fn restore_set_aside(raw: &mut Map<String, Value>, form: &str) {
    if let Some(Value::Object(aside)) = own(raw).and_then(|own| own.shift_remove(form)) {
        raw.extend(aside);
    }
}

/// Removes a field that was in our part of `extensions` only because the other format does not
/// define it.
pub(super) fn remove_own(raw: &mut Map<String, Value>, at: At) {
    if let Own(name) = at
        && let Some(own) = own(raw)
    {
        own.shift_remove(name);
    }
}

/// Removes our part of `extensions` if it is empty.
pub(super) fn without_empty_own(raw: &mut Map<String, Value>) {
    if own(raw).is_some_and(|own| own.is_empty())
        && let Some(Value::Object(extensions)) = raw.get_mut("extensions")
    {
        extensions.shift_remove(OWN);
    }
}

fn own(raw: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    raw.get_mut("extensions")?.get_mut(OWN)?.as_object_mut()
}

fn find(raw: &Map<String, Value>, at: At) -> Option<Cow<'_, Value>> {
    let extension = |name: &str| raw.get("extensions")?.get(name);
    match at {
        Root(name) => raw.get(name).map(Cow::Borrowed),
        Not(name) => raw
            .get(name)
            .and_then(bool::read)
            .map(|it| Cow::Owned(Value::Bool(!it))),
        Ext(name) => extension(name).map(Cow::Borrowed),
        Own(name) => extension(OWN)?.get(name).map(Cow::Borrowed),
    }
}

pub(super) fn get<T: Field>(raw: &Map<String, Value>, at: At, absent: T) -> T {
    find(raw, at)
        .and_then(|value| T::read(&value))
        .unwrap_or(absent)
}

/// Writes a field only if its value differs from the file.
pub(super) fn put<T: Field>(raw: &mut Map<String, Value>, at: At, value: &T, absent: T) {
    if get(raw, at, absent) == *value {
        return;
    }
    insert(raw, at, value.write());
}

/// Converts a field to the other format, even if its value is that format's default, so that no
/// value is lost. Values keep their spelling, such as `true` for a recursion level. Fields of the
/// specification are normalized.
pub(super) fn convert_field<T: Field>(
    raw: &mut Map<String, Value>,
    source: &Map<String, Value>,
    from: At,
    absent: T,
    to: At,
    value: &T,
) {
    let Some(stated) = find(source, from) else {
        return;
    };
    let spec_has_it = matches!((from, to), (Root(_), Root(_)) | (Not(_), _) | (_, Not(_)));
    if spec_has_it || get(source, from, absent) != *value {
        insert(raw, to, value.write());
    } else {
        insert(raw, to, stated.into_owned());
    }
}

fn insert(raw: &mut Map<String, Value>, at: At, json: Value) {
    match at {
        Root(name) => _ = raw.insert(name.into(), json),
        Not(name) => _ = raw.insert(name.into(), (json != Value::Bool(true)).into()),
        Ext(name) => _ = object(raw, "extensions").insert(name.into(), json),
        Own(name) => _ = object(object(raw, "extensions"), OWN).insert(name.into(), json),
    }
}

fn object<'m>(map: &'m mut Map<String, Value>, name: &str) -> &'m mut Map<String, Value> {
    let place = map.entry(name).or_insert(Value::Null);
    if !place.is_object() {
        *place = Value::Object(Map::new());
    }
    match place {
        Value::Object(inner) => inner,
        _ => unreachable!("the value was replaced by an object above"),
    }
}
