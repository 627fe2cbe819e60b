//! Phrases of error messages, in lower case.

/// Phrases that endpoints use for an unknown parameter.
pub(super) const UNKNOWN: [&str; 19] = [
    "deprecated",
    "support",
    "unrecogni",
    "not recogni",
    "unknown",
    "unexpected",
    "extra",
    "permitted",
    "not allowed",
    "invalid param",
    "forbidden",
    "additional propert",
    "not a valid",
    "not accepted",
    "no such",
    "does not exist",
    "should not exist",
    "must not be set",
    "cannot be set",
];
/// Phrases that endpoints use for a value out of range. Extra samplers are then omitted; the user
/// must correct other values.
pub(super) const OUT_OF_RANGE: [&str; 10] = [
    "must be",
    "should be",
    "at least",
    "at most",
    "invalid",
    "greater than",
    "less than",
    "out of range",
    "between",
    "disable",
];
/// Phrases that endpoints use if a model or a server has no tools.
pub(super) const NO_TOOLS: [&str; 9] = [
    "not support tool",
    "not support function",
    "tools are not supported",
    "tools is not supported",
    "tool use is not supported",
    "tool calling is not supported",
    "function calling is not supported",
    "enable-auto-tool-choice",
    "tools param requires",
];
/// Phrases that endpoints use if they want the thoughts of the model back.
pub(super) const THOUGHTS_BACK: [&str; 13] = [
    "pass back",
    "passed back",
    "be passed",
    "be provided",
    "be included",
    "be present",
    "missing",
    "required",
    "must include",
    "must contain",
    "must have",
    "need",
    "empty",
];
/// Phrases that endpoints use if they refuse the thoughts of the model.
pub(super) const NO_THOUGHTS_BACK: [&str; 10] = [
    "unexpected",
    "extra input",
    "additional propert",
    "not permitted",
    "not allowed",
    "not support",
    "unsupported",
    "unrecogni",
    "unknown",
    "must not",
];
pub(super) const MISSING: [&str; 3] = ["required", "missing", "must be provided"];
/// Phrases that endpoints use if the last message must be the user's.
pub(super) const PREFILL: [&str; 9] = [
    "prefill",
    "end with a user message",
    "expected last role",
    "last message must be",
    "last message should be",
    "last message is not",
    "must end with",
    "continue_final_message",
    "add_generation_prompt",
];
/// Phrases that endpoints use to reject the order of turns.
pub(super) const ORDER: [&str; 12] = [
    "must alternate",
    "should alternate",
    "alternating",
    "alternate between",
    "roles must",
    "at the beginning",
    "first message",
    "must start with",
    "start with a user",
    "multiple system",
    "more than one system",
    "consecutive",
];
pub(super) const NO_SYSTEM: [&str; 14] = [
    "only user and assistant",
    "only 'user' and 'assistant'",
    "system role not",
    "system role is not",
    "system messages are not",
    "system message is not",
    "not support system",
    "not support the system",
    "developer instruction is not",
    "invalid role: system",
    "unsupported role: system",
    "role 'system' is not",
    "be 'user' or 'assistant'",
    "be one of 'user', 'assistant'",
];
