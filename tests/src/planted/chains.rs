//! Group B: values that change. Chains of two to four values; each value is marked as new or simply
//! contradicts the previous one.

use super::story::StorySpeaker;
use super::{Expectation, ExpectedRecall, PlanBuilder};

/// A changing attribute of the user.
struct Topic {
    first: &'static str,
    marked: [&'static str; 2],
    unmarked: [&'static str; 2],
    now: [&'static str; 2],
    /// Question for the previous value.
    before: &'static str,
}

const TOPICS: [Topic; 4] = [
    Topic {
        first: "I live in {x} Lane.",
        marked: [
            "We moved. I live in {x} Lane now.",
            "I have a new flat since Monday, in {x} Lane.",
        ],
        unmarked: [
            "I walked home to my flat in {x} Lane.",
            "My flat is cold again. {x} Lane is a damp place to live.",
        ],
        now: ["In which lane do I live?", "Where is my flat?"],
        before: "In which lane did I live before I moved to my flat?",
    },
    Topic {
        first: "I have started to work as a clerk for {x} and Sons.",
        marked: [
            "I left my job. From now on I work for {x} and Sons.",
            "My new job is with {x} and Sons.",
        ],
        unmarked: [
            "At work old {x} shouted at us all day. What a job.",
            "My job at {x} and Sons wears me out.",
        ],
        now: ["For whom do I work?", "With whom do I have a job?"],
        before: "For whom did I work before my job of today?",
    },
    Topic {
        first: "My dog is a terrier called {x}.",
        marked: [
            "The old dog died. My dog is a puppy now, {x}.",
            "I have another dog since May; this one is {x}.",
        ],
        unmarked: [
            "I have to walk my dog. Come, {x}!",
            "My dog {x} ate the slippers.",
        ],
        now: ["What is my dog called?", "Which dog do I have?"],
        before: "Which dog did I have before the one I have today?",
    },
    Topic {
        first: "My choir meets at {x} Hall.",
        marked: [
            "My choir has changed halls: it meets at {x} Hall now.",
            "From this week on my choir sings in {x} Hall.",
        ],
        unmarked: [
            "I sang with my choir at {x} Hall tonight.",
            "It is a long way to {x} Hall, where my choir meets.",
        ],
        now: [
            "At which hall does my choir meet?",
            "Where does my choir sing?",
        ],
        before: "At which hall did my choir meet before?",
    },
];

pub(super) fn plant(builder: &mut PlanBuilder) {
    for pair in 0..builder.pairs() {
        for (at, topic) in TOPICS.iter().enumerate().take(builder.size.each.max(2)) {
            // Two to four values, limited by the number of sessions.
            let count = (2 + (at + pair) % 3).min(builder.sessions(pair));
            let values = chain(builder, pair, topic, count);
            ask(builder, pair, topic, &values);
        }
    }
}

fn chain(builder: &mut PlanBuilder, pair: usize, topic: &Topic, count: usize) -> Vec<String> {
    let sessions = builder.sessions(pair);
    let mut values = Vec::with_capacity(count);
    for at in 0..count {
        let value = builder.answer(pair);
        let (marked, which) = (
            builder.world.random.percent(50),
            builder.world.random.below(2),
        );
        let wording = match (at, marked) {
            (0, _) => topic.first,
            (_, true) => topic.marked[which],
            (_, false) => topic.unmarked[which],
        };
        let session = at * sessions / count;
        builder.plant_in(
            pair,
            session,
            StorySpeaker::User,
            wording.replace("{x}", &value),
            None,
        );
        values.push(value);
    }
    values
}

fn ask(builder: &mut PlanBuilder, pair: usize, topic: &Topic, values: &[String]) {
    let Some((newest, older)) = values.split_last() else {
        return;
    };
    for question in topic.now {
        let (newest, older) = (newest.clone(), older.to_vec());
        let wants = ExpectedRecall::Newest {
            newest: newest.clone(),
            older: older.clone(),
        };
        builder.ask(
            pair,
            question,
            Expectation {
                name: "B the newest, older ones dated".into(),
                goal: 97,
                wants,
            },
        );
        let wants = ExpectedRecall::NotOnlyStale { newest, older };
        builder.ask(
            pair,
            question,
            Expectation {
                name: "B never a stale one alone".into(),
                goal: 100,
                wants,
            },
        );
    }
    let wants = ExpectedRecall::All(older.last().cloned().into_iter().collect());
    builder.ask(
        pair,
        topic.before,
        Expectation {
            name: "B what was before".into(),
            goal: 97,
            wants,
        },
    );
}
