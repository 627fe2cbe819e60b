//! Compares this process's tokenizer with the worker's (llama.cpp), which is the reference, on
//! samples.

use domain::prompt::Segment;
use tokenizer::Tokenizer;

/// Scripts, numbers, code, white space and odd characters on which pre-tokenizers differ.
const SAMPLES: &[&str] = &[
    "The lamplighter doesn't hurry; she's counting: 1, 22, 333, 4444 and 55555 ships. I'LL wait, WE'RE late, he'd've.",
    "Il était une fois à Größe, naïve façade — “quoted” ‘text’… ½ ² ³ Ⅻ ٣٤٥ ÀÉÎõü ñandú",
    "Съешь же ещё этих мягких французских булок, да выпей чаю! Ёжик в тумане №7.",
    "天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。你好，世界！１２３ 今日は良い天気ですね。カタカナ 안녕하세요 세계",
    "שלום עולם مرحبا بالعالم สวัสดีชาวโลก नमस्ते दुनिया γειά σου Κόσμε ქართული",
    "😀😃 👩‍👩‍👧‍👦 🏳️‍🌈 ❤️‍🔥 e\u{301} a\u{308}\u{323} Z\u{351}\u{36b} \u{200b}\u{feff}\u{ad}\u{e000} ™©®€£¥₿ ∑∫√≈≠",
    "fn main() {\n\tlet x: u32 = 0xFF_u32 + vec![1, 2].len() as u32; // comment\n    println!(\"{x:?}\\n\");\n}\n",
    "def f(a_b, *args):\n    return {'k': a_b ** 2 / 3.14159, \"n\": None}  # TODO\n\n\nclass HTTPServer: pass",
    "  leading   runs    of     spaces\t\ttabs\r\nlines\n\n\n\nmore \n \n\t\n   trailing   ",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    " \n ",
    "a",
    " a",
    "a ",
    "'",
    "'s",
    " 's",
    "…",
    "、",
    "！",
    "\u{a0}\u{2003}x\u{3000}y\u{85}z",
    "https://example.org/a/b?c=d&e=%20#f user@example.org $12.50 50% C++ a==b a!=b <=> ->x && || ~/.config ``code``",
    "*She smiles.* \"Well?\" **bold** _it_ ~~no~~ ((OOC: hi)) [link](url) | a | b |\n|---|---|\n1) x\n- y\n> z",
    "<|im_start|>user <s> </s> <pad> [INST] [/INST] <<SYS>> <unk> <|endoftext|> <0x0A> ▁ Ġ Ċ <start_of_turn>",
];

/// Segments to compare: the samples, and texts that resemble the model's control tokens, each as
/// contents and as control.
pub(crate) fn segments(tokenizer: &Tokenizer) -> Vec<Segment> {
    let lookalikes: Vec<String> = tokenizer
        .special_texts()
        .take(200)
        .map(|text| format!("a {text} b{text}"))
        .collect();
    let texts = SAMPLES
        .iter()
        .copied()
        .chain(lookalikes.iter().map(String::as_str));
    texts
        .flat_map(|text| {
            [false, true].map(|control| Segment {
                text: text.to_owned(),
                control,
            })
        })
        .collect()
}

/// Returns the first of `segments` with other tokens in the worker than in `tokenizer`, shortened
/// for display.
pub(crate) fn difference(
    tokenizer: &Tokenizer,
    segments: &[Segment],
    worker: &[Vec<i32>],
) -> Option<String> {
    let same = |(segment, theirs): &(&Segment, &Vec<i32>)| {
        let ours = tokenizer.tokenize(segment);
        ours.len() == theirs.len()
            && ours
                .iter()
                .zip(*theirs)
                .all(|(ours, theirs)| i64::from(*ours) == i64::from(*theirs))
    };
    let (segment, _) = segments.iter().zip(worker).find(|pair| !same(pair))?;
    Some(segment.text.chars().take(40).collect())
}
