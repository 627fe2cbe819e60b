import { expect, test } from "vitest";
import { MARKDOWN_LIMIT, split } from "./split";

const cut = (text: string) => split(text).map((part) => part.text.trim());

test("blank lines end paragraphs and keep lists", () => {
	expect(cut("One.\n\nTwo.\n\n- a\n\n- b\n\n  more of b\n\nThree.")).toEqual(["One.", "Two.", "- a\n\n- b\n\n  more of b", "Three."]);
});

test("code in a fence is one part with its blank lines", () => {
	expect(cut("Look:\n```js\na\n\nb\n```\nSo.")).toEqual(["Look:", "```js\na\n\nb\n```", "So."]);
	expect(cut("~~~\na\n```\n\nb")).toEqual(["~~~\na\n```\n\nb"]);
});

test("fence in a list stays with its item", () => {
	expect(cut("- a\n\n  ```\n  x\n\n  y\n  ```\n- b\n\nEnd.")).toEqual(["- a\n\n  ```\n  x\n\n  y\n  ```\n- b", "End."]);
});

test("style sheet is one part and not text", () => {
	expect(cut("<style>\na {}\n\nb {}\n</style>\n\nEnd.")).toEqual(["<style>\na {}\n\nb {}\n</style>", "End."]);
});

test.each([">".repeat(2000), "> ".repeat(500), "- ".repeat(4000), "1. ".repeat(100), "> - ".repeat(30)])("too deep nesting is plain: %#", (text) => {
	expect(split(text).every((part) => part.kind === "plain")).toBe(true);
});

test.each(["``` ", "```` a ", "``` b```c "])("backticks without a code block are weighed: %#", (text) => {
	expect(split(text.repeat(8000)).every((part) => part.kind === "plain")).toBe(true);
});

test("text after a too deep part renders as before", () => {
	expect(split(`*a*\n\n${">".repeat(99)} b\n\n*c*`).map((part) => part.kind)).toEqual(["prose", "plain", "prose"]);
});

test("text beyond the limit is plain and complete", () => {
	const text = `${"word ".repeat(20)}\n\n`.repeat(1000);
	const parts = split(text);
	expect(parts.filter((part) => part.at >= MARKDOWN_LIMIT).every((part) => part.kind === "plain")).toBe(true);
	expect(parts.map((part) => part.text).join("")).toBe(text);
});

test("ordinary long text is Markdown to its end", () => {
	const paragraph = `“At last,” she says, and *turns the lamp down* until **only** the wick glows; the rain goes on, and neither of them speaks for a while.\n\n`;
	const text = paragraph.repeat(300);
	expect(text.length).toBeGreaterThan(40_000);
	expect(split(text).every((part) => part.kind === "prose")).toBe(true);
});

test("long paragraph continues at its next line", () => {
	const parts = split(`${"A line of a story that goes on.\n".repeat(200)}`);
	expect(parts.length).toBeGreaterThan(1);
	expect(parts.slice(1).every((part) => part.joined)).toBe(true);
});
