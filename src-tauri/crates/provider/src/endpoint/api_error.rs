//! Parses the error payload of an endpoint in any of its known shapes.

use serde_json::{Map, Value};

use super::dialect::PARAMETERS;

/// Maximum nesting depth of an error payload, including JSON embedded in strings.
const DEPTH: usize = 9;
/// Maximum number of errors from one list that the message includes.
const COMPLAINTS: usize = 8;
/// Fields that may hold the error message, most specific first.
const MESSAGE_FIELDS: [&str; 16] = [
    "message",
    "msg",
    "detail",
    "error_message",
    "errorMessage",
    "error_msg",
    "error_description",
    "error",
    "errors",
    "reason",
    "status_msg",
    "description",
    "title",
    "raw",
    "base_resp",
    "status",
];
/// Fields that echo the request or give context instead of an error.
const NO_COMPLAINT: [&str; 6] = ["input", "ctx", "request", "body", "url", "available"];

/// A failure as reported by the endpoint.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EndpointError {
    pub(crate) message: String,
    /// `type`, `code` and `error_type`, joined.
    pub(crate) class: String,
    /// HTTP status found in the body.
    pub(crate) status: Option<u16>,
    /// Prompt length in tokens, if the prompt is too long.
    pub(crate) needed: Option<u64>,
    /// Context length of the model in tokens, if the prompt is too long.
    pub(crate) limit: Option<u64>,
    /// Parameters named by a list or a map of errors.
    pub(crate) refused: Vec<RefusedParameter>,
    /// The `param` field of an OpenAI error.
    pub(crate) parameter: Option<String>,
}

/// A refused parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusedParameter {
    pub(crate) name: String,
    /// The endpoint's reason, in lower case.
    pub(crate) why: String,
}

impl EndpointError {
    /// Parses an error body. Plain text becomes the message; a web page yields an empty error.
    pub(crate) fn read(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::of(&value),
            Err(_) if body.trim_start().starts_with('<') => Self::default(),
            Err(_) => Self {
                message: body.to_owned(),
                ..Self::default()
            },
        }
    }

    /// Finds a failure in a body with a success status. `replies` says that the body also contains
    /// part of a reply; a plain message then indicates no failure.
    pub(crate) fn within(body: &Value, replies: bool) -> Option<Self> {
        let fields = body.as_object()?;
        let of = |key: &str| fields.get(key).unwrap_or(&Value::Null);
        let choice = of("choices")
            .get(0)
            .map_or(&Value::Null, |choice| &choice["error"]);
        if indicates_failure(choice) {
            return Some(Self::of(choice));
        }
        let named = [
            "error",
            "errors",
            "error_message",
            "errorMessage",
            "error_msg",
        ]
        .into_iter()
        .any(|key| indicates_failure(of(key)));
        let refused = number(&of("base_resp")["status_code"]).is_some_and(|code| code != 0.0);
        if named || refused {
            return Some(Self::of(body));
        }
        if replies {
            return None;
        }
        let says = |key: &str| indicates_failure(of(key));
        let bare = says("detail")
            || fields.get("message").is_some_and(Value::is_string) && says("message");
        let coded = is_failure_code(of("code")) && (says("msg") || says("message"));
        let failed = of("success") == &Value::Bool(false)
            || matches!(of("object"), Value::String(kind) if kind.eq_ignore_ascii_case("error"))
            || of("type") == "error"
            || matches!(
                of("status").as_str(),
                Some("error" | "fail" | "failed" | "failure")
            );
        let status = match of("status") {
            Value::Object(status) => ["code", "error_code"]
                .iter()
                .any(|key| is_failure_code(status.get(*key).unwrap_or(&Value::Null))),
            status => http_status(status).is_some(),
        };
        (bare || coded || failed || status).then(|| Self::of(body))
    }

    /// Parses the error in `body`.
    pub(crate) fn of(body: &Value) -> Self {
        let error = body
            .get("error")
            .filter(|error| indicates_failure(error))
            .unwrap_or(body);
        let mut refused = Vec::new();
        complaints(body, DEPTH, &mut refused);
        let mut message = joined_texts(error, DEPTH);
        if message.is_empty() {
            message = joined_texts(body, DEPTH);
        }
        // `metadata.raw` holds the upstream server's own error, which the proxy's message only
        // summarizes.
        let raw = joined_texts(&error["metadata"]["raw"], DEPTH);
        if !raw.is_empty() && !message.contains(&raw) {
            message = format!("{message}: {raw}")
                .trim_start_matches(": ")
                .to_owned();
        }
        if !refused.is_empty() && !refused.iter().any(|one| message.contains(&one.name)) {
            let names: Vec<&str> = refused.iter().map(|one| one.name.as_str()).collect();
            message = format!("{message} ({})", names.join(", "))
                .trim_start()
                .to_owned();
        }
        let class = [&error["type"], &error["code"], &body["error_type"]]
            .into_iter()
            .filter_map(Value::as_str);
        let inner = match &body["status"] {
            Value::Object(_) => &body["status"]["code"],
            status => status,
        };
        let status = [
            &error["code"],
            &error["status"],
            &error["status_code"],
            &body["code"],
            &body["error_code"],
            inner,
        ]
        .into_iter()
        .find_map(http_status);
        Self {
            message,
            class: class.collect::<Vec<_>>().join(" "),
            status,
            needed: error["n_prompt_tokens"].as_u64(),
            limit: error["n_ctx"].as_u64(),
            refused,
            parameter: error["param"].as_str().map(str::to_owned),
        }
    }

    /// Whether a content filter refused the prompt, judged by known error classes.
    pub(crate) fn is_filtered(&self) -> bool {
        const CLASSES: [&str; 3] = [
            "content_filter",
            "content_policy_violation",
            "moderation_blocked",
        ];
        CLASSES.iter().any(|class| self.class.contains(class))
    }

    /// Whether the prompt was too long, judged by known error classes and phrases.
    pub(crate) fn is_overflow(&self) -> bool {
        const CLASSES: [&str; 3] = [
            "exceed_context_size",
            "context_length_exceeded",
            "context_exceeded",
        ];
        const MESSAGE_FIELDS: [&str; 8] = [
            "context length",
            "context size",
            "context window",
            "maximum context",
            "prompt is too long",
            "prompt too long",
            "input is too long",
            "exceeds the context",
        ];
        let message = self.message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        CLASSES.iter().any(|class| self.class.contains(class))
            || says(&MESSAGE_FIELDS)
            || (says(&["token"])
                && says(&["input", "prompt", "context", "messages"])
                && says(&[
                    "more than",
                    "too many",
                    "exceed",
                    "too long",
                    "longer than",
                    "larger than",
                    "greater than",
                    "over the",
                ])
                && !says(&[
                    "max_tokens",
                    "max_completion_tokens",
                    "max_new_tokens",
                    "per minute",
                    "per day",
                    "rate",
                    "quota",
                ]))
    }
}

/// Whether `value` indicates a failure. Empty values, zero and `false` do not.
fn indicates_failure(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !is_no_failure(text),
        Value::Array(items) => items.iter().any(indicates_failure),
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            if is_code(key) {
                is_failure_code(value)
            } else {
                indicates_failure(value)
            }
        }),
    }
}

fn is_code(key: &str) -> bool {
    matches!(key, "code" | "status" | "status_code")
}

/// Whether `value` is a code that indicates a failure.
fn is_failure_code(value: &Value) -> bool {
    indicates_failure(value)
        && !matches!(number(value), Some(code) if (200.0..300.0).contains(&code) || code == 0.0)
}

fn is_no_failure(text: &str) -> bool {
    let text = text.trim();
    [
        "",
        "null",
        "none",
        "nil",
        "false",
        "0",
        "ok",
        "success",
        "no error",
        "undefined",
    ]
    .iter()
    .any(|word| text.eq_ignore_ascii_case(word))
}

/// Reads a number, including a number in a string.
pub(crate) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok()?,
        value => value.as_f64()?,
    };
    number.is_finite().then_some(number)
}

fn http_status(value: &Value) -> Option<u16> {
    number(value)
        .filter(|code| (400.0..600.0).contains(code))
        .map(|code| code as u16)
}

/// Parses the JSON that `text` consists of or ends with.
fn embedded(text: &str) -> Option<Value> {
    let at = text.find(['{', '['])?;
    let value: Value = serde_json::from_str(text[at..].trim()).ok()?;
    (value.is_object() || value.is_array()).then_some(value)
}

/// Converts an error payload to text.
fn joined_texts(account: &Value, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else {
        return String::new();
    };
    match account {
        Value::String(text) => {
            match embedded(text).filter(|_| text.trim_start().starts_with(['{', '['])) {
                Some(inner) => joined_texts(&inner, depth),
                None => text.clone(),
            }
        }
        Value::Array(items) => {
            let message: Vec<String> = items
                .iter()
                .map(|item| joined_texts(item, depth))
                .filter(|message| !message.is_empty())
                .take(COMPLAINTS)
                .collect();
            message.join("; ")
        }
        Value::Object(fields) => {
            let message = MESSAGE_FIELDS
                .iter()
                .filter_map(|key| fields.get(*key))
                .map(|value| joined_texts(value, depth))
                .find(|message| !message.is_empty());
            match (message, place(fields)) {
                (Some(message), Some(place)) if !message.contains(&place) => {
                    format!("{place}: {message}")
                }
                (Some(message), _) => message,
                (None, _) => by_name(fields, depth),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Joins errors that are keyed by parameter name.
fn by_name(fields: &Map<String, Value>, depth: usize) -> String {
    let messages = fields
        .iter()
        .filter(|(key, value)| PARAMETERS.contains(&key.as_str()) && !value.is_number());
    let messages = messages.map(|(key, value)| format!("{key}: {}", joined_texts(value, depth)));
    messages.take(COMPLAINTS).collect::<Vec<_>>().join("; ")
}

/// Returns the parameter that an error concerns.
fn place(fields: &Map<String, Value>) -> Option<String> {
    const KEYS: [&str; 9] = [
        "loc",
        "field",
        "property",
        "parameter",
        "path",
        "instancePath",
        "additionalProperty",
        "dataPath",
        "name",
    ];
    KEYS.iter()
        .filter_map(|key| fields.get(*key))
        .chain(
            fields
                .get("params")
                .map(|params| &params["additionalProperty"]),
        )
        .find_map(|place| match place {
            Value::String(path) => path
                .split(['.', '/', '[', ']', '$', '\'', '"'])
                .find_map(parameter),
            Value::Array(path) => path.iter().filter_map(Value::as_str).find_map(parameter),
            _ => None,
        })
}

fn parameter(name: &str) -> Option<String> {
    PARAMETERS.contains(&name).then(|| name.to_owned())
}

/// Collects the parameters that lists and maps in `account` report.
fn complaints(account: &Value, depth: usize, found: &mut Vec<RefusedParameter>) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match account {
        Value::String(text) => {
            if let Some(inner) = embedded(text) {
                complaints(&inner, depth, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                match item.as_str().and_then(parameter) {
                    Some(name) => add(found, name, "unsupported"),
                    None => complaints(item, depth, found),
                }
            }
        }
        Value::Object(fields) => {
            if let Some(name) = place(fields) {
                let kind = fields
                    .get("type")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                add(
                    found,
                    name,
                    &format!("{} {kind}", joined_texts(account, DEPTH)),
                );
                return;
            }
            for (key, value) in fields
                .iter()
                .filter(|(key, _)| !NO_COMPLAINT.contains(&key.as_str()))
            {
                let complains = value.is_string() || value.is_array() || value.is_object();
                match parameter(key).filter(|_| complains) {
                    Some(name) => add(found, name, &joined_texts(value, DEPTH)),
                    None => complaints(value, depth, found),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn add(found: &mut Vec<RefusedParameter>, name: String, why: &str) {
    if found.iter().all(|known| known.name != name) {
        found.push(RefusedParameter {
            name,
            why: why.to_lowercase(),
        });
    }
}

#[cfg(test)]
mod tests;
