// Reading: every jump shows the wanted line, however long its message is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 820 } });

/** Whether a text of the log is inside the view of the log. */
const visible = (text) => id("log").evaluate((log, wanted) => {
	const walker = document.createTreeWalker(log, NodeFilter.SHOW_TEXT);
	const view = log.getBoundingClientRect();
	while (walker.nextNode()) {
		const at = walker.currentNode.data.indexOf(wanted);
		if (at < 0) continue;
		const range = document.createRange();
		range.setStart(walker.currentNode, at);
		range.setEnd(walker.currentNode, at + wanted.length);
		const box = range.getBoundingClientRect();
		return box.top >= view.top && box.bottom <= view.bottom;
	}
	return false;
}, text);
const shows = (text) => eventually(async () => assert.ok(await visible(text), text));

async function open() {
	await show("tall");
	await shows("The very end.");
}

for (const height of [820, 420]) {
	test(`Home and End show the first and the last line at ${height} px`, async () => {
		await page.setViewportSize({ width: 1280, height });
		await open();
		await id("composer").focus();
		await page.keyboard.press("Home");
		await shows("Firstline.");
		await page.locator("[data-message-id=t0]").focus();
		await page.keyboard.press("End");
		await shows("The very end.");
		await id("composer").focus();
		await page.keyboard.press("Home");
		await shows("Firstline.");
		await id("composer").focus();
		await page.keyboard.press("End");
		await shows("The very end.");
	});
}

test("hit of the chat's search shows the marked word, and Enter returns to it", async () => {
	await page.setViewportSize({ width: 1280, height: 820 });
	await open();
	await page.keyboard.press("Control+f");
	await page.keyboard.type("needleword");
	await shows("Needleword.");
	await id("log").evaluate((log) => (log.scrollTop = log.scrollHeight));
	await page.keyboard.press("Enter");
	await shows("Needleword.");
});

for (const word of ["Needleword", "Haystack"]) {
	test(`search over everything shows and marks ${word}`, async () => {
		await open();
		await page.keyboard.press("Control+Shift+F");
		await id("message-search-text").fill(word);
		await id("search-hit").first().waitFor();
		await page.keyboard.press("Enter");
		await shows(`${word}.`);
		await eventually(async () => assert.deepEqual(await page.evaluate(() => [...(CSS.highlights.get("found-current") ?? [])].map(String)), [word]));
	});
}

test("no script error", () => assert.deepEqual(errors, []));
