//! Tool rounds in exported chats: a field of the version's `extra`, which SillyTavern preserves.

use domain::ToolRound;
use domain::chat_file::MessageVersion;
use serde_json::{Map, Value};

const EXTRA: &str = "extra";
const FIELD: &str = "inglenook_tool_rounds";
/// Limits of an imported version.
const MAX_ROUNDS: usize = 100;
const MAX_BYTES: usize = 4 << 20;

/// Adds the rounds of a swipe to its version.
pub(crate) fn write(rounds: &[ToolRound], version: &mut MessageVersion) {
    let Ok(json) = serde_json::to_value(rounds) else {
        return;
    };
    if rounds.is_empty() {
        return;
    }
    let extra = version
        .unused_fields
        .entry(EXTRA)
        .or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(extra) = extra {
        extra.insert(FIELD.to_owned(), json);
    }
}

/// Takes the rounds out of an imported version. Rounds that are incomplete or too large are left
/// out.
pub(crate) fn take(version: &mut MessageVersion) -> Vec<ToolRound> {
    let Some(Value::Object(extra)) = version.unused_fields.get_mut(EXTRA) else {
        return Vec::new();
    };
    let Some(json) = extra.shift_remove(FIELD) else {
        return Vec::new();
    };
    if extra.is_empty() {
        version.unused_fields.shift_remove(EXTRA);
    }
    if json.to_string().len() > MAX_BYTES {
        return Vec::new();
    }
    let rounds: Vec<ToolRound> = serde_json::from_value(json).unwrap_or_default();
    rounds
        .into_iter()
        .filter(is_whole)
        .take(MAX_ROUNDS)
        .collect()
}

/// Each call has an id and a result.
fn is_whole(round: &ToolRound) -> bool {
    let answered = |(call, result): (&domain::ToolCall, &domain::ToolResult)| {
        call.id.as_ref() == Some(&result.call_id)
    };
    !round.calls.is_empty()
        && round.calls.len() == round.results.len()
        && round.calls.iter().zip(&round.results).all(answered)
        && round
            .calls
            .iter()
            .all(|call| context::tools::plain_name(&call.name) == call.name)
}

#[cfg(test)]
mod tests {
    use domain::{ToolArguments, ToolCall, ToolResult};
    use serde_json::json;

    use super::*;

    #[test]
    fn rounds_survive_a_file_and_broken_ones_do_not() {
        let call = ToolCall {
            id: Some("a".into()),
            name: "look".into(),
            arguments: ToolArguments::read("{}"),
        };
        let result = ToolResult {
            call_id: "a".into(),
            text: "fog".into(),
            error: false,
        };
        let round = ToolRound {
            text: String::new(),
            calls: vec![call],
            results: vec![result],
            thoughts: Vec::new(),
        };
        let mut version = MessageVersion::default();
        write(std::slice::from_ref(&round), &mut version);
        assert_eq!(take(&mut version), std::slice::from_ref(&round));
        assert_eq!(version, MessageVersion::default());
        let other = ToolRound {
            results: Vec::new(),
            ..round.clone()
        };
        write(&[other, round.clone()], &mut version);
        assert_eq!(take(&mut version), [round]);
        for odd in [json!(7), json!([{ "calls": 1 }]), json!("x")] {
            version
                .unused_fields
                .insert(EXTRA.into(), json!({ FIELD: odd, "model": "m" }));
            assert_eq!(take(&mut version), []);
        }
    }
}
