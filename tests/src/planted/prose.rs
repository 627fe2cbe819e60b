//! Filler text between the facts: role-play prose and small talk. Some of it shares words with the
//! facts.

use super::random::Random;

const DEEDS: [&str; 20] = [
    "leans back in the creaking chair",
    "pours another cup of tea",
    "looks out at the rain",
    "stirs the fire with a poker",
    "counts the lamps along the quay",
    "folds the letter twice",
    "laughs under the breath",
    "wipes the counter clean",
    "watches the gulls fight over a crust",
    "draws a line in the sand",
    "pulls the shawl tighter",
    "hums and says nothing",
    "shakes the snow from the boots",
    "turns a page without reading it",
    "leans on the railing",
    "feeds the stove",
    "taps the barometer",
    "peels an orange in one long ribbon",
    "sets the lantern on the sill",
    "mends a torn net",
];
const PLACES: [&str; 12] = [
    "the harbour",
    "the market",
    "the old mill",
    "the lighthouse",
    "the orchard",
    "the station",
    "the north road",
    "the library",
    "the tavern",
    "the river bank",
    "the chapel yard",
    "the observatory",
];
const THINGS: [&str; 16] = [
    "the weather",
    "the price of coal",
    "the ferry",
    "a broken window",
    "the harvest",
    "that strange light",
    "the choir",
    "a lost glove",
    "the new bridge",
    "the storm of last week",
    "a stray dog",
    "the bread",
    "the mayor's speech",
    "an old map",
    "the tide",
    "the clock in the tower",
];
const FEELINGS: [&str; 10] = [
    "quiet", "restless", "glad", "tired", "curious", "uneasy", "warm", "homesick", "brave",
    "sleepy",
];
const SAID: [&str; 24] = [
    "I keep thinking about {t}.",
    "They say {t} will be the talk of the winter.",
    "Shall we walk to {p} later?",
    "It was so {f} at {p} this morning.",
    "Nobody at {p} wants to speak of {t}.",
    "I feel rather {f} today.",
    "Did you hear about {t}?",
    "I saw the strangest thing near {p}.",
    "Let us not quarrel about {t} again.",
    "You look {f}. Is it because of {t}?",
    "The road to {p} is closed once more.",
    "I could sit here until morning.",
    "There was a queue at {p} all day.",
    "My sister would laugh at {t}.",
    "A horse stood alone at {p}, {f} as a stone.",
    "Somebody left a novel at {p}.",
    "We drank wine and argued about {t}.",
    "The whole street was {f} after the rain.",
    "An uncle of mine used to sell maps at {p}.",
    "No boat goes out when {t} is like this.",
    "You always make me feel {f}.",
    "What would you do about {t}?",
    "I dreamt of {p} and of {t}.",
    "The song from {p} stays in my head.",
];

fn filled(template: &str, random: &mut Random) -> String {
    template
        .replace("{t}", random.of(&THINGS))
        .replace("{p}", random.of(&PLACES))
        .replace("{f}", random.of(&FEELINGS))
}

fn sentence(random: &mut Random) -> String {
    let template = random.of(&SAID);
    filled(template, random)
}

/// A message without any fact.
pub(super) fn small_talk(random: &mut Random) -> String {
    if random.percent(13) {
        return paragraphs(random);
    }
    let said = (0..=random.below(3))
        .map(|_| sentence(random))
        .collect::<Vec<_>>()
        .join(" ");
    acted(&said, random)
}

/// Embeds `said` in a message: alone, as action, between other sentences, or at the end of a long
/// text.
pub(super) fn around(said: &str, random: &mut Random) -> String {
    match random.below(20) {
        0..6 => said.to_owned(),
        6..11 => acted(said, random),
        11..14 => format!("{} {said}", sentence(random)),
        14..17 => format!("{said} {}", sentence(random)),
        17 => format!("{} {said} {}", paragraphs(random), sentence(random)),
        _ => format!("{}\n\n{said}", paragraphs(random)),
    }
}

fn acted(said: &str, random: &mut Random) -> String {
    match random.below(3) {
        0 => said.to_owned(),
        1 => format!("*{}* \"{said}\"", random.of(&DEEDS)),
        _ => format!("\"{said}\" *{}*", random.of(&DEEDS)),
    }
}

/// Returns 200 to 400 tokens.
pub(super) fn paragraphs(random: &mut Random) -> String {
    let count = 18 + random.below(14);
    let mut text = String::new();
    for at in 0..count {
        if at > 0 {
            text.push_str(if at.is_multiple_of(7) { "\n\n" } else { " " });
        }
        match random.below(4) {
            0 => text.push_str(&format!("*{}*", random.of(&DEEDS))),
            _ => text.push_str(&sentence(random)),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_in_seven_is_long() {
        let mut random = Random::new(3);
        let texts: Vec<String> = (0..1_000).map(|_| small_talk(&mut random)).collect();
        let long = texts.iter().filter(|text| text.len() > 600).count();
        assert!((90..180).contains(&long), "{long}");
        assert!(
            texts
                .iter()
                .all(|text| text.len() < 2_000 && !text.contains('{'))
        );
    }
}
