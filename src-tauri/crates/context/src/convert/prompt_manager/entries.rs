//! The prompts of a preset in their order.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::convert::note::ConversionNote;
use crate::convert::prompt_manager::{EVERYONE, MOST, Manager, NAMED, PromptEntry, shown_name};
use crate::convert::sections::text;

pub(super) type PromptsById<'m> = BTreeMap<&'m str, &'m Map<String, Value>>;

pub(super) fn prompts_of(preset: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let prompts = preset.get("prompts").and_then(Value::as_array);
    prompts.into_iter().flatten()
}

pub(super) fn is_enabled(prompt: &Map<String, Value>) -> bool {
    prompt.get("enabled") != Some(&Value::Bool(false))
}

impl<'m> Manager<'m> {
    /// The prompts in their order. Prompts that are missing in the order are disabled, as in
    /// SillyTavern.
    pub(super) fn entries(&mut self) -> Vec<PromptEntry<'m>> {
        let (mut prompts, listed) = self.listed();
        let Some(order) = self.order() else {
            let enabled = listed.into_iter().take(MOST);
            return enabled.map(|prompt| (prompt, is_enabled(prompt))).collect();
        };
        let mut entries = self.ordered(order, &mut prompts);
        let left = listed.into_iter().filter(|prompt| {
            let identifier = text(prompt, "identifier");
            identifier.is_empty() || prompts.contains_key(identifier)
        });
        entries.extend(left.map(|prompt| (prompt, false)));
        self.report_history(&entries);
        self.limit(&mut entries);
        entries
    }

    /// The prompts by identifier, and in the order of their list. Prompts with an identifier that
    /// another one has already are left out.
    pub(super) fn listed(&mut self) -> (PromptsById<'m>, Vec<&'m Map<String, Value>>) {
        let preset = self.preset;
        let mut by_id = BTreeMap::new();
        let mut nameless = Vec::new();
        let mut doubled = 0;
        let mut listed = Vec::new();
        for prompt in prompts_of(preset).filter_map(Value::as_object) {
            let identifier = text(prompt, "identifier");
            if identifier.is_empty() {
                nameless.push(prompt);
            } else if by_id.contains_key(identifier) {
                doubled += 1;
                if doubled <= NAMED {
                    self.report_duplicate(prompt, identifier);
                }
                continue;
            } else {
                by_id.insert(identifier, prompt);
            }
            listed.push(prompt);
        }
        if doubled > NAMED {
            let what = format!(
                "{} more prompts with duplicate identifiers are left out",
                doubled - NAMED
            );
            self.report.push(ConversionNote::new("prompts", what));
        }
        self.report_invalid(&nameless);
        (by_id, listed)
    }

    pub(super) fn report_duplicate(&mut self, prompt: &Map<String, Value>, identifier: &str) {
        let what = format!("left out: another prompt already has the identifier \"{identifier}\"");
        self.report.push(ConversionNote::new(
            format!("prompt: {}", shown_name(prompt)),
            what,
        ));
    }

    /// The prompts that `order` names, which are removed from `prompts`.
    pub(super) fn ordered(
        &mut self,
        order: &[Value],
        prompts: &mut PromptsById<'m>,
    ) -> Vec<PromptEntry<'m>> {
        let mut entries = Vec::new();
        for one in order.iter().filter_map(Value::as_object) {
            let identifier = text(one, "identifier");
            match prompts.remove(identifier) {
                Some(prompt) => entries.push((prompt, is_enabled(one))),
                None => self.report.push(ConversionNote::new(
                    format!("prompt_order: {identifier}"),
                    "there is no such prompt",
                )),
            }
        }
        entries
    }

    pub(super) fn report_history(&mut self, entries: &[PromptEntry<'m>]) {
        let history = entries
            .iter()
            .find(|(prompt, _)| text(prompt, "identifier") == "chatHistory");
        if history.is_none_or(|(_, on)| !on) {
            let what = "switched off or absent in the preset; here the chat and the user's message are always sent";
            self.report
                .push(ConversionNote::new("prompt: chatHistory", what));
        }
    }

    pub(super) fn limit(&mut self, entries: &mut Vec<PromptEntry<'m>>) {
        if entries.len() > MOST {
            let what = format!(
                "{} prompts are left out; a template holds {MOST}",
                entries.len() - MOST
            );
            self.report.push(ConversionNote::new("prompts", what));
            entries.truncate(MOST);
        }
    }

    /// Reports prompts without an identifier and entries that are not prompts.
    pub(super) fn report_invalid(&mut self, nameless: &[&Map<String, Value>]) {
        let ordered = self.preset.get("prompt_order").is_some_and(Value::is_array);
        for prompt in nameless.iter().take(NAMED) {
            let what = if ordered {
                "it has no identifier, so no order names it; it is kept, switched off"
            } else {
                "it has no identifier"
            };
            self.report.push(ConversionNote::new(
                format!("prompt: {}", shown_name(prompt)),
                what,
            ));
        }
        let odd = prompts_of(self.preset)
            .filter(|one| !one.is_object())
            .count();
        if odd > 0 {
            self.report.push(ConversionNote::new(
                "prompts",
                format!("{odd} entries of the list are not prompts and are left out"),
            ));
        }
    }

    pub(super) fn order(&mut self) -> Option<&'m Vec<Value>> {
        let order = self
            .preset
            .get("prompt_order")
            .filter(|order| !order.is_null())?;
        let Some(lists) = order.as_array() else {
            let what = "not a list, so the prompts keep the order of their own list";
            self.report.push(ConversionNote::new("prompt_order", what));
            return None;
        };
        // Older presets have one order instead of one list per character.
        if lists.iter().any(|one| one.get("identifier").is_some()) {
            return Some(lists);
        }
        if lists.len() > 1 {
            self.report.push(ConversionNote::new(
                "prompt_order",
                "one list is used for all characters; the others are left out",
            ));
        }
        let of = |id: u64| {
            lists
                .iter()
                .find(|list| list["character_id"].as_u64() == Some(id))
        };
        let list = EVERYONE.into_iter().find_map(of).or(lists.first())?;
        list["order"].as_array()
    }
}
