// Quick replies, the author's note and the sections of the prompt, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1440, height: 900 } });
const replies = () => page.locator("[data-testid=quick-reply]");

/** Opens a chat that shows a set of quick replies. */
async function withSet(set, theme) {
	await show("chat", theme);
	await page.evaluate(async (name) => {
		window.engine.quickReplies.show(name);
		await window.app.chat.quickReplies.load();
	}, set);
	await replies().first().waitFor();
}

async function openGroup(name) {
	await id("chat-settings-open").click();
	await id(name).locator("summary").click();
}

test("set is shown after it is chosen in the settings", async () => {
	await show("chat");
	assert.equal(await replies().count(), 0);
	await openGroup("quick-reply-settings");
	await id("quick-reply-chat").check();
	await eventually(async () => assert.equal(await replies().count(), 4));
	assert.deepEqual(await axe(page), []);
	await id("quick-reply-chat").uncheck();
	await eventually(async () => assert.equal(await replies().count(), 0));
});

test("own set is made, shown, changed and deleted", async () => {
	await show("chat");
	await openGroup("quick-reply-settings");
	await id("quick-reply-new").click();
	await id("quick-reply-name").fill("Mine");
	await page.getByLabel("Button", { exact: true }).fill("Wave");
	await page.getByLabel("Text or commands").fill("I wave.");
	assert.deepEqual(await axe(page), []);
	await id("quick-reply-save").click();
	await replies().filter({ hasText: "Wave" }).waitFor();
	await page.getByRole("button", { name: "Edit Mine" }).click();
	await id("quick-reply-add").click();
	await page.keyboard.type("Bow");
	await page.getByRole("button", { name: "Move Bow up" }).click();
	await id("quick-reply-save").click();
	await eventually(async () => assert.deepEqual(await replies().allTextContents(), ["Bow", "Wave"]));
	await page.getByRole("button", { name: "Edit Mine" }).click();
	await id("quick-reply-delete").click();
	await page.getByRole("dialog", { name: "Delete “Mine”?" }).getByRole("button", { name: "Delete set" }).click();
	await eventually(async () => assert.equal(await replies().count(), 0));
});

test("buttons send, run commands and fill the composer", async () => {
	await withSet("tavern");
	await replies().filter({ hasText: "Ask about" }).click();
	await eventually(async () => assert.equal(await id("composer").inputValue(), "Tell me about "));
	await page.waitForFunction(() => document.activeElement.dataset.testid === "composer");
	await id("composer").fill("");
	await replies().filter({ hasText: "Study mode" }).click();
	await id("mode-chip").filter({ hasText: /study/i }).waitFor();
	await replies().filter({ hasText: "Look around" }).click();
	await page.locator("[data-testid=message]").getByText("I look around.").waitFor();
});

test("unsupported script shows its line", async () => {
	await withSet("tavern");
	await replies().filter({ hasText: "Toss a coin" }).click();
	await id("command-answer").getByText("not supported in line 1").waitFor();
	await id("command-answer").getByText("/setvar key=coin").waitFor();
	assert.deepEqual(await axe(page), []);
});

test("buttons are one tab stop with arrow keys", async () => {
	await withSet("tavern");
	await eventually(async () => assert.equal(await page.locator("[data-testid=quick-reply][tabindex='0']").count(), 1));
	await replies().first().focus();
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowRight");
	assert.equal(await page.evaluate(() => document.activeElement.innerText), "Toss a coin");
	await page.keyboard.press("End");
	assert.equal(await page.evaluate(() => document.activeElement.innerText), "Ask about");
});

test("hostile labels do not break the layout", async () => {
	for (const width of [1440, 390, 320]) {
		await page.setViewportSize({ width, height: 700 });
		await withSet("hostile");
		const bar = await id("quick-replies").boundingBox();
		assert.ok(bar.height <= 90 && bar.x >= 0 && bar.x + bar.width <= width, `${width}: ${JSON.stringify(bar)}`);
		const composer = await id("composer").boundingBox();
		assert.ok(composer.y + composer.height <= 700, `${width}: the composer is on screen`);
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${width}`);
		const heights = await replies().evaluateAll((all) => [...new Set(all.slice(0, 10).map((one) => one.offsetHeight))]);
		assert.equal(heights.length, 1, "every button has one line");
	}
	await page.setViewportSize({ width: 1440, height: 900 });
});

test("section is switched off and the size follows", async () => {
	await show("chat");
	await openGroup("sections");
	const size = async () => Number((await id("sections-size").innerText()).match(/([\d,]+) tokens/)[1].replace(",", ""));
	const before = await size();
	const row = id("prompt-section").filter({ hasText: "Example dialogue" });
	await row.getByRole("switch").click();
	await eventually(async () => assert.equal(await size(), before - 150));
	await id("sections-size").getByText("−150").waitFor();
	assert.ok(await id("prompt-section").filter({ hasText: "Rules" }).getByRole("switch").isDisabled());
	assert.deepEqual(await axe(page), []);
	await id("sections-xray").click();
	await id("xray-panel").waitFor();
});

test("author's note has a group of its own", async () => {
	await show("chat");
	await openGroup("note-settings");
	const group = id("note-settings");
	await group.getByTestId("setting-row-author_note").getByText("Author's note").waitFor();
	await group.getByTestId("setting-row-author_note_place").waitFor();
	assert.equal(await group.getByTestId("setting-row-character_note").count(), 0, "a chat has no note of the character");
	await page.getByRole("radio", { name: "Character", exact: true }).first().click();
	await group.getByTestId("setting-row-character_note_place").waitFor();
	assert.deepEqual(await axe(page), []);
});

test("branch command opens the copy", async () => {
	await show("chat");
	await id("composer").fill("/branch Another evening");
	await page.keyboard.press("Enter");
	await id("origin").waitFor();
});

test("no page had a script error", () => assert.deepEqual(errors, []));
