// The lorebooks on the scripted engine: keyboard, unsaved drafts, bulk actions, bindings and tests of entries.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const entries = () => id("entry").locator(".title").allTextContents();

test("entry is edited by keyboard and saved", async () => {
	await show("book");
	await id("new-entry").focus();
	await page.keyboard.press("Enter");
	await id("entry-title").fill("The weathercock");
	await id("entry-keys").fill("cock\nvane, rusty");
	await id("entry-content").fill("It points where it likes.");
	await id("to-entries").click();
	await eventually(async () => assert.equal(await id("entries").getByText("unsaved").count(), 1));
	await id("nav-prompts").click();
	await id("nav-books").click();
	await id("entries").getByText("The weathercock").click();
	await eventually(async () => assert.equal(await id("entry-keys").inputValue(), "cock\nvane, rusty"));
	await id("entry-content").press("Control+s");
	await page.getByText("Saved", { exact: false }).first().waitFor();
	await eventually(async () => assert.ok(await id("save-entry").isDisabled()));
	await id("to-entries").click();
	await eventually(async () => assert.equal((await entries()).at(-1), "The weathercock"));
});

test("entries are disabled, deleted and restored in bulk", async () => {
	await show("bookchosen");
	await id("bulk-off").click();
	await id("entries").locator("li.off").nth(2).waitFor();
	const before = await entries();
	await id("bulk-delete").focus();
	await page.keyboard.press("Enter");
	await page.getByRole("button", { name: "Undo" }).waitFor();
	await eventually(async () => assert.equal((await entries()).length, before.length - 2));
	await page.getByRole("button", { name: "Undo" }).click();
	await id("entry").nth(before.length - 1).waitFor();
	await eventually(async () => assert.deepEqual(await entries(), before));
});

test("moved entry keeps the focus", async () => {
	await show("book");
	const [first, second] = await entries();
	const down = page.getByRole("button", { name: `Move ${first} down` });
	await down.focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction((name) => document.querySelector("[data-testid=entry] .title")?.textContent === name, second);
	await eventually(async () => assert.ok(await down.evaluate((node) => node === document.activeElement)));
});

/** Grabs a row by its handle and drags it over the row `to`, at the fraction `part` of its height. The pointer stays down. */
async function dragOver(entry, to, part) {
	const grip = await id("grip").nth(entry).boundingBox();
	const row = await id("entries").locator("[data-entry]").nth(to).boundingBox();
	await page.mouse.move(grip.x + 8, grip.y + grip.height / 2);
	await page.mouse.down();
	await page.mouse.move(grip.x + 8, row.y + row.height * part, { steps: 5 });
}

test("drag moves an entry, and Escape cancels", async () => {
	await show("book");
	const [first, second, third] = await entries();
	await dragOver(0, 2, 0.8);
	await id("entries").locator("li.after").nth(0).waitFor();
	await eventually(async () => assert.deepEqual(await entries(), [first, second, third, ...(await entries()).slice(3)], "nothing moves before it is let go"));
	await page.mouse.up();
	await page.waitForFunction((name) => document.querySelectorAll("[data-testid=entry] .title")[2]?.textContent === name, first);
	await eventually(async () => assert.deepEqual((await entries()).slice(0, 3), [second, third, first]));
	await page.getByText(`${first}: position 3 of 5`).waitFor({ state: "attached" });
	await dragOver(0, 2, 0.8);
	await page.keyboard.press("Escape");
	await id("entries").locator("li.after").waitFor({ state: "detached" });
	await page.mouse.up();
	await eventually(async () => assert.deepEqual((await entries()).slice(0, 3), [second, third, first]));
});

test("Alt with an arrow key moves and announces an entry", async () => {
	await show("book");
	const [first, second] = await entries();
	const row = id("entry").filter({ hasText: first });
	await row.focus();
	await page.keyboard.press("Alt+ArrowDown");
	await page.getByText(`${first}: position 2 of 5`).waitFor({ state: "attached" });
	await eventually(async () => assert.deepEqual((await entries()).slice(0, 2), [second, first]));
	await eventually(async () => assert.ok(await row.evaluate((node) => node === document.activeElement)));
	await page.getByRole("button", { name: `Move ${first}`, exact: true }).focus();
	await page.keyboard.press("ArrowUp");
	await page.getByText(`${first}: position 1 of 5`).waitFor({ state: "attached" });
});

test("book is bound to a persona and unbound", async () => {
	await show("bookabout");
	const find = id("bind-find").nth(2);
	await find.fill("wan");
	await find.press("Enter");
	await page.getByRole("button", { name: "Remove Wanderer" }).click();
	await page.getByRole("button", { name: "Remove Wanderer" }).waitFor({ state: "detached" });
});

test("test shows triggered entries and reasons", async () => {
	await show("booktry");
	await eventually(async () => assert.match((await id("try-told").textContent()) ?? "", /3 entries would be added, in this order · 58 tokens/));
	await id("try-text").fill("Nothing of that.");
	await page.waitForFunction(() => document.querySelector("[data-testid=try-told]")?.textContent?.includes("1 entry"));
	await page.getByText("4 entries not used").click();
	await page.getByText("turned off").waitFor();
});

test("deleted book is restored, a card's book stays", async () => {
	await show("book");
	await id("book-menu").click();
	await id("delete-book").click();
	await page.getByRole("button", { name: "Undo" }).click();
	await id("book-name").filter({ hasText: "The hill town" }).waitFor();
	await id("book").getByText("Mira's lantern").click();
	await id("book-name").filter({ hasText: "Mira's lantern" }).waitFor();
	await id("book-menu").click();
	await page.getByRole("menuitem", { name: "Open the card of Mira" }).waitFor();
	await eventually(async () => assert.equal(await id("delete-book").count(), 0));
});

test("no script error", () => assert.deepEqual(errors, []));
