//! Group D: several facts from different sessions that one question needs together.

use super::story::StorySpeaker;
use super::{Expectation, ExpectedRecall, PlanBuilder};

const THEMES: [([&str; 4], [&str; 2]); 4] = [
    (
        [
            "We camped at {x} this weekend.",
            "Camping at {x} was wet but lovely.",
            "I put up the tent at {x}, the quietest camp site of all.",
            "On Friday we go camping again, to {x}.",
        ],
        [
            "Where did we go camping?",
            "At which camp sites have I put up the tent?",
        ],
    ),
    (
        [
            "I planted {x} roses in the garden.",
            "There are {x} tulips in my garden now.",
            "My garden is full of {x}, it grows like a weed.",
            "The frost took the {x} in my garden.",
        ],
        [
            "What have I planted in my garden?",
            "What grows in the garden?",
        ],
    ),
    (
        [
            "I saw a film, {x}, with a sad ending.",
            "The film of last night was {x}.",
            "They showed {x} at the cinema, a silent film.",
            "I slept through a film called {x}.",
        ],
        [
            "Which films have I seen?",
            "What did they show at the cinema?",
        ],
    ),
    (
        [
            "I taught the children to play {x}, a card game.",
            "We played {x} until midnight, the best card game there is.",
            "I lost a game of {x} to a child.",
            "There is a game called {x}; you need two decks of cards.",
        ],
        ["Which games do I play?", "Which card games did we play?"],
    ),
];

pub(super) fn plant(builder: &mut PlanBuilder) {
    for pair in 0..builder.pairs() {
        for (at, (told, asked)) in THEMES.iter().enumerate().take(builder.size.each) {
            let count = (2 + (at + pair) % 3).min(builder.sessions(pair));
            let answers: Vec<String> = (0..count).map(|_| builder.answer(pair)).collect();
            for (place, answer) in answers.iter().enumerate() {
                let session = place * builder.sessions(pair) / count;
                builder.plant_in(
                    pair,
                    session,
                    StorySpeaker::User,
                    told[place].replace("{x}", answer),
                    None,
                );
            }
            for question in asked {
                let wants = ExpectedRecall::All(answers.clone());
                builder.ask(
                    pair,
                    *question,
                    Expectation {
                        name: "D several facts".into(),
                        goal: 75,
                        wants,
                    },
                );
            }
        }
    }
}
