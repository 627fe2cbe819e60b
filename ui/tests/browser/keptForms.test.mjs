// Notices about kept text, pasted pictures and the wheel during a reply, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 820 } });
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const paste = (selector) =>
	page.evaluate((at) => document.querySelector(at).dispatchEvent(new ClipboardEvent("paste", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true })), selector);
const clipboard = (png) => page.evaluate((picture) => (window.engine.clipboard = picture), png);
const photograph = (name) => process.env.PICTURES && page.screenshot({ path: `${process.env.PICTURES}/${name}.png` });

test("Escape keeps an edit, and a second edit shows it with a notice", async () => {
	await show("editing");
	await id("edit-text").fill("Words that nobody has saved.");
	await page.keyboard.press("Escape");
	await id("edit-text").waitFor({ state: "detached" });
	await photograph("edit-closed");
	// By key, because the log scrolls to its end for some frames after an edit is closed.
	await id("unsaved-edit").press("Enter");
	assert.equal(await id("edit-text").inputValue(), "Words that nobody has saved.");
	await page.keyboard.press("Escape");
	await id("undo").last().click();
	assert.equal(await id("edit-text").inputValue(), "Words that nobody has saved.");
	assert.deepEqual(await axe(page), []);
});

test("Escape keeps the text of dialogs, and Undo shows it again", async () => {
	await show("personas");
	await id("new-persona").click();
	await page.getByRole("dialog").getByTestId("persona-instructions").fill("I speak in riddles.");
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });
	await id("undo").last().click();
	await eventually(async () => assert.equal(await id("persona-instructions").inputValue(), "I speak in riddles."));
	await id("draft-use").click();
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });

	await show("memory");
	await id("memory-add").click();
	await id("memory-text").fill("Likes riddles.");
	await page.keyboard.press("Escape");
	await id("memory-form").waitFor({ state: "detached" });
	await id("undo").last().click();
	await eventually(async () => assert.equal(await id("memory-text").inputValue(), "Likes riddles."));
});

test("text of another window can be shown and deleted", async () => {
	await show("chat");
	await id("composer").fill("Mine");
	const chat = await page.evaluate(() => {
		const { id } = window.engine.chats[0];
		window.engine.drafts.write({ place: { kind: "composer", owner: id, target: "" }, text: "From another window", base: "", before: null });
		return id;
	});
	assert.ok(chat);
	await id("composer").fill("Mine too");
	await id("other-draft").getByText("From another window").waitFor();
	await photograph("other-draft");
	assert.deepEqual(await axe(page), []);
	await id("other-draft-use").click();
	await eventually(async () => assert.equal(await id("composer").inputValue(), "From another window"));
	await id("other-draft").getByText("Mine too").waitFor();
	await id("other-draft-discard").click();
	await id("other-draft").waitFor({ state: "detached" });
});

test("pasted picture comes from the clipboard of the shell", async () => {
	await show("chat");
	await clipboard(null);
	await paste("[data-testid=composer]");
	await page.getByText("The clipboard has no picture that the app can read.").waitFor();
	await photograph("paste-nothing");
	await clipboard(PIXEL);
	await paste("[data-testid=composer]");
	await eventually(async () => assert.equal(await page.locator("[data-testid=attached] li").count(), 1));
});

test("one notch of the wheel holds while a reply streams", async () => {
	await show("streaming");
	const log = id("log");
	await eventually(async () => assert.ok(await log.evaluate((node) => node.scrollHeight > node.clientHeight + 400)));
	await log.hover();
	await page.mouse.wheel(0, -100);
	await id("jump").waitFor();
	for (let n = 0; n < 10; n++) {
		await page.waitForTimeout(100);
		assert.equal(await id("jump").count(), 1);
	}
});

test("no page error", () => assert.deepEqual(errors, []));
