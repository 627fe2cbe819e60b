//! Parses "remember that ..." and "forget that ..." in the user's message, without a model.

use crate::tokens::{terms, words};

/// A command to the memory, in the user's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryCommand {
    Remember(String),
    Forget(String),
}

/// Maximum characters of something to remember. A longer text only stays in the chat.
const MAX: usize = 500;

/// Minimum content words of a message that says something besides its commands: "Lovely." does not.
const TELLING: usize = 2;
/// Maximum number of commands in a message.
const WISHES: usize = 8;

/// Abbreviations: their full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "a.m", "approx", "capt", "dr", "e.g", "gen", "i.e", "jr", "mr", "mrs", "ms", "mt", "p.m",
    "prof", "sr", "st", "vs",
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
const FORGET: &[&str] = &[
    "forget that ",
    "forget this: ",
    "forget: ",
    "forget about ",
    "forget what i said about ",
    "vergiss: ",
];
/// After a bare "remember" these make a command; "remember my sister" is a question.
const OF_MYSELF: &[&str] = &[
    "i am ", "i'm ", "i’m ", "i like ", "i hate ", "i live ", "i work ",
];
/// German commands before "dass". The comma and "bitte" are optional.
const REMEMBER_DASS: &[&str] = &[
    "merk dir",
    "merke dir",
    "vergiss nicht",
    "vergiss nie",
    "denk daran",
    "denk dran",
    "denke daran",
];
const FORGET_DASS: &str = "vergiss";
/// Texts after "remember that" that make it a question or a story.
const NO_COMMAND: &[&str] = &["time ", "day ", "night ", "one time ", "it", "this"];

/// The commands in `text`. A sentence must begin with the command and must not be a question;
/// quotations and narration never match.
pub fn memory_commands(text: &str) -> Vec<MemoryCommand> {
    sentences(text).filter_map(wish).take(WISHES).collect()
}

/// Whether the message says something besides its commands.
pub fn says_more(text: &str) -> bool {
    let besides: Vec<&str> = sentences(text)
        .filter(|sentence| wish(sentence).is_none())
        .collect();
    terms(&besides.join(" "), &[]).len() >= TELLING
}

fn begins_command(text: &str) -> bool {
    let wish = after_politeness(text);
    REMEMBER
        .iter()
        .chain(FORGET)
        .any(|opening| after(wish, opening).is_some())
        || of_myself(wish).is_some()
        || dass(wish).is_some()
}

fn after_politeness(sentence: &str) -> &str {
    ["and ", "und ", "please ", "please, ", "bitte "]
        .iter()
        .fold(sentence, |rest, word| skip(rest, word))
}

fn wish(sentence: &str) -> Option<MemoryCommand> {
    let wish = after_politeness(sentence);
    let about = |openings: &[&str]| {
        openings
            .iter()
            .find_map(|opening| after(wish, opening))
            .and_then(thing)
    };
    let of_myself = || of_myself(wish).and_then(thing);
    let english = about(REMEMBER)
        .or_else(of_myself)
        .map(MemoryCommand::Remember)
        .or_else(|| about(FORGET).map(MemoryCommand::Forget));
    english.or_else(|| dass(wish).and_then(|(asked, rest)| thing(rest).map(asked)))
}

/// Makes the command.
type Asking = fn(String) -> MemoryCommand;

/// The command of a German sentence, and the text after its "dass".
fn dass(wish: &str) -> Option<(Asking, &str)> {
    let (opening, rest) = wish.split_once("dass ")?;
    let opening: Vec<String> = words(opening).filter(|word| word != "bitte").collect();
    let opening = opening.join(" ");
    let asked: Asking = match &*opening {
        FORGET_DASS => MemoryCommand::Forget,
        opening if REMEMBER_DASS.contains(&opening) => MemoryCommand::Remember,
        _ => return None,
    };
    Some((asked, rest))
}

fn of_myself(wish: &str) -> Option<&str> {
    after(wish, "remember ")
        .filter(|rest| OF_MYSELF.iter().any(|start| after(rest, start).is_some()))
}

/// The text to remember or forget; `None` if the sentence is a question, a story or too long.
fn thing(rest: &str) -> Option<String> {
    let rest = rest.trim();
    let said = rest.trim_end_matches(['.', '!']).trim_end();
    let question = rest.ends_with('?');
    let story = NO_COMMAND.iter().any(|word| {
        after(said, word).is_some() && (word.ends_with(' ') || said.len() == word.len())
    });
    let length = said.chars().count();
    (!question && !story && said.split_whitespace().count() >= 2 && length <= MAX)
        .then(|| said.to_owned())
}

/// Sentences and lines, each with the mark that ends it.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut start = 0;
        let ends = line
            .match_indices(['.', '!', '?'])
            .map(|(at, mark)| at + mark.len());
        let mut ends = ends
            .filter(|end| ends_there(line, *end))
            .chain([line.len()]);
        std::iter::from_fn(move || {
            let sentence = start..ends.next()?;
            start = sentence.end;
            Some(line[sentence].trim())
        })
    })
}

/// Whether the mark before `end` ends a sentence.
fn ends_there(line: &str, end: usize) -> bool {
    let Some(before) = line[..end].strip_suffix('.') else {
        return true;
    };
    let word = before
        .rsplit([' ', '\t', '(', '"'])
        .next()
        .unwrap_or_default();
    // "J." is an initial; "I." ends a statement about oneself.
    let initial = word != "I"
        && word.len() == 1
        && word.starts_with(|letter: char| letter.is_ascii_uppercase());
    let short = ABBREVIATIONS
        .iter()
        .any(|short| word.eq_ignore_ascii_case(short));
    let rest = &line[end..];
    rest.starts_with(char::is_whitespace)
        && (!initial && !short || begins_command(rest.trim_start()))
}

fn skip<'t>(text: &'t str, word: &str) -> &'t str {
    after(text, word).unwrap_or(text)
}

/// The text after `start`, in upper or lower case.
fn after<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let head = text.get(..start.len())?;
    head.eq_ignore_ascii_case(start)
        .then(|| &text[start.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let wish = |wish| match wish {
            MemoryCommand::Remember(thing) => format!("+ {thing}"),
            MemoryCommand::Forget(thing) => format!("- {thing}"),
        };
        memory_commands(text)
            .into_iter()
            .map(wish)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn recognizes_memory_commands() {
        for (text, wish) in [
            (
                "Remember that I am allergic to nuts.",
                "+ I am allergic to nuts",
            ),
            (
                "Lovely. Please remember that my sister is called Ida!",
                "+ my sister is called Ida",
            ),
            (
                "Remember: the key is under the mat",
                "+ the key is under the mat",
            ),
            (
                "Don't forget that we meet on Friday.",
                "+ we meet on Friday",
            ),
            ("Forget that I like tea.", "- I like tea"),
            ("Please forget about my sister Ida.", "- my sister Ida"),
            (
                "One thing.\nKeep in mind that I have two cats",
                "+ I have two cats",
            ),
            (
                "Remember that I am 1.80 m tall. Remember that I like tea!",
                "+ I am 1.80 m tall + I like tea",
            ),
            (
                "Forget that I like tea. And remember that I like rum. Cheers.",
                "- I like tea + I like rum",
            ),
            (
                "Remember that I live at St. James Street 5.",
                "+ I live at St. James Street 5",
            ),
            (
                "We meet at 8 p.m. Remember that I am allergic to nuts.",
                "+ I am allergic to nuts",
            ),
            (
                "Take plan B. Please remember that I like tea.",
                "+ I like tea",
            ),
            ("Remember I'm allergic to nuts!", "+ I'm allergic to nuts"),
            (
                "Remember this, the key is under the mat.",
                "+ the key is under the mat",
            ),
            (
                "Bitte merk dir, dass ich keine Nüsse vertrage.",
                "+ ich keine Nüsse vertrage",
            ),
            (
                "Und vergiss nicht, dass wir uns am Freitag treffen.",
                "+ wir uns am Freitag treffen",
            ),
            ("Merk dir bitte dass ich Tee mag", "+ ich Tee mag"),
            ("Vergiss, dass ich Tee mag.", "- ich Tee mag"),
            ("Vergiss bitte nicht, dass ich Tee mag!", "+ ich Tee mag"),
            (
                "Remember that Dr. J. Weber wakes Tom and I. Bye.",
                "+ Dr. J. Weber wakes Tom and I",
            ),
        ] {
            assert_eq!(shown(text), wish, "{text}");
        }
    }

    #[test]
    fn recognizes_text_besides_commands() {
        assert!(says_more(
            "Remember that I am allergic to nuts. My sister's dog is called Bruno."
        ));
        assert!(!says_more(
            "Lovely! Please remember that my sister's dog is called Bruno."
        ));
        assert!(!says_more(
            "Keep in mind that I like tea. Don't forget that I hate rum."
        ));
    }

    #[test]
    fn questions_stories_and_quotes_are_no_commands() {
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
