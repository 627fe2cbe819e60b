//! Incremental reader for streams of one JSON object per line, and the choice between it and
//! server-sent events.

use super::concatenated::objects;
use super::sse::{MAX_EVENT, SseEvent, SseParser, TooLong, text};

/// Splits bytes into lines. Blank lines are skipped.
#[derive(Debug, Default)]
pub(crate) struct LineParser {
    line: Vec<u8>,
    lines: u64,
}

impl LineParser {
    fn push(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.add(&bytes[..end])?;
            self.lines += 1;
            self.end_line(events);
            bytes = &bytes[end + 1..];
        }
        self.add(bytes)
    }

    fn add(&mut self, part: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + part.len() > MAX_EVENT {
            return Err(TooLong);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) {
        let line = text(std::mem::take(&mut self.line));
        events.extend(objects(&line).into_iter().map(|data| SseEvent {
            data: data.to_owned(),
            fails: false,
        }));
    }
}

/// Splits a streamed reply into the data of its events.
#[derive(Debug)]
pub(crate) enum StreamParser {
    Events(SseParser),
    Lines(LineParser),
}

impl StreamParser {
    pub(crate) fn new(lines: bool) -> Self {
        if lines {
            Self::Lines(LineParser::default())
        } else {
            Self::Events(SseParser::default())
        }
    }

    /// Parses `bytes` and appends each completed event to `events`.
    pub(crate) fn push(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        match self {
            Self::Events(parser) => parser.push(bytes, events),
            Self::Lines(parser) => parser.push(bytes, events),
        }
    }

    /// Returns the last events if their end is missing.
    pub(crate) fn finish(self) -> Vec<SseEvent> {
        match self {
            Self::Events(parser) => parser.finish(),
            Self::Lines(mut parser) => {
                let mut events = Vec::new();
                parser.end_line(&mut events);
                events
            }
        }
    }

    /// Completed lines so far.
    pub(crate) fn lines(&self) -> u64 {
        match self {
            Self::Events(parser) => parser.lines,
            Self::Lines(parser) => parser.lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = StreamParser::new(true);
        let mut events = Vec::new();
        chunks
            .iter()
            .for_each(|chunk| parser.push(chunk, &mut events).unwrap());
        let mut read: Vec<String> = events.into_iter().map(|event| event.data).collect();
        read.extend(
            parser
                .finish()
                .into_iter()
                .map(|event| format!("[{}]", event.data)),
        );
        read
    }

    #[test]
    fn splits_lines_at_any_chunk_boundary() {
        let bytes = "{\"a\":1}\r\n\n{\"b\":\"é\"} {\"d\":2}\n{\"c\"".as_bytes();
        let expected = ["{\"a\":1}", "{\"b\":\"é\"}", "{\"d\":2}", "[{\"c\"]"];
        for at in 0..=bytes.len() {
            assert_eq!(lines(&[&bytes[..at], &bytes[at..]]), expected, "{at}");
        }
    }

    #[test]
    fn refuses_endless_lines() {
        let mut parser = StreamParser::new(true);
        let piece = vec![b'x'; 1 << 21];
        let refused = (0..64)
            .find(|_| parser.push(&piece, &mut Vec::new()).is_err())
            .unwrap();
        assert!(refused <= 16);
    }
}
