//! Group E, as far as the user asks to remember something: such memories apply in every chat of the pair.

use super::recall::SECOND;
use super::story::Who;
use super::{BUDGET, Case, Making, Wants};

const THINGS: [(&str, &str); 4] = [
    ("my blood type is called {x} in the books", "What is my blood type called?"),
    ("the spare key lies under the {x} stone", "Under which stone lies the spare key?"),
    ("my ship to the islands is the {x}", "What is my ship to the islands?"),
    ("I owe ten crowns to old {x}", "To whom do I owe ten crowns?"),
];

pub(super) fn plant(making: &mut Making) {
    for pair in 0..making.pairs() {
        for (told, asked) in THINGS.iter().take(making.size.each) {
            let answer = making.answer(pair);
            making.plant_alone(pair, Who::User, format!("Remember that {}.", told.replace("{x}", &answer)));
            let wants = Wants::All(vec![answer]);
            let case = Case { name: "E asked to remember".into(), goal: 98, wants };
            making.ask_in(pair, SECOND, *asked, Some(BUDGET), case);
        }
    }
}
