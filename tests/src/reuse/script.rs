//! The script: the user's messages, the card, and settings that change on the way.

use serde_json::{Value, json};

/// Number of entries in the card's lorebook.
const ENTRIES: usize = 40;

const FIRST: [&str; 8] = [
    "Marrow", "Tarn", "Vesper", "Ostler", "Quill", "Harrow", "Cinder", "Lorn",
];
const SECOND: [&str; 5] = ["mere", "gate", "holm", "wick", "stead"];

/// Returns a unique place name for the lorebook that occurs in no other text.
fn place(entry: usize) -> String {
    format!(
        "{}{}",
        FIRST[entry % FIRST.len()],
        SECOND[entry % SECOND.len()]
    )
}

/// Returns an entry: its key and a text of about 60 tokens.
pub fn entry(index: usize) -> (String, String) {
    let place = place(index);
    let text = format!(
        "{place} lies {} days upriver. Its people dye wool with lichen, ring a cracked bell at dusk, and lend their boats \
         to nobody since the flood. Whoever asks for the ferryman there is sent to the widow at the third bridge.",
        index + 2
    );
    (place, text)
}

/// Returns all entries.
pub fn entries() -> impl Iterator<Item = (String, String)> {
    (0..ENTRIES).map(entry)
}

/// Returns the entry that the user asks for in this turn: new lore on three turns of ten.
pub fn asked(turn: usize) -> Option<usize> {
    let of_ten = [2, 5, 9].iter().position(|at| *at == turn % 10)?;
    Some((turn / 10 * 3 + of_ten) % ENTRIES)
}

const WAYS: [&str; 7] = [
    "I pull my hood up and follow you down the wet steps to the landing, one hand on the rope.",
    "I set my pack beside the stove and hold my hands over the heat until they stop shaking.",
    "I unfold the old map on the table and put a cup on each corner so that it stays flat.",
    "I walk along the quay behind you, counting the lamps that are lit and the ones that are not.",
    "I sit down on an upturned crate, wipe the rain from my face and look out over the river.",
    "I lean on the rail and watch the barges turn, slowly, one after the other, into the wind.",
    "I take the kettle off the hook, pour two cups and push the chipped one across to you.",
];
const THOUGHTS: [&str; 6] = [
    "All day I have wondered what you meant by that remark about the ferry and the missing oar.",
    "My brother used to say that nobody leaves this town without leaving something behind.",
    "The man at the inn gave me a strange look when I mentioned your name this morning.",
    "There is a light on the far bank that was not there yesterday, and it moves.",
    "I could not sleep, so I read your letter again, and this time I noticed the date.",
    "Somebody has cut the mooring line, and whoever did it knew their way around a knot.",
];
const QUESTIONS: [&str; 5] = [
    "Tell me at length what happened that night.",
    "Tell me the whole story, and leave nothing out.",
    "What would you do next, and why? Think aloud.",
    "Describe everything you see, slowly.",
    "Go on, I have all evening: tell me more.",
];

/// Returns the user's message in this turn, about 60 tokens.
pub fn said(turn: usize) -> String {
    let (way, thought, question) = (
        WAYS[turn % WAYS.len()],
        THOUGHTS[turn % THOUGHTS.len()],
        QUESTIONS[turn % QUESTIONS.len()],
    );
    format!("{way} {thought}{} {question}", asks(turn))
}

/// Returns the same message in a third of the words.
pub fn said_briefly(turn: usize) -> String {
    format!("{}{}", WAYS[turn % WAYS.len()], asks(turn))
}

fn asks(turn: usize) -> String {
    asked(turn)
        .map(|index| format!(" They speak of {} too.", place(index)))
        .unwrap_or_default()
}

/// Number of sentences of a long reply of about 250 tokens.
pub const LONG: usize = 13;

/// Returns a prepared reply; each sentence has about 20 tokens.
pub fn replied(turn: usize, length: usize) -> String {
    let sentences: Vec<&str> = WAYS.iter().chain(&THOUGHTS).copied().collect();
    let parts = (0..length).map(|part| sentences[(turn * 5 + part * 3) % sentences.len()]);
    std::iter::once(format!("\"{} evenings,\" she says.", turn + 2).as_str())
        .chain(parts)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the setting that changes before this turn: key and new value.
pub fn changed(turn: usize, turns: usize) -> Option<(&'static str, &'static str)> {
    match turn * 8 {
        at if at == turns => Some(("author_note", "The fog comes in; keep the scene slow.")),
        at if at == turns * 3 => Some(("mode", "creative")),
        at if at == turns * 5 => Some(("author_note", "It is past midnight and the river rises.")),
        at if at == turns * 7 => Some(("mode", "default")),
        _ => None,
    }
}

/// Returns the card with its lorebook.
pub fn card() -> Value {
    let entries: Vec<Value> = entries()
        .map(|(key, content)| {
            json!({ "keys": [key], "content": content, "extensions": {}, "enabled": true, "insertion_order": 100,
                "use_regex": false })
        })
        .collect();
    json!({
        "spec": "chara_card_v3", "spec_version": "3.0",
        "data": {
            "name": "Odile",
            "description": DESCRIPTION,
            "personality": "Patient, dry, observant; she answers at length and never hurries a story.",
            "scenario": "Odile minds the night ferry, and {{user}} keeps her company.",
            "first_mes": "Mind the third step, it is slick. Sit, {{user}}. The river has time tonight, and so have I.",
            "mes_example": "", "creator_notes": "", "system_prompt": "", "post_history_instructions": "",
            "alternate_greetings": [], "tags": [], "creator": "Inglenook", "character_version": "1",
            "group_only_greetings": [], "extensions": {},
            "character_book": { "name": "River", "extensions": {}, "entries": entries }
        }
    })
}

const DESCRIPTION: &str = "{{char}} has run the night ferry for thirty years, as her mother did. She is tall and grey, wears \
a coat of oiled canvas with nine pockets, and knows what is in each of them without looking. She knows every bend of the \
river by its sound. She trades in news: a crossing costs a coin or a story, and she prefers the story. She has buried two \
dogs on the east bank and lights a lamp for them. She cannot swim and tells nobody. She distrusts clocks, priests and calm \
water. When she talks she looks at the far bank, and when she listens she looks at you. She carves small birds from \
driftwood and leaves them where travellers will find them. She owes a debt to the harbour master which she will not name. \
She never lies about the river.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_turns_of_ten_ask_for_lore() {
        let asking: Vec<usize> = (0..200).filter(|turn| asked(*turn).is_some()).collect();
        assert_eq!(asking.len(), 60);
        for turn in asking {
            let (key, _) = entry(asked(turn).expect("an entry"));
            assert!(said(turn).contains(&key));
        }
    }

    #[test]
    fn place_names_are_unique_to_their_entry() {
        let entries: Vec<_> = entries().collect();
        for (index, (key, _)) in entries.iter().enumerate() {
            let naming = entries
                .iter()
                .filter(|(_, text)| text.contains(key.as_str()))
                .count();
            assert_eq!(naming, 1, "entry {index}");
        }
    }
}
