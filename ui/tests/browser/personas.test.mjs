// Personas of characters and imported chats, copies of characters and earlier versions of cards, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually, settledCount } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const dialog = page.getByRole("dialog");

async function importedChat() {
	await show("chat");
	await page.evaluate(async () => {
		Object.assign(window.engine.chat(window.app.chat.id), { nameKept: "Tom", asksName: true });
		await window.app.chat.load();
	});
	await id("kept-name").waitFor();
}

test("imported chat asks who plays its user", async () => {
	await importedChat();
	assert.deepEqual(await axe(page), []);
	await id("kept-name-create").click();
	await id("kept-name").waitFor({ state: "detached" });
	await eventually(async () => assert.match(await id("persona-chip").textContent(), /Tom/));
});

test("name of an imported chat can be kept", async () => {
	await importedChat();
	await id("kept-name-keep").click();
	await id("kept-name").waitFor({ state: "detached" });
	await page.evaluate(() => window.app.chat.load());
	await id("composer").waitFor();
	assert.equal(await id("kept-name").count(), 0);
});

test("imported chat takes an existing persona", async () => {
	await importedChat();
	await id("kept-name-choose").focus();
	await page.keyboard.press("Enter");
	await page.getByRole("menuitem", { name: "Sam" }).click();
	await id("kept-name").waitFor({ state: "detached" });
	await eventually(async () => assert.match(await id("persona-chip").textContent(), /Sam/));
});

test("persona is bound to the character of a chat", async () => {
	await show("chat");
	const bound = () => page.evaluate(() => window.app.settings.personas.find(({ id }) => id === "p1").characters.includes(window.app.chat.info.character));
	await id("persona-chip").click();
	await id("persona-always").click();
	await eventually(async () => assert.equal(await bound(), true));
	await id("persona-chip").click();
	await id("persona-always").click();
	await eventually(async () => assert.equal(await bound(), false));
});

test("chip of the persona leads to the list of personas", async () => {
	await show("chat");
	await id("persona-chip").press("Enter");
	await id("personas-manage").press("Enter");
	await eventually(async () => assert.equal(await id("settings-personas").getAttribute("aria-selected"), "true"));
	await eventually(async () => assert.ok(await id("new-persona").evaluate((node) => node === document.activeElement)));
});

test("persona has a position, a depth and characters", async () => {
	await show("personas");
	await page.getByRole("button", { name: "Edit Sam" }).click();
	assert.equal(await id("persona-depth").inputValue(), "4");
	await id("persona-position").selectOption("afterCard");
	await id("persona-depth").waitFor({ state: "detached" });
	await dialog.getByTestId("member-add").fill("osei");
	await page.keyboard.press("Enter");
	await dialog.getByTestId("persona-character").waitFor();
	assert.deepEqual(await axe(page), []);
	await dialog.getByRole("button", { name: "Save" }).click();
	await dialog.waitFor({ state: "detached" });
	const saved = await page.evaluate(() => window.app.settings.personas.find(({ name }) => name === "Sam"));
	assert.equal(saved.place.position, "afterCard");
	assert.deepEqual(saved.characters, ["c2"]);
});

test("persona becomes a character", async () => {
	await show("personas");
	await id("persona-to-character").first().click();
	await eventually(async () => assert.equal(await id("field-name").inputValue(), "Wanderer"));
});

test("earlier version shows its changes and is restored", async () => {
	await show("editor");
	await id("versions").click();
	await id("version-changes").first().click();
	await dialog.locator("ins", { hasText: "old" }).waitFor();
	await dialog.locator("del", { hasText: "red" }).waitFor();
	assert.deepEqual(await axe(page), []);
	await id("version-restore").first().click();
	await dialog.waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await id("field-description").inputValue(), "The earlier description."));
});

test("character is copied and the copy is opened", async () => {
	await show("people");
	const before = await settledCount(id("library-card"));
	await id("card-menu").first().click();
	await id("duplicate-character").click();
	await id("duplicate").waitFor();
	await page.evaluate(() => window.app.go("people"));
	await eventually(async () => assert.equal(await id("library-card").count(), before + 1));
});

test("no page error", () => assert.deepEqual(errors, []));
