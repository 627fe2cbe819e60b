//! Incremental parser for server-sent events.
//!
//! It replaces `eventsource-stream`, which does not limit the size of a line or an event and
//! rescans its whole buffer with every chunk. That crate also stops at invalid UTF-8 and drops a
//! last event without its blank line.
//!
//! Some servers end an event with one line break instead of two, or write several objects into one
//! event. A complete JSON object cannot continue, so the next `data` line after it begins the next
//! event.

use super::concatenated::{ObjectScanner, after_prefix, objects};

/// Maximum bytes of one line and of one event's data. Normal chunks have a few hundred bytes; a
/// picture in a reply has several megabytes.
pub(crate) const MAX_EVENT: usize = 32 << 20;

/// An event grew beyond [`MAX_EVENT`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// The data of one event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) data: String,
    /// The event reports an error by its name or its field.
    pub(crate) fails: bool,
}

/// Splits bytes into events. Ignores other names, ids and comments.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// Whether `data` is one complete object.
    scanner: ObjectScanner,
    fails: bool,
    /// The name after a complete object. It belongs to this event or, without a blank line, to the
    /// next.
    name_after: Option<bool>,
    /// The server ends events with one line break.
    compact: bool,
    after_cr: bool,
    /// Completed lines so far, including comments and blank lines.
    pub(crate) lines: u64,
}

impl SseParser {
    /// Parses `bytes` and appends each completed event to `events`. Events before one that exceeds
    /// the limit are kept.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<SseEvent>,
    ) -> Result<(), TooLong> {
        while let Some((&first, rest)) = bytes.split_first() {
            if first == b'\n' && std::mem::take(&mut self.after_cr) {
                bytes = rest;
                continue;
            }
            self.after_cr = false;
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > MAX_EVENT {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            self.end_line(events)?;
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// Returns the last events if they have no blank line. Some servers omit that line.
    pub(crate) fn finish(mut self) -> Vec<SseEvent> {
        let mut events = Vec::new();
        if !self.line.is_empty() && self.end_line(&mut events).is_err() {
            return events;
        }
        self.end_event(&mut events);
        events
    }

    /// Ends the event at its blank line.
    fn end_event(&mut self, events: &mut Vec<SseEvent>) {
        self.fails |= self.name_after.take().unwrap_or_default();
        self.emit(events);
    }

    fn emit(&mut self, events: &mut Vec<SseEvent>) {
        let fails = std::mem::take(&mut self.fails);
        self.scanner = ObjectScanner::default();
        let Some(data) = self.data.take().or_else(|| fails.then(Vec::new)) else {
            return;
        };
        let data = text(data);
        let parts = objects(after_prefix(data.trim_start()));
        if parts.len() < 2 {
            events.push(SseEvent { data, fails });
            return;
        }
        events.extend(parts.into_iter().map(|part| SseEvent {
            data: part.to_owned(),
            fails,
        }));
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        let line = if self.lines == 0 {
            line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line)
        } else {
            &line
        };
        self.lines += 1;
        if line.is_empty() {
            self.end_event(events);
            return Ok(());
        }
        let colon = line
            .iter()
            .position(|&byte| byte == b':')
            .unwrap_or(line.len());
        let field = &line[..colon];
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" | b"error" => {}
            b"event" => {
                let fails = matches!(value.trim_ascii(), b"error" | b"exception");
                if self.data.is_some() {
                    self.name_after = Some(fails)
                } else {
                    self.fails = fails
                }
                return Ok(());
            }
            _ => return Ok(()),
        }
        self.begin_next(value, events);
        if self.compact && self.data.is_none() && value.trim_ascii().is_empty() {
            return Ok(());
        }
        // llama.cpp before 2026 sends failures in an `error` field.
        self.fails |= field == b"error";
        self.add(value)?;
        if self.compact && self.is_whole() {
            self.emit(events);
        }
        Ok(())
    }

    /// Emits a complete object before a `data` line that cannot continue it.
    fn begin_next(&mut self, value: &[u8], events: &mut Vec<SseEvent>) {
        if value.trim_ascii().is_empty() || !self.is_whole() {
            return;
        }
        self.compact = true;
        let fails = self.name_after.take();
        self.emit(events);
        self.fails = fails.unwrap_or_default();
    }

    /// Whether the data is a complete object or the end marker.
    fn is_whole(&self) -> bool {
        self.scanner.is_complete()
            || self
                .data
                .as_deref()
                .is_some_and(|data| data.trim_ascii() == b"[DONE]")
    }

    fn add(&mut self, value: &[u8]) -> Result<(), TooLong> {
        self.scanner.push(without_prefix(value));
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) if data.len() + value.len() < MAX_EVENT => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            Some(_) => return Err(TooLong),
        }
        Ok(())
    }
}

/// Removes `data:` at the start, which some proxies write twice.
fn without_prefix(mut value: &[u8]) -> &[u8] {
    while let Some(inner) = value.trim_ascii_start().strip_prefix(b"data:") {
        value = inner;
    }
    value
}

pub(crate) fn text(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(&escaped_halves(error.as_bytes())).into_owned(),
    }
}

/// Converts surrogates that were encoded separately (CESU-8) into JSON escapes.
fn escaped_halves(bytes: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        rest = match rest {
            [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, after @ ..] => {
                let half = 0xD000 | (u32::from(second & 0x3F) << 6) | u32::from(third & 0x3F);
                escaped.extend_from_slice(format!("\\u{half:04x}").as_bytes());
                after
            }
            _ => {
                escaped.push(first);
                after
            }
        };
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Formats the events of `chunks`; an event without a blank line is in brackets.
    fn events(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        for chunk in chunks {
            parser.push(chunk, &mut events).unwrap();
        }
        let mut texts: Vec<String> = events.into_iter().map(shown).collect();
        texts.extend(
            parser
                .finish()
                .into_iter()
                .map(|open| format!("[{}]", shown(open))),
        );
        texts
    }

    fn shown(SseEvent { data, fails }: SseEvent) -> String {
        if fails { format!("!{data}") } else { data }
    }

    #[test]
    fn marks_events_that_report_failures() {
        let text = "event: error\ndata: a\n\nevent:message\ndata: b\n\nerror: c\n\nevent: error\n\ndata: d\n\n";
        assert_eq!(events(&[text.as_bytes()]), ["!a", "b", "!c", "!", "d"]);
    }

    #[test]
    fn escapes_separately_encoded_surrogates() {
        assert_eq!(
            events(&[b"data: a\xED\xA0\xBD\xED\xB8\x80b\xFF\n\n"]),
            ["a\\ud83d\\ude00b\u{FFFD}"]
        );
    }

    #[test]
    fn accepts_mixed_line_ends() {
        assert_eq!(
            events(&[b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\r\n\ndata:e\n\r\n"]),
            ["a", "b", "c", "d", "e"]
        );
    }

    #[test]
    fn skips_comments_other_fields_and_bom() {
        let text =
            "\u{FEFF}data: a\n\n: ping\n\nid: 7\nevent: message\nretry: 5\ndata: b\nnonsense\n\n";
        assert_eq!(events(&[text.as_bytes()]), ["a", "b"]);
    }

    #[test]
    fn joins_data_lines_of_one_event() {
        assert_eq!(
            events(&[b"data: {\ndata:  1\ndata\ndata: }\n\n"]),
            ["{\n 1\n\n}"]
        );
    }

    #[test]
    fn joins_crlf_split_across_chunks() {
        assert_eq!(events(&[b"data: {\r\ndata: }\r\n\r\n"]), ["{\n}"]);
        assert_eq!(events(&[b"data: {\r", b"\ndata: }\r", b"\n\r\n"]), ["{\n}"]);
    }

    #[test]
    fn finish_returns_an_event_without_blank_line() {
        assert_eq!(events(&[b"data: a\n\ndata: [DONE]\n"]), ["a", "[[DONE]]"]);
        assert_eq!(events(&[b"data: a\n\ndata: [DO"]), ["a", "[[DO]"]);
    }

    #[test]
    fn one_line_break_ends_a_complete_object() {
        let text =
            "data: {\"a\":1}\ndata: {\"b\":\ndata: \"x\"}\ndata:\ndata: {\"c\":2}\ndata: [DONE]\n";
        assert_eq!(
            events(&[text.as_bytes()]),
            ["{\"a\":1}", "{\"b\":\n\"x\"}", "{\"c\":2}", "[DONE]"]
        );
        let proxied = "data: data: {\"a\":1}\ndata: data: {\"b\":2}\n\n";
        assert_eq!(
            events(&[proxied.as_bytes()]),
            ["data: {\"a\":1}", "data: {\"b\":2}"]
        );
        let two = "data: {\"a\":1}{\"b\":2}\n\ndata: {\"c\":1} [DONE]\n\n";
        assert_eq!(
            events(&[two.as_bytes()]),
            ["{\"a\":1}", "{\"b\":2}", "{\"c\":1}", "[DONE]"]
        );
        let texts = "data: one\ndata: two\n\n";
        assert_eq!(
            events(&[texts.as_bytes()]),
            ["one\ntwo"],
            "only a complete object ends early"
        );
    }

    #[test]
    fn names_stay_with_their_event() {
        let compact =
            "event: a\ndata: {\"a\":1}\nevent: error\ndata: {\"b\":2}\nevent: c\ndata: {\"c\":3}\n";
        assert_eq!(
            events(&[compact.as_bytes()]),
            ["{\"a\":1}", "!{\"b\":2}", "{\"c\":3}"]
        );
        let after = "data: {\"a\":1}\nevent: error\n\ndata: {\"b\":2}\n\n";
        assert_eq!(events(&[after.as_bytes()]), ["!{\"a\":1}", "{\"b\":2}"]);
    }

    #[test]
    fn replaces_invalid_utf8() {
        assert_eq!(events(&[b"data: a\xFFb\n\n"]), ["a\u{FFFD}b"]);
    }

    #[test]
    fn refuses_endless_lines_and_events() {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        let piece = vec![b'x'; 1 << 21];
        parser.push(b"data: kept\n\ndata: ", &mut events).unwrap();
        let refused = (0..64)
            .find(|_| parser.push(&piece, &mut events).is_err())
            .unwrap();
        assert!(refused <= 16 && parser.line.capacity() <= 2 * MAX_EVENT);
        assert_eq!(
            events
                .iter()
                .map(|event| event.data.as_str())
                .collect::<Vec<_>>(),
            ["kept"]
        );

        let mut parser = SseParser::default();
        let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
        let refused = (0..64)
            .find(|_| parser.push(&line, &mut events).is_err())
            .unwrap();
        assert!(refused <= 16, "one event of many lines");
    }

    fn cut(bytes: &[u8], at: &[usize]) -> Vec<Vec<u8>> {
        let mut at: Vec<usize> = at.iter().map(|at| at % (bytes.len() + 1)).collect();
        at.sort_unstable();
        let ends = at.iter().copied().chain([bytes.len()]);
        let starts = std::iter::once(0).chain(at.iter().copied());
        starts
            .zip(ends)
            .map(|(start, end)| bytes[start..end].to_vec())
            .collect()
    }

    proptest! {
        #[test]
        fn result_is_independent_of_chunk_boundaries(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "data: ", "data:", "{\"a\":1}", "é🔥", "\n", "\r", "\r\n", "\n\n", ": c", "error: x", "[DONE]", " ",
                ]),
                0..40,
            ),
            at in prop::collection::vec(any::<usize>(), 0..10),
        ) {
            let bytes = pieces.concat().into_bytes();
            let chunks = cut(&bytes, &at);
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(events(&chunks), events(&[&bytes]));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000), at in prop::collection::vec(any::<usize>(), 0..10)) {
            let chunks = cut(&bytes, &at);
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(events(&chunks), events(&[&bytes]));
        }

        #[test]
        fn reads_back_written_events(texts in prop::collection::vec("[^\r\n]{0,40}", 0..10)) {
            // Objects in one event are separated, as another test checks.
            prop_assume!(texts.iter().all(|text| objects(text).len() < 2));
            let wire: String = texts.iter().map(|text| format!("data: {text}\n\n")).collect();
            // A byte order mark at the start of the stream is removed, one inside `data` is kept.
            prop_assert_eq!(events(&[wire.as_bytes()]), texts);
        }
    }
}
