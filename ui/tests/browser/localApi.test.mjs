// The local API on the scripted engine: its switch, its keys, vision in the chat, and sources of messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const api = (read) => page.evaluate(read);

test("switch and port change the settings by keyboard", async () => {
	await show("localapi");
	const toggle = page.getByRole("switch", { name: "Let other programs connect" });
	await toggle.focus();
	await page.keyboard.press("Space");
	await eventually(async () => assert.equal(await api(() => window.engine.localApi.info.settings.enabled), false));
	await id("api-port").fill("70000");
	await page.keyboard.press("Tab");
	assert.equal(await id("api-port").getAttribute("aria-invalid"), "true");
	await id("api-port").fill("8123");
	await page.keyboard.press("Tab");
	await eventually(async () => assert.equal(await api(() => window.engine.localApi.info.settings.port), 8123));
	assert.deepEqual(await axe(page), []);
});

test("busy port offers a free one", async () => {
	await show("localapibusy");
	assert.match(await id("api-failure").innerText(), /Another program uses port 8000/);
	await id("use-free-port").press("Enter");
	await eventually(async () => assert.equal(await api(() => window.engine.localApi.info.settings.port), 8001));
});

test("key is made with limits, shown once and revoked", async () => {
	await show("localapi");
	await id("new-key").press("Enter");
	await eventually(async () => assert.equal(await api(() => document.activeElement.dataset.testid), "key-name"));
	await page.keyboard.type("Reading lamp");
	await id("choice-some").click();
	assert.ok(await id("save-key").isDisabled(), "a key for no character is useless");
	await page.getByRole("checkbox", { name: "Mira" }).check();
	assert.deepEqual(await axe(page), []);
	await id("save-key").click();
	await id("key-secret").waitFor();
	assert.match(await id("key-secret").inputValue(), /^inglenook_/);
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Escape");
	await eventually(async () => assert.equal(await id("api-key").count(), 3));
	assert.doesNotMatch(await page.locator("body").innerText(), /inglenook_Xb3dN0qk/);
	await id("revoke-key").last().press("Enter");
	await page.getByRole("button", { name: "Revoke key" }).press("Enter");
	await eventually(async () => assert.equal(await id("api-key").count(), 2));
});

test("page has no sideways scrolling at 320 px", async () => {
	await page.setViewportSize({ width: 320, height: 700 });
	await show("localapi");
	const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	assert.ok(over <= 0, `${over} px too wide`);
	await page.setViewportSize({ width: 1280, height: 800 });
});

test("header shows vision, and messages show their source", async () => {
	await show("chat");
	const chat = await api(() => window.app.chat.id);
	await page.evaluate((id) => window.engine.emit({ event: "vision", chat: id, status: { state: "absent", text: "", at: new Date().toISOString() } }), chat);
	await eventually(async () => assert.match(await id("vision").innerText(), /Away/));
	await page.evaluate(() => (window.app.chat.messages = window.app.chat.messages.map((one) => (one.role === "user" ? { ...one, source: "voice" } : one))));
	await eventually(async () => assert.match(await id("message-source").first().getAttribute("title"), /recognition errors/));
	assert.deepEqual(await axe(page), []);
});

test("nothing failed", () => assert.deepEqual(errors, []));
