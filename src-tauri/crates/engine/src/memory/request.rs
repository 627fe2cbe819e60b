//! Whether words ask for something: by a mark, by how a clause of them begins, or by a word that asks in languages that put it
//! anywhere. Many who chat type no marks. Pure.

use super::terms::words;

/// Marks of a question, in the scripts that have one.
pub(super) const QUESTION: [char; 4] = ['?', '？', '؟', '\u{37e}'];
/// Between the clauses of a message, and what is done and what is said in it.
const CLAUSES: &[char] =
    &['.', '!', ',', ';', ':', '*', '"', '“', '”', '„', '(', ')', '\n', '—', '–', '。', '！', '，', '、'];

/// Words that ask for what is past, wherever they stand.
const PAST: [&str; 6] = ["remember", "remind", "recall", "erinnere", "erinnerst", "weißt"];
/// A clause goes on behind them.
const BEFORE: [&str; 14] =
    ["and", "but", "so", "well", "now", "then", "ok", "okay", "hey", "please", "just", "und", "aber", "bitte"];
/// A clause that begins with one of them asks for an answer.
const REQUESTS: [&str; 10] =
    ["tell", "name", "list", "describe", "repeat", "guess", "nenne", "nenn", "beschreibe", "wiederhole"];
/// The same, of two words.
const REQUESTS_TO_ME: [&str; 3] = ["sag mir", "sage mir", "verrate mir"];
/// These ask where a clause begins with them and what is done comes next, or after what is asked for ("which boat is").
const ASKING: [&str; 24] = [
    "what", "which", "who", "whom", "whose", "how", "when", "where", "why", "was", "wer", "wen", "wem", "wessen",
    "welche", "welcher", "welches", "welchen", "wie", "wo", "wohin", "wann", "warum", "wieso",
];
const DOING: [&str; 37] = [
    "is", "s", "are", "was", "were", "am", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would",
    "should", "ist", "sind", "war", "waren", "hat", "habe", "hab", "hast", "haben", "hatte", "heißt", "heiße", "kann",
    "mag", "wohnt", "wohne", "lebt", "lebe", "arbeitet", "arbeite",
];
/// Who tells something ("where she was"), and does not ask.
const SOMEBODY: [&str; 14] =
    ["i", "you", "he", "she", "it", "we", "they", "ich", "du", "er", "sie", "es", "wir", "ihr"];
/// "Did I", "do you": those who talk ask each other.
const TO_EACH_OTHER: [&str; 6] = ["do you", "did you", "did i", "have i", "had i", "kennst du"];
/// Words between one that asks and what is done.
const ASKED_FOR: usize = 3;
/// In Chinese, Japanese and Korean they ask wherever they stand.
const ANYWHERE: [&str; 24] = [
    "吗",
    "嗎",
    "什么",
    "什麼",
    "谁",
    "誰",
    "哪",
    "怎么",
    "怎麼",
    "多少",
    "几个",
    "幾個",
    "何です",
    "何だ",
    "何と",
    "どこ",
    "なぜ",
    "どんな",
    "ですか",
    "ますか",
    "뭐",
    "무엇",
    "누구",
    "어디",
];

pub(super) fn asks(text: &str) -> bool {
    text.contains(QUESTION)
        || words(text).any(|word| PAST.contains(&&*word))
        || ANYWHERE.iter().any(|asking| text.contains(asking))
        || text.split(CLAUSES).any(clause_asks)
}

fn clause_asks(clause: &str) -> bool {
    let words: Vec<String> = words(clause).skip_while(|word| BEFORE.contains(&&**word)).take(ASKED_FOR + 2).collect();
    let Some((first, rest)) = words.split_first() else { return false };
    let is = |word: &String, of: &[&str]| of.contains(&word.as_str());
    let both = rest.first().map(|second| format!("{first} {second}"));
    let opening = both.is_some_and(|both| TO_EACH_OTHER.contains(&&*both) || REQUESTS_TO_ME.contains(&&*both));
    let mut asked_for = rest.iter().take_while(|word| !is(word, &SOMEBODY));
    opening || is(first, &REQUESTS) || is(first, &ASKING) && asked_for.any(|word| is(word, &DOING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_needs_no_mark() {
        for text in [
            "What was my sister called?",
            "what is my sister's name",
            "and which boat did I sell",
            "whose dog was it",
            "how old is Ida",
            "Tell me my sister's name.",
            "*leans back* Tell me about my boat.",
            "Mira, name the boat I sold!",
            "Well, do you know my sister",
            "Remind me of the harbour.",
            "Sag mir, wie meine Schwester heißt.",
            "Wie heißt meine Schwester",
            "wo wohne ich",
            "我妹妹叫什么名字",
            "妹の名前は何です",
            "내 여동생 이름이 뭐야",
        ] {
            assert!(asks(text), "{text}");
        }
    }

    #[test]
    fn a_story_asks_nothing() {
        for text in [
            "I walk down to the harbour and wave.",
            "When she was young, the lamp was blue.",
            "Where he had stood the grass was burnt.",
            "What a day!",
            "How lovely.",
            "*She told him what it was.*",
            "Who knows.",
            "My name is Tom.",
            "Als ich jung war, war die Lampe blau.",
            "今天下雨。",
            "",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
