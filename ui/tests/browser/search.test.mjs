// Search over messages, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });

test("shortcut searches all chats, Enter jumps to the first hit", async () => {
	await show("chat", "dark");
	await page.keyboard.press("Control+Shift+F");
	await id("message-search-text").fill("lamp");
	await id("search-hit").first().waitFor();
	assert.equal((await id("search-hit").first().locator("mark").innerText()).toLowerCase(), "lamp");
	await page.keyboard.press("Enter");
	await id("message-search").waitFor({ state: "detached" });
});

test("hits are reached by the arrow keys; Escape clears, then closes", async () => {
	await show("chat", "light");
	await page.keyboard.press("Control+F");
	await id("message-search-text").fill("lamp");
	await id("search-hit").first().waitFor();
	await page.keyboard.press("ArrowDown");
	assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-testid")), "search-hit");
	await page.keyboard.press("Escape");
	assert.equal(await id("message-search-text").inputValue(), "");
	await page.keyboard.press("Escape");
	await id("message-search").waitFor({ state: "detached" });
});

test("text in the chat list searches messages too", async () => {
	await show("chat", "light");
	await id("search").first().fill("zzz");
	await id("search-messages").click();
	await page.getByText("No results for").last().waitFor();
	assert.equal(await id("message-search-text").inputValue(), "zzz");
});

test("no script error", () => assert.deepEqual(errors, []));
