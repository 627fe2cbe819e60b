use super::*;

const DAY: i64 = 24 * 3_600_000;

fn text(place: i64, text: &str) -> IndexedText<'_> {
    IndexedText {
        place,
        stamp: place + 100,
        said: 0,
        text,
    }
}

fn index(texts: &[&str]) -> TextIndex {
    let mut index = TextIndex::default();
    index.renew(
        (0..).zip(texts).map(|(place, said)| text(place, said)),
        None,
    );
    index
}

/// The matching positions, best first.
fn ranked(index: &TextIndex, fits: &LexicalScores) -> Vec<i64> {
    let mut found: Vec<(i64, f64)> = index
        .places()
        .zip(fits[0].iter().copied())
        .filter(|(_, fit)| *fit > 0.0)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.into_iter().map(|(place, _)| place).collect()
}

fn found(index: &TextIndex, words: &[&str]) -> Vec<i64> {
    ranked(
        index,
        &search(&[(index, i64::MAX)], words.iter().copied()).own,
    )
}

const TALK_OF_PARROTS: [&str; 7] = [
    "It rained all day.",
    "What was the parrot called?",
    "Zebulon.",
    "And it rained again.",
    "Yes, yes.",
    "The parrots of the market are green, and the parrot of my sister is the greenest of them all, she says.",
    "It rained.",
];

#[test]
fn ranks_short_texts_and_rare_words_higher() {
    let index = index(&TALK_OF_PARROTS);
    assert_eq!(found(&index, &["parrot"])[..2], [1, 5]);
    assert_eq!(found(&index, &["rain", "zebulon"])[0], 2);
    assert_eq!(found(&index, &["lamp"]), [0; 0]);
}

#[test]
fn finds_answer_next_to_question() {
    let index = index(&TALK_OF_PARROTS);
    let searched = search(&[(&index, i64::MAX)], ["parrot"]);
    assert!(searched.around[0][2] > 0.0 && searched.own[0][2] == 0.0);
    assert_eq!(
        searched.around[0].iter().filter(|fit| **fit == 0.0).count(),
        0,
        "two on each side"
    );
}

#[test]
fn texts_hours_apart_are_not_neighbours() {
    let mut index = TextIndex::default();
    let evenings = [(0, "A parrot!"), (1, "Nice."), (2, "Good morning.")];
    index.renew(
        evenings.map(|(place, said)| IndexedText {
            said: place / 2 * DAY,
            ..text(place, said)
        }),
        None,
    );
    let searched = search(&[(&index, i64::MAX)], ["parrot"]);
    assert!(searched.around[0][1] > 0.0);
    assert_eq!(searched.around[0][2], 0.0);
}

#[test]
fn ignores_texts_after_the_limit() {
    let (whole, part) = (index(&TALK_OF_PARROTS), index(&TALK_OF_PARROTS[..4]));
    let [of_whole, of_part] =
        [(&whole, 4), (&part, i64::MAX)].map(|index| search(&[index], ["parrot", "rain", "green"]));
    assert_eq!(of_whole, of_part);
    assert_eq!(
        of_part.unknown,
        ["green"],
        "no text before the limit contains it"
    );
    assert!(search(&[(&whole, 0)], ["parrot"]).own[0].is_empty());
}

#[test]
fn searches_several_chats_as_one() {
    let (one, other) = (index(&TALK_OF_PARROTS[..3]), index(&TALK_OF_PARROTS[3..]));
    let whole = search(
        &[(&index(&TALK_OF_PARROTS), i64::MAX)],
        ["parrot", "rain", "lamp"],
    );
    let parts = search(
        &[(&one, i64::MAX), (&other, i64::MAX)],
        ["parrot", "rain", "lamp"],
    );
    assert_eq!(whole.own[0], parts.own.concat());
    assert_eq!(whole.unknown, parts.unknown);
}

#[test]
fn finds_words_of_scripts_without_spaces() {
    let index = index(&[
        "今天天气很好。",
        "我妹妹养的那只鹦鹉叫泽布伦。",
        "ฉันแพ้ถั่วลิสง",
    ]);
    assert_eq!(found(&index, &["我妹妹养的那只鹦鹉叫什么名字"])[0], 1);
    assert_eq!(found(&index, &["แพ้ถั่วลิสง"])[0], 2);
    assert_eq!(search(&[(&index, i64::MAX)], ["花生"]).unknown, [""; 0]);
}

/// The result of a search does not depend on how the index was built.
#[test]
fn updated_index_equals_new_index() {
    let mut renewed = index(&["It rained.", "A lamp.", "Zebulon.", "A parrot."]);
    let kept = HashSet::from([100, 102, 103]);
    renewed.renew(
        [IndexedText {
            stamp: 200,
            ..text(1, "What was the parrot called?")
        }],
        Some(&kept),
    );
    renewed.renew(
        [IndexedText {
            stamp: 201,
            ..text(4, "And it rained again.")
        }],
        None,
    );
    let new = index(&[
        "It rained.",
        "What was the parrot called?",
        "Zebulon.",
        "A parrot.",
        "And it rained again.",
    ]);
    assert_eq!(renewed.places().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    for words in [["parrot", "rain"], ["zebulon", "lamp"]] {
        assert_eq!(
            search(&[(&renewed, i64::MAX)], words),
            search(&[(&new, i64::MAX)], words)
        );
    }
    renewed.renew([], Some(&HashSet::new()));
    assert!(renewed.is_empty() && search(&[(&renewed, 9)], ["parrot"]).own[0].is_empty());
}
