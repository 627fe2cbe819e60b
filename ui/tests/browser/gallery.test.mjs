// The gallery of a card, its emotions, and the accent colour of a chat, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually, settledCount } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const dialog = page.getByRole("dialog");
const title = () => dialog.getByRole("heading").textContent();

test("gallery opens a viewer that arrow keys move", async () => {
	await show("editorfiles");
	await id("gallery-tile").first().click();
	await id("viewer").locator("img").waitFor();
	const count = await settledCount(id("gallery-tile"));
	await dialog.getByText(`1 of ${count}`).waitFor();
	const first = await title();
	await page.keyboard.press("ArrowRight");
	await dialog.getByText(`2 of ${count}`).waitFor();
	assert.notEqual(await title(), first);
	await page.keyboard.press("Home");
	await page.keyboard.press("ArrowLeft");
	await dialog.getByText(`${count} of ${count}`).waitFor();
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
});

test("emotions of a character can be changed", async () => {
	await show("editorfiles");
	await id("expressions-labels").fill("Calm, joy; calm");
	await page.keyboard.press("Tab");
	await eventually(async () => assert.equal(await id("expressions-labels").inputValue(), "neutral, calm, joy"));
	const options = await id("expression").first().locator("option").allTextContents();
	assert.ok(options.includes("calm") && options.includes("joy"), options.join());
});

for (const theme of ["light", "dark", "contrast"]) {
	test(`accent of a chat is readable, ${theme}`, async () => {
		await show("chat", theme);
		await page.evaluate(async () => {
			await window.app.api.setSetting({ scope: "chat", id: window.app.chat.id }, "accent_color", "#777777");
			await window.app.chat.loadDisplaySettings();
		});
		const section = page.locator("section.chat");
		await eventually(async () => assert.match((await section.getAttribute("style")) ?? "", /--ember: rgb/));
		assert.deepEqual(await axe(page), []);
	});
}

test("no page error", () => assert.deepEqual(errors, []));
