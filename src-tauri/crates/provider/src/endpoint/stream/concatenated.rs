//! Separates JSON objects that follow each other without the blank line or the line break that
//! belongs between them.

/// Tracks whether the bytes so far are one complete JSON object.
#[derive(Debug, Default)]
pub(crate) struct ObjectScanner {
    state: ScanState,
    /// The closing brackets that are still expected, the next one last.
    closing: Vec<u8>,
    in_text: bool,
    escaped: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ScanState {
    /// Only whitespace so far.
    #[default]
    Before,
    Inside,
    Complete,
    /// The text is no single object.
    Other,
}

impl ObjectScanner {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.byte(byte));
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.state == ScanState::Complete
    }

    fn byte(&mut self, byte: u8) {
        match self.state {
            ScanState::Other => {}
            ScanState::Before | ScanState::Complete if byte.is_ascii_whitespace() => {}
            ScanState::Before if byte == b'{' => {
                self.state = ScanState::Inside;
                self.closing.push(b'}');
            }
            ScanState::Before | ScanState::Complete => self.state = ScanState::Other,
            ScanState::Inside => self.inside(byte),
        }
    }

    fn inside(&mut self, byte: u8) {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' => self.closing.push(b'}'),
            b'[' => self.closing.push(b']'),
            b'}' | b']' => self.close(byte),
            _ => {}
        }
    }

    fn close(&mut self, byte: u8) {
        if self.closing.pop() != Some(byte) {
            self.state = ScanState::Other;
        } else if self.closing.is_empty() {
            self.state = ScanState::Complete;
        }
    }
}

/// Splits `text` into the objects that it consists of. Returns the whole text if anything else
/// stands between them. The last object may be incomplete, and the end marker `[DONE]` may follow.
pub(crate) fn objects(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if rest == "[DONE]" || (!rest.starts_with('{') && found.is_empty()) {
            found.push(rest);
            break;
        }
        if !rest.starts_with('{') {
            return vec![text.trim()];
        }
        let end = object_end(rest);
        found.push(&rest[..end]);
        rest = after_prefix(rest[end..].trim_start());
    }
    found
}

/// Removes the field name of server-sent events, which some proxies repeat inside the data.
pub(crate) fn after_prefix(mut data: &str) -> &str {
    while let Some(inner) = data.strip_prefix("data:") {
        data = inner.trim_start();
    }
    data
}

/// Length of the object at the start of `text`; the whole length if it is incomplete.
fn object_end(text: &str) -> usize {
    let mut scanner = ObjectScanner::default();
    let end = text.bytes().position(|byte| {
        scanner.byte(byte);
        scanner.is_complete()
    });
    end.map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn separates_objects_only() {
        for (text, expected) in [
            ("{}", &["{}"][..]),
            ("{\"a\":1}{\"b\":[{}]}", &["{\"a\":1}", "{\"b\":[{}]}"]),
            (
                "{\"a\":\"}{\"} \n {\"b\":\"\\\"}{\"}",
                &["{\"a\":\"}{\"}", "{\"b\":\"\\\"}{\"}"],
            ),
            ("{\"a\":1} [DONE]", &["{\"a\":1}", "[DONE]"]),
            ("{\"a\":1}data: {\"b\":2}", &["{\"a\":1}", "{\"b\":2}"]),
            ("{\"a\":1}{\"b\":", &["{\"a\":1}", "{\"b\":"]),
            ("{\"a\":1} trailing", &["{\"a\":1} trailing"]),
            ("{\"a\":1},{\"b\":2}", &["{\"a\":1},{\"b\":2}"]),
            ("[DONE]", &["[DONE]"]),
            ("[{}]", &["[{}]"]),
            ("{]{", &["{]{"]),
            ("{\"a\":[}{]}", &["{\"a\":[}{]}"]),
            ("Hello.", &["Hello."]),
            ("", &[]),
        ] {
            assert_eq!(objects(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn finds_every_written_object(texts in prop::collection::vec("[ -~]{0,12}", 1..6), gap in "[ \n\t]{0,3}") {
            let written: Vec<String> = texts.iter().map(|text| serde_json::json!({ text: [text, {}] }).to_string()).collect();
            let joined = written.join(&gap);
            prop_assert_eq!(objects(&joined), written);
        }
    }
}
