// Updates on the scripted engine: the way to a newer version and back, by keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const said = () => id("update-state").innerText();

test("update is found, downloaded and installed by keyboard", async () => {
	await show("settings");
	await id("settings-updates").click();
	assert.match(await said(), /has not looked for updates yet/);
	await id("check-updates").press("Enter");
	await eventually(async () => assert.match(await said(), /Version 0\.2\.0 is available/));
	assert.match(await id("update-offer").innerText(), /Replies start sooner/);
	await id("download-update").press("Enter");
	await page.evaluate(() => window.engine.updates.reach(0.5));
	await eventually(async () => assert.match(await id("update-offer").innerText(), /42 MB of 84 MB/));
	assert.ok(await id("check-updates").isDisabled());
	assert.deepEqual(await axe(page), []);
	await page.evaluate(() => window.engine.updates.reach(1));
	await id("install-update").press("Enter");
	await eventually(async () => assert.match(await said(), /Version 0\.2\.0 starts when you restart/));
});

test("weekly check is off until it is switched on", async () => {
	await show("updates");
	const toggle = page.getByRole("switch", { name: "Check once a week" });
	assert.equal(await toggle.getAttribute("aria-checked"), "false");
	await toggle.press("Space");
	await eventually(async () => assert.equal(await page.evaluate(() => window.engine.settings.weeklyUpdateCheck), true));
});

test("going back names the backup first", async () => {
	await show("updates");
	await id("go-back").press("Enter");
	const dialog = page.getByRole("dialog");
	assert.match(await dialog.innerText(), /may refuse data that this version has saved.*restore the backup/s);
	assert.deepEqual(await axe(page), []);
	await dialog.getByRole("button", { name: "Go back to 0.0.9" }).press("Enter");
	await eventually(async () => assert.match(await said(), /Version 0\.0\.9 starts/));
});

test("package shows the command to type", async () => {
	await show("updatespackage");
	assert.equal(await id("update-command").innerText(), "sudo apt install ./inglenook_0.2.0_amd64.deb");
	assert.equal(await id("download-update").count(), 0);
});

test("weekly check tells of a newer version anywhere", async () => {
	await show("chat");
	await page.evaluate(() => {
		window.engine.emit({ event: "updateChanged", status: { ...window.engine.updates.status, phase: "checking" } });
		window.engine.updates.op_check_for_updates();
	});
	await page.getByText("Inglenook 0.2.0 is available").waitFor();
	await id("toast-action").click();
	await id("update-offer").waitFor();
});

test("page has no sideways scrolling at 320 px", async () => {
	await page.setViewportSize({ width: 320, height: 700 });
	for (const scene of ["updates", "updatesdownload", "updatespackage"]) {
		await show(scene);
		const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		assert.ok(over <= 0, `${scene}: ${over} px too wide`);
	}
});

test("nothing failed", () => assert.deepEqual(errors, []));
