//! The frame: every candidate block with where it comes from and why it is here (S0.3).

use domain::card::macros::{Names, expand};
use domain::chat::Role;
use domain::{MessageId, Timestamp};

/// Zones of the prompt, top to bottom (design, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// Rules, character, persona, scenario, examples: changes when a card or a setting is edited.
    Head,
    /// Messages from the anchor on, with their frozen context blocks.
    Window,
    /// This turn's context block and the user's words.
    Input,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    Rules,
    Description,
    Personality,
    Scenario,
    Persona,
    Examples,
    PostHistory,
    ContextBlock,
    Message,
}

impl BlockKind {
    /// As the X-ray and the command line name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Description => "description",
            Self::Personality => "personality",
            Self::Scenario => "scenario",
            Self::Persona => "persona",
            Self::Examples => "examples",
            Self::PostHistory => "postHistory",
            Self::ContextBlock => "contextBlock",
            Self::Message => "message",
        }
    }
}

/// One candidate for the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub zone: Zone,
    pub kind: BlockKind,
    /// The message it belongs to.
    pub message: Option<MessageId>,
    pub role: Role,
    /// Where it comes from, in words.
    pub source: String,
    /// Why it is a candidate.
    pub reason: &'static str,
    pub text: String,
}

/// All candidates, in prompt order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    pub blocks: Vec<Block>,
}

/// A message as the prompt sees it: the shown swipe and what was sent in front of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryMessage {
    pub id: MessageId,
    pub role: Role,
    pub text: String,
    pub context_block: Option<String>,
    pub created: Timestamp,
}

/// Everything one turn is made of.
#[derive(Debug, Clone)]
pub struct Sources<'a> {
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
    /// From the anchor on, oldest first. The last one is what is answered, or the reply to go on with.
    pub history: &'a [HistoryMessage],
}

/// Collects the candidates of a turn.
pub fn frame(sources: &Sources<'_>) -> Frame {
    let mut blocks = head(sources);
    for (index, message) in sources.history.iter().enumerate() {
        let answered = index + 1 == sources.history.len() && message.role != Role::Character;
        blocks.extend(of_message(message, if answered { Zone::Input } else { Zone::Window }, sources));
    }
    Frame { blocks }
}

fn head(sources: &Sources<'_>) -> Vec<Block> {
    let names = Names { char: sources.character, user: sources.persona, original: None };
    let say = |text: &str| expand(text, &names).trim().to_owned();
    let built_in = say(sources.rules);
    let rules = match sources.system_prompt.trim() {
        "" => built_in,
        own => expand(own, &Names { original: Some(&built_in), ..names }).trim().to_owned(),
    };
    // There is no text of the user's own after the history that a card could embed (V2-10).
    let post_history = expand(sources.post_history, &Names { original: Some(""), ..names }).trim().to_owned();
    let labelled = |label: &str, text: &str| match say(text) {
        text if text.is_empty() => text,
        text => format!("{label}: {text}"),
    };
    let card = || format!("card of {}", sources.character);
    let about_user = format!("About {}", sources.persona);
    let candidates = [
        (BlockKind::Rules, rules, if sources.system_prompt.trim().is_empty() { "built in".to_owned() } else { card() }),
        (BlockKind::Description, say(sources.description), card()),
        (BlockKind::Personality, labelled("Personality", sources.personality), card()),
        (BlockKind::Scenario, labelled("Scenario", sources.scenario), card()),
        (
            BlockKind::Persona,
            labelled(&about_user, sources.persona_description),
            format!("persona {}", sources.persona),
        ),
        (BlockKind::Examples, labelled("Examples of how they talk", &examples(sources.examples)), card()),
        (BlockKind::PostHistory, post_history, card()),
    ];
    candidates
        .into_iter()
        .filter(|(_, text, _)| !text.is_empty())
        .map(|(kind, text, source)| Block {
            zone: Zone::Head,
            kind,
            message: None,
            role: Role::Narrator,
            source,
            reason: reason(kind),
            text,
        })
        .collect()
}

fn reason(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Examples => "kept while there is room",
        BlockKind::PostHistory => "in the head, so that the prompt only grows at its end",
        _ => "always",
    }
}

/// `<START>` marks the blocks of examples; the marker itself says nothing to a model (V1-06).
fn examples(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.trim().eq_ignore_ascii_case("<start>"));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn of_message(message: &HistoryMessage, zone: Zone, sources: &Sources<'_>) -> impl Iterator<Item = Block> {
    let speaker = match message.role {
        Role::User => sources.persona,
        Role::Character => sources.character,
        Role::Narrator | Role::Tool | Role::Event => message.role.as_str(),
    };
    let block = |kind, text: &str, source, reason| Block {
        zone,
        kind,
        message: Some(message.id),
        role: message.role,
        source,
        reason,
        text: text.trim().to_owned(),
    };
    let context = message.context_block.as_deref().map(|text| {
        block(BlockKind::ContextBlock, text, "date and time".to_owned(), "sent with this message, and kept with it")
    });
    let why = if zone == Zone::Input { "what is answered" } else { "in the window" };
    context.into_iter().chain([block(BlockKind::Message, &message.text, format!("said by {speaker}"), why)])
}
