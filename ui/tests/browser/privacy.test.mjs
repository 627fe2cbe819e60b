// Privacy on the scripted engine by keyboard: stored prompts and the log are deleted, and a character, a persona and days are
// forgotten.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const taken = (key) => id(`taken-${key}`).innerText();
const choice = (name) => id("setting-row-keep_prompts").getByRole("radio", { name });

test("page shows the space of prompts and log", async () => {
	await show("privacy");
	await eventually(async () => assert.match(await taken("keep_prompts"), /412 stored prompts take 13 MB/));
	assert.match(await taken("write_log"), /38 kB/);
	assert.deepEqual(await axe(page), []);
});

test("prompts are deleted only after a confirmation", async () => {
	await show("privacy");
	await choice("off").click();
	const dialog = page.getByRole("dialog");
	assert.match(await dialog.innerText(), /All stored prompts of past turns are deleted/);
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
	assert.equal(await choice("on").getAttribute("aria-checked"), "true", "nothing has changed");
	assert.match(await taken("keep_prompts"), /412/);

	await choice("off").click();
	await dialog.getByRole("button", { name: "Delete for good" }).press("Enter");
	await eventually(async () => assert.match(await taken("keep_prompts"), /No prompts are stored/));
	assert.equal(await choice("off").getAttribute("aria-checked"), "true");
});

test("X-ray says that the prompt was not kept", async () => {
	await page.evaluate(() => {
		window.app.go("chats");
		return window.app.xray.reply("chat0", "a1s");
	});
	await eventually(async () => assert.match(await id("error").innerText(), /The prompt was not kept/));
	await id("to-privacy").press("Enter");
	await id("setting-row-keep_prompts").waitFor();
});

test("log is switched off by keyboard", async () => {
	await show("privacy");
	const toggle = page.getByRole("switch", { name: "Write a log" });
	await toggle.press("Space");
	await eventually(async () => assert.match(await taken("write_log"), /There are no log files/));
	assert.equal(await toggle.getAttribute("aria-checked"), "false");
});

test("days are forgotten after a question", async () => {
	await show("privacy");
	await id("forget-first").fill("2026-05-03");
	await id("forget-last").fill("2026-05-01");
	assert.ok(await id("forget-days").isDisabled());
	await page.getByText("The last day is before the first day.").waitFor();
	await id("forget-last").fill("2026-05-05");
	await id("forget-days").press("Enter");
	const dialog = page.getByRole("dialog");
	await id("forget-counts").waitFor();
	assert.match(await dialog.innerText(), /57 messages[^]*12 backups made before now/);
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });

	await id("forget-days").press("Enter");
	await id("forget-confirm").press("Enter");
	await id("forget-report").waitFor();
	assert.match(await id("forget-report").innerText(), /12 backups/);
	assert.equal(await id("forget-left").count(), 0);
	assert.deepEqual(await axe(page), []);
	await id("forget-report-close").press("Enter");
	await dialog.waitFor({ state: "detached" });
});

test("report names a second folder that is away", async () => {
	await show("privacy");
	await page.evaluate(() => (window.engine.privacy.left = [{ kind: "secondPlaceAway", count: 1, detail: "the folder /media/sam/Archive is missing" }]));
	await id("forget-first").fill("2026-05-03");
	await id("forget-last").fill("2026-05-03");
	await id("forget-days").press("Enter");
	await id("forget-confirm").press("Enter");
	await id("forget-left").waitFor();
	assert.match(await id("forget-left").innerText(), /is not available[^]*Archive is missing/);
	await id("forget-report-close").press("Enter");
	await eventually(async () => assert.match(await id("forget-owed").innerText(), /1 removal waits/));
});

test("character is forgotten from its menu", async () => {
	await show("people");
	await id("card-menu").first().press("Enter");
	await id("forget-character").press("Enter");
	await id("forget-counts").waitFor();
	const before = await page.evaluate(() => window.engine.characters.length);
	await page.getByRole("switch", { name: "Delete those backups too" }).press("Space");
	await id("forget-confirm").press("Enter");
	await eventually(async () => assert.match(await id("forget-left").innerText(), /12 backups stay/));
	assert.equal(await page.evaluate(() => window.engine.characters.length), before - 1);
	await id("forget-report-close").press("Enter");
});

test("persona is forgotten from its editor", async () => {
	await show("personas");
	const names = () => page.evaluate(() => window.app.settings.personas.map(({ name }) => name));
	const all = await names();
	const last = all.at(-1);
	await page.getByRole("button", { name: `Edit ${last}`, exact: true }).press("Enter");
	await id("forget-persona").press("Enter");
	await id("forget-confirm").press("Enter");
	await id("forget-report-close").press("Enter");
	await eventually(async () => assert.deepEqual(await names(), all.slice(0, -1)));
});

test("no script error", () => assert.deepEqual(errors, []));
