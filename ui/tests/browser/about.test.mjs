// Licences of others on the scripted engine: the dialog, its search, and a build without a list.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const dialog = page.getByRole("dialog", { name: "Third-party licences" });

test("licences are searched by keyboard", async () => {
	await show("health");
	await id("licences").press("Enter");
	await dialog.getByText("2 licence texts").waitFor();
	assert.deepEqual(await axe(page), []);
	await page.keyboard.type("serde granted");
	await dialog.getByText("1 licence text", { exact: true }).waitFor();
	assert.match(await id("licence").innerText(), /^serde 1\.0\.229/);
	await page.keyboard.press("Tab");
	await id("licences-close").press("Enter");
	await dialog.waitFor({ state: "detached" });
});

test("build without a list says so", async () => {
	await show("health", "light");
	await page.evaluate(() => (window.engine.licences = null));
	await id("licences").click();
	await dialog.getByText("This build contains no list of licences; packages do.").waitFor();
	assert.deepEqual(await axe(page), []);
});

test("nothing failed", () => assert.deepEqual(errors, []));
