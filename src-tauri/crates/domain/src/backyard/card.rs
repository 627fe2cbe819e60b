//! Builds a V3 card from a Backyard character.

use serde_json::{Map, Value, json};

use super::scenario::{BackyardSampling, Scenario};
use crate::backyard::json::{macros, objects, text};
use crate::card::Card;
use crate::card::{CardError, Warning, parse};

/// The parts of a card while it is built.
#[derive(Default)]
pub(super) struct Parts {
    name: String,
    nickname: String,
    description: String,
    lore: Vec<Value>,
    pub(super) creator: String,
    pub(super) assets: Vec<Value>,
    opening: Option<Scenario>,
    greetings: Vec<String>,
    /// The source documents, to keep in `extensions`.
    pub(super) raw: Value,
}

impl Parts {
    /// Starts from an archive's character. `name` becomes the nickname, because Backyard uses it
    /// for macros.
    pub(super) fn of_character(document: &Map<String, Value>) -> Self {
        Self::named(text(document, "displayName"), text(document, "name"))
            .with(text(document, "persona"), objects(document, "loreItems"))
    }

    /// Adds a scenario. The first one provides the card's scenario and system prompt; later ones
    /// add only a greeting.
    pub(super) fn add(&mut self, scenario: &Scenario) {
        let greeting = &scenario.greeting;
        if !greeting.trim().is_empty() && !self.greetings.contains(greeting) {
            self.greetings.push(greeting.clone());
        }
        if self.opening.is_none() {
            self.opening = Some(Scenario {
                messages: Vec::new(),
                ..scenario.clone()
            });
        }
    }

    pub(super) fn into_card(self) -> Result<(Card, Vec<Warning>), CardError> {
        let opening = self.opening.unwrap_or_default();
        let mut greetings = self.greetings.into_iter();
        let first = greetings.next().unwrap_or_default();
        let alternates: Vec<String> = greetings.collect();
        let mut data = json!({
            "name": self.name,
            "nickname": self.nickname,
            "description": self.description,
            "scenario": opening.scenario,
            "first_mes": first,
            "mes_example": opening.examples,
            "system_prompt": opening.system_prompt,
            "alternate_greetings": alternates,
            "creator": self.creator,
            "extensions": { "backyard": self.raw },
        });
        if !self.assets.is_empty() {
            data["assets"] = self.assets.into();
        }
        if !self.lore.is_empty() {
            data["character_book"] = json!({ "name": "", "entries": self.lore, "extensions": {} });
        }
        let root = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data });
        // Parses the JSON like a file, which applies the limits and checks the name.
        let (card, warnings) = parse::card(root.to_string().as_bytes(), None)?;
        Ok((card.complete(), warnings))
    }

    fn named(full: &str, short: &str) -> Self {
        let full = full.trim();
        let short = short.trim();
        let name = if full.is_empty() { short } else { full };
        let nickname = if short == name { "" } else { short };
        Self {
            name: name.to_owned(),
            nickname: nickname.to_owned(),
            ..Self::default()
        }
    }

    fn with<'a>(
        mut self,
        persona: &str,
        lore: impl Iterator<Item = &'a Map<String, Value>>,
    ) -> Self {
        self.description = macros(persona);
        self.lore = lore.enumerate().map(|(at, item)| entry(at, item)).collect();
        self
    }
}

/// Reads the card JSON from a picture that an old Backyard version wrote. Returns `None` for any
/// other JSON.
///
/// # Errors
/// [`CardError`] if the character has no usable name.
pub(crate) fn legacy(root: &Map<String, Value>) -> Option<Result<(Card, Vec<Warning>), CardError>> {
    let character = root
        .get("character")
        .and_then(Value::as_object)
        .unwrap_or(root);
    let is_legacy = ["aiName", "aiDisplayName", "aiPersona"]
        .iter()
        .any(|key| character.contains_key(*key));
    if !is_legacy || root.contains_key("spec") || root.contains_key("data") {
        return None;
    }
    let mut parts = Parts::named(text(character, "aiDisplayName"), text(character, "aiName")).with(
        text(character, "aiPersona"),
        objects(character, "loreItems"),
    );
    let examples = macros(text(character, "customDialogue"));
    parts.add(&Scenario {
        scenario: macros(text(character, "scenario")),
        system_prompt: macros(text(character, "basePrompt")),
        examples: if examples.trim().is_empty() {
            String::new()
        } else {
            format!("<START>\n{examples}")
        },
        greeting: macros(text(character, "firstMessage")),
        sampling: BackyardSampling::read(character),
        ..Scenario::default()
    });
    parts.raw = Value::Object(root.clone());
    Some(parts.into_card())
}

/// Returns the sampler values of a Backyard character, from the documents kept in its card.
pub fn sampling(card: &Card) -> Option<BackyardSampling> {
    let documents = card.extensions()?.get("backyard")?;
    let scenario = documents.get("scenarios").and_then(|all| all.get(0));
    let own = scenario
        .or_else(|| documents.get("character"))
        .unwrap_or(documents);
    own.as_object().map(BackyardSampling::read)
}

/// Backyard stores all keys in one comma-separated string.
fn entry(at: usize, item: &Map<String, Value>) -> Value {
    let keys: Vec<&str> = text(item, "key")
        .split(',')
        .map(str::trim)
        .filter(|key| !key.is_empty())
        .collect();
    json!({
        "keys": keys, "content": macros(text(item, "value")), "extensions": {}, "enabled": true, "insertion_order": at,
        "use_regex": false, "constant": false, "id": at,
    })
}
