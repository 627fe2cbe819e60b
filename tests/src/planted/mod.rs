//! Planted facts: a made-up world whose answers are words that occur nowhere else; whether a prompt has them is a matter of
//! strings, and nobody judges (memory.md, section 5).
//!
//! A [`Plan`] is a scenario and what is wanted of its probes. It is a pure function of size and seed.

mod abroad;
mod budget;
mod chains;
mod elsewhere;
mod forgetting;
mod kinds;
mod lists;
mod prose;
mod random;
mod recall;
mod run;
mod scenes;
mod score;
mod story;
mod times;

use std::collections::BTreeMap;

use engine::scenario::{Probe, Say, Set, Step, Timed};
use jiff::Timestamp;

pub use run::{answers, play};
pub use score::{Case, Table, Wants};
use story::{MAIN, Plant, Who, World, afterwards};

/// How much is said, and how much of it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Of all pairs together.
    pub messages: usize,
    /// Facts of group A for each pair.
    pub facts: usize,
    /// Of them, how many are asked for with other budgets as well.
    pub swept: usize,
    /// Questions of each of the other groups for each pair.
    pub each: usize,
}

impl Size {
    /// The parts of a plan for so many messages.
    pub fn of(messages: usize) -> Self {
        match messages {
            0..2_000 => Self { messages, facts: 12, swept: 2, each: 2 },
            2_000..10_000 => Self { messages, facts: 32, swept: 4, each: 4 },
            _ => Self { messages, facts: 60, swept: 20, each: 8 },
        }
    }
}

/// A scenario and what is wanted of it.
pub struct Plan {
    pub steps: Vec<Timed>,
    pub wants: BTreeMap<String, Case>,
    /// To which pair an answer belongs: no prompt of another one may have it (group F).
    pub canaries: BTreeMap<String, String>,
    /// Words that must not be in the bytes of the files once all is compacted (group G).
    pub erased: Vec<String>,
}

/// Tokens that everything retrieved may take, where a group does not say otherwise.
pub const BUDGET: u32 = 1_000;
/// Tokens of history: so little that what was planted has left the window.
const HISTORY: &str = "1500";

impl Plan {
    /// What a probe asks.
    pub fn question(&self, id: &str) -> Option<&Probe> {
        self.steps.iter().find_map(|timed| match &timed.step {
            Step::Probe(probe) if probe.id == id => Some(probe),
            _ => None,
        })
    }
}

/// A plan in the making: what is planted goes into the world, what is asked comes behind it.
struct Making {
    world: World,
    size: Size,
    after: Vec<Step>,
    wants: BTreeMap<String, Case>,
    canaries: BTreeMap<String, String>,
    erased: Vec<String>,
}

impl Plan {
    /// The same size and seed give the same plan.
    pub fn new(size: Size, seed: u64) -> Self {
        let mut making = Making::new(size, seed);
        let facts = recall::plant(&mut making);
        chains::plant(&mut making);
        times::plant(&mut making);
        lists::plant(&mut making);
        abroad::plant(&mut making);
        elsewhere::plant(&mut making);
        for (pair, facts) in facts.iter().enumerate() {
            recall::follow_up(&mut making, pair, facts);
        }
        budget::plant(&mut making);
        forgetting::plant(&mut making);
        scenes::plant(&mut making);
        making.finish()
    }
}

impl Making {
    fn new(size: Size, seed: u64) -> Self {
        Self {
            world: World::new(size.messages, seed),
            size,
            after: Vec::new(),
            wants: BTreeMap::new(),
            canaries: BTreeMap::new(),
            erased: Vec::new(),
        }
    }

    /// A new answer, which only prompts of the pair may have.
    fn answer(&mut self, pair: usize) -> String {
        let word = self.world.canary();
        self.canaries.insert(word.clone(), self.pair(pair));
        word
    }

    fn pair(&self, pair: usize) -> String {
        self.world.stories[pair].pair.clone()
    }

    fn pairs(&self) -> usize {
        self.world.stories.len()
    }

    /// Sessions that something can be planted in.
    fn sessions(&self, pair: usize) -> usize {
        self.world.stories[pair].sessions()
    }

    /// Somewhere in the main chat, with prose around it.
    fn plant(&mut self, pair: usize, who: Who, text: String) {
        self.put(pair, None, Plant { who, text, id: None, alone: false });
    }

    /// [`Self::plant`], but that the message says nothing else.
    fn plant_alone(&mut self, pair: usize, who: Who, text: String) {
        self.put(pair, None, Plant { who, text, id: None, alone: true });
    }

    /// [`Self::plant`] in a certain session, and when that is; `id` names the message.
    fn plant_in(&mut self, pair: usize, session: usize, who: Who, text: String, id: Option<String>) -> Timestamp {
        self.put(pair, Some(session), Plant { who, text, id, alone: false })
    }

    fn put(&mut self, pair: usize, session: Option<usize>, plant: Plant) -> Timestamp {
        let session = session.unwrap_or_else(|| self.world.random.below(self.world.stories[pair].sessions()));
        self.world.stories[pair].put(session, plant, &mut self.world.random)
    }

    fn steps(&mut self, steps: impl IntoIterator<Item = Step>) {
        self.after.extend(steps);
    }

    fn then(&mut self, step: Step) {
        self.after.push(step);
    }

    /// Something said after everything else.
    fn then_said(&mut self, pair: usize, chat: &str, who: &str, text: impl Into<String>, id: Option<&str>) {
        let said = Say {
            pair: self.pair(pair),
            chat: chat.into(),
            who: who.into(),
            text: text.into(),
            id: id.map(str::to_owned),
        };
        self.then(Step::Say(said));
    }

    /// A question in the main chat, with the usual budget.
    fn ask(&mut self, pair: usize, text: impl Into<String>, case: Case) {
        self.ask_in(pair, MAIN, text, Some(BUDGET), case);
    }

    fn ask_in(&mut self, pair: usize, chat: &str, text: impl Into<String>, budget: Option<u32>, case: Case) {
        let id = format!("q{}", self.wants.len() + 1);
        let probe =
            Probe { id: id.clone(), pair: self.pair(pair), chat: chat.into(), text: text.into(), budget, whole: true };
        self.then(Step::Probe(probe));
        self.wants.insert(id, case);
    }

    fn finish(self) -> Plan {
        let Self { world, after, wants, canaries, erased, .. } = self;
        let history = Set { pair: None, chat: None, key: "history_cap".into(), value: HISTORY.into() };
        let mut steps = vec![Timed { time: None, step: Step::Setting(history) }];
        steps.extend(world.told());
        steps.push(Timed { time: Some(afterwards().to_string()), step: Step::Learn });
        steps.extend(after.into_iter().map(|step| Timed { time: None, step }));
        Plan { steps, wants, canaries, erased }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_repeats_itself_has_its_size_and_says_each_answer_where_it_belongs() {
        let size = Size::of(1_000);
        let [one, same, other] = [5, 5, 6].map(|seed| Plan::new(size, seed));
        assert_eq!(one.steps, same.steps);
        assert_ne!(one.steps, other.steps);
        let said = |step: &&Timed| matches!(step.step, Step::Say(_));
        let count = one.steps.iter().filter(said).count();
        assert!((900..1_700).contains(&count), "{count} messages");
        for Timed { step, .. } in &one.steps {
            let Step::Say(said) = step else { continue };
            let words = said.text.split(|letter: char| !letter.is_ascii_alphanumeric());
            for pair in words.filter_map(|word| one.canaries.get(word)) {
                assert_eq!(*pair, said.pair, "{}", said.text);
            }
        }
    }
}
