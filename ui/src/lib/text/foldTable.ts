// Generated from store/src/search/fold.rs. Do not edit.

/** Letters of scripts without spaces between words, for a character class. */
export const UNSPACED = "\\u{e00}-\\u{eff}\\u{1000}-\\u{109f}\\u{1780}-\\u{17ff}\\u{3005}-\\u{3007}\\u{303b}-\\u{303b}\\u{3041}-\\u{30ff}\\u{3105}-\\u{312f}\\u{31f0}-\\u{31ff}\\u{3400}-\\u{9fff}\\u{a9e0}-\\u{a9ff}\\u{aa60}-\\u{aa7f}\\u{ac00}-\\u{d7a3}\\u{f900}-\\u{faff}\\u{20000}-\\u{3ffff}";
/** Symbols and emoji, each a word of its own. */
export const SYMBOLS = "\\u{a2}-\\u{a9}\\u{ae}-\\u{b1}\\u{20a0}-\\u{20cf}\\u{2190}-\\u{2bff}\\u{1f000}-\\u{1fbff}";
/** Characters that are left out and do not end a word. */
export const LEFT_OUT = "\\u{ad}-\\u{ad}\\u{640}-\\u{640}\\u{200d}-\\u{200d}\\u{2060}-\\u{2060}\\u{fe00}-\\u{fe0f}\\u{e0100}-\\u{e01ef}";
/** Characters besides marks that belong to the letter before them. */
export const JOINED = "\\u{1160}-\\u{11ff}\\u{ff9e}-\\u{ff9f}";
/** Letters that Unicode does not decompose. */
export const LETTERS: Record<string, string> = { æ: "ae", œ: "oe", ß: "ss", þ: "th", ð: "d", đ: "d", ɖ: "d", ø: "o", ł: "l", ƚ: "l", ı: "i", ɨ: "i", ħ: "h", ŧ: "t", ŋ: "n", ƒ: "f", ɓ: "b", ɗ: "d", ς: "σ" };
/** Texts and how the engine folds them, for the test of the page. */
export const CASES: readonly [string, string][] = [
	["The LAMP, Éloïse's", "the lamp, eloise's"],
	["Łódź Straße Ærø Œuvre Đà Nẵng Þór Iğdır İstanbul ılık Smørrebrød Ħal ŊŧƑ", "lodz strasse aero oeuvre da nang thor igdir istanbul ilik smorrebrod hal ntf"],
	["ﬁne ﬂow Ǆ ŉ ſ ĳ", "fine flow dz ʼn s ij"],
	["佐々木さん 人々 〻 いすゞ ヽ 二〇二五年", "佐々木さん 人々 〻 いすゞ ヽ 二〇二五年"],
	["が ガ が ガ パ", "が ガ が ガ パ"],
	["ﾗﾝﾌﾟ ｶﾞｽ ﾊﾟﾝ ｱｲｳ", "ランプ ガス パン アイウ"],
	["ＡＢＣ１２３ ホテル", "abc123 ホテル"],
	["안녕하세요", "안녕하세요"],
	["안녕", "안녕"],
	["侮 𠮷田 㐂", "侮 𠮷田 㐂"],
	["ภาษาไทย", "ภาษาไทย"],
	["ພາສາລາວ", "ພາສາລາວ"],
	["ភាសាខ្មែរ", "ភាសាខ្មែរ"],
	["မြန်မာစာ", "မြန်မာစာ"],
	["كَتَبَ محـــمد أحمد", "كتب محمد احمد"],
	["می‌خواهم", "می‌خواهم"],
	["תִּקּוּן עוֹלָם", "תקון עולם"],
	["bệnh viện bệnh", "benh vien benh"],
	["Ёлка Йод ёлка", "елка иод елка"],
	["ΑΘΉΝΑ ὈΔΥΣΣΕΎΣ ομορφος", "αθηνα οδυσσευσ ομορφοσ"],
	["नमस्ते", "नमसत"],
	["🦊 👩‍🚀 ❤️ 👍🏽", "🦊 👩🚀 ❤ 👍🏽"],
	["Haupt­bahnhof", "hauptbahnhof"],
	["C++ und C# kosten 5 € ½ ™ ㈱", "c++ und c# kosten 5 € 1⁄2 tm (株)"],
	["naïve café Å", "naive cafe a"],
	["́orphan", "orphan"],
	["①②③ ⅷ", "123 viii"],
	["ŀ Ŀ ǆ", "l· l· dz"],
	["𝐁𝐨𝐥𝐝 𝓼𝓬𝓻𝓲𝓹𝓽", "bold script"],
	["Ｔｏｍ　と", "tom と"],
	["ỗ Ộ ữ", "o o u"],
	["ᄀ각", "ᄀ각"],
	["¿Qué?", "¿que?"],
	["", ""],
];
