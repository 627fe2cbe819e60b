//! Computes derived variables.

use std::borrow::Cow;

use crate::prompt_template::variables::inputs::Inputs;

pub(crate) fn first_name(name: &str) -> String {
    name.split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned()
}

pub(crate) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// Whole sentences from the start of `text`, at most `most` characters; whole words if the first
/// sentence is longer.
pub fn sentences(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text;
    };
    let start = &text[..end];
    let mut ends = start.char_indices().filter(|(at, c)| {
        let next = text[at + c.len_utf8()..].chars().next();
        match c {
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            '。' | '！' | '？' => true,
            _ => false,
        }
    });
    match ends.next_back() {
        Some((at, c)) => start[..at + c.len_utf8()].to_owned(),
        None => start[..start.rfind(' ').unwrap_or(end)]
            .trim_end_matches([',', ';', ':'])
            .to_owned(),
    }
}

/// Replaces the `<START>` marks between example blocks with empty lines. The mark means nothing to
/// a model, and the empty line separates the conversations.
pub(crate) fn examples(text: &str) -> String {
    example_blocks(text).join("\n\n")
}

/// The example conversations, without their `<START>` marks.
pub(crate) fn example_blocks(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let blocks = lines.split(|line| line.trim().eq_ignore_ascii_case("<start>"));
    let blocks = blocks
        .map(|lines| lines.join("\n").trim().to_owned())
        .filter(|block| !block.is_empty());
    blocks.collect()
}

/// "31 year old woman", or the known part of it.
pub(crate) fn about(age: &str, gender: &str) -> String {
    match (age, gender) {
        ("", gender) => gender.to_owned(),
        (age, "") => format!("{age} years old"),
        (age, gender) => format!("{age} year old {gender}"),
    }
}

/// Pronouns of a person.
pub(crate) struct Pronouns {
    pub(crate) they: String,
    pub(crate) their: String,
}

/// Pronouns from `written`, such as `xe/xem/xyr`, else from the gender, else they/their.
pub(crate) fn pronouns(written: &str, gender: &str) -> Pronouns {
    let parts: Vec<String> = written
        .split('/')
        .map(|part| part.trim().to_lowercase())
        .collect();
    let (they, their) = match parts.as_slice() {
        [they, _, their, ..] if !they.is_empty() && !their.is_empty() => {
            (they.as_str(), their.as_str())
        }
        [they, ..] if !they.is_empty() => (they.as_str(), possessive(they)),
        _ => match gender.to_lowercase().as_str() {
            "female" | "woman" | "girl" | "f" => ("she", "her"),
            "male" | "man" | "boy" | "m" => ("he", "his"),
            _ => ("they", "their"),
        },
    };
    Pronouns {
        they: they.to_owned(),
        their: their.to_owned(),
    }
}

fn possessive(they: &str) -> &'static str {
    match they {
        "she" => "her",
        "he" => "his",
        "it" => "its",
        _ => "their",
    }
}

pub(crate) fn if_any(text: &str, words: impl FnOnce(&str) -> String) -> String {
    match text.trim() {
        "" => String::new(),
        text => words(text),
    }
}

/// Joins the non-empty texts with newlines.
pub(crate) fn joined<'t>(texts: impl IntoIterator<Item = Cow<'t, str>>) -> String {
    texts
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

pub(crate) fn scene(of: &Inputs<'_>) -> String {
    let scene = of.text("scene");
    if !scene.is_empty() {
        return format!("Scene: {scene}");
    }
    let line = |label: &str, name: &str| {
        Cow::Owned(if_any(&of.text(name), |text| format!("{label}: {text}")))
    };
    joined([
        line("Setting", "setting"),
        line("Land", "location.terrains"),
        line("People nearby", "population.people"),
        line("Animals nearby", "population.animals"),
    ])
}

pub(crate) fn episode(of: &Inputs<'_>) -> String {
    if_any(&of.text("episode.theme"), |theme| {
        let stages = of.list("episode.stages").join("; ");
        joined([
            Cow::Owned(format!("Episode: {theme}")),
            Cow::Owned(if_any(&stages, |stages| format!("Stages: {stages}"))),
            Cow::Owned(if_any(&of.text("episode.stage"), |stage| {
                format!("Now: {stage}")
            })),
            Cow::Owned(if_any(&of.text("episode.summary"), |summary| {
                format!("Before: {summary}")
            })),
        ])
    })
}

pub(crate) fn episode_reminder(of: &Inputs<'_>) -> String {
    if_any(&of.text("episode.theme"), |theme| {
        format!(
            "Episode: {theme}.{}",
            if_any(&of.text("episode.stage"), |stage| format!(" Now: {stage}."))
        )
    })
}

/// The film rating of a content rating, and its audience.
fn audience(rating: &str) -> Option<(&'static str, &'static str)> {
    match rating.to_uppercase().as_str() {
        "E" => Some(("G", "for everyone")),
        "E10" | "E10+" => Some(("PG", "for everyone above ten")),
        "T" => Some(("PG-13", "for teenagers")),
        "M" => Some(("R", "for grown-ups")),
        "AO" => Some(("NC-17", "for adults only")),
        _ => None,
    }
}

pub(crate) fn film_rating(rating: &str) -> &'static str {
    let unknown = if rating.is_empty() { "" } else { "not rated" };
    audience(rating).map_or(unknown, |(film, _)| film)
}

pub(crate) fn rating_line(rating: &str) -> String {
    if_any(rating, |rating| match audience(rating) {
        Some((film, readers)) => format!("Content rating: {rating} ({film}), {readers}."),
        None => format!("Content rating: {rating}."),
    })
}

pub(crate) fn memory(of: &Inputs<'_>) -> String {
    let part = |heading: &str, name: &str| {
        Cow::Owned(if_any(&of.text(name), |text| format!("{heading}:\n{text}")))
    };
    joined([
        part("Relationship", "memory.relationship"),
        part("Facts", "memory.facts"),
        part("Last time", "memory.lastSession"),
    ])
}

pub(crate) fn others(of: &Inputs<'_>) -> String {
    let next = of.text("group.next");
    let members = of.list("group.members").iter().map(String::as_str);
    members
        .filter(|name| *name != next)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::{Given, TemplateVariables};
    use super::*;

    fn value(name: &str, given: Given) -> String {
        TemplateVariables::resolve(given)
            .unwrap()
            .text(name)
            .unwrap()
            .into_owned()
    }

    #[test]
    fn cuts_at_the_end_of_a_sentence() {
        assert_eq!(
            sentences("She maps. She sails. She sleeps.", 22),
            "She maps. She sails."
        );
        assert_eq!(
            sentences("A very long sentence, without end", 23),
            "A very long sentence"
        );
        assert_eq!(
            sentences("彼女は静か。地図が好き。海に住む。", 13),
            "彼女は静か。地図が好き。"
        );
        assert_eq!(
            sentences("Version 2.5 is\nout.", 100),
            "Version 2.5 is out."
        );
        assert_eq!(sentences("", 5), "");
    }

    #[test]
    fn written_pronouns_precede_gender() {
        let their = |pronouns: &str, gender: &str| {
            let given = Given::default()
                .text("character.pronouns", pronouns)
                .text("character.gender", gender);
            let variables = TemplateVariables::resolve(given).unwrap();
            format!(
                "{} {}",
                variables.text("character.They").unwrap(),
                variables.text("character.their").unwrap()
            )
        };
        assert_eq!(their("", "female"), "She her");
        assert_eq!(their("", "Male"), "He his");
        assert_eq!(their("", ""), "They their");
        assert_eq!(their("he/him", "female"), "He his");
        assert_eq!(their("xe/xem/xyr", ""), "Xe xyr");
    }

    #[test]
    fn scene_takes_precedence_over_setting() {
        let setting = || {
            Given::default()
                .text("setting", "a harbour")
                .text("population.animals", "gulls")
        };
        assert_eq!(
            value("scene.auto", setting()),
            "Setting: a harbour\nAnimals nearby: gulls"
        );
        assert_eq!(
            value("scene.auto", setting().text("scene", "On the pier.")),
            "Scene: On the pier."
        );
        assert_eq!(value("scene.auto", Given::default()), "");
    }

    #[test]
    fn episode_has_theme_stages_and_past() {
        let given = Given::default()
            .text("episode.theme", "The storm")
            .list("episode.stages", ["clouds".into(), "rain".into()])
            .text("episode.stage", "rain");
        assert_eq!(
            value("episode", given.clone()),
            "Episode: The storm\nStages: clouds; rain\nNow: rain"
        );
        assert_eq!(
            value("episodeReminder", given.clone()),
            "Episode: The storm. Now: rain."
        );
        assert!(value("episodeRule", given).contains("#NEXT EPISODE#"));
        assert_eq!(value("episodeRule", Given::default()), "");
    }

    #[test]
    fn rating_line_stays_short() {
        for rating in ["E", "E10", "T", "M", "AO", "RC", "16+"] {
            let line = value("rating.line", Given::default().text("rating", rating));
            assert!(
                !line.is_empty() && line.len() <= 100,
                "{line}: must stay below 50 tokens, at a pessimistic two bytes per token"
            );
        }
        assert_eq!(
            value("rating.line", Given::default().text("rating", "T")),
            "Content rating: T (PG-13), for teenagers."
        );
    }

    #[test]
    fn memories_have_headings() {
        let given = Given::default()
            .text("memory.facts", "- Tom likes tea")
            .text("memory.lastSession", "They sailed.");
        assert_eq!(
            value("memory.context", given),
            "Facts:\n- Tom likes tea\nLast time:\nThey sailed."
        );
    }

    #[test]
    fn others_exclude_the_speaker() {
        let given = Given::default()
            .list("group.members", ["Ada".into(), "Bo".into(), "Cy".into()])
            .text("group.next", "Bo");
        assert_eq!(value("group.others", given), "Ada, Cy");
    }
}
