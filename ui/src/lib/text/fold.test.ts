import { expect, test } from "vitest";
import { fold, folded, finder } from "./fold";
import { CASES } from "./foldTable";

test("texts fold as in the engine", () => {
	for (const [text, expected] of CASES) expect([text, folded(text), fold(text).text]).toEqual([text, expected, expected]);
});

test("folded letters know their place", () => {
	const text = "ßか\u3099x";
	const { text: low, from } = fold(text);
	expect([low, from]).toEqual(["ssがx", [0, 0, 1, 3, 4]]);
});

test("filters find words in any order, whatever their accents and ligatures", () => {
	expect(finder("luk zoe")("Zoë Łuk")).toBe(true);
	expect(finder("strasse")("Die Straße")).toBe(true);
	expect(finder("ランプ")("ﾗﾝﾌﾟ")).toBe(true);
	expect(finder("")("anything")).toBe(true);
	expect(finder("zoe max")("Zoë Łuk")).toBe(false);
});
