//! Syntax of a model's calls.

/// The text around name and arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSyntax {
    /// Text before the name.
    pub open: String,
    /// Text between name and arguments.
    pub middle: String,
    /// Text after the arguments.
    pub close: String,
}

impl CallSyntax {
    /// The syntax for models whose template knows no tools: that of Hermes and Qwen, which many
    /// models have seen.
    pub fn text() -> Self {
        Self {
            open: "<tool_call>\n{\"name\": \"".to_owned(),
            middle: "\", \"arguments\": ".to_owned(),
            close: "}\n</tool_call>".to_owned(),
        }
    }

    /// A call in this syntax.
    pub fn call(&self, name: &str, arguments: &str) -> String {
        format!(
            "{}{name}{}{arguments}{}",
            self.open, self.middle, self.close
        )
    }

    /// The text that shows that a call begins; empty if a reply of JSON alone is one.
    pub fn marker(&self) -> &str {
        let end = self.open.find(['{', '[']).unwrap_or(self.open.len());
        // `[TOOL_CALLS]` is itself a marker in brackets.
        let end = match self.open[end..].find(']') {
            Some(close) if !self.open[end..end + close].contains(['"', '{']) => end + close + 1,
            _ => end,
        };
        self.open[..end].trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_is_the_text_before_the_json() {
        assert_eq!(CallSyntax::text().marker(), "<tool_call>");
        let of = |open: &str| {
            CallSyntax {
                open: open.into(),
                ..CallSyntax::text()
            }
            .marker()
            .to_owned()
        };
        assert_eq!(of("[TOOL_CALLS] [{\"name\": \""), "[TOOL_CALLS]");
        assert_eq!(of("{\"name\": \""), "");
    }
}
