//! The lines of a section under construction.

use std::borrow::Cow;

use crate::prompt_template::compose_error::ComposeError;
use crate::prompt_template::text;

/// The lines of a section under construction.
#[derive(Default)]
pub(super) struct Page {
    pub(super) lines: Vec<String>,
    pub(super) used: Vec<String>,
    pub(super) room: usize,
}

impl Page {
    /// Appends `text` line by line. A line of which empty variables leave nothing is dropped, so
    /// that no label appears without a value.
    pub(super) fn write<'v>(
        &mut self,
        text: &str,
        value: &impl Fn(&str) -> Option<Cow<'v, str>>,
    ) -> Result<(), ComposeError> {
        for line in text.split('\n') {
            let expanded = text::expand(line.trim_end(), value, self.room)?;
            self.room = self.room.saturating_sub(expanded.text.len());
            self.used.extend(expanded.used);
            if !expanded.hollow {
                self.lines.push(expanded.text);
            }
        }
        Ok(())
    }

    /// Appends `text` unchanged.
    pub(super) fn keep(&mut self, text: &str) {
        self.lines
            .extend(text.split('\n').map(|line| line.trim_end().to_owned()));
    }

    /// The text without blank lines at the ends and with at most one blank line between others.
    pub(super) fn text(&self) -> Option<String> {
        let mut text = String::new();
        let mut gap = false;
        for line in &self.lines {
            if line.trim().is_empty() {
                gap = !text.is_empty();
                continue;
            }
            if !text.is_empty() {
                text.push_str(if gap { "\n\n" } else { "\n" });
            }
            gap = false;
            text.push_str(line);
        }
        (!text.is_empty()).then_some(text)
    }

    pub(super) fn headed<'v>(
        mut self,
        heading: Option<&str>,
        value: &impl Fn(&str) -> Option<Cow<'v, str>>,
    ) -> Result<(String, Vec<String>), ComposeError> {
        let mut text = self.text().unwrap_or_default();
        if let Some(heading) = heading.filter(|_| !text.is_empty()) {
            let expanded = text::expand(heading, value, self.room)?;
            if !expanded.text.trim().is_empty() && !expanded.hollow {
                text = format!("{}\n{text}", expanded.text.trim());
            }
            self.used.extend(expanded.used);
        }
        let mut variables: Vec<String> = Vec::new();
        for name in self.used {
            if !variables.contains(&name) {
                variables.push(name);
            }
        }
        Ok((text, variables))
    }
}
