//! Keyframes: summaries of message ranges, of twenty messages by default. The digest contains the
//! last two whose messages have left the window; it is fixed from one epoch to the next.
//!
//! Guarantees
//! - No message leaves the window uncovered. If no keyframe covers it, one is made of first
//!   sentences and stored together with the cut; that needs no model.
//! - A keyframe is deleted with the first of its messages that changes; the store does that.

use context::frame::{BlockKind, Candidate, Source};
use context::importance::judge;
use context::prompt_template::sentences;
use context::reason::BlockReason;
use context::{CountTokens, Estimate};
use domain::keyframe::Keyframe;
use domain::prompt::Segment;
use domain::settings::Values;
use domain::{ChatId, KeyframeId, MessageId, Timestamp};
use store::{ReadTransaction, SourceText, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::base::error::ApiResult;
use crate::base::records::convert::Speakers;
use crate::library::chats::chat::said;
use crate::recall_service::handle::RecallService;
use crate::recall_service::query::TurnQuery;
use crate::recall_service::recalled::Recalled;

/// Approximate tokens of a summary. Every prompt has two of them.
pub(crate) const TOKENS: u32 = 110;
/// Maximum characters of one message's first sentences.
const SENTENCES: usize = 140;
/// Minimum words of a sentence that says something.
const TELLING: usize = 4;
/// Number of earlier keyframes to read: the two of the digest, and one more in case one of these is
/// still in the window.
const BEFORE: u32 = 3;
/// Importance of first sentences, which no model has rated.
const UNREAD: u8 = 3;

/// A keyframe that is not stored yet, and the messages that it was made from.
#[derive(Debug, Clone)]
pub(crate) struct Cover {
    pub(crate) keyframe: Keyframe,
    pub(crate) told: Vec<SourceText>,
}

/// Number of messages in a keyframe (setting `keyframe_every_messages`).
pub(crate) fn every(values: &Values) -> usize {
    values.keyframe_every_messages as usize
}

/// The ranges of `told` that need a keyframe: `every` uncovered messages each, or fewer in front of
/// a covered one. The newest messages need none until there are `every` of them, including those of
/// `short`.
pub(crate) fn due(
    told: Vec<SourceText>,
    short: Option<&Keyframe>,
    every: usize,
) -> Vec<Vec<SourceText>> {
    let mut due = Vec::new();
    let mut stretch = Vec::new();
    let mut goes_on = false;
    let begins = short.and_then(|short| short.messages.first().copied());
    for text in told {
        let begins = begins == Some(text.message);
        goes_on |= begins;
        let ends = text.covered && !goes_on;
        if (ends || begins || stretch.len() == every) && !stretch.is_empty() {
            due.push(std::mem::take(&mut stretch));
        }
        if !ends {
            stretch.push(text);
        }
    }
    if stretch.len() == every {
        due.push(stretch);
    }
    due
}

/// The last of `keyframes`, if it is made of first sentences and may grow. Otherwise a small window
/// would leave one for every exchange.
pub(crate) fn short(keyframes: &[Keyframe], every: usize) -> Option<&Keyframe> {
    keyframes
        .last()
        .filter(|keyframe| keyframe.fallback && keyframe.messages.len() < every)
}

/// A keyframe made of first sentences; `None` if they say nothing. It replaces `short` if it begins
/// with the same message.
pub(crate) fn of_words(
    chat: ChatId,
    told: &[SourceText],
    short: Option<&Keyframe>,
    (speakers, now): (&Speakers, Timestamp),
) -> Option<Keyframe> {
    let first = told.first()?;
    let last = told.last()?;
    let summary = Some(first_sentences(told, speakers)).filter(|summary| !summary.is_empty())?;
    let grown = short.filter(|short| short.messages.first() == Some(&first.message));
    Some(Keyframe {
        id: grown.map_or_else(|| KeyframeId(Uuid::now_v7()), |short| short.id),
        chat,
        messages: told.iter().map(|text| text.message).collect(),
        first: first.position,
        last: last.position,
        summary,
        analysis: String::new(),
        rating: UNREAD,
        characters: Vec::new(),
        fallback: true,
        created: now,
    })
}

/// The first sentences of the most important messages, in order and with their speakers.
fn first_sentences(told: &[SourceText], speakers: &Speakers) -> String {
    let names: Vec<&str> = told
        .iter()
        .map(|text| speakers.of(text.message, text.role))
        .collect();
    let line = |text: &SourceText| {
        let start =
            without_unpaired_asterisks(sentences(&said(text.role, text.text.clone()), SENTENCES));
        let says = start.split_whitespace().count() >= TELLING
            || !start.is_ascii() && start.chars().count() >= TELLING;
        says.then(|| format!("{}: {start}", speakers.of(text.message, text.role)))
    };
    let mut lines: Vec<(usize, u8, String)> = (0..)
        .zip(told)
        .filter_map(|(at, text)| {
            Some((
                at,
                judge(&text.text, names.iter().copied()).value,
                line(text)?,
            ))
        })
        .collect();
    lines.sort_by_key(|(at, value, _)| (std::cmp::Reverse(*value), *at));
    let mut room = TOKENS;
    lines.retain(|(_, _, line)| match room.checked_sub(tokens(line)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    });
    lines.sort_by_key(|(at, ..)| *at);
    lines
        .into_iter()
        .map(|(_, _, line)| line)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Without asterisks if one of them is unpaired: everything after it would read as an action.
fn without_unpaired_asterisks(start: String) -> String {
    if start.matches('*').count().is_multiple_of(2) {
        start
    } else {
        start.replace('*', "")
    }
}

/// An estimate.
pub(crate) fn tokens(text: &str) -> u32 {
    Estimate
        .count(&Segment {
            text: text.to_owned(),
            control: false,
        })
        .unwrap_or(0)
}

fn candidate(keyframe: &Keyframe) -> Candidate {
    let first = keyframe.first + 1;
    let last = keyframe.last + 1;
    let reason = if keyframe.fallback {
        BlockReason::FirstSentences { first, last }
    } else {
        BlockReason::Summary { first, last }
    };
    let source = Source::Keyframe {
        id: keyframe.id.to_string(),
    };
    Candidate::new(
        BlockKind::Keyframe,
        source,
        reason,
        keyframe.summary.clone(),
    )
    .with_score(f32::from(keyframe.rating))
    .with_source_messages(keyframe.messages.clone())
}

/// Stores the keyframes of messages that leave the window, in the transaction that stores the
/// window.
pub(crate) fn keep(store: &mut WriteTransaction<'_>, covers: &[Cover]) -> Result<(), StoreError> {
    for cover in covers {
        store.keyframes_mut().put(&cover.keyframe, &cover.told)?;
    }
    Ok(())
}

impl Recalled {
    /// Puts `keyframes` into the digest, oldest first.
    pub(crate) fn tell_story(&mut self, mut keyframes: Vec<Keyframe>) {
        keyframes.sort_by_key(|keyframe| keyframe.first);
        self.digest
            .retain(|candidate| candidate.kind != BlockKind::Keyframe);
        self.digest.extend(keyframes.iter().map(candidate));
        self.keyframes = keyframes;
    }
}

/// The messages of `left` that no keyframe covers, in ranges. The first range extends `short` if no
/// other message is between the two.
pub(crate) fn uncovered(
    store: &ReadTransaction<'_>,
    chat: ChatId,
    left: &[MessageId],
    short: Option<&Keyframe>,
    every: usize,
) -> Result<Vec<Vec<SourceText>>, StoreError> {
    let ends = left.first().zip(left.last());
    let Some((first, last)) = ends else {
        return Ok(Vec::new());
    };
    let first = store.messages().position(*first)?;
    let last = store.messages().position(*last)?;
    let Some((first, last)) = first.zip(last) else {
        return Ok(Vec::new());
    };
    let told = store.message_texts().texts_between(chat, first, last)?;
    let stretches = told.chunk_by(|one, next| !one.covered && !next.covered);
    let bare = stretches.filter(|stretch| stretch.iter().all(|text| !text.covered));
    let mut bare: Vec<Vec<SourceText>> = bare
        .flat_map(|stretch| stretch.chunks(every))
        .map(<[SourceText]>::to_vec)
        .collect();
    if let Some((stretch, short)) = bare
        .first_mut()
        .zip(short.filter(|short| short.last < first))
        && let Some(end) = stretch.last().map(|text| text.position)
        && short.messages.len() + stretch.len() <= every
    {
        let whole = store
            .message_texts()
            .texts_between(chat, short.first, end)?;
        if whole.len() == short.messages.len() + stretch.len() {
            *stretch = whole;
        }
    }
    Ok(bare)
}

impl RecallService {
    /// The keyframes that may be in the digest: of messages in the window and right before it, and
    /// of the current scene.
    pub(crate) async fn keyframes_near(&self, turn: &TurnQuery<'_>) -> ApiResult<Vec<Keyframe>> {
        let Some(first) = turn.history.first().map(|message| message.id) else {
            return Ok(Vec::new());
        };
        let chat = turn.chat.id;
        let after = turn.chat.scene_after.unwrap_or(-1);
        let read = move |store: &ReadTransaction<'_>| {
            let position = store.messages().position(first)?.unwrap_or(i64::MAX);
            store.keyframes().around(chat, position, BEFORE)
        };
        let found = self.base().store().read(read).await?;
        let known = |keyframe: &Keyframe| {
            !keyframe
                .messages
                .iter()
                .any(|message| turn.known.missed(message))
        };
        Ok(found
            .into_iter()
            .filter(|keyframe| keyframe.first > after && known(keyframe))
            .collect())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use domain::chat::Role;

    use super::*;

    /// A message as the store returns it.
    pub(crate) fn told(position: i64, role: Role, text: &str, covered: bool) -> SourceText {
        SourceText {
            number: position,
            message: MessageId(Uuid::from_u128(position as u128 + 1)),
            position,
            role,
            created: Timestamp(position),
            text: text.to_owned(),
            context_block: None,
            covered,
        }
    }

    const TWENTY: usize = 20;

    fn speakers() -> Speakers {
        Speakers {
            character: "Mira".into(),
            persona: "Tom".into(),
            others: Default::default(),
        }
    }

    fn talk(covered: &[bool]) -> Vec<SourceText> {
        covered
            .iter()
            .zip(0..)
            .map(|(covered, at)| told(at, Role::User, "We sail on Monday.", *covered))
            .collect()
    }

    fn lengths(covered: &[bool]) -> Vec<usize> {
        due(talk(covered), None, TWENTY)
            .iter()
            .map(Vec::len)
            .collect()
    }

    #[test]
    fn every_twenty_messages_need_a_keyframe() {
        assert_eq!(lengths(&[false; 19]), [0; 0]);
        assert_eq!(lengths(&[false; 20]), [20]);
        assert_eq!(lengths(&[false; 45]), [20, 20]);
        let with_a_gap = [[true; 5].as_slice(), &[false; 3], &[true; 5], &[false; 19]].concat();
        assert_eq!(
            lengths(&with_a_gap),
            [3],
            "a gap needs a keyframe, however short"
        );
    }

    #[test]
    fn short_keyframe_grows_until_full() {
        let with_short = |covered: &[bool], first: usize| {
            let talk = talk(covered);
            let of_short: Vec<SourceText> = talk[first..]
                .iter()
                .take_while(|text| text.covered)
                .cloned()
                .collect();
            let short = of_words(
                ChatId(Uuid::nil()),
                &of_short,
                None,
                (&speakers(), Timestamp(1)),
            )
            .unwrap();
            assert_eq!(
                super::short(std::slice::from_ref(&short), TWENTY),
                Some(&short)
            );
            due(talk, Some(&short), TWENTY)
                .iter()
                .map(|stretch| (stretch[0].position, stretch.len()))
                .collect::<Vec<_>>()
        };
        let covered = [[true; 5].as_slice(), &[false; 15]].concat();
        assert_eq!(with_short(&covered, 0), [(0, 20)]);
        assert_eq!(with_short(&covered[..19], 0), []);
        let behind_a_gap = [[true; 3].as_slice(), &[false; 2], &[true; 5], &[false; 18]].concat();
        assert_eq!(with_short(&behind_a_gap, 5), [(3, 2), (5, 20)]);
    }

    #[test]
    fn first_sentences_are_short_and_name_speakers() {
        let mut talk = talk(&[false; 3]);
        talk[0].text = "Hm.".into();
        talk[1].text =
            "*smiles* My boat is the Zebulon. She was built in 1931, and nobody has sailed her since.".into();
        let laughs = "*She laughs at the boat. The door is shut, and behind it the wind goes on and on as if nobody had ever told \
                      it that the night is for sleeping.* \"What a name for a boat!\"";
        talk[2] = told(2, Role::Character, laughs, false);
        let keyframe = of_words(
            ChatId(Uuid::nil()),
            &talk,
            None,
            (&speakers(), Timestamp(1)),
        )
        .unwrap();
        assert!(
            keyframe
                .summary
                .contains("Tom: *smiles* My boat is the Zebulon."),
            "{}",
            keyframe.summary
        );
        assert!(
            keyframe.summary.ends_with("Mira: She laughs at the boat."),
            "{}",
            keyframe.summary
        );
        assert!(!keyframe.summary.contains("Hm") && keyframe.fallback);
        assert_eq!(
            (keyframe.first, keyframe.last, keyframe.messages.len()),
            (0, 2, 3)
        );
        let long = vec![
            told(
                0,
                Role::User,
                &"We sail on Monday, if the wind is fair. ".repeat(90),
                false
            );
            TWENTY
        ];
        let long = of_words(
            ChatId(Uuid::nil()),
            &long,
            None,
            (&speakers(), Timestamp(1)),
        )
        .unwrap();
        assert!(tokens(&long.summary) <= TOKENS + 20, "{}", long.summary);
    }
}
