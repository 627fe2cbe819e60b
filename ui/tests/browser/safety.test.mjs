// Backups, the trash, and undo of deletions by keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually, settledCount } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1024, height: 768 } });

test("axe finds nothing on backups and trash", async () => {
	const found = [];
	for (const scene of ["backups", "backupsnone", "backupsfailed", "backupsrestore", "datawarnings", "trash", "trashnone", "trashdelete"]) {
		for (const theme of ["dark", "light"]) {
			await show(scene, theme);
			found.push(...(await axe(page)).map((line) => `${scene}: ${line}`));
		}
	}
	assert.deepEqual(found, []);
});

test("restore previews its changes", async () => {
	await show("backups");
	await id("backup").first().getByRole("button", { name: "Restore" }).focus();
	await page.keyboard.press("Enter");
	await id("restore-preview").waitFor();
	const told = await id("restore-preview").textContent();
	for (const text of ["2 will be restored", "A lamp in the window", "36 will be removed"]) assert.ok(told.includes(text), told);
	await page.keyboard.press("Escape");
	await id("restore-preview").waitFor({ state: "detached" });
	await id("backup").first().getByRole("button", { name: "Restore" }).click();
	await id("confirm-restore").click();
	await page.getByText("A backup will be restored the next time Inglenook starts.").waitFor();
});

test("manual backup is first", async () => {
	await show("backups");
	await id("back-up-now").click();
	await page.getByText("Your data is backed up").waitFor();
	assert.ok((await id("backup").first().textContent()).includes("Manual"));
});

test("trash items are restored or deleted", async () => {
	await show("trash");
	await page.getByRole("button", { name: "Restore “The night ferry”" }).click();
	await eventually(async () => assert.equal(await id("trash-item").count(), 2));
	await page.getByRole("button", { name: /^Delete “Juniper/ }).click();
	await page.getByRole("switch", { name: "Delete those backups too" }).click();
	await id("delete-for-good").click();
	await eventually(async () => assert.equal(await id("trash-item").count(), 1));
	await id("empty-trash").click();
	await id("delete-for-good").click();
	await page.getByText("The trash is empty").waitFor();
});

test("Ctrl+Z restores a deleted chat, not typed text", async () => {
	await show("deleting");
	await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
	await page.getByRole("button", { name: "Undo" }).waitFor();
	const rows = await settledCount(id("chat-row"));
	await page.getByRole("searchbox").first().fill("x");
	await page.keyboard.press("Control+z");
	await page.getByRole("searchbox").first().fill("");
	assert.equal(await id("chat-row").count(), rows);
	await page.evaluate(() => document.activeElement.blur());
	await page.keyboard.press("Control+z");
	await eventually(async () => assert.equal(await id("chat-row").count(), rows + 1));
	await page.getByRole("button", { name: "Undo" }).waitFor({ state: "detached" });
});

test("no script error", () => assert.deepEqual(errors, []));
