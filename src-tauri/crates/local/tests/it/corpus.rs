//! Generates a reproducible corpus in many scripts from a seed.

/// Small random number generator that does not change with a dependency.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }

    /// Returns a number below `sides`, small ones more often, like word frequencies in a language.
    fn rank(&mut self, sides: usize) -> usize {
        let most = self.roll(sides) + 1;
        let most = self.roll(most) + 1;
        self.roll(most)
    }

    fn letter(&mut self, from: char, count: usize) -> char {
        char::from_u32(from as u32 + self.rank(count) as u32).unwrap_or(from)
    }
}

const ENGLISH: &[&str] = &[
    "the",
    "of",
    "and",
    "to",
    "in",
    "she",
    "he",
    "it's",
    "don't",
    "lantern",
    "harbour",
    "through",
    "remember",
    "whisper",
    "I'll",
    "they've",
    "tavern",
    "quickly",
    "beautiful",
    "yesterday",
    "under",
    "thought",
    "would",
    "could",
    "silver",
    "keeper",
    "again",
    "walked",
    "counting",
    "ships",
    "rain",
    "window",
    "nobody",
    "answered",
    "strange",
    "letters",
];
const SYLLABLES: &[&str] = &[
    "ka", "ther", "in", "el", "or", "sti", "mo", "an", "dri", "ly", "qua", "ves", "ton", "ph",
    "oun",
];
const RUSSIAN: &[&str] = &[
    "и",
    "в",
    "не",
    "она",
    "был",
    "фонарь",
    "море",
    "корабль",
    "вчера",
    "медленно",
    "Петербург",
    "ёлка",
    "окно",
    "дождь",
    "сказала",
    "вспомнила",
    "объявление",
    "тишина",
    "что",
    "никогда",
    "человек",
    "письмо",
    "дорога",
    "здравствуйте",
];
const RUSSIAN_ENDINGS: &[&str] = &[
    "", "", "", "ами", "ого", "ость", "ение", "ла", "ющий", "ский",
];
const CODE: &[&str] = &[
    "fn ",
    "let mut ",
    "return ",
    "if (",
    ") {\n",
    "}\n\n",
    "    ",
    "\t",
    " == ",
    " != ",
    "->",
    "::",
    "();\n",
    "0x1F",
    "3.14",
    "\"text\"",
    "// note\n",
    "self.",
    "[i]",
    "&&",
    " += 1;\n",
    "for i in 0..n ",
    "import os\n",
    "#include <x.h>\n",
    "<div>",
    "</div>\n",
    "{\"key\": null}",
    "snake_case",
    "camelCase",
    "HTTPServer",
    "@param ",
    "r#\"raw\"#",
    "'c'",
    "\\n",
    "%s",
];
const STOPS: &[&str] = &[
    ". ", ", ", "! ", "? ", "; ", ": ", "... ", " - ", " — ", "\n", "\n\n", ".\" ", ") ", " (",
    " *", "* ",
];

/// Returns about `bytes` bytes of text: paragraphs of English, Chinese, Cyrillic, emoji and code.
pub(crate) fn corpus(seed: u64, bytes: usize) -> Vec<String> {
    let mut dice = Dice(seed);
    let makers = [english, chinese, cyrillic, emoji, code];
    let (mut texts, mut made) = (Vec::new(), 0);
    while made < bytes {
        let make = makers[texts.len() % makers.len()];
        let mut text = String::new();
        while text.len() < 2_000 {
            make(&mut dice, &mut text);
        }
        made += text.len();
        texts.push(text);
    }
    texts
}

fn english(dice: &mut Dice, text: &mut String) {
    match dice.roll(12) {
        0 => text.push_str(&dice.roll(100_000).to_string()),
        1 => text.push_str(dice.pick(STOPS)),
        2 | 3 => (0..=dice.roll(4)).for_each(|_| text.push_str(dice.pick(SYLLABLES))),
        4 => {
            let word = dice.pick(ENGLISH);
            text.extend(word.chars().next().map(|first| first.to_ascii_uppercase()));
            text.push_str(&word[1..]);
        }
        _ => text.push_str(dice.pick(ENGLISH)),
    }
    text.push_str(if dice.roll(25) == 0 { "  " } else { " " });
}

fn chinese(dice: &mut Dice, text: &mut String) {
    (0..2 + dice.roll(12)).for_each(|_| text.push(dice.letter('\u{4e00}', 20_000)));
    text.push_str(dice.pick(&[
        "，", "。", "！", "？", "、", "“", "”", "…", "\n", "3", "ABC", " ", "：", "的", "了",
    ]));
}

fn cyrillic(dice: &mut Dice, text: &mut String) {
    text.push_str(dice.pick(RUSSIAN));
    text.push_str(dice.pick(RUSSIAN_ENDINGS));
    text.push_str(if dice.roll(6) == 0 {
        dice.pick(STOPS)
    } else {
        " "
    });
}

fn emoji(dice: &mut Dice, text: &mut String) {
    text.push(dice.letter('\u{1f300}', 0x340));
    match dice.roll(6) {
        0 => text.push('\u{200d}'),
        1 => text.push('\u{fe0f}'),
        2 => text.push(dice.letter('\u{1f3fb}', 5)),
        3 => text.push(dice.letter('\u{2190}', 0x600)),
        4 => text.push_str(dice.pick(ENGLISH)),
        _ => text.push(dice.letter('\u{a0}', 0x2000)),
    }
    text.push_str(if dice.roll(3) == 0 { " " } else { "" });
}

fn code(dice: &mut Dice, text: &mut String) {
    text.push_str(dice.pick(CODE));
    if dice.roll(3) == 0 {
        text.push_str(dice.pick(ENGLISH));
        text.push_str(&dice.roll(1_000).to_string());
    }
}
