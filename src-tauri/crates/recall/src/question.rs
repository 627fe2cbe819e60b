//! Decides whether a message asks for something: by its punctuation, by how a sentence begins, or,
//! in some languages, by question words at any position. Many users type no question marks. Stories
//! contain many question words in statements ("the lamp, which is lit"). They must not match,
//! because messages recalled for them would stay in the window. Pure.

use crate::tokens::words;

/// Question marks of the scripts that have one.
pub const QUESTION: [char; 4] = ['?', '？', '؟', '\u{37e}'];
/// Separators of sentences, and of actions and speech.
const SENTENCES: &[char] = &[
    '.', '!', ':', '*', '"', '“', '”', '„', '«', '»', '(', ')', '\n', '…', '—', '–', '。', '！',
    '「', '」',
];

/// Words that make a sentence a question about the past, at any position.
const PAST: &[&str] = &[
    "remember",
    "remind",
    "recall",
    "erinnere",
    "erinnerst",
    "erinnern",
    "erinner",
];
/// Words that may precede the beginning of a question.
const BEFORE: &[&str] = &[
    "and", "but", "so", "well", "now", "then", "ok", "okay", "hey", "hmm", "please", "just",
    "again", "und", "aber", "bitte", "also",
];
/// Prepositions before a question word ("in which city").
const ABOUT: &[&str] = &[
    "in", "on", "at", "with", "from", "to", "for", "of", "by", "mit", "aus", "von", "für", "bei",
];
/// Pairs of words that begin a question or a request.
const OPENINGS: &[&str] = &[
    "tell me",
    "tell us",
    "name the",
    "name my",
    "list the",
    "list my",
    "list all",
    "describe the",
    "describe my",
    "repeat the",
    "repeat what",
    "say what",
    "say again",
    "do i",
    "do you",
    "did i",
    "did you",
    "did we",
    "did my",
    "have i",
    "have we",
    "has my",
    "am i",
    "is my",
    "was my",
    "are my",
    "does my",
    "sag mir",
    "sage mir",
    "erzähl mir",
    "erzähle mir",
    "nenn mir",
    "nenne mir",
    "verrate mir",
    "verrat mir",
    "weißt du",
    "weisst du",
    "kennst du",
    "kannst du",
    "hast du",
    "bist du",
    "habe ich",
    "hab ich",
    "bin ich",
    "war ich",
    "ist mein",
    "ist meine",
    "war meine",
];
/// Pairs of words before a request ("could you tell me").
const WOULD_YOU: &[&str] = &["can you", "could you", "would you"];
/// Question words that a verb must follow directly.
const WHERE: &[&str] = &[
    "who", "whom", "when", "where", "why", "wer", "wen", "wem", "wo", "woher", "wohin", "wann",
    "warum", "wieso", "was", "wie",
];
/// Question words that other words may separate from the verb ("which old boat is", "wie viele
/// Katzen habe").
const WHICH: &[&str] = &[
    "what", "which", "whose", "how", "welche", "welcher", "welches", "welchen", "wessen",
    "wieviele",
];
/// Question word and verb in one word, as many type it.
const WHATS: &[&str] = &["whats", "wheres", "whos", "hows", "whens"];
const HOW_MUCH: &[&str] = &["alt", "viel", "viele", "lange"];
const DOING: &[&str] = &[
    "is", "s", "are", "was", "were", "am", "do", "does", "did", "has", "have", "had", "can",
    "could", "will", "would", "should", "ist", "sind", "war", "waren", "hat", "habe", "hab",
    "hast", "haben", "hatte", "hatten", "heißt", "heiße", "heisst", "hieß", "hiess", "heißen",
    "kann", "mag", "magst", "wohnt", "wohne", "lebt", "lebe", "arbeitet", "arbeite", "kommt",
    "kam", "ging", "macht", "mache", "nannte", "nennt", "bin", "bist", "wurde",
];
/// Words that make the clause a statement ("what the man had said").
const SOMEBODY: &[&str] = &[
    "i", "you", "he", "she", "it", "we", "they", "the", "a", "an", "this", "that", "my", "your",
    "his", "her", "our", "their", "ich", "du", "er", "sie", "es", "wir", "ihr", "der", "die",
    "das", "den", "dem", "ein", "eine", "mein",
];
/// Maximum number of words between a question word and the verb.
const ASKED_FOR: usize = 3;
/// Words that make a Chinese, Japanese or Korean sentence a question, at any position.
const ANYWHERE: &[&str] = &[
    "吗",
    "嗎",
    "是什么",
    "是什麼",
    "叫什么",
    "叫什麼",
    "为什么",
    "為什麼",
    "什么名字",
    "什麼名字",
    "是谁",
    "是誰",
    "谁是",
    "誰是",
    "哪里",
    "哪裡",
    "哪儿",
    "哪个",
    "哪個",
    "几个",
    "幾個",
    "ですか",
    "ますか",
    "でしたか",
    "ましたか",
    "だっけ",
    "何です",
    "誰です",
    "뭐야",
    "누구야",
    "어디야",
    "나요",
];

pub fn asks(text: &str) -> bool {
    text.contains(QUESTION)
        || words(text).any(|word| PAST.contains(&&*word))
        || ANYWHERE.iter().any(|asking| text.contains(asking))
        || text.split(SENTENCES).any(|sentence| {
            begins_asking(sentence) || after_a_call(sentence).is_some_and(begins_asking)
        })
}

/// The text after an address or an introductory word ("Mira, tell me"). A comma may also precede a
/// relative clause ("Tom, who is asleep"), which begins with one of the `relative` words.
fn after_a_call(sentence: &str) -> Option<&str> {
    let (call, rest) = sentence.split_once(',')?;
    let relative = ["who", "which", "whose", "whom", "when", "where", "why"];
    let first = words(rest).next()?;
    (words(call).count() <= 2 && !relative.contains(&&*first)).then_some(rest)
}

fn begins_asking(sentence: &str) -> bool {
    let all: Vec<String> = words(sentence)
        .skip_while(|word| BEFORE.contains(&&**word))
        .take(ASKED_FOR + 4)
        .collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    opens(&all) || WOULD_YOU.contains(&&*both(&all)) && opens(&all[2..]) || is_asked_for(&all)
}

fn both(words: &[&str]) -> String {
    words.iter().take(2).copied().collect::<Vec<_>>().join(" ")
}

fn opens(words: &[&str]) -> bool {
    OPENINGS.contains(&&*both(words))
}

fn is_asked_for(words: &[&str]) -> bool {
    let words = match words {
        [about, rest @ ..] if ABOUT.contains(about) => rest,
        words => words,
    };
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let next = rest.first().is_some_and(|word| DOING.contains(word));
    let how_much = *first == "wie" && rest.first().is_some_and(|word| HOW_MUCH.contains(word));
    let mut between = rest
        .iter()
        .take(ASKED_FOR + 1)
        .take_while(|word| !SOMEBODY.contains(word));
    // "wie Ida heißt" is a statement, because nothing follows the verb.
    let ends_so = rest.len() == 1 && *first != "who";
    WHATS.contains(first)
        || WHERE.contains(first) && next && !ends_so
        || (WHICH.contains(first) || how_much) && between.any(|word| DOING.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_questions_without_marks() {
        for text in [
            "What was my sister called?",
            "what is my sister's name",
            "whats my sister called",
            "and which boat did I sell",
            "in which city did I live",
            "whose dog was it",
            "how old is Ida",
            "Tell me my sister's name.",
            "*leans back* Tell me about my boat.",
            "Mira, name the boat I sold!",
            "Well, do you know my sister",
            "could you tell me where she lives",
            "Hmm… what is the harbour called",
            "where did I lose the key",
            "is my sister older than me",
            "Remind me of the harbour.",
            "Sag mir, wie meine Schwester heißt.",
            "Erzähl mir von meiner Schwester.",
            "Weißt du noch, wo ich wohne",
            "Wie heißt meine Schwester",
            "wie hieß mein Boot",
            "Wie alt ist Ida",
            "wo wohne ich",
            "Welche Farbe hat mein Boot",
            "mit wem war ich in Lissabon",
            "我妹妹叫什么名字",
            "妹の名前は何ですか",
            "내 여동생 이름이 뭐야",
        ] {
            assert!(asks(text), "{text}");
        }
    }

    #[test]
    fn narration_is_no_question() {
        for text in [
            "I walk down to the harbour and wave.",
            "The lamp, which is still warm, goes out.",
            "Tom, who is asleep, smiles.",
            "The boat, whose mast was broken, turns.",
            "It rained, which is why I came.",
            "When she was young, the lamp was blue.",
            "When the rain has stopped I go out.",
            "Where he had stood the grass was burnt.",
            "Where the path is narrow I walk in front.",
            "I go to where Mira's brother waits.",
            "What a day!",
            "What the man had said was true.",
            "How lovely.",
            "*She told him what it was.*",
            "Who knows.",
            "My name is Tom.",
            "I do what I can.",
            "Als ich jung war, war die Lampe blau.",
            "Ich gehe dorthin, wo das Haus ist.",
            "Wo das Haus ist, brennt Licht.",
            "Du weißt, dass ich dich liebe.",
            "Wie das Kind heißt, sage ich nicht.",
            "今天下雨。",
            "天哪，没什么。",
            "どこまでも青い。",
            "",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
