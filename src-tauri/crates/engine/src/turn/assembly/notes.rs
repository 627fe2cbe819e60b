//! The author's note and the note of the character: which of them a turn includes, and where.

use context::frame::{BlockKind, Candidate, InsertionPoint, Placed, Source, USUAL_ORDER};
use context::plan::{Dropped, PlannedBlock};
use context::reason::BlockReason;
use domain::prompt::PromptRole;
use domain::settings::{CharacterNotePlace, NotePlace, NoteRole, Values};

/// Order among the texts at one place. Lore has 100 unless its author chose another one.
const ORDER: i32 = 100;

/// A note that is set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NoteOfTurn<'v> {
    /// As the user wrote it.
    pub(crate) written: &'v str,
    source: Source,
    reason: BlockReason,
    order: i32,
    /// Why this turn does not include it.
    pub(crate) absent: Option<Dropped>,
}

/// The notes that are set, in the order of the prompt. `user_messages` is the number of the user's
/// messages so far.
pub(crate) fn of(values: &Values, user_messages: i64) -> Vec<NoteOfTurn<'_>> {
    let every = i64::from(values.author_note_every_messages);
    if every == 0 {
        return Vec::new();
    }
    let due = user_messages % every == 0;
    let waits = (!due).then_some(Dropped::NotThisTurn);
    let has_own = !values.character_note.trim().is_empty();
    let replaced = has_own && values.character_note_place == CharacterNotePlace::Replace;
    let own = NoteOfTurn {
        written: &values.character_note,
        source: Source::Setting {
            key: "character_note".to_owned(),
        },
        reason: BlockReason::CharacterNote,
        order: if values.character_note_place == CharacterNotePlace::After {
            ORDER + 1
        } else {
            ORDER - 1
        },
        absent: waits,
    };
    let of_chat = NoteOfTurn {
        written: &values.author_note,
        source: Source::Note,
        reason: BlockReason::AuthorNote,
        order: ORDER,
        absent: replaced.then_some(Dropped::ReplacedNote).or(waits),
    };
    let mut notes = vec![own, of_chat];
    notes.retain(|note| !note.written.trim().is_empty());
    notes.sort_by_key(|note| note.order);
    notes
}

/// The place of the notes, and of the lore around them.
pub(crate) fn place(values: &Values) -> InsertionPoint {
    match values.author_note_place {
        NotePlace::InChat => InsertionPoint::Depth(values.author_note_depth),
        NotePlace::BeforeCharacter => InsertionPoint::BeforeCharacter,
        NotePlace::AfterCharacter => InsertionPoint::AfterCharacter,
    }
}

impl NoteOfTurn<'_> {
    /// The candidate, where `text` is the note with its macros expanded. A note that every turn
    /// includes can be part of the head.
    pub(crate) fn placed(&self, text: String, values: &Values) -> Placed {
        let candidate = Candidate::new(
            BlockKind::Note,
            self.source.clone(),
            self.reason.clone(),
            text,
        );
        Placed {
            candidate: candidate.with_source_text(self.written),
            place: place(values),
            role: match values.author_note_role {
                NoteRole::System => PromptRole::System,
                NoteRole::User => PromptRole::User,
                NoteRole::Character => PromptRole::Character,
            },
            order: self.order,
            injection_order: USUAL_ORDER,
            constant: values.author_note_every_messages == 1,
        }
    }

    /// The block that the X-ray shows for a note that this turn does not include.
    pub(crate) fn left_out(&self) -> Option<PlannedBlock> {
        let block = PlannedBlock::left_out(
            BlockKind::Note,
            self.source.clone(),
            self.reason.clone(),
            self.written,
        );
        self.absent.map(|dropped| PlannedBlock {
            dropped: Some(dropped),
            ..block
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(place: CharacterNotePlace) -> Values {
        Values {
            author_note: "Rain.".to_owned(),
            character_note: "Mira limps.".to_owned(),
            character_note_place: place,
            ..Values::default()
        }
    }

    fn included(values: &Values, user_messages: i64) -> Vec<&str> {
        let notes = of(values, user_messages)
            .into_iter()
            .filter(|note| note.absent.is_none());
        notes.map(|note| note.written).collect()
    }

    #[test]
    fn character_note_stands_where_it_is_set() {
        assert_eq!(
            included(&values(CharacterNotePlace::Before), 1),
            ["Mira limps.", "Rain."]
        );
        assert_eq!(
            included(&values(CharacterNotePlace::After), 1),
            ["Rain.", "Mira limps."]
        );
        let replacing = values(CharacterNotePlace::Replace);
        assert_eq!(included(&replacing, 1), ["Mira limps."]);
        let reasons: Vec<_> = of(&replacing, 1)
            .into_iter()
            .map(|note| note.absent)
            .collect();
        assert_eq!(reasons, [None, Some(Dropped::ReplacedNote)]);
    }

    #[test]
    fn notes_wait_for_their_turn() {
        let values = Values {
            author_note_every_messages: 3,
            ..values(CharacterNotePlace::After)
        };
        assert_eq!(included(&values, 6).len(), 2);
        assert!(
            of(&values, 7)
                .iter()
                .all(|note| note.absent == Some(Dropped::NotThisTurn))
        );
        assert!(
            of(
                &Values {
                    author_note_every_messages: 0,
                    ..values
                },
                6
            )
            .is_empty()
        );
    }

    #[test]
    fn blank_notes_are_no_notes() {
        assert!(
            of(
                &Values {
                    author_note: " \n".to_owned(),
                    ..Values::default()
                },
                1
            )
            .is_empty()
        );
    }
}
