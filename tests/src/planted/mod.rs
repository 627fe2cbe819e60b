//! Planted facts: a generated world whose answers are words that occur nowhere else. Whether a
//! prompt contains an answer is therefore a string comparison without a judge.
//!
//! A [`StoryPlan`] contains a scenario and the expectations for its probes. It is a pure function
//! of size and seed.

mod budget;
mod chains;
mod forgetting;
mod kinds;
mod languages;
mod lists;
mod prose;
mod random;
mod recall;
mod remembered;
mod run;
mod scenes;
mod score;
mod story;
mod times;
mod witnesses;

use std::collections::BTreeMap;

use engine::scenario::{Probe, Say, Set, Step, Timed};
use jiff::Timestamp;

pub use run::{answers, play};
pub use score::{Expectation, ExpectedRecall, Table};
use story::{MAIN, PlantedFact, StorySpeaker, StoryWorld, afterwards};

/// Number of messages and of questions.
#[derive(Debug, Clone, Copy)]
pub struct StorySize {
    /// Messages of all pairs together.
    pub messages: usize,
    /// Facts of group A per pair.
    pub facts: usize,
    /// Number of those facts that are also asked for with other budgets.
    pub swept: usize,
    /// Questions of each other group per pair.
    pub each: usize,
}

impl StorySize {
    /// Returns the sizes of a plan with this many messages.
    pub fn of(messages: usize) -> Self {
        match messages {
            0..2_000 => Self {
                messages,
                facts: 12,
                swept: 2,
                each: 2,
            },
            2_000..10_000 => Self {
                messages,
                facts: 32,
                swept: 4,
                each: 4,
            },
            _ => Self {
                messages,
                facts: 60,
                swept: 20,
                each: 8,
            },
        }
    }
}

/// A scenario and the expectations for its probes.
pub struct StoryPlan {
    pub steps: Vec<Timed>,
    pub wants: BTreeMap<String, Expectation>,
    /// Maps each answer to its pair; no prompt of another pair may contain it (group F).
    pub canaries: BTreeMap<String, String>,
    /// Maps a group scene to the pairs of its characters, each of which brings its own memories and
    /// lorebooks.
    pub voices: BTreeMap<String, Vec<String>>,
    /// Words that no file may contain after compaction (group G).
    pub erased: Vec<String>,
}

/// Default budget of retrieval in tokens.
pub const BUDGET: u32 = 1_000;
/// History budget in tokens, small enough that planted facts have left the window.
const HISTORY: &str = "1500";

impl StoryPlan {
    /// Returns the probe with this id.
    pub fn question(&self, id: &str) -> Option<&Probe> {
        self.steps.iter().find_map(|timed| match &timed.step {
            Step::Probe(probe) if probe.id == id => Some(probe),
            _ => None,
        })
    }
}

/// Builder of a plan: plants facts in the world and adds questions after it.
struct PlanBuilder {
    world: StoryWorld,
    size: StorySize,
    after: Vec<Step>,
    wants: BTreeMap<String, Expectation>,
    canaries: BTreeMap<String, String>,
    voices: BTreeMap<String, Vec<String>>,
    erased: Vec<String>,
}

impl StoryPlan {
    /// Builds a plan, which is the same for the same size and seed.
    pub fn new(size: StorySize, seed: u64) -> Self {
        let mut builder = PlanBuilder::new(size, seed);
        let facts = recall::plant(&mut builder);
        chains::plant(&mut builder);
        times::plant(&mut builder);
        lists::plant(&mut builder);
        languages::plant(&mut builder);
        remembered::plant(&mut builder);
        for (pair, facts) in facts.iter().enumerate() {
            recall::follow_up(&mut builder, pair, facts);
        }
        budget::plant(&mut builder);
        forgetting::plant(&mut builder);
        scenes::plant(&mut builder);
        witnesses::plant(&mut builder);
        builder.finish()
    }
}

impl PlanBuilder {
    fn new(size: StorySize, seed: u64) -> Self {
        Self {
            world: StoryWorld::new(size.messages, seed),
            size,
            after: Vec::new(),
            wants: BTreeMap::new(),
            canaries: BTreeMap::new(),
            voices: BTreeMap::new(),
            erased: Vec::new(),
        }
    }

    /// Creates an answer that only prompts of this pair may contain.
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

    /// Returns the number of sessions in which facts can be planted.
    fn sessions(&self, pair: usize) -> usize {
        self.world.stories[pair].sessions()
    }

    /// Plants a fact at a random position in the main chat, with prose around it.
    fn plant(&mut self, pair: usize, who: StorySpeaker, text: String) {
        self.put(
            pair,
            None,
            PlantedFact {
                who,
                text,
                id: None,
                alone: false,
            },
        );
    }

    /// Like [`Self::plant`], but the message contains nothing else.
    fn plant_alone(&mut self, pair: usize, who: StorySpeaker, text: String) {
        self.put(
            pair,
            None,
            PlantedFact {
                who,
                text,
                id: None,
                alone: true,
            },
        );
    }

    /// Like [`Self::plant`], in a given session. Returns the time; `id` names the message.
    fn plant_in(
        &mut self,
        pair: usize,
        session: usize,
        who: StorySpeaker,
        text: String,
        id: Option<String>,
    ) -> Timestamp {
        self.put(
            pair,
            Some(session),
            PlantedFact {
                who,
                text,
                id,
                alone: false,
            },
        )
    }

    fn put(&mut self, pair: usize, session: Option<usize>, plant: PlantedFact) -> Timestamp {
        let session =
            session.unwrap_or_else(|| self.world.random.below(self.world.stories[pair].sessions()));
        self.world.stories[pair].put(session, plant, &mut self.world.random)
    }

    fn steps(&mut self, steps: impl IntoIterator<Item = Step>) {
        self.after.extend(steps);
    }

    fn then(&mut self, step: Step) {
        self.after.push(step);
    }

    /// Adds a message after all others.
    fn then_said(
        &mut self,
        pair: usize,
        chat: &str,
        who: &str,
        text: impl Into<String>,
        id: Option<&str>,
    ) {
        let said = Say {
            pair: self.pair(pair),
            chat: chat.into(),
            who: who.into(),
            text: text.into(),
            id: id.map(str::to_owned),
        };
        self.then(Step::Say(said));
    }

    /// Asks a question in the main chat with the default budget.
    fn ask(&mut self, pair: usize, text: impl Into<String>, case: Expectation) {
        self.ask_in(pair, MAIN, text, Some(BUDGET), case);
    }

    fn ask_in(
        &mut self,
        pair: usize,
        chat: &str,
        text: impl Into<String>,
        budget: Option<u32>,
        case: Expectation,
    ) {
        let id = format!("q{}", self.wants.len() + 1);
        let probe = Probe {
            id: id.clone(),
            pair: self.pair(pair),
            chat: chat.into(),
            text: text.into(),
            budget,
            whole: true,
        };
        self.then(Step::Probe(probe));
        self.wants.insert(id, case);
    }

    fn finish(self) -> StoryPlan {
        let Self {
            world,
            after,
            wants,
            canaries,
            voices,
            erased,
            ..
        } = self;
        let history = Set {
            pair: None,
            chat: None,
            key: "history_cap".into(),
            value: HISTORY.into(),
        };
        let mut steps = vec![Timed {
            time: None,
            step: Step::Setting(history),
        }];
        steps.extend(world.told());
        steps.push(Timed {
            time: Some(afterwards().to_string()),
            step: Step::Learn,
        });
        steps.extend(after.into_iter().map(|step| Timed { time: None, step }));
        StoryPlan {
            steps,
            wants,
            canaries,
            voices,
            erased,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_is_reproducible_and_isolates_answers() {
        let size = StorySize::of(1_000);
        let [one, same, other] = [5, 5, 6].map(|seed| StoryPlan::new(size, seed));
        assert_eq!(one.steps, same.steps);
        assert_ne!(one.steps, other.steps);
        let said = |step: &&Timed| matches!(step.step, Step::Say(_));
        let count = one.steps.iter().filter(said).count();
        assert!((900..1_900).contains(&count), "{count} messages");
        for Timed { step, .. } in &one.steps {
            let Step::Say(said) = step else { continue };
            let words = said
                .text
                .split(|letter: char| !letter.is_ascii_alphanumeric());
            for pair in words.filter_map(|word| one.canaries.get(word)) {
                assert_eq!(*pair, said.pair, "{}", said.text);
            }
        }
    }
}
