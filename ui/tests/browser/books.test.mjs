// The lorebooks on the scripted engine: entries by keyboard, what is unsaved, several at once, bindings, trying.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const entries = () => id("entry").locator(".title").allTextContents();

test("an entry is written by keyboard, waits unsaved, and is kept once it is saved", async () => {
	await show("book");
	await id("new-entry").focus();
	await page.keyboard.press("Enter");
	await id("entry-title").fill("The weathercock");
	await id("entry-keys").fill("cock\nvane, rusty");
	await id("entry-content").fill("It points where it likes.");
	await id("to-entries").click();
	assert.equal(await id("entries").getByText("unsaved").count(), 1);
	await id("nav-prompts").click();
	await id("nav-books").click();
	await id("entries").getByText("The weathercock").click();
	assert.equal(await id("entry-keys").inputValue(), "cock\nvane, rusty");
	await id("entry-content").press("Control+s");
	await page.getByText("Saved", { exact: false }).first().waitFor();
	assert.ok(await id("save-entry").isDisabled());
	await id("to-entries").click();
	assert.equal((await entries()).at(-1), "The weathercock");
});

test("several entries are switched off, deleted and brought back", async () => {
	await show("bookchosen");
	await id("bulk-off").click();
	await id("entries").locator("li.off").nth(2).waitFor();
	const before = await entries();
	await id("bulk-delete").focus();
	await page.keyboard.press("Enter");
	await page.getByRole("button", { name: "Undo" }).waitFor();
	assert.equal((await entries()).length, before.length - 2);
	await page.getByRole("button", { name: "Undo" }).click();
	await id("entry").nth(before.length - 1).waitFor();
	assert.deepEqual(await entries(), before);
});

test("an entry moves down without losing the focus", async () => {
	await show("book");
	const [first, second] = await entries();
	const down = page.getByRole("button", { name: `Move ${first} down` });
	await down.focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction((name) => document.querySelector("[data-testid=entry] .title")?.textContent === name, second);
	assert.ok(await down.evaluate((node) => node === document.activeElement));
});

test("a book is bound to a persona by typing its name, and the binding is taken away again", async () => {
	await show("bookabout");
	const find = id("bind-find").nth(2);
	await find.fill("wan");
	await find.press("Enter");
	await page.getByRole("button", { name: "Take away Wanderer" }).click();
	await page.getByRole("button", { name: "Take away Wanderer" }).waitFor({ state: "detached" });
});

test("words that are tried tell which entries they wake, and what keeps the others out", async () => {
	await show("booktry");
	assert.match((await id("try-told").textContent()) ?? "", /3 entries are told, in this order · 58 tokens/);
	await id("try-text").fill("Nothing of that.");
	await page.waitForFunction(() => document.querySelector("[data-testid=try-told]")?.textContent?.includes("1 entry"));
	await page.getByText("4 entries are not told").click();
	await page.getByText("switched off").waitFor();
});

test("a deleted book comes back, and a card's own cannot be deleted", async () => {
	await show("book");
	await id("book-menu").click();
	await id("delete-book").click();
	await page.getByRole("button", { name: "Undo" }).click();
	await id("book-name").filter({ hasText: "The hill town" }).waitFor();
	await id("book").getByText("Mira's lantern").click();
	await id("book-name").filter({ hasText: "Mira's lantern" }).waitFor();
	await id("book-menu").click();
	await page.getByRole("menuitem", { name: "Open the card of Mira" }).waitFor();
	assert.equal(await id("delete-book").count(), 0);
});

test("no script failed", () => assert.deepEqual(errors, []));
