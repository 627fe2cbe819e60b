// Command palette and keyboard shortcuts, on the scripted engine.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });

async function find(text) {
	await page.keyboard.press("Control+k");
	await id("palette-text").fill(text);
	await id("palette-line").first().waitFor();
}

test("palette opens a character's chat by a fuzzy name", async () => {
	await show("chat", "dark");
	await find("osei");
	assert.match(await page.getByRole("option", { selected: true }).innerText(), /Osei/);
	await page.keyboard.press("Enter");
	await id("palette").waitFor({ state: "detached" });
	await page.waitForFunction(() => /Osei/.test(document.querySelector("[data-testid=composer]")?.placeholder ?? ""));
});

test("palette finds a setting by a synonym and focuses it", async () => {
	await show("chat", "light");
	await find("night");
	await page.getByRole("option", { name: /^Theme/ }).click();
	await page.waitForFunction(() => document.activeElement?.closest("[data-setting=theme]") !== null);
});

test("words for moving in lead to an import", async () => {
	await show("chat", "light");
	for (const [words, action] of [["import", /^Import files/], ["sillytavern", /^Import from SillyTavern/], ["lorebook json", /^Import files/]]) {
		await find(words);
		const chosen = page.getByRole("option", { name: action });
		await chosen.waitFor();
		if (words !== "lorebook json") assert.match(await page.getByRole("option", { selected: true }).innerText(), action);
		await page.keyboard.press("Escape");
	}
});

test("palette finds messages, > leaves out the rest", async () => {
	await show("chat", "light");
	await find("> lamp");
	await page.waitForFunction(() => document.querySelectorAll("[data-testid=palette-line]").length > 1);
	assert.equal(await page.getByRole("group").count(), 1);
	await page.keyboard.press("Enter");
	await id("palette").waitFor({ state: "detached" });
});

test("used items come first the next time", async () => {
	await show("chat", "dark");
	await find("lorebooks");
	await page.getByRole("option", { name: /Go to lorebooks/ }).click();
	await page.keyboard.press("Control+k");
	assert.match(await id("palette-line").first().innerText(), /Go to lorebooks/);
	await page.keyboard.press("Escape");
});

test("palette and shortcuts have no accessibility violation", async () => {
	for (const theme of ["dark", "light"]) {
		await show("chat", theme);
		await page.keyboard.press("Control+k");
		await id("palette-line").first().waitFor();
		assert.deepEqual(await axe(page), []);
		await show("chat", theme);
		await page.keyboard.press("Control+/");
		await id("shortcuts").waitFor();
		assert.deepEqual(await axe(page), []);
	}
});

test("a new shortcut works, and a taken one is named", async () => {
	await show("chat", "dark");
	await page.keyboard.press("Control+/");
	const row = id("shortcut-newCharacter");
	await row.getByRole("button", { name: /Change/ }).click();
	await page.keyboard.press("Control+k");
	await row.getByText(/Command palette/).waitFor();
	await row.getByRole("button", { name: "Cancel" }).click();
	await row.getByRole("button", { name: /Change/ }).click();
	await page.keyboard.press("Control+Shift+U");
	await page.keyboard.press("Escape");
	await id("shortcuts").waitFor({ state: "detached" });
	await page.keyboard.press("Control+Shift+U");
	await id("save").waitFor();
});

test("arrows in the empty message box show other versions", async () => {
	await show("chat", "dark");
	const selected = () => page.evaluate(() => window.app.chat.last.selected);
	await page.evaluate(() => window.engine.say("one"));
	await page.evaluate(() => {
		const last = window.engine.chats[0].messages.at(-1);
		last.swipes.push({ ...last.swipes[0], id: "two", text: "two" });
		return window.app.chat.load();
	});
	await id("composer").focus();
	await page.keyboard.press("ArrowRight");
	await page.waitForFunction(() => window.app.chat.last.selected === 1);
	await id("composer").fill("text");
	await page.keyboard.press("ArrowLeft");
	assert.equal(await selected(), 1);
	await id("composer").fill("");
	await page.keyboard.press("ArrowLeft");
	await page.waitForFunction(() => window.app.chat.last.selected === 0);
});

if (process.env.PICTURES) {
	test("pictures", async () => {
		await mkdir(process.env.PICTURES, { recursive: true });
		for (const width of [1440, 390]) for (const theme of ["dark", "light"]) {
			await page.setViewportSize({ width, height: 850 });
			await show("chat", theme);
			await find("mi");
			await page.screenshot({ path: `${process.env.PICTURES}/palette-${theme}-${width}.png` });
			await show("chat", theme);
			await page.keyboard.press("Control+/");
			await id("shortcuts").waitFor();
			await page.screenshot({ path: `${process.env.PICTURES}/shortcuts-${theme}-${width}.png` });
		}
	});
}

test("no script error", () => assert.deepEqual(errors, []));
