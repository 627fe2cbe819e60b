// Files from other programs and notifications, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const offer = (...paths) => page.evaluate((all) => window.engine.offer(all), paths);
const answered = () => page.evaluate(() => window.engine.answered);

test("file from another program needs an answer", async () => {
	await show("chat");
	await offer("/home/sam/Downloads/Mira.png", "/home/sam/Downloads/Tom.charx");
	await page.getByRole("dialog", { name: "Import these 2 files?" }).waitFor();
	await id("openings").getByText("/home/sam/Downloads/Tom.charx").waitFor();
	assert.deepEqual(await axe(page), []);
	await id("openings-accept").click();
	await id("openings").waitFor({ state: "detached" });
	assert.deepEqual(await answered(), [{ accept: true, shown: 2 }]);
});

test("Escape imports nothing", async () => {
	await show("chat");
	await offer("/tmp/Mira.png");
	await id("openings").waitFor();
	await page.keyboard.press("Escape");
	await id("openings").waitFor({ state: "detached" });
	assert.deepEqual(await answered(), [{ accept: false, shown: 1 }]);
});

test("notifications are a setting of the window", async () => {
	await show("settings");
	const row = page.locator("[data-setting=notifications]");
	await row.getByText("Without names and texts").waitFor();
	await row.getByTestId("choice-off").click();
	await eventually(async () => assert.equal(await page.evaluate(() => window.engine.settings.notifications), "off"));
});

test("no page error", () => assert.deepEqual(errors, []));
