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

test.each([
	["a block that crosses the limit", "Look:\n\n", `${"let x = 1; // a line of code\n".repeat(4000)}`],
	["a block of one long line", "", "x".repeat(200_000)],
	["a block behind long prose", `${"A line of a story.\n\n".repeat(5000)}`, "let x = 1;\n\nlet y = 2;"],
	["a block with blank lines at the limit", `${"word ".repeat(13_000)}\n`, "\n\na\n\n\nb\n".repeat(3000)],
])("%s is one part to its closing fence", (_, before, code) => {
	const block = `\`\`\`js\n${code}\n\`\`\`\n`;
	const text = `${before}${block}\n**bold** behind it`;
	const parts = split(text);
	expect(parts.map((part) => part.text).join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
	expect(parts.find((part) => part.text.startsWith("```js"))?.text).toBe(block);
});

test("text behind a large code block is Markdown again", () => {
	const parts = split(`\`\`\`\n${"code\n".repeat(40_000)}\`\`\`\n\n**bold**`);
	expect(parts.map((part) => part.kind)).toEqual(["block", "prose"]);
});

test("open fence at the limit stays code to the end", () => {
	const parts = split(`~~~\n${"code\n\n".repeat(40_000)}`);
	expect(parts.map((part) => part.kind)).toEqual(["block"]);
});

test("fence in a list at the limit ends before the plain rest", () => {
	const text = `- item\n\n  \`\`\`\n${"  code\n".repeat(20_000)}  \`\`\`\n${"- more words\n".repeat(6000)}`;
	const parts = split(text);
	expect(parts.map((part) => part.text).join("").length).toBe(text.length);
	expect(parts[0]?.kind).toBe("block");
	expect(parts[0]?.text).toContain("  code\n  ```\n");
});
