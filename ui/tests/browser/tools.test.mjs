// Questions about tools, rounds of a reply, and the settings of tools, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });

for (const [scene, theme, language] of [["toolrounds", "dark", "en"], ["toolquestion", "light", "de"], ["toolsettings", "light", "en"], ["toolsettings", "dark", "de"]]) {
	test(`${scene} is accessible in ${theme} and ${language}`, async () => {
		await show(scene, theme, language);
		assert.deepEqual(await axe(page), []);
	});
}

test("question shows tool, server and arguments", async () => {
	await show("toolquestion");
	const dialog = page.getByRole("dialog", { name: "Mira Vale wants to use “read_file”" });
	await dialog.waitFor();
	const text = await id("tool-question").textContent();
	for (const part of ["read_file", "files", "/notes/mill.md"]) assert.ok(text.includes(part), part);
});

test("the safe answer has the focus, and Escape allows nothing", async () => {
	await show("toolquestion");
	await eventually(async () => assert.ok(await id("tool-not-now").evaluate((node) => node === document.activeElement)));
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("a tool is allowed by keyboard", async () => {
	await show("toolquestion");
	await id("tool-chat").focus();
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("used tools open by keyboard with arguments and result", async () => {
	await show("toolrounds");
	const first = id("tool-rounds").locator("summary").first();
	assert.equal((await first.textContent()).trim(), "Rolled dice: 2d6 = 9 (4 + 5)");
	await first.focus();
	await page.keyboard.press("Enter");
	await page.getByText('roll_dice({"dice":"2d6"})').waitFor();
	await page.getByText("96 tokens · 1.2 s").first().waitFor();
	await id("tool-limit").waitFor();
});

test("a decision is deleted in the settings", async () => {
	await show("toolsettings");
	await eventually(async () => assert.equal(await id("tool-grant").count(), 3));
	await page.getByRole("button", { name: "Ask again for delete_file (files)" }).click();
	await eventually(async () => assert.equal(await id("tool-grant").count(), 2));
});

test("question and settings fit a narrow window", async () => {
	await page.setViewportSize({ width: 320, height: 640 });
	for (const scene of ["toolquestion", "toolsettings", "toolrounds"]) {
		await show(scene);
		const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		assert.ok(over <= 0, `${scene} is ${over} px too wide`);
	}
});

test("no script failed", () => assert.deepEqual(errors, []));
