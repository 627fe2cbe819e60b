// Checks every scene on the scripted engine with axe.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, axeOfColours } from "./axe.mjs";
import { SCENES, scriptedPage } from "./scripted.mjs";

const { page, errors, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });

/** The other themes differ only in colours, and scenes share their parts, so each scene has its turn with one of them. */
const OTHER_THEMES = ["light", "contrast"];
const themesOf = (index) => (process.env.INGLENOOK_ALL_ROUNDS ? OTHER_THEMES : [OTHER_THEMES[index % OTHER_THEMES.length]]);

/** Waits until the next frame has been drawn. */
const frame = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

test("nothing is inaccessible or scrolls the window in any scene", async () => {
	const found = [];
	const look = async (scene, theme, findings) => {
		found.push(...findings.map((line) => `${scene}, ${theme}: ${line}`));
		const over = await page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
		if (over > 0) found.push(`${scene}, ${theme}: the window itself scrolls by ${over} px`);
	};
	for (const [index, scene] of SCENES.entries()) {
		await show(scene, "dark");
		await look(scene, "dark", await axe(page));
		for (const theme of themesOf(index)) {
			await page.evaluate((chosen) => window.app.look.set({ theme: chosen }), theme);
			await frame();
			await look(scene, theme, await axeOfColours(page));
		}
	}
	assert.deepEqual(found, []);
});

test("no script error", () => assert.deepEqual(errors, []));
