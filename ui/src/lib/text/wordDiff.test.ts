import fc from "fast-check";
import { expect, test } from "vitest";
import { wordDiff } from "./wordDiff";

test("changed words are marked, the rest stays", () => {
	expect(wordDiff("She opens the old door.", "She closes the door.")).toEqual([
		{ change: "same", text: "She " },
		{ change: "removed", text: "opens " },
		{ change: "added", text: "closes " },
		{ change: "same", text: "the " },
		{ change: "removed", text: "old " },
		{ change: "same", text: "door." },
	]);
	expect(wordDiff("灯がともる", "灯が消える").filter(({ change }) => change === "same").map(({ text }) => text)).toEqual(["灯が", "る"]);
});

test("both texts are complete, whatever they are", () => {
	fc.assert(
		fc.property(fc.string(), fc.string(), (before, after) => {
			const parts = wordDiff(before, after);
			const of = (but: string) => parts.filter(({ change }) => change !== but).map(({ text }) => text).join("");
			expect([of("added"), of("removed")]).toEqual([before, after]);
		}),
	);
});

test("two very long texts are compared in limited time", () => {
	const text = (of: string) => Array.from({ length: 20_000 }, (_, at) => `${of}${at}`).join(" ");
	expect(wordDiff(text("a"), text("b")).map(({ change }) => change)).toEqual(["removed", "added"]);
});
