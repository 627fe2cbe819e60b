// Selecting several chats or characters, and dragging them into folders, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually, settledCount } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const chosen = (count) => id("selection-bar").getByText(`${count} selected`, { exact: true }).waitFor();
const chat = (index) => id("chat-row").nth(index);
const titles = () => page.locator("[data-testid=folder-row] .name, [data-testid=chat-row] .title").allTextContents();
const folder = (name) => id("folder-row").filter({ hasText: name });
const folderCount = (name) => folder(name).locator("small").textContent();
const said = () => page.locator(".hidden[aria-live=polite]").first().textContent();
const shot = async (name) => process.env.SHOTS && (await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` }));

async function createFolder(name, more = async () => {}) {
	if (await id("chats-view").isVisible()) await id("chats-view").click();
	await id("new-folder").click();
	await id("folder-name").fill(name);
	await more();
	await id("folder-save").click();
	await folder(name).waitFor();
}

/** Drags the middle of one element to the middle of another, in steps, as a hand does. */
async function drag(from, to, { drop = true } = {}) {
	const [start, end] = [await from.boundingBox(), await to.boundingBox()];
	await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
	await page.mouse.down();
	await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2 - 12, { steps: 3 });
	await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 6 });
	if (drop) await page.mouse.up();
}

test("chats are selected from the menu, by click and by range", async () => {
	await show("chat");
	await id("chats-view").click();
	await id("select-chats").click();
	await chosen(0);
	assert.equal(await id("bulk-move").isDisabled(), true);
	await chat(0).click();
	await chosen(1);
	assert.deepEqual([await chat(0).getAttribute("role"), await chat(0).getAttribute("aria-checked")], ["checkbox", "true"]);
	await chat(2).click({ modifiers: ["Shift"] });
	await chosen(3);
	await chat(1).click({ modifiers: ["Control"] });
	await chosen(2);
	await shot("chats-selected");
	assert.deepEqual(await axe(page), []);
	await id("clear-selection").click();
	await id("selection-bar").waitFor({ state: "detached" });
	assert.equal(await chat(0).getAttribute("role"), null);
	await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.dataset.testid), "chat-row"));
});

test("chats are selected by keyboard alone", async () => {
	await show("chat");
	await chat(0).focus();
	await page.keyboard.press("Space");
	await chosen(1);
	await page.keyboard.press("Shift+ArrowDown");
	await page.keyboard.press("Shift+ArrowDown");
	await chosen(3);
	await page.keyboard.press("Shift+ArrowUp");
	await chosen(2);
	await page.keyboard.press("Control+a");
	await id("choose-all").waitFor({ state: "detached" });
	await id("bulk-pin").focus();
	await page.keyboard.press("Escape");
	await id("selection-bar").waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.dataset.testid), "chat-row"));
	await page.keyboard.press("Enter");
	assert.equal(await id("selection-bar").count(), 0, "Enter opens the chat");
});

test("selected chats move together, with one undo", async () => {
	await show("chat");
	await createFolder("Evenings");
	await chat(0).click({ modifiers: ["Control"] });
	await chat(2).click({ modifiers: ["Control"] });
	await id("bulk-move").click();
	await id("folder-choice").filter({ hasText: "Evenings" }).click();
	await eventually(async () => assert.equal(await folderCount("Evenings"), "2"));
	assert.equal(await id("selection-bar").count(), 0);
	await id("undo").last().click();
	await eventually(async () => assert.equal(await folderCount("Evenings"), "0"));
});

test("selected chat moves into a folder that is new", async () => {
	await show("chat");
	await chat(0).click({ modifiers: ["Control"] });
	await id("bulk-move").click();
	await id("new-folder-name").fill("Evenings");
	assert.deepEqual(await axe(page), []);
	await shot("folder-picker");
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await folderCount("Evenings"), "1"));
});

test("selected chats are archived, pinned and exported", async () => {
	await show("chat");
	const all = await titles();
	await chat(1).click({ modifiers: ["Control"] });
	await chat(2).click({ modifiers: ["Control"] });
	await id("bulk-pin").click();
	await eventually(async () => assert.deepEqual((await titles()).slice(0, 2), [all[1], all[2]]));
	await id("bulk-export").click();
	await id("export-text").click();
	await page.getByText("2 chats exported").waitFor();
	await id("bulk-archive").click();
	await eventually(async () => assert.equal((await titles()).includes(all[1]), false));
	await id("undo").last().click();
	await eventually(async () => assert.equal((await titles()).length, all.length));
});

test("selected chats are deleted after one question, with undo", async () => {
	await show("chat");
	const all = await titles();
	await chat(0).focus();
	await page.keyboard.press("Space");
	await page.keyboard.press("Shift+ArrowDown");
	await id("bulk-delete").click();
	const question = page.getByRole("dialog", { name: "Delete 2 chats?" });
	await question.waitFor();
	assert.deepEqual(await axe(page), []);
	await question.getByRole("button", { name: "Delete", exact: true }).click();
	await eventually(async () => assert.deepEqual(await titles(), all.slice(2)));
	assert.equal(await id("selection-bar").count(), 0);
	await id("undo").last().click();
	await eventually(async () => assert.equal((await titles()).length, all.length));
});

test("chat is dragged into a folder and out of it", async () => {
	await show("chat");
	await createFolder("Evenings");
	const moved = (await titles())[1];
	await drag(chat(0), folder("Evenings"), { drop: false });
	await page.locator(".item.target").waitFor();
	assert.match(await id("drag-label").textContent(), /→ Evenings/);
	assert.match(await said(), /→ Evenings/);
	await shot("chat-dragged");
	await page.mouse.up();
	await eventually(async () => assert.equal(await folderCount("Evenings"), "1"));
	assert.equal(await id("drag-label").count(), 0);
	assert.equal((await titles())[1], moved);
	await drag(chat(0), chat(2));
	await eventually(async () => assert.equal(await folderCount("Evenings"), "0"));
	await id("undo").last().click();
	await eventually(async () => assert.equal(await folderCount("Evenings"), "1"));
});

test("Escape ends a drag, and a smart folder takes nothing", async () => {
	await show("chat");
	await createFolder("Evenings");
	await createFolder("Cozy ones", () => id("folder-tag").fill("cozy"));
	await drag(chat(-1), folder("Cozy ones"), { drop: false });
	assert.equal(await page.locator(".item.target").count(), 0);
	const row = await folder("Evenings").boundingBox();
	await page.mouse.move(row.x + 40, row.y + 10, { steps: 3 });
	await page.locator(".item.target").waitFor();
	await page.keyboard.press("Escape");
	await id("drag-label").waitFor({ state: "detached" });
	await page.mouse.up();
	assert.equal(await folderCount("Evenings"), "0");
	assert.match(await said(), /Nothing was moved/);
});

test("folder is dragged into another one, never into itself", async () => {
	await show("chat");
	for (const name of ["Outer", "Inner"]) await createFolder(name);
	await drag(folder("Inner"), folder("Outer"));
	const indent = () => folder("Inner").locator("xpath=..").evaluate((node) => node.style.paddingInlineStart);
	await eventually(async () => assert.equal(await indent(), "14px"));
	await drag(folder("Outer"), folder("Inner"), { drop: false });
	assert.equal(await page.locator(".item.target").count(), 0);
	await page.mouse.up();
	await id("undo").last().click();
	await eventually(async () => assert.equal(await indent(), "0px"));
});

test("a drag takes all selected chats", async () => {
	await show("chat");
	await createFolder("Evenings");
	await chat(0).click({ modifiers: ["Control"] });
	await chat(1).click({ modifiers: ["Control"] });
	await drag(chat(1), folder("Evenings"), { drop: false });
	assert.match(await id("drag-label").textContent(), /2 selected items/);
	await page.mouse.up();
	await eventually(async () => assert.equal(await folderCount("Evenings"), "2"));
});

test("library has folders, in both views", async () => {
	await show("people");
	await createFolder("Friends", () => id("folder-color").selectOption("green"));
	const cards = await settledCount(id("library-card"));
	await id("library-card").nth(0).locator("[data-card]").click({ modifiers: ["Control"] });
	await id("library-card").nth(1).locator("[data-card]").click({ modifiers: ["Control"] });
	await id("bulk-move").click();
	await id("folder-choice").filter({ hasText: "Friends" }).click();
	await eventually(async () => assert.equal(await folderCount("Friends"), "2"));
	assert.equal(await id("selection-bar").count(), 0);
	assert.deepEqual(await axe(page), []);
	await shot("library-folders");
	await folder("Friends").click();
	await eventually(async () => assert.equal(await id("library-card").count(), cards - 2));
	await id("view-list").click();
	await folder("Friends").click();
	await eventually(async () => assert.equal(await id("library-card").count(), cards));
	await shot("library-folders-list");
	await drag(id("library-card").last().locator("[data-card]"), folder("Friends"));
	await eventually(async () => assert.equal(await folderCount("Friends"), "3"));
	await id("undo").last().click();
	await eventually(async () => assert.equal(await folderCount("Friends"), "2"));
});

test("smart folder of the library shows a tag", async () => {
	await show("people");
	const cards = await settledCount(id("library-card"));
	await createFolder("Cozy ones", () => id("folder-tag").fill("cozy"));
	const count = Number(await folderCount("Cozy ones"));
	assert.ok(count > 0);
	await eventually(async () => assert.equal(await id("library-card").count(), cards + count));
});

test("library is used by keyboard across folders", async () => {
	await show("people");
	await createFolder("Friends");
	await id("library-card").first().locator("[data-card]").focus();
	await page.keyboard.press("Space");
	await page.keyboard.press("Shift+ArrowRight");
	await chosen(2);
	await page.keyboard.press("ArrowUp");
	assert.equal(await page.evaluate(() => document.activeElement?.dataset.testid), "folder-row");
	await page.keyboard.press("ArrowDown");
	assert.notEqual(await page.evaluate(() => document.activeElement?.dataset.id), undefined);
	await page.keyboard.press("Escape");
	await id("selection-bar").waitFor({ state: "detached" });
});

test("no script error", () => assert.deepEqual(errors, []));
