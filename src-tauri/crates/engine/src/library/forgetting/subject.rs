//! Finds what a user wants to forget.

use domain::{PersonaId, Timestamp};
use jiff::civil::{Date, Time};
use store::ForgetTarget;

use crate::api::ForgetSubject;
use crate::base::clock::Clock;
use crate::base::error::{ApiResult, bad_input};
use crate::base::records::user_names::unless_chosen;
use crate::library::forgetting::Forgetting;

/// A picture without a message may be about to be sent for so long, in milliseconds.
const NEW_PICTURE: i64 = 3_600_000;

impl Forgetting {
    /// # Errors
    /// `BadInput` for the last persona, and for days that do not exist or are in the wrong order.
    pub(super) async fn target(&self, subject: ForgetSubject) -> ApiResult<ForgetTarget> {
        match subject {
            ForgetSubject::Character { id } => Ok(ForgetTarget::Character {
                id,
                unreferred_since: Timestamp(self.base().now().0 - NEW_PICTURE),
            }),
            ForgetSubject::Persona { id } => self.persona(id).await,
            ForgetSubject::Days { first, last } => span(&first, &last, self.base().clock()),
        }
    }

    async fn persona(&self, id: PersonaId) -> ApiResult<ForgetTarget> {
        let personas = self
            .base()
            .store()
            .read(|store| store.personas().list())
            .await?;
        if personas.iter().all(|persona| persona.id == id) {
            return Err(bad_input(
                "This is the last persona.",
                "Add another one first.",
            ));
        }
        let default = unless_chosen(&personas, self.personas.default_persona());
        Ok(ForgetTarget::Persona {
            id,
            by_default: default.is_some_and(|default| default.id == id),
        })
    }
}

/// The time from the beginning of the first day to the end of the last one, on the user's clock.
fn span(first: &str, last: &str, clock: &Clock) -> ApiResult<ForgetTarget> {
    let from = day(first)?;
    let until = day(last)?;
    if until < from {
        return Err(bad_input(
            "The last day is before the first day.",
            "Choose the days in their order.",
        ));
    }
    let next = until.tomorrow().map_err(|_| no_day(last))?;
    Ok(ForgetTarget::Span {
        from: start(from, clock).ok_or_else(|| no_day(first))?,
        until: start(next, clock).ok_or_else(|| no_day(last))?,
    })
}

fn day(text: &str) -> ApiResult<Date> {
    text.parse().map_err(|_| no_day(text))
}

fn start(day: Date, clock: &Clock) -> Option<Timestamp> {
    clock.instant_of(day.to_datetime(Time::midnight()))
}

fn no_day(text: &str) -> crate::api::ApiError {
    bad_input(
        format!("\"{text}\" is not a day."),
        "Write a day as 2026-01-31.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24 * 3_600_000;

    fn days(first: &str, last: &str) -> ApiResult<ForgetTarget> {
        span(first, last, &Clock::stopped(Timestamp(0)))
    }

    #[test]
    fn both_days_are_included() {
        let span = ForgetTarget::Span {
            from: Timestamp(DAY),
            until: Timestamp(3 * DAY),
        };
        assert_eq!(days("1970-01-02", "1970-01-03").ok(), Some(span));
    }

    #[test]
    fn days_in_the_wrong_order_are_refused() {
        for [first, last] in [
            ["1970-01-03", "1970-01-02"],
            ["1970-02-30", "1970-03-01"],
            ["", "1970-01-02"],
            ["1970-01-02", "9999-12-31"],
        ] {
            assert!(days(first, last).is_err(), "{first} to {last}");
        }
    }
}
