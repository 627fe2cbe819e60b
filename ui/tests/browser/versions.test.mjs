// Versions of replies, chats as documents, and joined chats, on the scripted engine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const last = () => page.locator("[data-testid=message]").last();
const wanted = () => page.evaluate(() => window.engine.versions.wanted);
const swipes = () => page.evaluate(() => window.app.chat.last.swipes.length);
const idle = () => eventually(async () => assert.equal(await page.evaluate(() => window.app.chat.busy), false));

async function hint(item) {
	await last().focus();
	await id("regenerate-menu").focus();
	await page.keyboard.press("Enter");
	await id(item).press("Enter");
}

test("hint is sent with one version of the reply", async () => {
	await show("chat");
	const before = await swipes();
	await hint("hint-shorter");
	await eventually(async () => assert.equal(await swipes(), before + 1));
	assert.deepEqual(await wanted(), { hint: { kind: "shorter" }, model: null });
	await idle();
	await hint("hint-own");
	await id("hint-input").fill("She is angry.");
	assert.deepEqual(await axe(page), []);
	await page.keyboard.press("Enter");
	await eventually(async () => assert.deepEqual(await wanted(), { hint: { kind: "own", text: "She is angry." }, model: null }));
	await idle();
});

test("versions are compared and chosen by keyboard", async () => {
	await show("chat");
	await hint("hint-longer");
	await idle();
	await hint("compare");
	await id("version-1").waitFor();
	assert.deepEqual(await axe(page), []);
	assert.match(await id("version-1").innerText(), /Version 4 of 4/);
	await id("use-1").focus();
	await page.keyboard.press("ArrowLeft");
	assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), "use-0");
	await page.keyboard.press("Enter");
	await eventually(async () => assert.equal(await page.evaluate(() => window.app.chat.last.selected), 2));
	assert.equal(await id("version-1").count(), 0);
});

test("another model answers next to the shown version", async () => {
	await show("chat");
	await hint("other-model");
	await id("model-picker").waitFor();
	const option = page.locator("[data-testid=model-picker] [role=option]").nth(1);
	await option.click();
	await eventually(async () => assert.ok((await wanted())?.model));
	await idle();
	assert.match(await id("version-1").innerText(), /Version 4 of 4/);
	await page.keyboard.press("Escape");
});

test("chat is previewed, saved and printed", async () => {
	await show("chat");
	await id("chat-menu").press("Enter");
	await id("export-readable").press("Enter");
	const preview = page.frameLocator("[data-testid=export-preview] iframe");
	await preview.locator("article").first().waitFor();
	assert.ok((await preview.locator("b").first().innerText()).length > 0);
	assert.deepEqual(await axe(page), []);
	await page.getByRole("switch", { name: "Names" }).press("Space");
	await eventually(async () => assert.equal(await preview.locator("b").first().innerText(), ""));
	await page.evaluate(() => (window.printed = 0));
	await page.evaluate(() => {
		const append = document.body.append.bind(document.body);
		document.body.append = (frame) => (append(frame), (frame.contentWindow.print = () => (window.printed = frame.contentDocument.querySelectorAll("article").length)));
	});
	await id("print-chat").press("Enter");
	await eventually(async () => assert.ok((await page.evaluate(() => window.printed)) > 0));
	await page.getByRole("radio", { name: "Plain text" }).click();
	await page.locator("[data-testid=export-preview] pre").waitFor();
	await id("save-chat").press("Enter");
	await page.getByText("/home/sam/Documents/Mira.jsonl").waitFor();
});

test("document in the preview runs no script", async () => {
	await show("chat");
	await page.evaluate(() => (window.engine.chats[0].messages.at(-1).swipes[0].text = "x"));
	await page.evaluate(() => (window.engine.versions.op_render_chat = () => ({ text: "<body><script>parent.hacked = 1</script><img src=x onerror='parent.hacked = 1'><p>Shown</p></body>", messages: 1, warnings: [] })));
	await id("chat-menu").press("Enter");
	await id("export-readable").press("Enter");
	await page.frameLocator("[data-testid=export-preview] iframe").getByText("Shown").waitFor();
	assert.equal(await page.evaluate(() => window.hacked), undefined);
	await page.keyboard.press("Escape");
});

test("chats are joined, and it can be undone", async () => {
	await show("chat");
	const ids = () => page.evaluate(() => window.app.chat.messages.length);
	const before = await ids();
	await page.evaluate(() => {
		const { id } = window.app.chat;
		const own = window.engine.chats.find((chat) => chat.id === id);
		const other = { ...structuredClone(own), id: "other", title: "Another evening" };
		const last = other.messages.at(-1);
		last.swipes[last.selected].text = "The door bangs shut behind you. ".repeat(20);
		window.engine.chats.push(other);
		return window.app.chats.load();
	});
	await id("chat-menu").press("Enter");
	await id("join").press("Enter");
	await page.locator("#join").getByText("Another evening").click();
	assert.deepEqual(await axe(page), []);
	await id("join-action").press("Enter");
	await eventually(async () => assert.equal(await ids(), before * 2));
	await page.getByRole("button", { name: "Undo" }).click();
	await eventually(async () => assert.equal(await ids(), before));
});

test("earlier text shows its changes by words", async () => {
	await show("chat");
	const first = await page.evaluate(() => {
		const { id } = window.app.chat.messages[0];
		window.engine.branches.edited.add(id);
		return window.app.chat.marks.load().then(() => id);
	});
	const message = page.locator(`[data-message-id="${first}"]`);
	await message.focus();
	await message.locator("[data-testid=message-menu]").focus();
	await page.keyboard.press("Enter");
	await id("revisions").press("Enter");
	await id("revision-changes").waitFor();
	assert.equal(await id("revision-changes").locator("del").innerText(), "Once, ");
	assert.deepEqual(await axe(page), []);
	await page.getByRole("radio", { name: "Whole text" }).click();
	await id("revision-changes").waitFor({ state: "detached" });
	await page.keyboard.press("Escape");
});

test("dialogs fit a phone", async () => {
	await page.setViewportSize({ width: 390, height: 844 });
	await show("chat");
	await hint("other-model");
	await id("version-0").waitFor();
	const wide = () => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
	assert.equal(await wide(), false);
	await page.setViewportSize({ width: 1280, height: 800 });
	assert.deepEqual(errors, []);
});
