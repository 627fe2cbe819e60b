//! RisuAI presets: converts the prompt template, or the fixed order of older presets, to prompt
//! manager entries, which [`prompt_manager`] then converts.

use serde_json::{Map, Value, json};

use super::prompt_manager;
use crate::convert::converted::Converted;
use crate::convert::note::ConversionNote;
use crate::convert::sections::text;

/// The value of unset numbers in RisuAI presets.
const UNSET: f64 = -1_000.0;

/// Samplers that RisuAI stores in hundredths, with the names that the sampler converter reads.
const HUNDREDTHS: [(&str, &str); 3] = [
    ("temperature", "temperature"),
    ("frequencyPenalty", "frequency_penalty"),
    ("PresensePenalty", "presence_penalty"),
];
const AS_THEY_ARE: [(&str, &str); 6] = [
    ("top_p", "top_p"),
    ("top_k", "top_k"),
    ("min_p", "min_p"),
    ("repetition_penalty", "repetition_penalty"),
    ("maxResponse", "openai_max_tokens"),
    ("maxContext", "openai_max_context"),
];

/// Names in the order of older presets, with the types of template items.
const ORDERED: [(&str, &str); 8] = [
    ("personaPrompt", "persona"),
    ("description", "description"),
    ("lorebook", "lorebook"),
    ("chats", "chat"),
    ("lastChat", "rest"),
    ("authorNote", "authornote"),
    ("postEverything", "postEverything"),
    ("memory", "memory"),
];

/// True for a RisuAI preset; no other app writes these two fields.
pub(super) fn is_risuai(preset: &Map<String, Value>) -> bool {
    preset.contains_key("mainPrompt")
        && ["formatingOrder", "promptTemplate"]
            .iter()
            .any(|field| preset.contains_key(*field))
}

pub(super) fn convert(preset: &Map<String, Value>, converted: &mut Converted) {
    let items = match preset
        .get("promptTemplate")
        .and_then(Value::as_array)
        .filter(|items| !items.is_empty())
    {
        Some(items) => items.clone(),
        None => ordered(preset),
    };
    let mut list = List {
        prompts: Vec::new(),
        on: Vec::new(),
        history: false,
        report: &mut converted.report,
    };
    list.read(&items);
    let order: Vec<Value> = list
        .prompts
        .iter()
        .zip(&list.on)
        .map(|(prompt, on)| json!({ "identifier": prompt["identifier"], "enabled": on }))
        .collect();
    let mut manager = samplers(preset);
    manager.insert("prompts".to_owned(), list.prompts.into());
    manager.insert(
        "prompt_order".to_owned(),
        json!([{ "character_id": 100_001, "order": order }]),
    );
    if let Some(scripts) = preset
        .get("regex")
        .and_then(Value::as_array)
        .filter(|scripts| !scripts.is_empty())
    {
        let what = format!(
            "{} scripts are kept in the file but do not run, because they are not SillyTavern scripts",
            scripts.len()
        );
        converted.report.push(ConversionNote::new("regex", what));
    }
    prompt_manager::convert(&manager, converted);
}

fn samplers(preset: &Map<String, Value>) -> Map<String, Value> {
    let number = |field: &str| {
        preset
            .get(field)
            .and_then(Value::as_f64)
            .filter(|number| *number != UNSET)
    };
    let hundredths = HUNDREDTHS
        .iter()
        .filter_map(|(theirs, ours)| Some((*ours, number(theirs)? / 100.0)));
    let others = AS_THEY_ARE
        .iter()
        .filter_map(|(theirs, ours)| Some((*ours, number(theirs)?)));
    hundredths
        .chain(others)
        .map(|(name, number)| (name.to_owned(), json!(number)))
        .collect()
}

/// Converts the texts and the order of an older preset to template items.
fn ordered(preset: &Map<String, Value>) -> Vec<Value> {
    let plain = |type2: &str, field: &str| json!({ "type": "plain", "type2": type2, "text": text(preset, field), "role": "system" });
    let item = |name: &str| match name {
        "main" => Some(plain("main", "mainPrompt")),
        "jailbreak" => Some(
            json!({ "type": "jailbreak", "text": text(preset, "jailbreak"), "role": "system" }),
        ),
        "globalNote" => Some(plain("globalNote", "globalNote")),
        other => ORDERED
            .iter()
            .find(|(name, _)| *name == other)
            .map(|(_, kind)| json!({ "type": kind })),
    };
    let names = preset
        .get("formatingOrder")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    names.filter_map(|name| item(name.as_str()?)).collect()
}

/// Prompt manager entries under construction.
struct List<'r> {
    prompts: Vec<Value>,
    /// Whether each prompt is enabled.
    on: Vec<bool>,
    /// The chat history already has a position.
    history: bool,
    report: &'r mut Vec<ConversionNote>,
}

impl List<'_> {
    fn read(&mut self, items: &[Value]) {
        for (at, item) in items
            .iter()
            .enumerate()
            .filter_map(|(at, item)| Some((at, item.as_object()?)))
        {
            let depth = items[at + 1..]
                .iter()
                .find_map(depth_of_chat)
                .filter(|_| self.history);
            self.item(at, item, depth);
        }
        if !self.history {
            self.marker("chatHistory");
        }
    }

    /// `depth` is set for items between two parts of the chat history.
    fn item(&mut self, at: usize, item: &Map<String, Value>, depth: Option<i64>) {
        match text(item, "type") {
            "plain" | "jailbreak" | "cot" => self.add_text(at, item, depth),
            "persona" => self.framed(at, item, "personaDescription", "{{persona}}"),
            "description" => {
                self.framed(at, item, "charDescription", "{{description}}");
                self.marker("charPersonality");
                self.marker("scenario");
            }
            "lorebook" => self.marker("worldInfoBefore"),
            "chat" if !self.history => {
                self.marker("dialogueExamples");
                self.marker("chatHistory");
                self.history = true;
            }
            // The rest of the history, the text after it, and cache hints for providers need no
            // entry.
            "chat" | "rest" | "postEverything" | "cache" => {}
            kind @ ("memory" | "authornote") => {
                self.report.push(ConversionNote::new(
                    kind,
                    "left out: it has its own place here",
                ));
            }
            kind => {
                let kind: String = kind.chars().take(40).collect();
                self.report.push(ConversionNote::new(
                    format!("promptTemplate[{at}]"),
                    format!("left out: a part of kind \"{kind}\""),
                ));
            }
        }
    }

    fn add_text(&mut self, at: usize, item: &Map<String, Value>, depth: Option<i64>) {
        let kind = text(item, "type");
        let place = text(item, "type2");
        // A card may replace these two prompts.
        let identifier = match (kind, place) {
            ("plain", "main") if self.is_free("main") => "main".to_owned(),
            ("plain", "globalNote") if self.is_free("jailbreak") => "jailbreak".to_owned(),
            _ => format!("risuai-{at}"),
        };
        let role = match text(item, "role") {
            "bot" => "assistant",
            "user" => "user",
            _ => "system",
        };
        let name = [text(item, "name"), place, kind]
            .into_iter()
            .find(|name| !name.is_empty() && *name != "normal");
        let mut prompt = json!({
            "identifier": identifier, "name": name.unwrap_or("plain"), "role": role,
            "content": text(item, "text").replace("{{slot}}", ""), "system_prompt": identifier == "main",
        });
        if let Some(depth) = depth {
            prompt["injection_position"] = 1.into();
            prompt["injection_depth"] = depth.into();
        }
        self.prompts.push(prompt);
        self.on.push(kind != "jailbreak");
        if kind == "jailbreak" {
            self.report.push(ConversionNote::new(
                "jailbreak",
                "switched off, as in RisuAI until a chat switches it on",
            ));
        }
    }

    /// Adds a part of the card, inside the author's format if there is one.
    fn framed(&mut self, at: usize, item: &Map<String, Value>, identifier: &str, part: &str) {
        let frame = text(item, "innerFormat");
        if frame.trim().is_empty() || frame.trim() == "{{slot}}" {
            return self.marker(identifier);
        }
        self.prompts.push(json!({
            "identifier": format!("risuai-{at}"), "name": identifier, "role": "system",
            "content": frame.replace("{{slot}}", part),
        }));
        self.on.push(true);
    }

    fn marker(&mut self, identifier: &str) {
        if self.is_free(identifier) {
            let name = identifier;
            self.prompts.push(json!({ "identifier": identifier, "name": name, "marker": true, "system_prompt": true }));
            self.on.push(true);
        }
    }

    fn is_free(&self, identifier: &str) -> bool {
        self.prompts
            .iter()
            .all(|prompt| prompt["identifier"] != identifier)
    }
}

/// The distance from the end of the chat at which an item of the history begins.
fn depth_of_chat(item: &Value) -> Option<i64> {
    let start = item
        .get("rangeStart")
        .and_then(Value::as_i64)
        .filter(|_| item["type"] == "chat")?;
    Some(start.saturating_neg()).filter(|depth| (0..10_000).contains(depth))
}

#[cfg(test)]
mod tests {
    use domain::settings::ConfigValue;
    use serde_json::json;

    use crate::convert::convert;
    use crate::convert::converted::Converted;
    use crate::convert::converted::ConvertedKind;
    use crate::prompt_template::SectionPlacement;

    fn read(preset: serde_json::Value) -> Converted {
        let converted = convert("Lantern", &preset.to_string()).unwrap();
        assert_eq!(converted.kind, ConvertedKind::RisuAi);
        converted
    }

    fn sections(converted: &Converted) -> Vec<String> {
        converted.templates[0]
            .sections
            .iter()
            .map(|section| section.name.clone())
            .collect()
    }

    #[test]
    fn keeps_texts_and_order_of_risuai_template() {
        let converted = read(
            json!({"name": "Lantern", "mainPrompt": "", "temperature": 80, "frequencyPenalty": -1000,
            "top_p": 0.9, "maxResponse": 300, "promptTemplate": [
                {"type": "plain", "type2": "main", "text": "Play {{char}}.", "role": "system"},
                {"type": "persona", "innerFormat": "About {{user}}: {{slot}}"},
                {"type": "description"}, {"type": "lorebook"},
                {"type": "chat", "rangeStart": 0, "rangeEnd": -2},
                {"type": "plain", "type2": "normal", "name": "Nudge", "text": "Be brief.", "role": "system"},
                {"type": "chat", "rangeStart": -2, "rangeEnd": "end"},
                {"type": "plain", "type2": "globalNote", "text": "Never break character.", "role": "bot"},
                {"type": "memory"}, {"type": "jailbreak", "text": "Anything.", "role": "system"}, {"type": "moon"}]}),
        );
        let names = sections(&converted);
        let at = |name: &str| {
            names
                .iter()
                .position(|one| one == name)
                .unwrap_or_else(|| panic!("{name} of {names:?}"))
        };
        assert!(
            at("main") < at("personaDescription")
                && at("personaDescription") < at("charDescription"),
            "{names:?}"
        );
        let nudge = &converted.templates[0].sections[at("Nudge")];
        assert_eq!(
            (nudge.placement, nudge.depth),
            (Some(SectionPlacement::InChat), Some(2))
        );
        let values = converted.sampling.unwrap().values;
        assert_eq!(values["temperature"], ConfigValue::Number(0.8));
        assert_eq!(
            (
                values.contains_key("frequency_penalty"),
                &values["max_tokens"]
            ),
            (false, &ConfigValue::Whole(300))
        );
        let reported: Vec<&str> = converted
            .report
            .iter()
            .map(|note| note.field.as_str())
            .collect();
        assert!(
            ["memory", "jailbreak", "promptTemplate[10]"]
                .iter()
                .all(|field| reported.contains(field)),
            "{reported:?}"
        );
    }

    #[test]
    fn older_preset_uses_its_formating_order() {
        let converted = read(
            json!({"mainPrompt": "Play.", "jailbreak": "x", "globalNote": "Stay.",
            "formatingOrder": ["main", "description", "personaPrompt", "chats", "lastChat", "globalNote", 7, "lorebook"]}),
        );
        assert_eq!(converted.name, "Lantern");
        let names = sections(&converted);
        let at = |name: &str| {
            names
                .iter()
                .position(|one| one == name)
                .unwrap_or_else(|| panic!("{name} of {names:?}"))
        };
        assert!(at("main") < at("charDescription"), "{names:?}");
    }
}
