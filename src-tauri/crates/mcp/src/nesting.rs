//! Shortens messages that are nested more deeply than the parser accepts. Without this, such a
//! message is lost, and its request waits until it times out.

use std::borrow::Cow;

/// Deepest nesting of a message. The parser accepts 128 levels.
const MAX_DEPTH: usize = 100;

/// Text in place of the deeper levels.
pub(crate) const TOO_DEEP: &str = "[nested too deeply: left out]";

/// Replaces objects and lists beyond [`MAX_DEPTH`] in one line of JSON.
pub(crate) fn shortened(line: &[u8]) -> Cow<'_, [u8]> {
    let mut kept: Option<Vec<u8>> = None;
    let mut scan = Scan::default();
    for (at, &byte) in line.iter().enumerate() {
        let was_deep = scan.depth > MAX_DEPTH;
        scan.push(byte);
        let is_deep = scan.depth > MAX_DEPTH;
        if is_deep && !was_deep {
            let kept = kept.get_or_insert_with(|| line[..at].to_vec());
            kept.extend_from_slice(format!("\"{TOO_DEEP}\"").as_bytes());
        } else if !is_deep
            && !was_deep
            && let Some(kept) = &mut kept
        {
            kept.push(byte);
        }
    }
    kept.map_or(Cow::Borrowed(line), Cow::Owned)
}

/// Position in a JSON text.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Scan {
    fn push(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_text => self.escaped = true,
            b'"' => self.in_text = !self.in_text,
            b'{' | b'[' if !self.in_text => self.depth += 1,
            b'}' | b']' if !self.in_text => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn nested(depth: usize) -> String {
        format!(
            "{{\"a\":{}\"]\\\"[\"{},\"b\":[1,{{}}]}}",
            "[".repeat(depth),
            "]".repeat(depth)
        )
    }

    #[test]
    fn only_deeper_levels_are_replaced() {
        let flat = nested(99);
        assert!(matches!(shortened(flat.as_bytes()), Cow::Borrowed(_)));
        for depth in [100, 101, 5_000] {
            let text = shortened(nested(depth).as_bytes()).into_owned();
            let value: Value = serde_json::from_slice(&text).unwrap();
            assert!(value["a"].to_string().contains(TOO_DEEP), "{depth}");
            assert_eq!(value["b"], serde_json::json!([1, {}]), "{depth}");
        }
        assert_eq!(
            shortened(b"]]}{[\"").into_owned(),
            b"]]}{[\"",
            "broken JSON stays as it is"
        );
    }
}
