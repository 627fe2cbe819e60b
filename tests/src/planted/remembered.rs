//! Group E, as far as the user asks to remember something: such memories apply in every chat of the
//! pair.

use super::recall::SECOND;
use super::story::StorySpeaker;
use super::{BUDGET, Expectation, ExpectedRecall, PlanBuilder};

const THINGS: [(&str, &str); 4] = [
    (
        "my blood type is called {x} in the books",
        "What is my blood type called?",
    ),
    (
        "the spare key lies under the {x} stone",
        "Under which stone lies the spare key?",
    ),
    (
        "my ship to the islands is the {x}",
        "What is my ship to the islands?",
    ),
    (
        "I owe ten crowns to old {x}",
        "To whom do I owe ten crowns?",
    ),
];

pub(super) fn plant(builder: &mut PlanBuilder) {
    for pair in 0..builder.pairs() {
        for (told, asked) in THINGS.iter().take(builder.size.each) {
            let answer = builder.answer(pair);
            builder.plant_alone(
                pair,
                StorySpeaker::User,
                format!("Remember that {}.", told.replace("{x}", &answer)),
            );
            let wants = ExpectedRecall::All(vec![answer]);
            let case = Expectation {
                name: "E asked to remember".into(),
                goal: 98,
                wants,
            };
            builder.ask_in(pair, SECOND, *asked, Some(BUDGET), case);
        }
    }
}
