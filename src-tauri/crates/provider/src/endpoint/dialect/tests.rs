use super::*;

pub(super) fn after(refusals: &[&str]) -> LearnedDialect {
    refusals
        .iter()
        .fold(LearnedDialect::default(), |dialect, message| {
            let error = EndpointError {
                message: (*message).to_owned(),
                ..EndpointError::default()
            };
            dialect
                .learn(&error, false)
                .unwrap_or_else(|| panic!("nothing is learned of: {message}"))
        })
}

pub(super) fn left_out(dialect: &LearnedDialect) -> Vec<&str> {
    dialect.left_out.iter().map(String::as_str).collect()
}

#[test]
fn refused_value_omits_only_its_parameter() {
    for message in [
        "top_k must be -1 (disable), or at least 1, got 0.",
        "Invalid value for 'top_k': 0",
        "`top_k` should be greater than 0",
    ] {
        let dialect = after(&[message]);
        assert_eq!(
            (left_out(&dialect), dialect.plain),
            (vec!["top_k"], false),
            "{message}"
        );
    }
}

#[test]
fn two_unknown_parameters_imply_plain() {
    let once = after(&["Unrecognized request argument supplied: top_k"]);
    assert_eq!((left_out(&once), once.plain), (vec!["top_k"], false));
    let twice = after(&[
        "Unrecognized request argument supplied: top_k",
        "unknown field min_p",
    ]);
    assert!(twice.plain && !twice.sends("dry_base") && twice.sends("temperature"));
}

#[test]
fn learns_role_restrictions() {
    for (message, roles) in [
        (
            "System message must be at the beginning.",
            RoleRules::Strict,
        ),
        (
            "Conversation roles must alternate user/assistant/user/assistant/...",
            RoleRules::Strict,
        ),
        (
            "After the optional system message(s), user or tool message(s) should alternate with assistant",
            RoleRules::Strict,
        ),
        (
            "The first message must have the role user",
            RoleRules::Strict,
        ),
        (
            "Multiple system messages are unsupported",
            RoleRules::Strict,
        ),
        (
            "Expected last role User or Tool for serving but got system",
            RoleRules::Strict,
        ),
        (
            "Only user and assistant roles are supported!",
            RoleRules::NoSystem,
        ),
        (
            "messages.0.role: Input should be 'user' or 'assistant'",
            RoleRules::NoSystem,
        ),
        ("System role not supported", RoleRules::NoSystem),
        (
            "Developer instruction is not enabled for models/gemma-3",
            RoleRules::NoSystem,
        ),
    ] {
        assert_eq!(after(&[message]).roles, roles, "{message}");
    }
    let twice = after(&[
        "roles must alternate",
        "System message must be at the beginning.",
    ]);
    assert_eq!(
        twice.roles,
        RoleRules::NoSystem,
        "a second refusal escalates"
    );
}

#[test]
fn learns_to_send_thoughts_back() {
    for message in [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        "messages[3].reasoning_content: field required",
        "each assistant message needs a non-empty 'reasoning_content'",
    ] {
        assert_eq!(
            after(&[message]).thoughts_back(),
            ThoughtsBack::WithCalls,
            "{message}"
        );
        let twice = after(&[message, message]);
        assert_eq!(twice.thoughts_back(), ThoughtsBack::Always, "{message}");
        let error = EndpointError {
            message: message.to_owned(),
            ..EndpointError::default()
        };
        assert_eq!(
            twice.learn(&error, false),
            None,
            "there is nothing more to try: {message}"
        );
    }
    let refused = after(&[
        "reasoning_content is required",
        "Extra inputs are not permitted: reasoning_content",
    ]);
    assert_eq!(refused.thoughts_back(), ThoughtsBack::Never);
}

#[test]
fn model_without_tools_gets_none() {
    for message in [
        "registry.example/library/tiny:latest does not support tools",
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        "tools param requires --jinja flag",
    ] {
        assert!(!after(&[message]).sends("tools"), "{message}");
    }
}

#[test]
fn learns_nothing_from_other_errors() {
    for message in [
        "messages must not be empty",
        "temperature must be below 2",
        "the model is unknown",
        "model is required",
        "",
    ] {
        let error = EndpointError {
            message: message.to_owned(),
            ..EndpointError::default()
        };
        assert_eq!(
            LearnedDialect::default().learn(&error, false),
            None,
            "{message}"
        );
    }
}

#[test]
fn keeps_a_parameter_reported_as_missing() {
    let error = EndpointError::read(
        r#"{"detail":[{"type":"missing","loc":["body","top_k"],"msg":"Field required"}]}"#,
    );
    assert_eq!(LearnedDialect::default().learn(&error, false), None);
}

#[test]
fn survives_serialisation() {
    let learned = after(&[
        "top_k must be at least 1",
        "Only user and assistant roles are supported!",
    ]);
    let json = serde_json::to_string(&learned).unwrap();
    assert_eq!(
        serde_json::from_str::<LearnedDialect>(&json).unwrap(),
        learned
    );
    assert_eq!(
        serde_json::from_str::<LearnedDialect>("{}").unwrap(),
        LearnedDialect::default()
    );
}
