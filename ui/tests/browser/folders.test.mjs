// Folders of the chat list on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually, settledCount } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const titles = () => page.locator("[data-testid=folder-row] .name, [data-testid=chat-row] .title").allTextContents();
const rowMenu = (index) => id("chat-row").nth(index).locator("xpath=..").getByRole("button", { name: /More actions for the chat/ });

async function create(name, more = async () => {}) {
	await id("chats-view").click();
	await id("new-folder").click();
	await id("folder-name").fill(name);
	await more();
	await id("folder-save").click();
	await id("folder-row").filter({ hasText: name }).waitFor();
}

test("chat moves into a new folder, which collapses", async () => {
	await show("chat");
	await create("Evenings");
	const all = await settledCount(id("chat-row"));
	await rowMenu(0).click();
	await id("move-to-folder").click();
	await id("folder-choice").filter({ hasText: "Evenings" }).click();
	await eventually(async () => assert.equal(await id("folder-row").locator("small").textContent(), "1"));
	await id("folder-row").press("Enter");
	await eventually(async () => assert.equal(await id("folder-row").getAttribute("aria-expanded"), "false"));
	await eventually(async () => assert.equal(await id("chat-row").count(), all - 1));
});

test("deleted folder leaves its chats, with undo", async () => {
	await show("chat");
	await create("Evenings");
	await rowMenu(0).click();
	await id("move-to-folder").click();
	await id("folder-choice").filter({ hasText: "Evenings" }).click();
	await eventually(async () => assert.equal(await id("folder-row").locator("small").textContent(), "1"));
	const all = await settledCount(id("chat-row"));
	await id("folder-menu").focus();
	await page.keyboard.press("Enter");
	await id("folder-delete").click();
	await id("folder-row").waitFor({ state: "detached" });
	assert.equal(await id("chat-row").count(), all);
	await id("undo").last().click();
	await id("folder-row").waitFor();
});

test("smart folder shows chats by the tag of their character", async () => {
	await show("chat");
	await create("Cozy ones", () => id("folder-tag").fill("cozy"));
	await eventually(async () => assert.equal((await titles())[0], "Cozy ones"));
	await eventually(async () => assert.notEqual(await id("folder-row").locator("small").textContent(), "0"));
});

test("archived chat leaves the list and searches find it", async () => {
	await show("chat");
	const all = await settledCount(id("chat-row"));
	const title = (await titles()).at(-1);
	await rowMenu(all - 1).click();
	await id("archive-chat").click();
	await eventually(async () => assert.equal(await id("chat-row").count(), all - 1));
	await id("search").first().fill(title);
	await id("chat-row").filter({ hasText: title }).first().waitFor();
	await id("search").first().fill("");
	await id("chats-view").click();
	await id("show-archive").click();
	await eventually(async () => assert.deepEqual(await titles(), [title]));
	await id("leave-archive").click();
	await eventually(async () => assert.equal(await id("chat-row").count(), all - 1));
});

test("pinned chat comes first, in every order", async () => {
	await show("chat");
	const all = await settledCount(id("chat-row"));
	const title = (await titles()).at(-1);
	await rowMenu(all - 1).click();
	await id("pin-chat").click();
	await eventually(async () => assert.equal((await titles())[0], title));
	await id("chats-view").click();
	await id("sort-name").click();
	await eventually(async () => assert.equal((await titles())[0], title));
});

test("folders and their dialogs have no axe violation", async () => {
	await show("chat");
	await create("Evenings", () => id("folder-color").selectOption("blue"));
	assert.deepEqual(await axe(page), []);
	await id("folder-menu").click();
	await id("folder-edit").click();
	await id("folder-name").waitFor();
	assert.deepEqual(await axe(page), []);
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/folder-form.png` });
	await page.keyboard.press("Escape");
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/folders.png` });
});

test("no script error", () => assert.deepEqual(errors, []));
