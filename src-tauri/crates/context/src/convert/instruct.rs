//! Instruct templates: turn markers become a Jinja template.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::convert::converted::InstructFormat;
use crate::convert::note::ConversionNote;
use crate::convert::sections::{flag, text};

/// Fields without a counterpart in the chat template, with the reason.
const ELSEWHERE: [(&str, &str); 7] = [
    (
        "last_input_sequence",
        "left out: it would change the last message in every turn, which prevents reuse of the cache",
    ),
    (
        "last_system_sequence",
        "left out: it would change the last message in every turn, which prevents reuse of the cache",
    ),
    (
        "user_alignment_message",
        "left out: roles that must alternate are merged instead",
    ),
    (
        "activation_regex",
        "left out: you choose the format in the model's settings",
    ),
    (
        "separator_sequence",
        "left out: the suffixes have the same effect",
    ),
    ("skip_examples", "left out: examples are part of the head"),
    (
        "first_input_sequence",
        "left out: the first message has the same markers as all others",
    ),
];

pub(super) fn convert(
    preset: &Map<String, Value>,
    name: &str,
    report: &mut Vec<ConversionNote>,
) -> InstructFormat {
    for (field, why) in ELSEWHERE {
        let said = preset.get(field).is_some_and(|value| match value {
            Value::String(text) => !text.trim().is_empty(),
            other => *other == Value::Bool(true),
        });
        if said {
            report.push(ConversionNote::new(field, why));
        }
    }
    if matches!(text(preset, "names_behavior"), "always") || flag(preset, "names") {
        report.push(ConversionNote::new(
            "names_behavior",
            "not kept: messages are sent without names, except in groups",
        ));
    }
    let mut marks = Marks {
        preset,
        wrap: flag(preset, "wrap"),
        report,
    };
    let jinja = marks.jinja();
    let stop = marks.stop();
    InstructFormat {
        name: name.to_owned(),
        jinja,
        stop,
    }
}

struct Marks<'p> {
    preset: &'p Map<String, Value>,
    /// Adds a line break between a marker and the text.
    wrap: bool,
    report: &'p mut Vec<ConversionNote>,
}

impl Marks<'_> {
    fn jinja(&mut self) -> String {
        let user = self.turn("input_sequence", "input_suffix");
        let reply = self.turn("output_sequence", "output_suffix");
        let system = if flag(self.preset, "system_same_as_user") {
            user.clone()
        } else {
            self.turn("system_sequence", "system_suffix")
        };
        let head = self.head().unwrap_or_else(|| system.clone());
        let opening = self.opening();
        let greeting = if text(self.preset, "first_output_sequence").is_empty() {
            reply.clone()
        } else {
            self.turn("first_output_sequence", "output_suffix")
        };
        let mut jinja = String::from(
            "{%- set ns = namespace(replied=false) -%}\n{%- for message in messages -%}\n",
        );
        let mut branch = |test: &str, (before, after): &(String, String)| {
            let _ = writeln!(
                jinja,
                "{{%- {test} -%}}{{{{ {} + message.content + {} }}}}",
                quoted(before),
                quoted(after)
            );
        };
        branch("if message.role == 'system' and loop.first", &head);
        branch("elif message.role == 'system'", &system);
        branch("elif message.role == 'user'", &user);
        branch("elif not ns.replied", &greeting);
        branch("else", &reply);
        jinja.push_str(
            "{%- endif -%}\n{%- if message.role == 'assistant' -%}{%- set ns.replied = true -%}{%- endif -%}\n",
        );
        let _ = write!(
            jinja,
            "{{%- endfor -%}}\n{{%- if add_generation_prompt -%}}{{{{ {} }}}}{{%- endif -%}}",
            quoted(&opening)
        );
        jinja
    }

    /// The text before and after a message. A wrapped turn without a suffix ends with a newline.
    fn turn(&mut self, sequence: &str, suffix: &str) -> (String, String) {
        let before = self.before(sequence);
        let after = match self.marker(suffix) {
            after if after.is_empty() && self.wrap => "\n".to_owned(),
            after => after,
        };
        (before, after)
    }

    fn before(&mut self, sequence: &str) -> String {
        match self.marker(sequence) {
            marker if marker.is_empty() || !self.wrap => marker,
            marker => marker + "\n",
        }
    }

    /// The markers of the head, which have a newer and an older field name.
    fn head(&mut self) -> Option<(String, String)> {
        let names = [
            ("story_string_prefix", "story_string_suffix"),
            ("system_sequence_prefix", "system_sequence_suffix"),
        ];
        let is_set = |field: &str| !text(self.preset, field).is_empty();
        let (prefix, suffix) = names
            .into_iter()
            .find(|(prefix, suffix)| is_set(prefix) || is_set(suffix))?;
        Some(self.turn(prefix, suffix))
    }

    /// The text that opens the reply.
    fn opening(&mut self) -> String {
        let last = "last_output_sequence";
        if text(self.preset, last).is_empty() {
            return self.before("output_sequence");
        }
        self.report.push(ConversionNote::new(
            last,
            "kept; stored replies use another marker, so the model reads each reply again once",
        ));
        self.before(last)
    }

    /// A marker without name macros, because turn markers cannot contain names here.
    fn marker(&mut self, field: &str) -> String {
        let mut marker = text(self.preset, field).to_owned();
        for name in ["{{name}}", "{{user}}", "{{char}}"] {
            if marker.contains(name) {
                marker = marker.replace(name, "");
                let note = ConversionNote::new(
                    field,
                    format!("`{name}` is left out: turn markers cannot contain names here"),
                );
                if !self.report.contains(&note) {
                    self.report.push(note);
                }
            }
        }
        marker
    }

    fn stop(&mut self) -> Vec<String> {
        let mut fields = vec!["stop_sequence"];
        if self
            .preset
            .get("sequences_as_stop_strings")
            .is_none_or(|value| value != &Value::Bool(false))
        {
            fields.extend(["input_sequence", "output_sequence", "system_sequence"]);
        }
        let mut stops: Vec<String> = Vec::new();
        for field in fields {
            let stop = self.marker(field).trim().to_owned();
            if !stop.is_empty() && !stops.contains(&stop) {
                stops.push(stop);
            }
        }
        stops
    }
}

/// `text` as a Jinja string literal.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\\' => quoted.push_str("\\\\"),
            '\'' => quoted.push_str("\\'"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}
