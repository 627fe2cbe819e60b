//! Merges duplicates: the same text of the same speaker in several messages. Branches of a chat
//! share messages, and all chats with a character begin with its greeting. Each text is recalled
//! once.

use std::collections::HashMap;

use context::frame::HistoryMessage;
use domain::chat::Role;

use crate::base::records::convert::Speakers;
use crate::library::chats::chat::said;
use crate::recall_service::hit::Hit;

/// Properties of the chat and the question that decide how duplicates are merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DuplicateRules {
    /// Several characters take part, so the same text by two of them is no duplicate.
    pub(crate) several: bool,
    /// The question names a date, so the time of a message matters.
    pub(crate) timed: bool,
}

/// Removes duplicates from `hits`, which are in order. The best score stays, with the newest
/// message.
pub(crate) fn say_once(hits: &mut Vec<Hit>, talk: DuplicateRules) {
    let mut known: HashMap<(Role, &str), usize> = HashMap::new();
    let numbered = hits.iter().enumerate();
    let firsts: Vec<usize> = numbered
        .map(|(at, hit)| *known.entry((hit.message.role, &hit.text)).or_insert(at))
        .collect();
    let mut once: Vec<Option<Hit>> = Vec::with_capacity(hits.len());
    for (hit, first) in hits.drain(..).zip(firsts) {
        let better = once.get_mut(first).and_then(Option::as_mut);
        match better.filter(|_| hit.message.role == Role::User || !talk.several) {
            Some(better) => {
                better.has_twin(hit, talk.timed);
                once.push(None);
            }
            None => once.push(Some(hit)),
        }
    }
    hits.extend(once.into_iter().flatten());
}

/// Replaces a hit by a message of `history` with the same text, so that the plan can tell whether
/// it is in the window.
pub(crate) fn stand_in(
    hits: &mut [Hit],
    talk: DuplicateRules,
    history: &[HistoryMessage],
    speakers: &Speakers,
) {
    if talk.timed {
        return;
    }
    for hit in hits {
        let id = hit.message.id;
        let role = hit.message.role;
        let text = said(role, hit.text.clone());
        let speaker = speakers.of(id, role);
        let same = |message: &&HistoryMessage| {
            message.role == role
                && message.speaker == speaker
                && !message.text.is_empty()
                && *message.written.as_ref().unwrap_or(&message.text) == text
        };
        // The newest one stays in the window longest.
        if let Some(shown) = history.iter().rev().find(same) {
            (hit.message.id, hit.message.created) = (shown.id, shown.created);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{MessageId, Timestamp};
    use store::MessageKey;
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> MessageId {
        MessageId(Uuid::from_u128(number))
    }

    const ALONE: DuplicateRules = DuplicateRules {
        several: false,
        timed: false,
    };

    fn hit(number: u128, role: Role) -> Hit {
        let created = Timestamp(number as i64);
        let message = MessageKey {
            id: id(number),
            position: 0,
            role,
            created,
            undated: false,
        };
        Hit::new(message, 0, 1.0 / number as f32)
    }

    fn numbers(hits: &[Hit]) -> Vec<(u128, usize)> {
        hits.iter()
            .map(|hit| (hit.message.id.0.as_u128(), hit.twins))
            .collect()
    }

    fn once(talk: DuplicateRules) -> Vec<Hit> {
        let texts = [
            "",
            "Ahoy.",
            "Ahoy.",
            "Ahoy.",
            "The lamp is lit.",
            "Ahoy.",
            "The lamp is lit.",
        ];
        let mut hits: Vec<Hit> = (1..=6).map(|number| hit(number, Role::Character)).collect();
        hits[2].message.role = Role::User;
        hits.iter_mut()
            .for_each(|hit| hit.text = texts[hit.message.id.0.as_u128() as usize].to_owned());
        say_once(&mut hits, talk);
        hits
    }

    #[test]
    fn duplicates_keep_best_score_and_latest_day() {
        let hits = once(ALONE);
        assert_eq!(
            numbers(&hits),
            [(5, 2), (3, 0), (6, 1)],
            "the third is the user's"
        );
        assert_eq!(
            hits.iter().map(|hit| hit.score).collect::<Vec<_>>(),
            [1.0, 1.0 / 3.0, 0.25]
        );
        let at_some_time = once(DuplicateRules {
            timed: true,
            ..ALONE
        });
        assert_eq!(
            numbers(&at_some_time),
            [(1, 2), (3, 0), (4, 1)],
            "the best match, as the question has a date"
        );
    }

    #[test]
    fn two_characters_have_no_duplicates() {
        assert_eq!(
            once(DuplicateRules {
                several: true,
                ..ALONE
            })
            .len(),
            6
        );
    }

    #[test]
    fn finds_duplicates_in_the_window() {
        let all = || {
            let mut hits = vec![
                hit(1, Role::Character),
                hit(2, Role::User),
                hit(3, Role::Character),
            ];
            for (hit, text) in hits.iter_mut().zip(["Ahoy.", "Ahoy.", ""]) {
                hit.text = text.to_owned();
            }
            hits
        };
        let message = |number: u128, text: &str, speaker: &str| {
            HistoryMessage::new(
                id(number),
                Role::Character,
                speaker,
                text,
                Timestamp(number as i64),
            )
        };
        let silent = HistoryMessage {
            written: Some("Ahoy.".into()),
            ..message(5, "", "Mira")
        };
        let rewritten = HistoryMessage {
            written: Some("Ahoy.".into()),
            ..message(8, "AHOY!", "Mira")
        };
        let history = [
            silent,
            message(6, "Ahoy.", "Ida"),
            message(7, "", "Mira"),
            rewritten,
            message(9, "Ahoy.", "Mira"),
        ];
        let speakers = Speakers {
            character: "Mira".into(),
            persona: "Tom".into(),
            others: HashMap::new(),
        };
        let mut hits = all();
        stand_in(&mut hits, ALONE, &history, &speakers);
        assert_eq!(numbers(&hits), [(9, 0), (2, 0), (3, 0)]);
        assert_eq!(hits[0].message.created, Timestamp(9));
        let mut hits = all();
        stand_in(&mut hits, ALONE, &history[..4], &speakers);
        assert_eq!(
            numbers(&hits)[0],
            (8, 0),
            "compares the stored text, not the sent one"
        );
        let mut hits = all();
        stand_in(
            &mut hits,
            DuplicateRules {
                timed: true,
                ..ALONE
            },
            &history,
            &speakers,
        );
        assert_eq!(numbers(&hits), [(1, 0), (2, 0), (3, 0)], "of another day");
    }
}
