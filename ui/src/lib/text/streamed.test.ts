import { expect, test } from "vitest";
import { Streamed } from "./streamed";

const LONG = "*The rain stops.*\n\n“At last,” she says.\n\n- a lamp\n- a wick\n\n```\ncode\n\nmore\n```\n\nThe end. “And then?”";

const flat = (html: string) => html.replace(/ dir="(?:auto|ltr)"/g, "").replace(/\s+/g, " ").trim();

test("finished blocks keep their identity", () => {
	const streamed = new Streamed();
	streamed.blocks("One.\n\nTw");
	const before = streamed.blocks("One.\n\nTwo.\n\nThr");
	const after = streamed.blocks("One.\n\nTwo.\n\nThree.");
	expect(after.map(({ html }) => flat(html))).toEqual(["<p>One.</p>", "<p>Two.</p>", "<p>Three.</p>"]);
	expect(after[0]).toBe(before[0]);
	expect(after[1]).toBe(before[1]);
});

test("streamed text equals the whole text", () => {
	const streamed = new Streamed();
	for (let length = 1; length < LONG.length; length++) streamed.blocks(LONG.slice(0, length), true);
	const html = streamed.blocks(LONG).map((block) => block.html);
	expect(html).toEqual(new Streamed().blocks(LONG).map((block) => block.html));
});

test("another text starts over", () => {
	const streamed = new Streamed();
	streamed.blocks("One.\n\nTwo.");
	expect(streamed.blocks("Three.").map((block) => block.at)).toEqual([0]);
});

test("open emphasis is rendered while streaming", () => {
	const live = (text: string) => flat(new Streamed().blocks(text, true).map((block) => block.html).join(""));
	expect(live("*She turns the")).toBe("<p><em>She turns the</em></p>");
	expect(live("There are **one hundred")).toBe("<p>There are <strong>one hundred</strong></p>");
	expect(live("She waits. *")).toBe("<p>She waits.</p>");
	expect(live("*She waits.* Then")).toBe("<p><em>She waits.</em> Then</p>");
});

test("repeated last block is not taken for the first", () => {
	const streamed = new Streamed();
	const texts = streamed.blocks("No.\n\nYes.\n\nNo.").map((block) => flat(block.html));
	expect(texts.join("")).toBe("<p>No.</p><p>Yes.</p><p>No.</p>");
});

const em = (text: string, live = false) => new Streamed().blocks(text, live).map((block) => flat(block.html));

test("emphasis across paragraphs applies to each", () => {
	expect(em("*One.\n\nTwo *really* far.\n\nThree.*\n\nFour.")).toEqual([
		"<p><em>One.</em></p>",
		"<p><em>Two <em>really</em> far.</em></p>",
		"<p><em>Three.</em></p>",
		"<p>Four.</p>",
	]);
	expect(em("**One.\n\nTwo.**")).toEqual(["<p><strong>One.</strong></p>", "<p><strong>Two.</strong></p>"]);
});

test("unclosed star stays a star", () => {
	expect(em("*One.\n\nTwo.")).toEqual(["<p>*One.</p>", "<p>Two.</p>"]);
	expect(em("*One.\n\n*Two.* And.")).toEqual(["<p>*One.</p>", "<p><em>Two.</em> And.</p>"]);
});

test("emphasis across paragraphs is stable in streaming", () => {
	expect(em("*One.\n\nTw", true)).toEqual(["<p><em>One.</em></p>", "<p><em>Tw</em></p>"]);
	expect(em("*One.\n\nTwo.*", true)).toEqual(["<p><em>One.</em></p>", "<p><em>Two.</em></p>"]);
});

test("very long last block does not render per letter", () => {
	const streamed = new Streamed();
	const code = `\`\`\`\n${"a line of code\n".repeat(1000)}`;
	let drawn = 0;
	let before = "";
	for (let length = 10_000; length < 12_000; length += 4) {
		const html = streamed.blocks(code.slice(0, length), true)[0]?.html ?? "";
		if (html !== before) drawn += 1;
		before = html;
	}
	expect(drawn).toBeLessThan(10);
	expect(streamed.blocks(code)[0]?.html).toContain("a line of code");
});
