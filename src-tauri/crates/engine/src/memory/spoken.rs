//! "Remember that ..." and "forget that ..." in what the user says: understood without a model (S3.31).

use super::terms::{terms, words};

/// What the user asked of the memory, in their own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    Remember(String),
    Forget(String),
}

/// Longest thing to remember, in letters; more is a text, and stays in the chat.
const MAX: usize = 500;

/// Words that tell something are two at the least: "Lovely." says nothing more.
const TELLING: usize = 2;
/// Of one message.
const WISHES: usize = 8;

/// Their full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "a.m", "approx", "capt", "dr", "e.g", "gen", "i.e", "jr", "mr", "mrs", "ms", "mt", "p.m", "prof", "sr", "st", "vs",
];

const REMEMBER: &[&str] = &[
    "remember that ",
    "remember this: ",
    "remember: ",
    "don't forget that ",
    "don’t forget that ",
    "do not forget that ",
    "never forget that ",
    "always remember that ",
    "keep in mind that ",
    "remember this, ",
    "merk dir: ",
    "merke dir: ",
];
const FORGET: &[&str] =
    &["forget that ", "forget this: ", "forget: ", "forget about ", "forget what i said about ", "vergiss: "];
/// Behind a bare "remember" they tell something of who talks; "remember my sister" asks.
const OF_MYSELF: &[&str] = &["i am ", "i'm ", "i’m ", "i like ", "i hate ", "i live ", "i work "];
/// German ones in front of "dass", without the comma and the "bitte" that many leave out.
const REMEMBER_DASS: &[&str] =
    &["merk dir", "merke dir", "vergiss nicht", "vergiss nie", "denk daran", "denk dran", "denke daran"];
const FORGET_DASS: &str = "vergiss";
/// Questions and stories about remembering, not wishes.
const NOT_A_WISH: &[&str] = &["time ", "day ", "night ", "one time ", "it", "this"];

/// Conservative: sentences that begin with the wish and are no questions. What somebody says within quotes, or a story tells, is
/// none.
pub(crate) fn asked(text: &str) -> Vec<Asked> {
    sentences(text).filter_map(wish).take(WISHES).collect()
}

/// The message says something besides what it asks to remember or to forget.
pub(super) fn says_more(text: &str) -> bool {
    let besides: Vec<&str> = sentences(text).filter(|sentence| wish(sentence).is_none()).collect();
    terms(&besides.join(" "), &[]).len() >= TELLING
}

fn begins_wish(text: &str) -> bool {
    let wish = politely(text);
    REMEMBER.iter().chain(FORGET).any(|opening| after(wish, opening).is_some())
        || of_myself(wish).is_some()
        || dass(wish).is_some()
}

fn politely(sentence: &str) -> &str {
    ["and ", "und ", "please ", "please, ", "bitte "].iter().fold(sentence, |rest, word| skip(rest, word))
}

fn wish(sentence: &str) -> Option<Asked> {
    let wish = politely(sentence);
    let about = |openings: &[&str]| openings.iter().find_map(|opening| after(wish, opening)).and_then(thing);
    let of_myself = || of_myself(wish).and_then(thing);
    let english = about(REMEMBER).or_else(of_myself).map(Asked::Remember).or_else(|| about(FORGET).map(Asked::Forget));
    english.or_else(|| dass(wish).and_then(|(asked, rest)| thing(rest).map(asked)))
}

/// Which wish it is.
type Asking = fn(String) -> Asked;

/// What a German wish asks, and what stands behind its "dass".
fn dass(wish: &str) -> Option<(Asking, &str)> {
    let (opening, rest) = wish.split_once("dass ")?;
    let opening: Vec<String> = words(opening).filter(|word| word != "bitte").collect();
    let opening = opening.join(" ");
    let asked: Asking = match &*opening {
        FORGET_DASS => Asked::Forget,
        opening if REMEMBER_DASS.contains(&opening) => Asked::Remember,
        _ => return None,
    };
    Some((asked, rest))
}

fn of_myself(wish: &str) -> Option<&str> {
    after(wish, "remember ").filter(|rest| OF_MYSELF.iter().any(|start| after(rest, start).is_some()))
}

/// What is wished, if it is a thing at all.
fn thing(rest: &str) -> Option<String> {
    let rest = rest.trim();
    let said = rest.trim_end_matches(['.', '!']).trim_end();
    let question = rest.ends_with('?');
    let story =
        NOT_A_WISH.iter().any(|word| after(said, word).is_some() && (word.ends_with(' ') || said.len() == word.len()));
    let length = said.chars().count();
    (!question && !story && said.split_whitespace().count() >= 2 && length <= MAX).then(|| said.to_owned())
}

/// Sentences and lines, with the mark that ends them.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut start = 0;
        let ends = line.match_indices(['.', '!', '?']).map(|(at, mark)| at + mark.len());
        let mut ends = ends.filter(|end| ends_there(line, *end)).chain([line.len()]);
        std::iter::from_fn(move || {
            let sentence = start..ends.next()?;
            start = sentence.end;
            Some(line[sentence].trim())
        })
    })
}

/// Whether the mark that stands before `end` ends a sentence.
fn ends_there(line: &str, end: usize) -> bool {
    let Some(before) = line[..end].strip_suffix('.') else { return true };
    let word = before.rsplit([' ', '\t', '(', '"']).next().unwrap_or_default();
    // "J." is a name's; "I." ends what somebody said of themselves.
    let initial = word != "I" && word.len() == 1 && word.starts_with(|letter: char| letter.is_ascii_uppercase());
    let short = ABBREVIATIONS.iter().any(|short| word.eq_ignore_ascii_case(short));
    let rest = &line[end..];
    rest.starts_with(char::is_whitespace) && (!initial && !short || begins_wish(rest.trim_start()))
}

fn skip<'t>(text: &'t str, word: &str) -> &'t str {
    after(text, word).unwrap_or(text)
}

/// What stands after `start`, in whatever case.
fn after<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let head = text.get(..start.len())?;
    head.eq_ignore_ascii_case(start).then(|| &text[start.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let wish = |wish| match wish {
            Asked::Remember(thing) => format!("+ {thing}"),
            Asked::Forget(thing) => format!("- {thing}"),
        };
        asked(text).into_iter().map(wish).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn wishes_are_understood() {
        for (text, wish) in [
            ("Remember that I am allergic to nuts.", "+ I am allergic to nuts"),
            ("Lovely. Please remember that my sister is called Ida!", "+ my sister is called Ida"),
            ("Remember: the key is under the mat", "+ the key is under the mat"),
            ("Don't forget that we meet on Friday.", "+ we meet on Friday"),
            ("Forget that I like tea.", "- I like tea"),
            ("Please forget about my sister Ida.", "- my sister Ida"),
            ("One thing.\nKeep in mind that I have two cats", "+ I have two cats"),
            ("Remember that I am 1.80 m tall. Remember that I like tea!", "+ I am 1.80 m tall + I like tea"),
            ("Forget that I like tea. And remember that I like rum. Cheers.", "- I like tea + I like rum"),
            ("Remember that I live at St. James Street 5.", "+ I live at St. James Street 5"),
            ("We meet at 8 p.m. Remember that I am allergic to nuts.", "+ I am allergic to nuts"),
            ("Take plan B. Please remember that I like tea.", "+ I like tea"),
            ("Remember I'm allergic to nuts!", "+ I'm allergic to nuts"),
            ("Remember this, the key is under the mat.", "+ the key is under the mat"),
            ("Bitte merk dir, dass ich keine Nüsse vertrage.", "+ ich keine Nüsse vertrage"),
            ("Und vergiss nicht, dass wir uns am Freitag treffen.", "+ wir uns am Freitag treffen"),
            ("Merk dir bitte dass ich Tee mag", "+ ich Tee mag"),
            ("Vergiss, dass ich Tee mag.", "- ich Tee mag"),
            ("Vergiss bitte nicht, dass ich Tee mag!", "+ ich Tee mag"),
            ("Remember that Dr. J. Weber wakes Tom and I. Bye.", "+ Dr. J. Weber wakes Tom and I"),
        ] {
            assert_eq!(shown(text), wish, "{text}");
        }
    }

    #[test]
    fn what_else_is_said_is_no_part_of_a_wish() {
        assert!(says_more("Remember that I am allergic to nuts. My sister's dog is called Bruno."));
        assert!(!says_more("Lovely! Please remember that my sister's dog is called Bruno."));
        assert!(!says_more("Keep in mind that I like tea. Don't forget that I hate rum."));
    }

    #[test]
    fn questions_stories_and_quotes_are_none() {
        for text in [
            "Do you remember that I am allergic to nuts?",
            "Remember that time we sailed to Lisbon.",
            "Remember that I like tea?",
            "Remember my sister.",
            "Remember I am the one who asks?",
            "Vergiss es.",
            "Remember, we are not supposed to be here.",
            "Ich merke, dass ich Tee mag.",
            "I remember that you were there.",
            "She says, \"Remember that I love you.\"",
            "\"Remember that I love you,\" he whispers.",
            "*I will never remember that name*",
            "Forget it.",
            "Forget that.",
            "Remember that",
            "I forget that a lot.",
            "",
        ] {
            assert_eq!(shown(text), "", "{text}");
        }
    }
}
