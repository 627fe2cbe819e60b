//! Pre-tokenizers: stages that split a text into pieces, and each piece into smaller ones.

use super::class::{LETTER, NUMBER, PUNCTUATION, SPACE};
use super::scan::TextScan;
use super::word_rules::{self, Letters, Rules};

/// One regular expression of a pre-tokenizer. Each match is a piece, and so is the text between
/// matches.
#[derive(Clone, Copy)]
pub(super) enum SplitStage {
    /// A run of characters of a class with limited length, optionally preceded by a space.
    Run {
        lead: Lead,
        class: fn(char, u16) -> bool,
        least: usize,
        most: usize,
    },
    Words(fn(&TextScan<'_>, usize) -> Option<usize>),
    Rules(Rules),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    None,
    Space,
    /// Any white space.
    Blank,
}

impl SplitStage {
    const fn each(class: fn(char, u16) -> bool) -> Self {
        Self::Run {
            lead: Lead::None,
            class,
            least: 1,
            most: 1,
        }
    }

    const fn runs(class: fn(char, u16) -> bool) -> Self {
        Self::Run {
            lead: Lead::None,
            class,
            least: 1,
            most: usize::MAX,
        }
    }

    /// Returns the end of the match that begins at `at`.
    fn matched(&self, scan: &TextScan<'_>, at: usize) -> Option<usize> {
        match self {
            Self::Words(word) => word(scan, at),
            Self::Rules(rules) => rules.word(scan, at),
            Self::Run {
                lead,
                class,
                least,
                most,
            } => {
                let (first, kind) = scan.peek(at)?;
                let leads = match lead {
                    Lead::None => false,
                    Lead::Space => first == ' ',
                    Lead::Blank => kind & SPACE != 0,
                };
                let after = at + first.len_utf8();
                let start = if leads && scan.is(after, class) {
                    after
                } else {
                    at
                };
                let end = if *most == usize::MAX {
                    scan.all(start, class)
                } else {
                    scan.run(start, *most, class)
                };
                let enough = *least <= 1 || scan.text[start..end].chars().count() >= *least;
                (end > start && enough).then_some(end)
            }
        }
    }
}

/// Splits `text` by all `stages` and passes the pieces to `each` in order.
pub(super) fn split<'t>(stages: &[SplitStage], text: &'t str, each: &mut dyn FnMut(&'t str)) {
    let Some((stage, rest)) = stages.split_first() else {
        return each(text);
    };
    let scan = TextScan::new(text);
    let mut gap = 0;
    let mut at = 0;
    while let Some((character, _)) = scan.peek(at) {
        let Some(end) = stage.matched(&scan, at) else {
            at += character.len_utf8();
            continue;
        };
        if gap < at {
            split(rest, &text[gap..at], each);
        }
        split(rest, &text[at..end], each);
        (gap, at) = (end, end);
    }
    if gap < text.len() {
        split(rest, &text[gap..], each);
    }
}

/// How a byte-pair vocabulary is applied.
pub(super) struct Pre {
    pub(super) stages: &'static [SplitStage],
    /// A word that is a token is not split, whatever the merges say.
    pub(super) whole_words: bool,
    /// The vocabulary represents bytes as letters; otherwise only spaces are replaced.
    pub(super) byte_letters: bool,
}

const GPT2: SplitStage = SplitStage::Words(word_rules::gpt2);
const DIGIT: SplitStage = SplitStage::each(|_, class| class & NUMBER != 0);
const THREE_DIGITS: SplitStage = SplitStage::Run {
    lead: Lead::None,
    class: |_, class| class & NUMBER != 0,
    least: 1,
    most: 3,
};
const ASCII_TRIPLES: SplitStage = SplitStage::Run {
    lead: Lead::None,
    class: |character, _| character.is_ascii_digit(),
    least: 3,
    most: 3,
};
const KANA_AND_HAN: SplitStage = SplitStage::runs(
    |character, _| matches!(character, '\u{4e00}'..='\u{9fa5}' | '\u{3040}'..='\u{30ff}'),
);
const NO_WORD: &str = "(|.,!?…。，、।۔،)";
const BLOOM: SplitStage = SplitStage::Run {
    lead: Lead::Space,
    class: |character, class| class & SPACE == 0 && !NO_WORD.contains(character),
    least: 1,
    most: usize::MAX,
};

fn signs(character: char, class: u16) -> bool {
    class & PUNCTUATION != 0 || matches!(character, '$' | '+' | '<' | '=' | '>' | '^' | '~' | '|')
}

/// Returns the pre-tokenizer `name` of `tokenizer.ggml.pre`; `None` if only the worker supports it.
pub(super) fn pre(name: &str) -> Option<Pre> {
    let byte_letters = !matches!(name, "gemma4" | "granite-embed-multi-311m" | "sarvam-moe");
    Some(Pre {
        stages: stages(name)?,
        whole_words: keeps_words(name),
        byte_letters,
    })
}

const ONE_DIGIT: Rules = Rules {
    digits: 1,
    ..Rules::LLAMA3
};
const QWEN35: &[SplitStage] = &[SplitStage::Rules(Rules {
    letters: Letters::Marks,
    ..ONE_DIGIT
})];
const MINICPM5: &[SplitStage] = &[
    THREE_DIGITS,
    SplitStage::Rules(Rules {
        digits: usize::MAX,
        ..Rules::LLAMA3
    }),
];
const TEKKEN: &[SplitStage] = &[SplitStage::Rules(Rules {
    contractions: None,
    digits: 1,
    letters: Letters::AsciiCase {
        contractions: false,
    },
    tail: &['\r', '\n', '/'],
})];
const GPT_4O: &[SplitStage] = &[SplitStage::Rules(Rules {
    contractions: None,
    digits: 3,
    letters: Letters::AsciiCase { contractions: true },
    tail: &['\r', '\n', '/'],
})];
const DEEPSEEK_V3: &[SplitStage] = &[
    THREE_DIGITS,
    KANA_AND_HAN,
    SplitStage::Words(word_rules::deepseek),
];
const DEEPSEEK_CODER: &[SplitStage] = &[
    SplitStage::each(|character, _| matches!(character, '\r' | '\n')),
    SplitStage::Run {
        lead: Lead::Blank,
        class: |_, class| class & LETTER != 0,
        least: 1,
        most: usize::MAX,
    },
    SplitStage::Run {
        lead: Lead::Blank,
        class: |_, class| class & PUNCTUATION != 0,
        least: 1,
        most: usize::MAX,
    },
    SplitStage::runs(|character, class| {
        class & SPACE == 0 && matches!(character, '\u{800}'..='\u{9fa5}' | '\u{ac00}'..='\u{d7ff}')
    }),
    DIGIT,
];
const FALCON: &[SplitStage] = &[
    SplitStage::runs(|character, class| signs(character, class) || character == '`'),
    GPT2,
    ASCII_TRIPLES,
];
const LINES: &[SplitStage] = &[SplitStage::runs(|character, _| character == '\n')];
const DEFAULT: &[SplitStage] = &[
    SplitStage::runs(signs),
    GPT2,
    SplitStage::runs(|_, class| class & NUMBER != 0),
    ASCII_TRIPLES,
];

fn stages(name: &str) -> Option<&'static [SplitStage]> {
    Some(match name {
        "llama3" | "llama-v3" | "llama-bpe" | "falcon3" | "falcon-h1" | "pixtral" | "midm-2.0"
        | "lfm2" | "jina-v5-nano" | "dbrx" | "smaug-bpe" | "chatglm-bpe" | "glm4" | "glm5" => {
            &const { [SplitStage::Rules(Rules::LLAMA3)] }
        }
        "qwen2" | "deepseek-r1-qwen" | "kormo" | "f2llmv2" | "megrez" | "stablelm2" | "hunyuan"
        | "solar-open" | "grok-2" => &const { [SplitStage::Rules(ONE_DIGIT)] },
        "qwen35" => QWEN35,
        "minicpm5" => MINICPM5,
        "tekken" => TEKKEN,
        "gpt-4o" | "llama4" | "kanana2" | "talkie" | "minimax-m2" => GPT_4O,
        "deepseek-v3" | "hunyuan-dense" | "joyai-llm" | "hy_v4" => DEEPSEEK_V3,
        "deepseek-coder" => DEEPSEEK_CODER,
        "falcon" => FALCON,
        "starcoder" | "refact" | "command-r" | "smollm" | "codeshell" | "exaone" | "minerva-7b"
        | "mellum2" => &const { [DIGIT, GPT2] },
        "gpt-2" | "phi-2" | "jina-es" | "jina-de" | "gigachat" | "jina-v2-es" | "jina-v2-de"
        | "a.x-4.0" | "mellum" | "modern-bert" | "jina-v1-en" | "jina-v2-code" | "roberta-bpe"
        | "mpt" | "olmo" | "jais" | "trillion" | "granite-docling" | "exaone4" => &const { [GPT2] },
        "poro-chat" | "bloom" | "gpt3-finnish" => &const { [BLOOM] },
        "viking" => &const { [BLOOM, DIGIT] },
        "gemma4" | "granite-embed-multi-311m" | "sarvam-moe" => LINES,
        "" | "default" => DEFAULT,
        _ => return None,
    })
}

/// Stages of the encoding `cl100k_base`.
pub(super) const CL100K: &[SplitStage] = &[SplitStage::Rules(Rules::CL100K)];
/// Stages of the encoding `o200k_base`.
pub(super) const O200K: &[SplitStage] = &[SplitStage::Rules(Rules::O200K)];

/// The vocabularies in which a word that is a token is not split.
fn keeps_words(name: &str) -> bool {
    matches!(
        name,
        "minicpm5"
            | "llama3"
            | "llama-v3"
            | "llama-bpe"
            | "falcon3"
            | "falcon-h1"
            | "pixtral"
            | "midm-2.0"
            | "lfm2"
            | "jina-v5-nano"
            | "glm4"
            | "glm5"
            | "tekken"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(name: &str, text: &str) -> String {
        let mut pieces = Vec::new();
        split(pre(name).unwrap().stages, text, &mut |piece| {
            pieces.push(piece)
        });
        assert_eq!(pieces.concat(), text, "no text is lost");
        pieces.join("·")
    }

    #[test]
    fn gpt2_keeps_the_space_before_a_word() {
        assert_eq!(
            pieces("gpt-2", "She said: it's 42  times, isn't it?"),
            "She· said·:· it·'s· 42· · times·,· isn·'t· it·?"
        );
        assert_eq!(pieces("gpt-2", "end  "), "end·  ");
        assert_eq!(pieces("gpt-2", "a\n\n  b"), "a·\n\n · b");
        assert_eq!(pieces("smollm", "in 1984"), "in· ·1·9·8·4");
    }

    #[test]
    fn llama3_splits_digits_and_line_ends() {
        assert_eq!(
            pieces("llama-bpe", "Don'T 12345 go.\n\nNow"),
            "Don·'T· ·123·45· go·.\n\n·Now"
        );
        assert_eq!(pieces("llama-bpe", "(here)  \n x"), "(here·)·  \n· x");
        assert_eq!(pieces("qwen2", "v2.10"), "v·2·.·1·0");
        assert_eq!(pieces("qwen35", "e\u{301}a"), "e\u{301}a");
        assert_eq!(pieces("qwen2", "e\u{301}a"), "e·\u{301}a");
    }

    #[test]
    fn newer_rules_split_at_case_changes() {
        assert_eq!(
            pieces("gpt-4o", "camelCase HTTPServer it's а/б\n"),
            "camel·Case· HTTPServer· it's· а·/б·\n"
        );
        assert_eq!(pieces("tekken", "it's ABC 12"), "it·'s· ABC· ·1·2");
        assert_eq!(pieces("tekken", "ÉTÉAB"), "ÉTÉ·AB");
    }

    #[test]
    fn other_families_split_by_stages() {
        assert_eq!(
            pieces("deepseek-v3", "漢字kana .x 1234"),
            "漢字·kana· .·x· ·123·4"
        );
        assert_eq!(pieces("falcon", "a==b 1234"), "a·==·b· ·123·4");
        assert_eq!(pieces("default", "cost: $1234"), "cost·:· ·$·123·4");
        assert_eq!(pieces("deepseek-coder", "let x\n12"), "let· x·\n·1·2");
        assert_eq!(pieces("bloom", "one two, three"), "one· two·,· three");
        assert_eq!(pieces("gemma4", "a b\n\nc"), "a b·\n\n·c");
        assert!(pre("kimi-k2").is_none());
    }
}
