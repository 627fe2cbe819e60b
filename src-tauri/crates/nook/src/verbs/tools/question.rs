//! Asks on the terminal whether a tool may run. Without a terminal the tool is refused.

use std::io::{BufRead as _, IsTerminal as _};

use engine::api::{ToolDecision, ToolRequest};
use tokio::sync::mpsc;

/// Lines of stdin, read on a separate thread from the first use on, because a blocked read would
/// delay the exit of the process.
#[derive(Default)]
pub(crate) struct StdinLines(Option<mpsc::Receiver<std::io::Result<String>>>);

impl StdinLines {
    pub(crate) async fn next(&mut self) -> Option<std::io::Result<String>> {
        self.0.get_or_insert_with(read).recv().await
    }
}

fn read() -> mpsc::Receiver<std::io::Result<String>> {
    let (send, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if send.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Whether somebody can answer.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The question in words.
pub(crate) fn question(request: &ToolRequest) -> String {
    let ToolRequest {
        speaker,
        source,
        tool,
        arguments,
        argument_texts,
        ..
    } = request;
    let texts = argument_texts
        .iter()
        .map(|text| format!("  {}: {}\n", text.name, text.about))
        .collect::<String>();
    let of = if source.is_empty() {
        String::new()
    } else {
        format!(" of {source}")
    };
    format!(
        "{speaker} wants to use the tool {tool}{of} with {arguments}\n\
         {texts}Allow it? y: once, c: in this chat, a: always, n: no, v: never"
    )
}

/// The decision for an answer; `None` if it is none of the letters.
pub(crate) fn decision(answer: &str) -> Option<ToolDecision> {
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(ToolDecision::Once),
        "c" => Some(ToolDecision::ThisChat),
        "a" | "always" => Some(ToolDecision::Always),
        "" | "n" | "no" => Some(ToolDecision::NotNow),
        "v" | "never" => Some(ToolDecision::Never),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_letters_and_silence_is_no() {
        let all = ["y", " Yes", "c", "a", "", "v", "maybe"].map(decision);
        assert_eq!(
            all,
            [
                Some(ToolDecision::Once),
                Some(ToolDecision::Once),
                Some(ToolDecision::ThisChat),
                Some(ToolDecision::Always),
                Some(ToolDecision::NotNow),
                Some(ToolDecision::Never),
                None
            ]
        );
    }
}
