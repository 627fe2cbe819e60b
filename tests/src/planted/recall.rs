//! Groups A, E, H and I: facts from either speaker, with similar facts as distractors. Questions
//! come in the same chat, in another chat, and as follow-ups after messages that name the topic.
//! Some have no answer.

use super::kinds::{FactKind, KINDS, RELATIONS, Relation, STRANGERS};
use super::story::{MAIN, StorySpeaker};
use super::{BUDGET, Expectation, ExpectedRecall, PlanBuilder};

/// Name of the pair's second chat.
pub(super) const SECOND: &str = "second";
/// Name of each tier and its goal in percent at the default budget.
const TIERS: [(&str, u32); 3] = [("shared words", 98), ("some words", 95), ("no word", 85)];
const OTHER_BUDGETS: [u32; 2] = [500, 2_000];
/// Maximum tokens if there is nothing to find.
const LITTLE: u32 = BUDGET * 2 / 5;

/// A planted fact about a person.
pub(super) struct RecallFact {
    pub(super) kind: &'static FactKind,
    pub(super) relation: &'static Relation,
    pub(super) who: StorySpeaker,
    pub(super) answer: String,
}

impl RecallFact {
    pub(super) fn statement(&self, wording: usize) -> String {
        self.kind.told[wording]
            .replace("{r}", self.relation.noun)
            .replace("{x}", &self.answer)
    }

    /// Returns a question of the user.
    pub(super) fn question(&self, tier: usize, variant: usize) -> String {
        let (my, me, i) = match self.who {
            StorySpeaker::User => ("my", "me", "I"),
            StorySpeaker::Character => ("your", "you", "you"),
        };
        let about = self
            .relation
            .about
            .replace("{my}", my)
            .replace("{me}", me)
            .replace("{i}", i);
        let question = self.kind.asked[tier][variant]
            .replace("{r}", self.relation.noun)
            .replace("{my}", my);
        question.replace("{about}", &about)
    }

    pub(super) fn in_memory(&self, name: &str, goal: u32) -> Expectation {
        Expectation {
            name: name.to_owned(),
            goal,
            wants: ExpectedRecall::All(vec![self.answer.clone()]),
        }
    }
}

/// Plants the facts and returns those of each pair.
pub(super) fn plant(builder: &mut PlanBuilder) -> Vec<Vec<RecallFact>> {
    let mut combinations: Vec<(usize, usize)> = (0..KINDS.len())
        .flat_map(|kind| (0..RELATIONS.len()).map(move |relation| (kind, relation)))
        .collect();
    builder.world.random.shuffle(&mut combinations);
    let mut told = Vec::new();
    // All pairs have facts on the same topics, so that seven wrong answers exist for each prompt.
    for pair in 0..builder.pairs() {
        let of_pair: Vec<(usize, usize)> = combinations[..builder.size.facts].to_vec();
        let facts: Vec<RecallFact> = of_pair
            .into_iter()
            .map(|of| tell(builder, pair, of))
            .collect();
        let decoys = near_facts(builder, pair);
        ask(builder, pair, &facts);
        ask_elsewhere(builder, pair, &facts);
        ask_for_nothing(builder, pair, &facts, &decoys);
        told.push(facts);
    }
    told
}

fn tell(builder: &mut PlanBuilder, pair: usize, (kind, relation): (usize, usize)) -> RecallFact {
    let who = if builder.world.random.percent(50) {
        StorySpeaker::User
    } else {
        StorySpeaker::Character
    };
    let fact = RecallFact {
        kind: &KINDS[kind],
        relation: &RELATIONS[relation],
        who,
        answer: builder.answer(pair),
    };
    let wording = builder.world.random.below(fact.kind.told.len());
    builder.plant(pair, who, fact.statement(wording));
    fact
}

/// Plants hypothetical statements on the same topics, for every second kind.
fn near_facts(builder: &mut PlanBuilder, pair: usize) -> Vec<(&'static str, String)> {
    let mut decoys = Vec::new();
    for kind in KINDS.iter().step_by(2) {
        let answer = builder.answer(pair);
        builder.plant(
            pair,
            StorySpeaker::User,
            kind.if_ever.replace("{x}", &answer),
        );
        decoys.push((kind.matter, answer));
    }
    decoys
}

fn ask(builder: &mut PlanBuilder, pair: usize, facts: &[RecallFact]) {
    for (at, fact) in facts.iter().enumerate() {
        for (tier, (name, goal)) in TIERS.iter().enumerate() {
            let question = fact.question(tier, at % 2);
            builder.ask(
                pair,
                question.clone(),
                fact.in_memory(&format!("A {name}, {BUDGET} tokens"), *goal),
            );
            let budgets = if at < builder.size.swept {
                OTHER_BUDGETS.as_slice()
            } else {
                &[]
            };
            for budget in budgets {
                let case = fact.in_memory(&format!("A {name}, {budget} tokens"), 0);
                builder.ask_in(pair, MAIN, question.clone(), Some(*budget), case);
            }
        }
    }
}

/// Asks in a new chat.
fn ask_elsewhere(builder: &mut PlanBuilder, pair: usize, facts: &[RecallFact]) {
    for fact in facts.iter().take(builder.size.each) {
        let case = fact.in_memory("E told in another chat", 98);
        builder.ask_in(pair, SECOND, fact.question(0, 0), Some(BUDGET), case);
    }
}

fn ask_for_nothing(
    builder: &mut PlanBuilder,
    pair: usize,
    facts: &[RecallFact],
    decoys: &[(&'static str, String)],
) {
    for at in 0..builder.size.each {
        let kind = &KINDS[(at * 5 + pair) % KINDS.len()];
        let stranger = STRANGERS[at % STRANGERS.len()];
        let question = kind.asked[0][0]
            .replace("{r}", stranger)
            .replace("{my}", "my");
        let little = Expectation {
            name: "H nothing to find: tokens".into(),
            goal: 90,
            wants: ExpectedRecall::AtMost(LITTLE),
        };
        builder.ask(pair, question.clone(), little);
        let others = facts
            .iter()
            .filter(|fact| fact.kind.matter == kind.matter)
            .map(|fact| fact.answer.clone());
        let maybe = decoys
            .iter()
            .filter(|(matter, _)| *matter == kind.matter)
            .map(|(_, answer)| answer.clone());
        let wants = ExpectedRecall::NotFirst(others.chain(maybe).collect());
        builder.ask(
            pair,
            question,
            Expectation {
                name: "H nothing to find: near facts".into(),
                goal: 90,
                wants,
            },
        );
    }
}

/// Asks follow-up questions that name nothing; the two messages before them do. They come last,
/// because those messages affect every later short question.
pub(super) fn follow_up(builder: &mut PlanBuilder, pair: usize, facts: &[RecallFact]) {
    for (at, fact) in facts.iter().enumerate().rev().take(builder.size.each) {
        let whose = if fact.who == StorySpeaker::User {
            "my"
        } else {
            "your"
        };
        let RecallFact {
            kind: FactKind { matter, .. },
            relation,
            ..
        } = fact;
        let named = format!(
            "I was thinking about {whose} {} again, and about that {matter}.",
            relation.noun
        );
        builder.then_said(pair, MAIN, "user", named, None);
        builder.then_said(
            pair,
            MAIN,
            "character",
            format!("*smiles* Oh, the {matter}! Go on."),
            None,
        );
        let question = ["And what was the name again?", "How was it called?"][at % 2];
        builder.ask(pair, question, fact.in_memory("I follow-up", 85));
    }
}
