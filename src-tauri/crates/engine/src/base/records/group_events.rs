//! Events of group chats: who joins, leaves, goes away and comes back. A message holds them as
//! English text for the prompt; screens show a translation.

use crate::api::{GroupEvent, GroupEventKind};

/// The end of each sentence.
const PHRASES: [(GroupEventKind, &str); 4] = [
    (GroupEventKind::Joins, " joins."),
    (GroupEventKind::Leaves, " leaves."),
    (GroupEventKind::GoesAway, " goes away."),
    (GroupEventKind::ComesBack, " comes back."),
];

/// The text of a message, such as "(Ada joins. Bo leaves.)".
pub(crate) fn text(events: &[GroupEvent]) -> String {
    let sentence = |event: &GroupEvent| {
        let phrase = PHRASES
            .iter()
            .find(|(kind, _)| *kind == event.kind)
            .map_or("", |(_, phrase)| phrase);
        format!("{}{phrase}", event.name)
    };
    format!(
        "({})",
        events.iter().map(sentence).collect::<Vec<_>>().join(" ")
    )
}

/// The events that a message consists of; none if it says anything else.
pub(crate) fn read(text: &str) -> Vec<GroupEvent> {
    let inside = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    inside.and_then(sentences).unwrap_or_default()
}

fn sentences(mut text: &str) -> Option<Vec<GroupEvent>> {
    let mut events = Vec::new();
    while !text.is_empty() {
        let (at, kind, phrase) = PHRASES
            .iter()
            .filter_map(|(kind, phrase)| first(text, *kind, phrase))
            .min()?;
        let name = &text[..at];
        let rest = &text[at + phrase.len()..];
        events.push(GroupEvent {
            kind,
            name: name.to_owned(),
        });
        text = rest.strip_prefix(' ').unwrap_or(rest);
    }
    Some(events)
}

/// Whether this app wrote the text as an event of a group, such as the call upon a speaker.
pub(crate) fn is_event(text: &str) -> bool {
    let called = |inner: &str| {
        inner
            .strip_suffix("'s turn.")
            .is_some_and(|name| !name.trim().is_empty())
    };
    let inner = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or_default();
    text == "(The narrator goes on.)" || called(inner) || !read(text).is_empty()
}

/// The first place where a sentence ends with the phrase, after a name.
fn first<'p>(
    text: &str,
    kind: GroupEventKind,
    phrase: &'p str,
) -> Option<(usize, GroupEventKind, &'p str)> {
    let ends = |at: &usize| {
        *at > 0 && matches!(text[at + phrase.len()..].chars().next(), None | Some(' '))
    };
    text.match_indices(phrase)
        .map(|(at, _)| at)
        .find(ends)
        .map(|at| (at, kind, phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: GroupEventKind, name: &str) -> GroupEvent {
        GroupEvent {
            kind,
            name: name.to_owned(),
        }
    }

    #[test]
    fn texts_are_read_as_they_were_written() {
        use GroupEventKind::{ComesBack, GoesAway, Joins, Leaves};
        let all = [
            vec![event(Joins, "Ada")],
            vec![
                event(Joins, "Dr. Bo"),
                event(Leaves, "J. R. \"Tolk\" (the Grey)"),
            ],
            vec![
                event(GoesAway, "美咲"),
                event(ComesBack, " odd "),
                event(Leaves, "X leaves"),
            ],
        ];
        for events in all {
            assert_eq!(read(&text(&events)), events);
        }
        assert_eq!(
            text(&[event(Joins, "Ada"), event(Leaves, "Bo")]),
            "(Ada joins. Bo leaves.)"
        );
    }

    #[test]
    fn own_events_are_recognised() {
        for event in [
            "(Bo's turn.)",
            "(The narrator goes on.)",
            "(Ada joins. Bo leaves.)",
        ] {
            assert!(is_event(event), "{event}");
        }
        for other in [
            "('s turn.)",
            "Bo's turn.",
            "(Bo's turn)",
            "called by the user",
            "",
        ] {
            assert!(!is_event(other), "{other}");
        }
    }

    #[test]
    fn other_texts_are_no_events() {
        for other in [
            "",
            "()",
            "(",
            "(Ada's turn.)",
            "(Ada joins. And then?)",
            "Ada joins.",
            "( joins.)",
            "(Ada joins.!)",
        ] {
            assert!(read(other).is_empty(), "{other:?}");
        }
    }
}
