//! The generated world: pairs, sessions and messages.

use engine::scenario::{Pair, Say, Step, Timed};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::prose;
use super::random::{Canaries, Random};

pub(super) const PERSONAS: [&str; 2] = ["Rowan", "Linnea"];
pub(super) const CHARACTERS: [&str; 4] = ["Mathilde", "Osric", "Yevgenia", "Tobin"];
/// Name of the main chat, which has nearly all messages.
pub(super) const MAIN: &str = "main";

/// 3 March 2026, 20:00 UTC.
const FIRST_EVENING: i64 = 1_772_568_000_000;
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
const MONTHS_OF_PLAY: i64 = 270 * DAY;
/// Milliseconds between two messages.
const PAUSE: i64 = 90_000;
/// Approximate number of messages per session.
const EVENING: usize = 32;
/// Number of final sessions without facts; they fill the window before the questions.
const WITHOUT: usize = 1;

/// Speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StorySpeaker {
    User,
    Character,
}

impl StorySpeaker {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Character => "character",
        }
    }
}

/// A message with a fact, with prose around it.
#[derive(Debug, Clone)]
pub(super) struct PlantedFact {
    pub(super) who: StorySpeaker,
    pub(super) text: String,
    /// Id in the scenario.
    pub(super) id: Option<String>,
    /// Without prose, for commands, which must begin a sentence.
    pub(super) alone: bool,
}

/// A message of a session, with its fact if it has one.
type MessageSlot = Option<PlantedFact>;

/// All messages of a pair's main chat.
pub(super) struct PlantedStory {
    pub(super) pair: String,
    pub(super) persona: &'static str,
    pub(super) character: &'static str,
    /// Start time and messages of each session. The user speaks first, then both alternate.
    evenings: Vec<(i64, Vec<MessageSlot>)>,
}

impl PlantedStory {
    /// Creates a story of `messages` messages; `number` is the pair's index.
    fn new(number: usize, messages: usize, random: &mut Random) -> Self {
        let count = (messages / EVENING).max(3 + WITHOUT);
        let apart = MONTHS_OF_PLAY / count as i64;
        let mut evenings = Vec::with_capacity(count);
        for evening in 0..count as i64 {
            // No two pairs have sessions at the same time.
            let at = FIRST_EVENING
                + evening * apart
                + number as i64 * HOUR
                + random.below(20) as i64 * 60_000;
            let length = messages / count + random.below(9) - 4;
            evenings.push((at, vec![None; length]));
        }
        let (persona, character) = (
            PERSONAS[number / CHARACTERS.len()],
            CHARACTERS[number % CHARACTERS.len()],
        );
        let pair = format!("{persona}-{character}");
        Self {
            pair,
            persona,
            character,
            evenings,
        }
    }

    /// Returns the number of sessions in which facts can be planted.
    pub(super) fn sessions(&self) -> usize {
        self.evenings.len() - WITHOUT
    }

    /// Puts `plant` at a random position in a session and returns its time.
    pub(super) fn put(
        &mut self,
        session: usize,
        plant: PlantedFact,
        random: &mut Random,
    ) -> Timestamp {
        let (at, slots) = &mut self.evenings[session];
        let turn = usize::from(plant.who == StorySpeaker::Character);
        let free: Vec<usize> = (turn..slots.len())
            .step_by(2)
            .filter(|slot| slots[*slot].is_none())
            .collect();
        let slot = match free.is_empty() {
            false => free[random.below(free.len())],
            true => {
                slots.extend([None, None]);
                slots.len() - 2 + (turn + slots.len()) % 2
            }
        };
        slots[slot] = Some(plant);
        moment(*at + slot as i64 * PAUSE)
    }

    fn lines(self, random: &mut Random) -> Vec<(i64, Step)> {
        let mut lines = Vec::new();
        for (at, slots) in self.evenings {
            for (place, slot) in slots.into_iter().enumerate() {
                let speaks = if place.is_multiple_of(2) {
                    StorySpeaker::User
                } else {
                    StorySpeaker::Character
                };
                let (text, id) = match slot {
                    Some(plant) if plant.alone => (plant.text, plant.id),
                    Some(plant) => (prose::around(&plant.text, random), plant.id),
                    None => (prose::small_talk(random), None),
                };
                let said = Say {
                    pair: self.pair.clone(),
                    chat: MAIN.into(),
                    who: speaks.words().into(),
                    text,
                    id,
                };
                lines.push((at + place as i64 * PAUSE, Step::Say(said)));
            }
        }
        lines
    }
}

/// The stories of all pairs.
pub(super) struct StoryWorld {
    pub(super) stories: Vec<PlantedStory>,
    pub(super) random: Random,
    pub(super) canaries: Canaries,
}

impl StoryWorld {
    pub(super) fn new(messages: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let pairs = PERSONAS.len() * CHARACTERS.len();
        let stories = (0..pairs)
            .map(|number| PlantedStory::new(number, messages / pairs, &mut random))
            .collect();
        Self {
            stories,
            random,
            canaries: Canaries::new(),
        }
    }

    pub(super) fn canary(&mut self) -> String {
        self.canaries.next(&mut self.random)
    }

    /// Returns all messages as scenario steps, in order of time.
    pub(super) fn told(self) -> Vec<Timed> {
        let Self {
            stories,
            mut random,
            ..
        } = self;
        let mut steps: Vec<Timed> = stories.iter().map(introduced).collect();
        let mut lines: Vec<(i64, Step)> = stories
            .into_iter()
            .flat_map(|story| story.lines(&mut random))
            .collect();
        lines.sort_by_key(|(at, _)| *at);
        steps.extend(lines.into_iter().map(|(at, step)| Timed {
            time: Some(moment(at).to_string()),
            step,
        }));
        steps
    }
}

/// Returns a time after all messages.
pub(super) fn afterwards() -> Timestamp {
    moment(FIRST_EVENING + MONTHS_OF_PLAY + 2 * DAY)
}

fn introduced(story: &PlantedStory) -> Timed {
    let (persona, character) = (story.persona.to_owned(), story.character.to_owned());
    let step = Step::Pair(Pair {
        pair: story.pair.clone(),
        persona,
        character,
    });
    Timed { time: None, step }
}

/// Formats a day as in the memory section: "3 May 2026".
pub(super) fn day(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%-d %B %Y").to_string()
}

fn moment(at: i64) -> Timestamp {
    Timestamp::from_millisecond(at).unwrap_or_default()
}
