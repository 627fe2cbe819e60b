// Branches, checkpoints and ranges of messages, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const messages = () => page.locator("[data-testid=message]");

/** Opens the menu of a message by keyboard, and selects an item. */
async function choose(of, item) {
	const message = page.locator(`[data-message-id="${of}"]`);
	await message.focus();
	await message.locator("[data-testid=message-menu]").focus();
	await page.keyboard.press("Enter");
	await id(item).press("Enter");
}

const ids = () => page.evaluate(() => window.app.chat.messages.map((message) => message.id));

test("branch opens a new chat that links back", async () => {
	await show("chat");
	const [first, second] = await ids();
	await choose(second, "branch");
	await id("origin").waitFor();
	assert.equal(await page.evaluate(() => window.app.chat.messages.length), 2);
	assert.match(await id("origin").innerText(), /message 2/);
	await id("origin").press("Enter");
	await page.locator(`[data-message-id="${first}"]`).waitFor();
	await id("branch-link").waitFor();
});

test("checkpoint is named and shown at its message", async () => {
	await show("chat");
	const [, second] = await ids();
	await choose(second, "checkpoint");
	await id("checkpoint-input").fill("The door");
	await page.keyboard.press("Enter");
	await id("checkpoint-name").getByText("The door").waitFor();
	await choose(second, "checkpoint-remove");
	await id("checkpoint-name").waitFor({ state: "detached" });
});

test("deletion from a message on can be undone", async () => {
	await show("chat");
	const before = await ids();
	await choose(before[1], "delete-from");
	await eventually(async () => assert.equal((await ids()).length, 1));
	await page.getByRole("button", { name: "Undo" }).click();
	await eventually(async () => assert.deepEqual(await ids(), before));
});

test("message moves up and is hidden by keyboard", async () => {
	await show("chat");
	const before = await ids();
	await choose(before[1], "move-up");
	await eventually(async () => assert.deepEqual((await ids()).slice(0, 2), [before[1], before[0]]));
	await choose(before[1], "hide");
	await id("hidden-message").first().waitFor();
	assert.ok((await messages().count()) > 0);
});

test("story tree of 500 branches works by keyboard", async () => {
	await show("chat");
	const all = await ids();
	await id("chat-menu").focus();
	await page.keyboard.press("Enter");
	await id("story").press("Enter");
	await id("story-node").first().waitFor();
	assert.ok((await id("story-node").count()) < 100, "nodes outside the view are not in the page");
	await id("story-tree").focus();
	await page.keyboard.press("End");
	await id("story-text").getByText("Branch #500").waitFor();
	await page.keyboard.press("ArrowUp");
	await id("story-text").getByText("Branch #499").waitFor();
	await page.keyboard.press("ArrowLeft");
	await id("story-text").getByText("Message 1:").waitFor();
	await id("read-path").press("Enter");
	await id("story-path").waitFor();
	await id("story-tree").focus();
	await page.keyboard.press("Enter");
	await id("story-tree").waitFor({ state: "detached" });
	await page.locator(`[data-message-id="${all[0]}"]`).waitFor();
});

test("branches cause no script error", () => assert.deepEqual(errors, []));
