//! Group C: questions about when something was said or done.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::story::{StorySpeaker, day};
use super::{Expectation, ExpectedRecall, PlanBuilder};

const GOAL: u32 = 90;
const WEEKS: [&str; 4] = ["first", "second", "third", "fourth"];

pub(super) fn plant(builder: &mut PlanBuilder) {
    for pair in 0..builder.pairs() {
        for at in 0..builder.size.each {
            let session = at * builder.sessions(pair) / builder.size.each;
            in_a_week(builder, pair, session);
            yesterday(builder, pair, session);
        }
        before_a_trip(builder, pair);
    }
}

fn in_a_week(builder: &mut PlanBuilder, pair: usize, session: usize) {
    let answer = builder.answer(pair);
    let told = builder.plant_in(
        pair,
        session,
        StorySpeaker::User,
        format!("I must tell you a secret: {answer}."),
        None,
    );
    let date = told.to_zoned(TimeZone::UTC).date();
    let week = WEEKS[usize::try_from((date.day() - 1) / 7)
        .unwrap_or_default()
        .min(3)];
    let question = format!(
        "Which secret did I tell you in the {week} week of {}?",
        date.strftime("%B")
    );
    builder.ask(pair, question, dated("C told in a week", answer, told));
}

/// The line must contain the day of the message, from which the day of the event follows.
fn yesterday(builder: &mut PlanBuilder, pair: usize, session: usize) {
    let answer = builder.answer(pair);
    let told = builder.plant_in(
        pair,
        session,
        StorySpeaker::User,
        format!("Yesterday I bought a {answer} lamp at the fair."),
        None,
    );
    let question = format!("When did I buy the {answer} lamp?");
    // The question contains the answer, so only a line with the day passes.
    builder.ask(
        pair,
        question,
        dated(
            "C yesterday",
            "Yesterday I bought a ".to_owned() + &answer,
            told,
        ),
    );
}

fn before_a_trip(builder: &mut PlanBuilder, pair: usize) {
    let (present, place) = (builder.answer(pair), builder.answer(pair));
    let last = builder.sessions(pair) - 1;
    let packed = format!("I packed {present} soap, for tomorrow I leave for {place}.");
    let told = builder.plant_in(pair, last / 2, StorySpeaker::User, packed, None);
    builder.plant_in(
        pair,
        last,
        StorySpeaker::User,
        format!("I am back from the trip to {place}."),
        None,
    );
    let question = format!("What soap did I pack before the trip to {place}?");
    builder.ask(pair, question, dated("C before a trip", present, told));
}

fn dated(name: &str, string: String, told: Timestamp) -> Expectation {
    Expectation {
        name: name.into(),
        goal: GOAL,
        wants: ExpectedRecall::Dated {
            string,
            day: day(told),
        },
    }
}
