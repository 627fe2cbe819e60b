use domain::ToolRound;
use domain::prompt::PromptToolRound;

use super::*;

fn prompt(messages: &[(PromptRole, &str)]) -> Prompt {
    let messages = messages
        .iter()
        .map(|&(role, text)| PromptMessage {
            role,
            text: text.to_owned(),
        })
        .collect();
    Prompt {
        messages,
        ..Prompt::default()
    }
}

fn line(turn: &EndpointTurn<'_>) -> String {
    let part = |part: &TurnPart<'_>| match part {
        TurnPart::Text(text) => (*text).to_owned(),
        TurnPart::Picture(url) => format!("({url})"),
        TurnPart::Thought(thought) => format!("{thought:?}"),
        TurnPart::Call { call, .. } => format!("{}{}", call.name, arguments(call)),
        TurnPart::Result { result, .. } => {
            format!("{}={}", result.call_id, result_text(result))
        }
    };
    let parts: Vec<String> = turn.parts.iter().map(part).collect();
    format!("{:?}: {}", turn.role, parts.join(" / ")).to_lowercase()
}

fn shown(prompt: &Prompt, roles: RoleRules) -> Vec<String> {
    turns(prompt, roles, true).iter().map(line).collect()
}

#[test]
fn strict_endpoints_get_alternating_turns() {
    use PromptRole::{Character as C, System as S, User as U};
    let chat = [
        (S, "Rules."),
        (S, "Card."),
        (C, "Evening."),
        (S, "It rains."),
        (U, "Hi."),
        (U, "You?"),
        (C, "I."),
        (S, "Be brief."),
    ];
    assert_eq!(
        shown(&prompt(&chat), RoleRules::Strict),
        [
            "system: rules. / card.",
            "user: [the chat begins.]",
            "assistant: evening.",
            "user: it rains. / hi. / you?",
            "assistant: i.",
            "user: be brief.",
        ]
    );
    assert_eq!(
        shown(&prompt(&chat), RoleRules::NoSystem)[0],
        "user: rules. / card."
    );
    assert_eq!(shown(&prompt(&chat), RoleRules::Free).len(), 6);
    let one = |messages: &[(PromptRole, &str)], roles| shown(&prompt(messages), roles);
    assert_eq!(
        one(&[(S, "Rules.")], RoleRules::Strict),
        ["system: rules.", "user: [the chat begins.]"]
    );
    assert_eq!(
        one(&[(S, "Rules."), (U, "Hi.")], RoleRules::NoSystem),
        ["user: rules. / hi."]
    );
    assert_eq!(
        one(&[(U, "Hi."), (C, "Ada: Oh.")], RoleRules::Strict)[2],
        "user: [go on.]"
    );
    assert_eq!(
        one(&[(U, " \n"), (C, "Hi.")], RoleRules::Free),
        ["assistant: hi."]
    );
}

#[test]
fn texts_at_a_depth_stay_apart() {
    use PromptRole::{Character as C, System as S, User as U};
    let mut prompt = prompt(&[
        (S, "Rules."),
        (S, "Card."),
        (C, "Ok."),
        (C, "Placed."),
        (U, "Placed too."),
        (U, "Hi."),
    ]);
    prompt.apart = vec![3, 4];
    let expected = [
        "system: rules. / card.",
        "assistant: ok.",
        "assistant: placed.",
        "user: placed too.",
        "user: hi.",
    ];
    assert_eq!(shown(&prompt, RoleRules::Free), expected);
    assert_eq!(
        shown(&prompt, RoleRules::Strict)[2..],
        ["assistant: ok. / placed.", "user: placed too. / hi."]
    );
}

fn round(before: usize, text: &str, names: &[&str]) -> PromptToolRound {
    let calls = names.iter().map(|name| ToolCall {
        id: Some(format!("id-{name}")),
        name: (*name).to_owned(),
        arguments: ToolArguments::read("{\"a\":1}"),
    });
    let results = names.iter().map(|name| ToolResult {
        call_id: format!("id-{name}"),
        text: "done".to_owned(),
        error: *name == "late",
    });
    let round = ToolRound {
        text: text.to_owned(),
        calls: calls.collect(),
        results: results.collect(),
        thoughts: Vec::new(),
    };
    PromptToolRound { before, round }
}

#[test]
fn rounds_stay_apart_and_in_order() {
    use PromptRole::{Character as C, System as S, User as U};
    let mut prompt = prompt(&[
        (S, "Rules."),
        (U, "Time?"),
        (C, "Noon."),
        (C, "Sharp."),
        (U, "And now?"),
    ]);
    prompt.tools.rounds = vec![
        round(2, "Let me look.", &["clock", "late"]),
        round(2, "", &["dice"]),
        round(5, "", &["clock"]),
    ];
    let expected = [
        "system: rules.",
        "user: time?",
        "assistant: let me look. / clock{\"a\":1} / late{\"a\":1}",
        "tool: id-clock=done / id-late=error: done",
        "assistant: dice{\"a\":1}",
        "tool: id-dice=done",
        "assistant: noon. / sharp.",
        "user: and now?",
        "assistant: clock{\"a\":1}",
        "tool: id-clock=done",
    ];
    assert_eq!(shown(&prompt, RoleRules::Free), expected);
    assert_eq!(shown(&prompt, RoleRules::Strict), expected);
    assert_eq!(
        turns(&prompt, RoleRules::Strict, false).len(),
        4,
        "an endpoint without tools gets no rounds"
    );
    prompt.messages.truncate(3);
    assert_eq!(
        shown(&prompt, RoleRules::Strict)[7],
        "user: [go on.]",
        "a round follows a user turn"
    );
}

#[test]
fn only_open_rounds_carry_their_thoughts() {
    let thought = SignedThought::Block {
        text: "Hm.".into(),
        signature: "s".into(),
    };
    let signed = |before| {
        let mut signed = round(before, "Look.", &["clock", "dice"]);
        let call = SignedThought::Call {
            number: 1,
            signature: "c".into(),
        };
        signed.round.thoughts = vec![call, thought.clone()];
        signed
    };
    let mut prompt = prompt(&[
        (PromptRole::User, "Time?"),
        (PromptRole::Character, "Noon."),
    ]);
    prompt.tools.rounds = vec![signed(1), signed(2)];
    let turns = turns(&prompt, RoleRules::Free, true);
    let calls: Vec<&EndpointTurn<'_>> = turns.iter().filter(|turn| turn.parts.len() > 2).collect();
    assert!(matches!(
        calls[0].parts[..],
        [
            TurnPart::Text("Look."),
            TurnPart::Call {
                signature: None,
                ..
            },
            _
        ]
    ));
    assert!(matches!(
        calls[1].parts[..],
        [
            TurnPart::Thought(SignedThought::Block { .. }),
            TurnPart::Text("Look."),
            TurnPart::Call {
                signature: None,
                ..
            },
            TurnPart::Call {
                signature: Some("c"),
                ..
            }
        ]
    ));
}

#[test]
fn reads_only_base64_data_uris() {
    let picture = data_uri("data:image/png;base64,aGk=");
    assert_eq!(
        picture,
        Some(DataUri {
            media_type: "image/png",
            data: "aGk="
        })
    );
    for other in [
        "https://example.com/a.png",
        "data:image/png,hi",
        "data:;base64,aGk=",
        "data:",
        "file:///a",
    ] {
        assert_eq!(data_uri(other), None, "{other}");
    }
}
