// Privacy on the scripted engine: stored prompts and the log are deleted by keyboard, and the X-ray says so.
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

test("no script error", () => assert.deepEqual(errors, []));
