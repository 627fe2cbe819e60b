//! Output on stdout and stderr: JSON for scripts, text for people, progress for terminals.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::{CommandError, ErrorReason};

pub(crate) struct Output {
    json: bool,
    progress: bool,
    /// A progress line is on stderr and must be erased before other output.
    shown: Cell<bool>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            progress: std::io::stderr().is_terminal(),
            shown: Cell::new(false),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints one result: `value` as JSON, or its text.
    pub(crate) fn answer<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), CommandError> {
        if self.json {
            self.event(value)
        } else {
            self.print(&text(value))
        }
    }

    /// Prints one line of JSON in JSON mode.
    pub(crate) fn event(&self, value: &impl Serialize) -> Result<(), CommandError> {
        if !self.json {
            return Ok(());
        }
        let value = serde_json::to_value(value)
            .map_err(|error| CommandError::because("internal", error.to_string()))?;
        self.write(&format!("{}\n", snake_case(value)))
    }

    /// Prints a result that is JSON for everybody.
    pub(crate) fn json_text(&self, json: &str) -> Result<(), CommandError> {
        self.write(&format!("{json}\n"))
    }

    /// Prints text for people, in whole lines.
    pub(crate) fn print(&self, text: &str) -> Result<(), CommandError> {
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        self.print_piece(&format!("{text}{end}"))
    }

    /// Prints a piece of text for people.
    pub(crate) fn print_piece(&self, text: &str) -> Result<(), CommandError> {
        if self.json {
            Ok(())
        } else {
            self.write(&strip_control(text))
        }
    }

    /// Shows a temporary progress line.
    pub(crate) fn progress(&self, text: &str) {
        if self.progress {
            // A failed write of progress is not an error.
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", strip_control(text));
            self.shown.set(true);
        }
    }

    /// Prints a permanent line next to the progress.
    pub(crate) fn print_note(&self, text: &str) {
        if self.progress {
            self.clear();
            let _ = writeln!(std::io::stderr(), "{}", strip_control(text));
        }
    }

    /// Prints what the user must know to stderr, whatever stdout has.
    pub(crate) fn warn(&self, text: &str) {
        self.clear();
        let _ = writeln!(std::io::stderr(), "note: {}", strip_control(text));
    }

    fn clear(&self) {
        if self.shown.take() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    fn write(&self, text: &str) -> Result<(), CommandError> {
        self.clear();
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }

    /// Prints the reason on stderr, and also on stdout in JSON mode if nothing was printed there
    /// yet.
    pub(crate) fn fail(&self, failure: &CommandError) -> ExitCode {
        let reason = match failure {
            CommandError::PipeClosed => return ExitCode::SUCCESS,
            CommandError::Because(reason) => {
                self.error(&reason.kind, &reason.message);
                reason
            }
            CommandError::Reported(reason) => reason,
        };
        self.print_error(reason);
        ExitCode::FAILURE
    }

    /// Prints one line on stderr.
    pub(crate) fn print_error(&self, reason: &ErrorReason) {
        self.clear();
        let message = strip_control(&reason.message).replace(['\n', '\r'], " ");
        let _ = writeln!(std::io::stderr(), "error: {message}");
    }

    pub(crate) fn error(&self, kind: &str, message: &str) {
        // The exit code still reports the failure if the pipe is closed.
        let _ = self.event(&json!({ "error": { "kind": kind, "message": message } }));
    }
}

/// Replaces control characters, so that text from cards and models cannot control the terminal.
fn strip_control(text: &str) -> String {
    let shown = |c: char| {
        if c.is_control() && c != '\n' && c != '\t' {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Converts the engine's camelCase keys to snake_case. None of these types has data as keys.
fn snake_case(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (snake(&key), snake_case(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(snake_case).collect(),
        other => other,
    }
}

fn snake(camel: &str) -> String {
    camel
        .chars()
        .fold(String::with_capacity(camel.len() + 2), |mut name, c| {
            if c.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
            name
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_keys_at_every_depth() {
        let value =
            json!({ "droppedReason": "tooOld", "byZone": [{ "firstTextMs": 1 }], "sha256": "" });
        assert_eq!(
            snake_case(value),
            json!({ "dropped_reason": "tooOld", "by_zone": [{ "first_text_ms": 1 }], "sha256": "" })
        );
    }

    #[test]
    fn replaces_control_characters() {
        assert_eq!(
            strip_control("a\x1b]0;title\x07b\r\nc\td\u{9b}2J"),
            "a\u{fffd}]0;title\u{fffd}b\nc\td\u{fffd}2J"
        );
    }
}
