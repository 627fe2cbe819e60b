// Search in the open chat and over everything, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });

/** The highlighted texts of a registered highlight. */
const highlighted = (name) => page.evaluate((of) => [...(CSS.highlights.get(of) ?? [])].map((range) => range.toString().toLowerCase()), name);
const active = () => page.evaluate(() => document.activeElement?.getAttribute("data-testid"));

/** Opens the search over everything with a text. */
async function everything(text, theme = "dark") {
	await show("chat", theme);
	await page.keyboard.press("Control+Shift+F");
	await id("message-search-text").fill(text);
	await id("search-hit").first().waitFor();
}

test("shortcut searches everything, Enter jumps to the first hit", async () => {
	await everything("lamp");
	assert.equal((await id("search-hit").first().locator("mark").innerText()).toLowerCase(), "lamp");
	await page.keyboard.press("Enter");
	await id("message-search").waitFor({ state: "detached" });
	await page.waitForFunction(() => document.activeElement?.getAttribute("data-testid") === "message");
});

test("hits are reached by the arrow keys; Escape clears, then closes", async () => {
	await everything("lamp", "light");
	await page.keyboard.press("ArrowDown");
	assert.equal(await active(), "search-hit");
	await page.keyboard.press("Escape");
	assert.equal(await id("message-search-text").inputValue(), "");
	await page.keyboard.press("Escape");
	await id("message-search").waitFor({ state: "detached" });
});

test("text in the chat list searches everything too", async () => {
	await show("chat", "light");
	await id("search").first().fill("zzz");
	await id("search-messages").click();
	await page.getByText("No results for").last().waitFor();
	assert.equal(await id("message-search-text").inputValue(), "zzz");
});

test("results have groups, and a chip shows one of them", async () => {
	await everything("lamp");
	await id("hits-notes").waitFor();
	for (const name of ["messages", "earlier", "notes"]) assert.equal(await id(`hits-${name}`).count(), 1, name);
	await id("only-notes").click();
	assert.equal(await id("hits-messages").count(), 0);
	await id("hits-notes").getByTestId("search-hit").click();
	await page.waitForFunction(() => document.activeElement?.closest("[data-testid='setting-row-author_note']"));
});

test("found memory, entry and character open where they are", async () => {
	await everything("wilhelmina");
	await id("hits-memories").getByTestId("search-hit").click();
	await page.locator("[data-memory=m3].found").waitFor();
	await everything("old water");
	await id("hits-entries").getByTestId("search-hit").click();
	await id("entry-form").waitFor();
	await everything("osei");
	await id("hits-characters").getByTestId("search-hit").first().click();
	await page.waitForFunction(() => document.activeElement?.matches("textarea, input"));
});

test("hits by meaning are marked and can be switched off", async () => {
	await everything("map");
	await id("only-messages").click();
	await page.getByText("by meaning", { exact: true }).first().waitFor();
	await page.getByRole("switch", { name: "Also by meaning" }).click();
	await page.waitForFunction(() => ![...document.querySelectorAll("[data-testid=search-hit] .meaning")].length);
	await page.getByRole("switch", { name: "Also by meaning" }).click();
	await page.getByText("by meaning", { exact: true }).first().waitFor();
});

test("Ctrl+F finds in the open chat and highlights the words", async () => {
	await show("chat", "dark");
	await page.keyboard.press("Control+F");
	await id("find-text").fill("the");
	await page.waitForFunction(() => / of /.test(document.querySelector("[data-testid=find-status]").textContent));
	const [number, total] = (await id("find-status").innerText()).split(" of ");
	assert.equal(number, total);
	assert.ok(Number(total) > 1);
	await page.waitForFunction(() => CSS.highlights.get("found-current")?.size > 0);
	for (const word of await highlighted("found-current")) assert.match(word, /^the/);
	assert.equal(await page.locator("article.found").count(), 1);
	assert.equal(await active(), "find-text");
	await page.keyboard.press("Enter");
	await page.getByText(`1 of ${total}`, { exact: true }).waitFor();
	await page.keyboard.press("Shift+F3");
	await page.getByText(`${total} of ${total}`, { exact: true }).waitFor();
	await page.keyboard.press("Escape");
	await id("find-bar").waitFor({ state: "detached" });
	assert.deepEqual(await highlighted("found"), []);
	await page.waitForFunction(() => document.activeElement?.getAttribute("data-testid") === "message");
});

test("hit far above is loaded in place, and typed focus stays", async () => {
	await show("long", "light");
	await page.keyboard.press("Control+F");
	await id("find-text").fill("turned");
	await page.waitForFunction(() => / of /.test(document.querySelector("[data-testid=find-status]").textContent));
	await id("find-next").click();
	await page.waitForFunction(() => /^1 of /.test(document.querySelector("[data-testid=find-status]").textContent));
	assert.equal(await active(), "find-next");
	await page.waitForFunction(() => {
		const found = document.querySelector("article.found")?.getBoundingClientRect();
		return found && found.top < innerHeight && found.bottom > 0;
	});
});

test("text without hits says so, and can be searched everywhere", async () => {
	await show("chat", "light");
	await page.keyboard.press("Control+F");
	await id("find-text").fill("zzz");
	await page.getByText("No hits").waitFor();
	assert.equal(await id("find-next").isDisabled(), true);
	await id("find-everywhere").click();
	assert.equal(await id("message-search-text").inputValue(), "zzz");
	assert.equal(await id("find-bar").count(), 0);
});

test("settings search leads to the row and takes the focus", async () => {
	await show("settings", "dark");
	const field = page.getByRole("searchbox", { name: "Search settings" });
	await field.fill("temper");
	await id("found-setting").first().waitFor();
	await page.keyboard.press("ArrowDown");
	assert.equal(await active(), "found-setting");
	await page.keyboard.press("Escape");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement?.closest("[data-setting=temperature]"));
	assert.equal(await field.inputValue(), "");
});

test("settings search finds nothing, and Escape clears it", async () => {
	await show("settings", "light");
	const field = page.getByRole("searchbox", { name: "Search settings" });
	await field.fill("qqxyzzy");
	await page.getByText("No settings match “qqxyzzy”.").waitFor();
	await field.press("Escape");
	assert.equal(await field.inputValue(), "");
	await page.locator("[data-setting=theme]").waitFor();
});

test("searches have no axe violation and fit 320 pixels", async () => {
	for (const theme of ["light", "dark"]) {
		await show("chat", theme);
		await page.keyboard.press("Control+F");
		await id("find-text").fill("the");
		await page.waitForFunction(() => CSS.highlights.get("found-current")?.size > 0);
		assert.deepEqual(await axe(page), [], `find bar, ${theme}`);
		await everything("lamp", theme);
		assert.deepEqual(await axe(page), [], `everything, ${theme}`);
		await show("settings", theme);
		await page.getByRole("searchbox", { name: "Search settings" }).fill("size");
		await id("found-setting").first().waitFor();
		assert.deepEqual(await axe(page), [], `settings, ${theme}`);
	}
	await page.setViewportSize({ width: 320, height: 640 });
	const wide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
	assert.equal(await wide(), false, "settings");
	await everything("lamp");
	assert.equal(await wide(), false, "everything");
	await show("chat", "light");
	await page.keyboard.press("Control+F");
	await id("find-text").fill("the");
	assert.equal(await wide(), false, "find bar");
	await page.setViewportSize({ width: 1280, height: 800 });
});

test("no script error", () => assert.deepEqual(errors, []));
