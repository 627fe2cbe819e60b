//! Incremental reader for streams of one JSON object per line, and the choice between it and server-sent events.

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
            events.extend(self.event());
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

    fn event(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let data = text(line.trim_ascii().to_vec());
        (!data.is_empty()).then_some(SseEvent { data, fails: false })
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
        if lines { Self::Lines(LineParser::default()) } else { Self::Events(SseParser::default()) }
    }

    /// Parses `bytes` and appends each completed event to `events`.
    pub(crate) fn push(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        match self {
            Self::Events(parser) => parser.push(bytes, events),
            Self::Lines(parser) => parser.push(bytes, events),
        }
    }

    /// Returns the last event if its end is missing.
    pub(crate) fn finish(self) -> Option<SseEvent> {
        match self {
            Self::Events(parser) => parser.finish(),
            Self::Lines(mut parser) => parser.event(),
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
        chunks.iter().for_each(|chunk| parser.push(chunk, &mut events).unwrap());
        let mut read: Vec<String> = events.into_iter().map(|event| event.data).collect();
        read.extend(parser.finish().map(|event| format!("[{}]", event.data)));
        read
    }

    #[test]
    fn splits_lines_at_any_chunk_boundary() {
        let bytes = "{\"a\":1}\r\n\n{\"b\":\"é\"}\n{\"c\"".as_bytes();
        let expected = ["{\"a\":1}", "{\"b\":\"é\"}", "[{\"c\"]"];
        for at in 0..=bytes.len() {
            assert_eq!(lines(&[&bytes[..at], &bytes[at..]]), expected, "{at}");
        }
    }

    #[test]
    fn refuses_endless_lines() {
        let mut parser = StreamParser::new(true);
        let piece = vec![b'x'; 1 << 16];
        let refused = (0..64).find(|_| parser.push(&piece, &mut Vec::new()).is_err()).unwrap();
        assert!(refused <= 16);
    }
}
