//! The same words of the same speaker in several messages: a chat that went several ways has them in each, and all chats with a
//! character begin with its greeting. They are told once.

use std::collections::HashMap;

use context::frame::HistoryMessage;
use domain::chat::Role;
use store::StoreError;

use super::older::Hit;
use crate::history::said;

/// Of `hits`, best first, those stay whose words no better one has. As many as `told` get their words, which `read` knows; those
/// behind stay without.
pub(super) fn say_once(
    hits: &mut Vec<Hit>,
    told: usize,
    mut read: impl FnMut(&Hit) -> Result<String, StoreError>,
) -> Result<(), StoreError> {
    let mut known: HashMap<(Role, String), usize> = HashMap::new();
    let mut once: Vec<Hit> = Vec::with_capacity(hits.len());
    let mut all = std::mem::take(hits).into_iter();
    while once.len() < told
        && let Some(mut hit) = all.next()
    {
        hit.text = read(&hit)?;
        match known.get(&(hit.message.role, hit.text.clone())) {
            Some(better) => once[*better].twins += 1,
            None => {
                known.insert((hit.message.role, hit.text.clone()), once.len());
                once.push(hit);
            }
        }
    }
    *hits = once;
    hits.extend(all);
    Ok(())
}

/// What has the words of a message in `history` stands for that one: the plan knows whether it is in the window.
pub(super) fn stand_in(hits: &mut [Hit], history: &[HistoryMessage]) {
    for hit in hits.iter_mut().filter(|hit| !hit.text.is_empty()) {
        let (role, text) = (hit.message.role, said(hit.message.role, hit.text.clone()));
        let same = |message: &&HistoryMessage| {
            message.role == role && *message.written.as_ref().unwrap_or(&message.text) == text
        };
        if let Some(shown) = history.iter().find(same) {
            (hit.message.id, hit.message.created) = (shown.id, shown.created);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{MessageId, Timestamp};
    use store::NamedMessage;
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> MessageId {
        MessageId(Uuid::from_u128(number))
    }

    fn hit(number: u128, role: Role) -> Hit {
        let created = Timestamp(number as i64);
        let message = NamedMessage { id: id(number), position: 0, role, created };
        Hit::new(message, 0, 1.0 / number as f32)
    }

    fn numbers(hits: &[Hit]) -> Vec<(u128, usize)> {
        hits.iter().map(|hit| (hit.message.id.0.as_u128(), hit.twins)).collect()
    }

    #[test]
    fn of_the_same_words_the_best_stays_and_as_many_others_as_asked_for_are_read() {
        let texts = ["", "Ahoy.", "Ahoy.", "Ahoy.", "The lamp is lit.", "Ahoy.", "The lamp is lit."];
        let read = |hit: &Hit| Ok(texts[hit.message.id.0.as_u128() as usize].to_owned());
        let all = || {
            let mut hits: Vec<Hit> = (1..=6).map(|number| hit(number, Role::Character)).collect();
            hits[2].message.role = Role::User;
            hits
        };
        let mut hits = all();
        say_once(&mut hits, 9, read).unwrap();
        assert_eq!(numbers(&hits), [(1, 2), (3, 0), (4, 1)], "the third is the user's");
        let mut hits = all();
        say_once(&mut hits, 2, read).unwrap();
        assert_eq!(numbers(&hits), [(1, 1), (3, 0), (4, 0), (5, 0), (6, 0)]);
        assert_eq!(hits.iter().filter(|hit| !hit.text.is_empty()).count(), 2);
    }

    #[test]
    fn what_the_window_may_show_is_known_by_its_words() {
        let mut hits = vec![hit(1, Role::Character), hit(2, Role::User), hit(3, Role::Character)];
        for (hit, text) in hits.iter_mut().zip(["Ahoy.", "Ahoy.", ""]) {
            hit.text = text.to_owned();
        }
        let message = |number: u128, text: &str| {
            HistoryMessage::new(id(number), Role::Character, "Mira", text, Timestamp(number as i64))
        };
        let rewritten = HistoryMessage { written: Some("Ahoy.".into()), ..message(8, "AHOY!") };
        stand_in(&mut hits, &[message(7, ""), rewritten, message(9, "Ahoy.")]);
        assert_eq!(numbers(&hits), [(8, 0), (2, 0), (3, 0)]);
        assert_eq!(hits[0].message.created, Timestamp(8));
    }
}
