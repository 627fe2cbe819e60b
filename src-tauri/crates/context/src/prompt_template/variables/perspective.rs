//! Derives a character's writing style from the personality on the card, never from the gender.

use crate::prompt_template::variables::derive;
use crate::prompt_template::variables::inputs::Inputs;

pub(crate) const INPUTS: &[&str] = &[
    "character.name",
    "character.personality",
    "character.tags",
    "character.speech",
    "character.mood",
    "character.they",
    "character.their",
];

/// A personality trait that affects the writing style.
struct Trait {
    words: &'static [&'static str],
    speech: &'static str,
    casual: &'static str,
}

const TRAITS: &[Trait] = &[
    Trait {
        words: &["shy", "timid", "bashful", "introverted", "quiet"],
        speech: "soft, hesitant, in few words",
        casual: "short and hesitant",
    },
    Trait {
        words: &["confident", "bold", "assertive", "proud", "dominant"],
        speech: "plain and sure, without hedging",
        casual: "short and sure",
    },
    Trait {
        words: &["playful", "teasing", "mischievous", "flirty", "cheeky"],
        speech: "teasing, quick to joke",
        casual: "teasing, an emoji now and then",
    },
    Trait {
        words: &["cheerful", "energetic", "bubbly", "optimistic", "excitable"],
        speech: "bright and lively",
        casual: "lively, with exclamation marks",
    },
    Trait {
        words: &["kind", "gentle", "caring", "warm", "compassionate"],
        speech: "warm and patient",
        casual: "warm and friendly",
    },
    Trait {
        words: &["stern", "strict", "serious", "stoic", "aloof", "reserved"],
        speech: "sparing, feelings kept back",
        casual: "dry, no emojis",
    },
    Trait {
        words: &["sarcastic", "cynical", "snarky", "witty"],
        speech: "dry and quick-witted",
        casual: "dry one-liners",
    },
    Trait {
        words: &[
            "scholarly",
            "studious",
            "bookish",
            "nerdy",
            "analytical",
            "curious",
        ],
        speech: "precise, glad to explain",
        casual: "whole sentences, well spelled",
    },
    Trait {
        words: &["grumpy", "irritable", "gruff", "grouchy"],
        speech: "gruff and short",
        casual: "gruff, lowercase",
    },
    Trait {
        words: &["formal", "polite", "noble", "aristocratic"],
        speech: "polite and formal",
        casual: "polite, no slang",
    },
    Trait {
        words: &["anxious", "nervous", "worried"],
        speech: "uneasy, with second thoughts",
        casual: "many small messages, second thoughts",
    },
    Trait {
        words: &["gloomy", "melancholic", "brooding", "sad"],
        speech: "slow and wistful",
        casual: "quiet, lowercase",
    },
    Trait {
        words: &["dramatic", "theatrical", "flamboyant"],
        speech: "grand and full of pictures",
        casual: "grand, ALL CAPS now and then",
    },
    Trait {
        words: &["mysterious", "secretive", "enigmatic"],
        speech: "in hints, saying less than is known",
        casual: "short riddles",
    },
];

/// Maximum number of traits in one line.
const MOST: usize = 3;

/// The traits in the card, in order of appearance. Negated traits ("not shy") are skipped.
fn traits(of: &Inputs<'_>) -> Vec<&'static Trait> {
    let text = format!(
        "{} {}",
        of.text("character.personality"),
        of.list("character.tags").join(" ")
    )
    .to_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut found: Vec<&'static Trait> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let denied = at > 0 && matches!(words[at - 1], "not" | "never" | "hardly" | "t");
        let named = TRAITS
            .iter()
            .find(|one| !denied && one.words.contains(word));
        if let Some(named) =
            named.filter(|named| !found.iter().any(|other| std::ptr::eq(*other, *named)))
        {
            found.push(named);
        }
    }
    found.truncate(MOST);
    found
}

pub(crate) fn speech(of: &Inputs<'_>) -> String {
    let written = of.text("character.speech").into_owned();
    if written.is_empty() {
        traits(of)
            .iter()
            .map(|one| one.speech)
            .collect::<Vec<_>>()
            .join("; ")
    } else {
        written
    }
}

pub(crate) fn dynamic(of: &Inputs<'_>) -> String {
    let lines = [
        (
            "Personality",
            derive::sentences(&of.text("character.personality"), 200),
        ),
        ("Speech", speech(of)),
        ("Mood", of.text("character.mood").into_owned()),
    ];
    let lines: Vec<String> = lines
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(label, text)| format!("- {label}: {text}"))
        .collect();
    if lines.is_empty() {
        neutral(of)
    } else {
        format!("How {} writes:\n{}", name(of), lines.join("\n"))
    }
}

pub(crate) fn casual(of: &Inputs<'_>) -> String {
    let written = of.text("character.speech").into_owned();
    let style = if written.is_empty() {
        traits(of)
            .iter()
            .map(|one| one.casual)
            .collect::<Vec<_>>()
            .join("; ")
    } else {
        written
    };
    format!(
        "Text style: {}.",
        if style.is_empty() {
            "relaxed and natural"
        } else {
            style.trim_end_matches('.')
        }
    )
}

pub(crate) fn plain(of: &Inputs<'_>) -> String {
    let name = name(of);
    let their = of.text("character.their");
    let speech = speech(of);
    match (
        speech.is_empty(),
        of.text("character.personality").is_empty(),
    ) {
        (false, _) => format!("{name} sounds like this: {}.", speech.trim_end_matches('.')),
        (true, false) => format!("Let {name} be seen in {their} words and actions."),
        (true, true) => neutral(of),
    }
}

fn neutral(of: &Inputs<'_>) -> String {
    format!("Write naturally, as {} would.", name(of))
}

fn name(of: &Inputs<'_>) -> String {
    match of.text("character.name") {
        name if name.is_empty() => "the character".to_owned(),
        name => name.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Given, TemplateVariables};

    const ALL: [&str; 4] = [
        "perspective",
        "perspective.plain",
        "perspective.casual",
        "perspective.dynamic",
    ];

    fn of(personality: &str, gender: &str) -> TemplateVariables {
        let given = Given::default()
            .text("character.name", "Mira")
            .text("character.personality", personality)
            .text("character.gender", gender);
        TemplateVariables::resolve(given).unwrap()
    }

    fn all(variables: &TemplateVariables) -> String {
        ALL.map(|name| variables.text(name).unwrap().into_owned())
            .join("\n")
    }

    #[test]
    fn gender_changes_only_pronouns() {
        for personality in [
            "Shy and kind.",
            "A dominant, proud queen.",
            "Collects stamps.",
            "",
        ] {
            let her = all(&of(personality, "female"));
            let his = all(&of(personality, "male"));
            let neutral = |text: &str| text.replace(" her ", " their ").replace(" his ", " their ");
            assert_eq!(neutral(&her), neutral(&his));
        }
    }

    #[test]
    fn shy_character_gets_no_bold_style() {
        let text = all(&of(
            "A shy, timid man who is not confident and never dominant.",
            "male",
        ));
        assert!(text.contains("soft, hesitant"), "{text}");
        for word in ["sure", "plain and", "assertive"] {
            assert!(!text.contains(word), "{text}");
        }
    }

    #[test]
    fn style_follows_the_card() {
        let text = of("Gruff but kind. Runs the ferry.", "")
            .text("perspective.dynamic")
            .unwrap()
            .into_owned();
        insta::assert_snapshot!(text, @r"
        How Mira writes:
        - Personality: Gruff but kind. Runs the ferry.
        - Speech: gruff and short; warm and patient
        ");
    }

    #[test]
    fn style_without_personality_is_neutral() {
        assert_eq!(
            of("", "female").text("perspective").unwrap(),
            "Write naturally, as Mira would."
        );
        assert_eq!(
            of("", "female").text("perspective.casual").unwrap(),
            "Text style: relaxed and natural."
        );
        assert_eq!(
            of("", "female").text("perspective.dynamic").unwrap(),
            "Write naturally, as Mira would."
        );
    }

    #[test]
    fn uses_tags_as_personality() {
        let given = Given::default()
            .text("character.name", "Mira")
            .list("character.tags", ["Sarcastic".into()]);
        let variables = TemplateVariables::resolve(given).unwrap();
        assert_eq!(
            variables.text("perspective").unwrap(),
            "Mira sounds like this: dry and quick-witted."
        );
    }
}
