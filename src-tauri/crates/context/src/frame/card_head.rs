//! The plain head of a card: its fields in the usual order, for prompts that no template composes.

use domain::card::macros::{Names, expand};
use domain::prompt::PromptRole;

use super::{BlockKind, HeadPart, Source};

/// The fields of a card and of the persona, with macros as their makers wrote them.
#[derive(Debug, Clone, Copy)]
pub struct CardHead<'a> {
    /// `{{char}}`: the nickname, else the name.
    pub character: &'a str,
    pub description: &'a str,
    pub personality: &'a str,
    pub scenario: &'a str,
    pub examples: &'a str,
    /// The card's own system prompt; replaces `rules`, which it may embed as `{{original}}` (V2-04..06).
    pub system_prompt: &'a str,
    pub post_history: &'a str,
    /// `{{user}}`.
    pub persona: &'a str,
    pub persona_description: &'a str,
    /// The product's own rules.
    pub rules: &'a str,
}

/// The head in prompt order, without the fields that are empty.
pub fn card_head(card: &CardHead<'_>) -> Vec<HeadPart> {
    let names = Names { char: card.character, user: card.persona, original: None };
    let say = |text: &str| expand(text, &names).trim().to_owned();
    let labelled = |label: &str, text: &str| match say(text) {
        text if text.is_empty() => text,
        text => format!("{label}: {text}"),
    };
    let field = |name: &str| Source::CardField { card: card.character.to_owned(), field: name.to_owned() };
    let persona = Source::Persona { name: card.persona.to_owned() };
    let about_user = format!("About {}", card.persona);
    let (rules_source, rules) = rules(card, &names, field("systemPrompt"));
    // There is no text of the user's own after the history that a card could embed (V2-10).
    let post_history = expand(card.post_history, &Names { original: Some(""), ..names }).trim().to_owned();
    let examples = labelled("Examples of how they talk", &without_start_marks(card.examples));
    let parts = [
        (BlockKind::Rules, rules_source, rules),
        (BlockKind::Description, field("description"), say(card.description)),
        (BlockKind::Personality, field("personality"), labelled("Personality", card.personality)),
        (BlockKind::Scenario, field("scenario"), labelled("Scenario", card.scenario)),
        (BlockKind::Persona, persona, labelled(&about_user, card.persona_description)),
        (BlockKind::Examples, field("examples"), examples),
        (BlockKind::PostHistory, field("postHistory"), post_history),
    ];
    let filled = parts.into_iter().filter(|(_, _, text)| !text.is_empty());
    filled
        .map(|(kind, source, text)| HeadPart {
            kind,
            source,
            reason: reason(kind).to_owned(),
            role: PromptRole::System,
            text,
        })
        .collect()
}

fn rules(card: &CardHead<'_>, names: &Names<'_>, own_source: Source) -> (Source, String) {
    let built_in = expand(card.rules, names).trim().to_owned();
    match card.system_prompt.trim() {
        "" => (Source::BuiltIn, built_in),
        own => (own_source, expand(own, &Names { original: Some(&built_in), ..*names }).trim().to_owned()),
    }
}

fn reason(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Examples => "kept while there is room",
        BlockKind::PostHistory => "in the head, so that the prompt only grows at its end",
        _ => "always",
    }
}

/// `<START>` marks the blocks of examples; the marker itself says nothing to a model (V1-06).
fn without_start_marks(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.trim().eq_ignore_ascii_case("<start>"));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}
