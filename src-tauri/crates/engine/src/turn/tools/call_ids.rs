//! Ids of tool calls: unique within a chat, and of a form that every provider accepts.

use std::collections::HashSet;

use context::tools::plain_name;
use domain::ToolCall;
use uuid::Uuid;

/// Length of a generated id. Mistral's chat templates demand nine letters and digits.
const LENGTH: usize = 9;
/// Longest id that is kept.
const MAX_LENGTH: usize = 128;

/// Gives each call an id that no call in `used` has, and a plain name.
pub(crate) fn settle(calls: &mut [ToolCall], used: &mut HashSet<String>) {
    for call in calls {
        call.name = plain_name(&call.name);
        let given = call
            .id
            .take()
            .filter(|id| !id.trim().is_empty() && id.len() <= MAX_LENGTH && !used.contains(id));
        let id = given.unwrap_or_else(|| generated(used));
        used.insert(id.clone());
        call.id = Some(id);
    }
}

fn generated(used: &HashSet<String>) -> String {
    loop {
        let mut bits = Uuid::new_v4().as_u128() >> 64;
        let digits = (0..LENGTH).map(|_| {
            let digit = u32::try_from(bits % 36).unwrap_or_default();
            bits /= 36;
            char::from_digit(digit, 36).unwrap_or('0')
        });
        let id: String = digits.collect();
        if !used.contains(&id) {
            return id;
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::ToolArguments;

    use super::*;

    #[test]
    fn ids_are_unique_and_generated_where_missing() {
        let call = |id: Option<&str>| ToolCall {
            id: id.map(str::to_owned),
            name: "look at".to_owned(),
            arguments: ToolArguments::read(""),
        };
        let mut calls = [
            call(Some("call_1")),
            call(None),
            call(Some("call_1")),
            call(Some("old")),
        ];
        let mut used = HashSet::from(["old".to_owned()]);
        settle(&mut calls, &mut used);
        let ids: Vec<String> = calls.iter().filter_map(|call| call.id.clone()).collect();
        assert_eq!((ids[0].as_str(), ids.len(), used.len()), ("call_1", 4, 5));
        assert!(
            ids[1..]
                .iter()
                .all(|id| id.len() == 9 && id.chars().all(|letter| letter.is_ascii_alphanumeric()))
        );
        assert_eq!(calls[0].name, "look_at");
    }
}
