// @vitest-environment jsdom
import { expect, test } from "vitest";
import { patterns, places, rangesIn } from "./foundWords";

const marked = (text: string, ...words: [string, boolean][]) =>
	places(text, patterns(words.map(([word, unfinished]) => ({ text: word, unfinished }))))
		.map(([start, end]) => text.slice(start, end))
		.join("|");

test("unfinished words match from their start, without case and accents", () => {
	expect(marked("The Lamps, a LAMP, a clamp", ["lamp", true])).toBe("Lamps|LAMP");
	expect(marked("Éloïse, cafe\u0301s", ["eloi", true], ["CAFÉ", true])).toBe("Éloïse|cafe\u0301s");
	expect(marked("ﬁne 🦊 fine", ["fine", true])).toBe("ﬁne|fine");
});

test("phrases match whole words across punctuation", () => {
	expect(marked("red, door red doors", ["red door", false])).toBe("red, door");
	expect(marked("It's its", ["it's", true])).toBe("It's");
});

test("scripts without spaces match anywhere", () => {
	expect(marked("桜の木と梅の木", ["の木", true])).toBe("の木|の木");
	expect(marked("灯lamp灯台", ["lamp", true], ["灯", true])).toBe("lamp|灯|灯");
	expect(marked("ลำธาร", ["ธาร", true])).toBe("ธาร");
});

test("symbols and signs of words are found as they are written", () => {
	expect(marked("I like C++, not C or Cpp", ["C++", true])).toBe("C++");
	expect(marked("C# and C", ["c#", true])).toBe("C#");
	expect(marked("a 🦊 and 👩\u200d🚀", ["🦊", true], ["🚀", true])).toBe("🦊|🚀");
	expect(marked("👩\u200d🚀 up", ["👩\u200d🚀", true])).toBe("👩\u200d🚀");
});

test("letters with several forms match", () => {
	expect(marked("Straße ﾗﾝﾌﾟ が か\u3099 佐々木", ["strasse", false], ["ランプ", true], ["が", true], ["佐々木", true])).toBe("Straße|ﾗﾝﾌﾟ|が|か\u3099|佐々木");
	expect(marked("Haupt\u00adbahnhof Łódź", ["hauptbahnhof", true], ["lodz", true])).toBe("Haupt\u00adbahnhof|Łódź");
});

test("signs are no patterns", () => {
	expect(patterns([{ text: "…(*", unfinished: true }])).toEqual([]);
	expect(marked("a.b aXb", ["a.b", false])).toBe("a.b");
});

test("ranges cross emphasis, but not paragraphs", () => {
	const element = document.createElement("div");
	element.innerHTML = "<p>an <em>oil</em> lamp</p><p>oil</p><p>lamp</p>";
	const found = (text: string) => rangesIn(element, patterns([{ text, unfinished: false }])).map(String);
	expect(found("oil lamp")).toEqual(["oil lamp"]);
	expect(found("lamp")).toEqual(["lamp", "lamp"]);
	expect(rangesIn(element, [])).toEqual([]);
});
