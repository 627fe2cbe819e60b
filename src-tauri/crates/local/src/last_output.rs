//! The end of a worker's output, for errors and the log.
//!
//! llama.cpp prints a grammar that it cannot parse, and quotes pieces of the text in exceptions.
//! Errors and the log must hold no content, so they name only lines of a known technical form.

/// Maximum number of pieces, which are lines or runs of left-out lines.
const PIECES: usize = 4;

/// Maximum length in characters.
const LENGTH: usize = 600;

/// Beginnings of lines by llama.cpp, ggml, the worker and the runtimes of C++ and Rust.
const PREFIXES: [&str; 17] = [
    "CUDA error",
    "alloc_tensor_range: ",
    "fatal runtime error: ",
    "ggml_",
    "inglenook-worker: ",
    "llama_context: ",
    "llama_init_from_model: ",
    "llama_kv_cache",
    "llama_model_load",
    "load_tensors: ",
    "memory allocation of ",
    "out of memory",
    "Out of memory",
    "sched_reserve: ",
    "terminate called ",
    "what():  std::",
    "what():  vk::",
];

/// Whole lines that a shell or a runtime prints about a signal.
const SIGNALS: [&str; 5] = [
    "Aborted",
    "Bus error",
    "Illegal instruction",
    "Killed",
    "Segmentation fault",
];

/// Endings of the source files that a failed check names.
const SOURCES: [&str; 8] = [".c", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".m", ".rs"];

/// The last lines of a worker that has received no text of the user.
pub(crate) fn whole(output: &str) -> String {
    joined(&lines(output))
}

/// The last lines, with the number of lines in the place of those that may hold content.
pub(crate) fn without_content(output: &str) -> String {
    let lines = lines(output);
    let runs = lines.chunk_by(|one, next| !is_technical(one) && !is_technical(next));
    let pieces: Vec<String> = runs
        .map(|run| match run {
            [line] if is_technical(line) => (*line).to_owned(),
            [_] => "(1 line left out)".to_owned(),
            hidden => format!("({} lines left out)", hidden.len()),
        })
        .collect();
    joined(&pieces)
}

fn lines(output: &str) -> Vec<&str> {
    output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}

fn joined<T: AsRef<str>>(pieces: &[T]) -> String {
    let last: Vec<&str> = pieces[pieces.len().saturating_sub(PIECES)..]
        .iter()
        .map(AsRef::as_ref)
        .collect();
    last.join(" / ")
        .chars()
        .filter(|character| !character.is_control())
        .take(LENGTH)
        .collect()
}

/// Whether the form of the line shows that it holds no content.
fn is_technical(line: &str) -> bool {
    // The worker puts the level before a line of llama.cpp's log.
    let line = ["WARN ", "ERROR "]
        .iter()
        .find_map(|level| line.strip_prefix(level))
        .unwrap_or(line);
    SIGNALS.contains(&line)
        || PREFIXES.iter().any(|prefix| line.starts_with(prefix))
        || is_place_of_panic(line)
        || names_source_line(line)
}

/// The first line of a Rust panic. The message is on the next line.
fn is_place_of_panic(line: &str) -> bool {
    line.starts_with("thread '") && line.contains(" panicked at ") && line.ends_with(':')
}

/// A failed check of ggml, such as `/build/ggml.c:12: GGML_ASSERT(n > 0) failed`.
fn names_source_line(line: &str) -> bool {
    let place = line
        .split_once(": ")
        .and_then(|(place, _)| place.rsplit_once(':'));
    place.is_some_and(|(file, number)| {
        !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && !file.contains(char::is_whitespace)
            && SOURCES.iter().any(|ending| file.ends_with(ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grammar_in_the_output_is_left_out() {
        let output = "parse: error parsing grammar: expecting name at Anna\n\n\
                      root ::= \"Anna is ill\"\n\
                      Killed\n\
                      /build/src/llama-grammar.cpp:1193: GGML_ASSERT(!stacks.empty()) failed\n";
        let shown = without_content(output);
        assert_eq!(
            shown,
            "(2 lines left out) / Killed / \
             /build/src/llama-grammar.cpp:1193: GGML_ASSERT(!stacks.empty()) failed"
        );
        assert!(whole(output).contains("Anna is ill"));
    }

    #[test]
    fn exceptions_that_quote_text_are_left_out() {
        let output = "terminate called after throwing an instance of 'std::runtime_error'\n  \
                      what():  Unexpected empty grammar stack after accepting piece: Anna\n";
        assert_eq!(
            without_content(output),
            "terminate called after throwing an instance of 'std::runtime_error' / (1 line left out)"
        );
    }

    #[test]
    fn technical_lines_are_kept() {
        for line in [
            "what():  vk::Queue::submit: ErrorDeviceLost",
            "ERROR llama_model_load: error loading model: missing tensor 'output.weight'",
            "ERROR CUDA error: out of memory",
            "memory allocation of 4096 bytes failed",
            "Segmentation fault",
            "thread 'main' (77) panicked at crates/worker/src/engine.rs:12:5:",
            "inglenook-worker: the pipe failed: Broken pipe (os error 32)",
        ] {
            assert_eq!(without_content(line), line);
        }
    }

    #[test]
    fn lines_that_only_look_technical_are_left_out() {
        for line in [
            "Killed by Anna",
            "Anna said GGML_ASSERT(x) failed",
            "12: Anna",
            "root ::= \"out of memory\"",
            "thread 'main' panicked at Anna",
            "a note on main.rs:12: Anna",
        ] {
            assert_eq!(without_content(line), "(1 line left out)", "{line}");
        }
    }

    #[test]
    fn only_the_last_pieces_are_kept() {
        let output = "Killed\nAborted\na\nb\nKilled\nAborted\nc\n";
        assert_eq!(
            without_content(output),
            "(2 lines left out) / Killed / Aborted / (1 line left out)"
        );
        assert_eq!(whole(&"x".repeat(2_000)).len(), LENGTH);
    }
}
