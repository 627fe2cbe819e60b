// Checks scenes on the scripted engine for errors, keyboard use and scrolling.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { scriptedPage } from "./scripted.mjs";

const { page, errors, id, show } = await scriptedPage({ viewport: { width: 1280, height: 800 } });
const log = (read) => id("log").evaluate(read);
const distance = () => log((node) => node.scrollHeight - node.scrollTop - node.clientHeight);

/** Waits until the next frame has been drawn. */
const frame = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

test("picture enlarges by keyboard and returns the focus", async () => {
	await show("pictures");
	const first = id("message-pictures").getByRole("button").first();
	await eventually(async () => assert.equal(await first.getByRole("img").getAttribute("alt"), "harbour.jpg"));
	await first.focus();
	await page.keyboard.press("Enter");
	await page.getByRole("dialog", { name: "harbour.jpg" }).waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });
	await eventually(async () => assert.ok(await first.evaluate((node) => node === document.activeElement)));
});

test("attached picture can be removed by keyboard", async () => {
	await show("pictures");
	await id("blind").waitFor();
	await eventually(async () => assert.ok(await id("send").isEnabled()));
	await page.getByRole("button", { name: "Remove lamp.png" }).focus();
	await page.keyboard.press("Enter");
	await id("attached").waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await id("blind").count(), 0));
	await eventually(async () => assert.ok(await id("composer").evaluate((node) => node === document.activeElement)));
	await eventually(async () => assert.ok(await id("send").isDisabled()));
});

test("documents are attached and removed by keyboard", async () => {
	await show("documents");
	await id("setting-row-document-book1").waitFor();
	await id("document-file").setInputFiles({ name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("# The lamp\n\nIt burns oil.") });
	await page.getByTitle("notes.md").waitFor();
	await eventually(async () => assert.equal(await id("documents-count").textContent(), "3 documents attached"));
	await page.getByRole("button", { name: "Remove notes.md" }).focus();
	await page.keyboard.press("Enter");
	await page.getByTitle("notes.md").waitFor({ state: "detached" });
	await eventually(async () => assert.ok(await id("document-add").evaluate((node) => node === document.activeElement)));
	await page.getByRole("button", { name: "Undo" }).click();
	await page.getByTitle("notes.md").waitFor();
});

test("composer takes documents and pictures", async () => {
	await show("chat");
	const file = (name, mimeType) => ({ name, mimeType, buffer: Buffer.from("text") });
	await id("attach-file").setInputFiles([file("notes.md", ""), file("lamp.png", "image/png")]);
	await id("attached").waitFor();
	await id("documents-count").waitFor();
	await eventually(async () => assert.equal(await id("attached").getByRole("listitem").count(), 1));
	await id("documents-count").click();
	await page.getByTitle("notes.md").waitFor();
});

test("sprite follows the emotion of the shown reply", async () => {
	await show("spritesgroup");
	const speaker = page.locator("[data-testid=actor].speaks");
	await eventually(async () => assert.equal(await speaker.getByTestId("sprite").getAttribute("data-hash"), "c2"));
	assert.equal(await speaker.getAttribute("data-emotion"), "joy");
	assert.equal(await id("actor").count(), 2);
	assert.equal(await id("actor").last().getAttribute("data-emotion"), "joy", "the speaker is in front");
	await show("chat");
	assert.equal(await id("stage").getAttribute("data-place"), "off", "nothing changes without pictures");
});

test("composer stays below the messages beside a sprite", async () => {
	await show("sprites");
	await eventually(async () => assert.equal(await id("stage").getAttribute("data-place"), "beside"));
	const middle = (selector) => page.locator(selector).first().evaluate((node) => node.getBoundingClientRect()).then(({ x, width }) => x + width / 2);
	assert.ok(Math.abs((await middle(".composer")) - (await middle("article"))) < 24);
	const [box, cast] = await Promise.all([id("composer").boundingBox(), id("sprites").boundingBox()]);
	assert.ok(box.x + box.width <= cast.x, "the sprite covers no part of the composer");
});

test("image token shows a picture of the card", async () => {
	await show("sprites");
	const last = page.locator("[data-message-id=a9]");
	await last.getByRole("button", { name: "harbour" }).waitFor();
	const words = await last.getByTestId("message-text").innerText();
	assert.ok(!words.includes("${image.harbour}") && words.includes("${image.nowhere}"), "a token without a picture stays text");
});

test("background is chosen and removed by keyboard", async () => {
	await show("gallery");
	await page.getByRole("radio", { name: "None" }).focus();
	await page.keyboard.press("Space");
	await id("backdrop").waitFor({ state: "detached" });
	await page.getByRole("radio", { name: "archive.png" }).focus();
	await page.keyboard.press("Space");
	await id("backdrop").waitFor();
	await page.getByRole("button", { name: "Remove archive.png from the gallery" }).press("Enter");
	await id("backdrop").waitFor({ state: "detached" });
});

test("scene words select the background by keyboard", async () => {
	await show("gallery");
	const words = page.getByRole("textbox", { name: "Scene words of archive.png" });
	await words.fill("Library,  Library, old mill");
	await words.press("Enter");
	await eventually(async () => assert.equal(await words.inputValue(), "Library, old mill"));
	await id("background").getByRole("radio", { name: "Automatic" }).focus();
	await page.keyboard.press("Space");
	await id("backdrop").waitFor({ state: "detached" });
	const run = async (command) => {
		await id("composer").fill(command);
		await id("composer").press("Enter");
	};
	await run("/scene They reach the inn.");
	await id("backdrop").waitFor();
	await id("background-by-scene").getByText("because the scene contains “inn”").waitFor();
	await run("/scene The old mill turns.");
	await id("background-by-scene").getByText("archive.png, because the scene contains “old mill”").waitFor();
	assert.deepEqual(await axe(page), []);
	await page.getByRole("radio", { name: "None" }).check();
	await id("backdrop").waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await id("background-by-scene").textContent(), ""));
});

test("dropped pictures assign themselves to emotions", async () => {
	await show("editorfiles");
	const file = (name) => ({ name, mimeType: "image/png", buffer: Buffer.from("x") });
	await id("expressions-input").setInputFiles([file("fear.png"), file("fear-2.png"), file("smirk.png")]);
	const chosen = (name) => page.getByRole("combobox", { name: `Emotion of ${name}` });
	await eventually(async () => assert.equal(await chosen("fear-2").inputValue(), "fear"));
	await chosen("smirk").selectOption("joy");
	await chosen("joy-2").waitFor();
});

test("appearance is exported, reset and imported", async () => {
	await show("settings");
	await page.getByRole("radio", { name: "Wide" }).click();
	const width = () => page.evaluate(() => document.documentElement.style.getPropertyValue("--column"));
	await eventually(async () => assert.match(await width(), /46/));
	await page.getByRole("button", { name: "Reset appearance" }).click();
	await eventually(async () => assert.match(await width(), /35.5/));
	const theme = { kind: "inglenook-theme", width: "wide", css: "body { display: none }" };
	const give = (text) => id("theme-file").setInputFiles({ name: "theme.json", mimeType: "application/json", buffer: Buffer.from(text) });
	await give("{}");
	await page.getByRole("alert").waitFor();
	await give(JSON.stringify(theme));
	await eventually(async () => assert.match(await width(), /46/));
});

test("chat opens at its end", async () => {
	await show("long");
	await page.locator("[data-message-id=l599]").waitFor();
	await eventually(async () => assert.ok((await distance()) < 2));
});

test("only visible messages are rendered", async () => {
	await show("long");
	await eventually(async () => assert.ok((await id("message").count()) < 40));
});

test("shows 2,000 characters and chats at once", async () => {
	await show("crowd");
	await id("library-card").first().waitFor();
	await eventually(async () => assert.ok((await id("library-card").count()) < 80));
	await page.locator(".grid").evaluate((node) => (node.scrollTop = node.scrollHeight));
	await id("library-card").filter({ hasText: "1999" }).waitFor();
	await id("search").fill("juniper 1203");
	await page.waitForFunction(() => document.querySelectorAll("[data-testid=library-card]").length === 1);
	const started = Date.now();
	await id("nav-chats").click();
	await id("chat-row").first().waitFor();
	await eventually(async () => assert.ok((await id("chat-row").count()) < 60));
	assert.ok(Date.now() - started < 3_000, `${Date.now() - started} ms`);
});

test("older messages load without moving the view", async () => {
	await show("long");
	const box = await id("log").boundingBox();
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
	const first = () => log((node) => Math.min(...[...node.querySelectorAll("[data-message-id]")].map((one) => Number(one.dataset.messageId.slice(1)))));
	for (let turns = 0; turns < 200 && (await first()) >= 500; turns++) {
		const [seen, top] = await log((node) => {
			const edge = node.getBoundingClientRect().top;
			const one = [...node.querySelectorAll("[data-message-id]")].find((message) => message.getBoundingClientRect().bottom > edge + 60);
			return [one.dataset.messageId, one.getBoundingClientRect().top];
		});
		await page.mouse.wheel(0, -150);
		await frame();
		await frame();
		const now = await page.locator(`[data-message-id=${seen}]`).boundingBox();
		assert.ok(Math.abs(now.y - top) < 240, `${seen} went from ${top} to ${now.y}`);
	}
	await eventually(async () => assert.ok((await first()) < 500, "an older page has come"));
	await id("jump").click();
	await frame();
	await eventually(async () => assert.ok((await distance()) < 60));
});

/** The scroll position of the log after the wheel's own scrolling has ended. */
async function still() {
	let [before, now] = [-1, await log((node) => node.scrollTop)];
	while (before !== now) {
		await frame();
		await frame();
		[before, now] = [now, await log((node) => node.scrollTop)];
	}
	return now;
}

test("reply scrolls along unless the reader scrolled up", async () => {
	await show("chat");
	await id("composer").fill("Show me.");
	await id("composer").press("Enter");
	await page.locator("[data-state=streaming] .prose").waitFor();
	await frame();
	await eventually(async () => assert.ok((await distance()) < 4));
	const box = await id("log").boundingBox();
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
	await page.mouse.wheel(0, -300);
	await id("jump").waitFor();
	const top = await still();
	await id("stop").waitFor({ state: "detached" });
	await eventually(async () => assert.ok(Math.abs((await log((node) => node.scrollTop)) - top) < 2, "the reader's place is kept"));
	await id("jump").click();
	await frame();
	await eventually(async () => assert.ok((await distance()) < 4));
});

test("Enter in an input method sends nothing", async () => {
	await show("chat");
	await id("composer").fill("にほん");
	await id("composer").dispatchEvent("keydown", { key: "Enter", isComposing: true });
	await id("composer").dispatchEvent("keydown", { key: "Enter", keyCode: 229 });
	await eventually(async () => assert.equal(await id("composer").inputValue(), "にほん"));
	await eventually(async () => assert.equal(await id("message").last().getAttribute("data-message-id"), "a2"));
});

test("Shift+Enter adds a line and the composer grows", async () => {
	await show("chat");
	const low = (await id("composer").boundingBox()).height;
	await id("composer").fill("one");
	await page.keyboard.press("Shift+Enter");
	await page.keyboard.type("two");
	await eventually(async () => assert.equal(await id("composer").inputValue(), "one\ntwo"));
	await eventually(async () => assert.ok((await id("composer").boundingBox()).height > low + 10));
});

test("arrow keys move through chats and messages", async () => {
	await show("chat");
	await id("chat-row").first().focus();
	await page.keyboard.press("ArrowDown");
	await eventually(async () => assert.match(await page.evaluate(() => document.activeElement.textContent), /Captain Osei/));
	await page.locator("[data-message-id=a2]").focus();
	await page.keyboard.press("ArrowRight");
	await page.waitForFunction(() => document.querySelector("[data-message-id=a2] [data-testid=swipe-count]").textContent === "3 / 3");
	await page.keyboard.press("ArrowUp");
	await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.dataset.messageId), "u2"));
});

test("finished reply is announced once as a whole", async () => {
	await show("chat");
	await id("composer").fill("Show me.");
	await id("composer").press("Enter");
	await id("stop").waitFor();
	await id("stop").waitFor({ state: "detached" });
	await eventually(async () => assert.match(await page.locator(".hidden[aria-live=polite]").textContent(), /^Mira: \*She laughs.*Look\.”$/s));
});

test("menu works by keyboard and returns the focus", async () => {
	await show("chat");
	await id("chat-menu").focus();
	await page.keyboard.press("Enter");
	await page.getByRole("menu").waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("menu").waitFor({ state: "detached" });
	await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), "chat-menu"));
});

test("members are added, called and removed", async () => {
	await show("group");
	const said = (of) => page.locator(`[data-message-id=${of}]`);
	const member = (name) => id("members").locator("li", { hasText: name });
	await said("g2").waitFor();
	await eventually(async () => assert.match(await said("g2").textContent(), /Captain Osei/));
	await eventually(async () => assert.match(await said("g3").textContent(), /Next: Narrator/));
	await id("member-add").fill("junip");
	await id("member-add").press("Enter");
	await member("Juniper").waitFor();
	await page.getByRole("button", { name: "Remove Captain Osei" }).click();
	await member("Captain Osei").waitFor({ state: "detached" });
	await id("group-chip").click();
	await page.getByRole("menuitem", { name: "Juniper" }).click();
	await id("stop").waitFor();
	await page.locator("[data-role=event]").last().getByText("Next: Juniper").waitFor();
	await id("stop").waitFor({ state: "detached" });
});

test("chat overrides a card text and resets it", async () => {
	await show("owntexts");
	const row = (field) => id(`setting-row-text-${field}`);
	const text = (field) => id(`text-${field}`);
	await eventually(async () => assert.ok(await text("scenario").evaluate((node) => node === document.activeElement)));
	await eventually(async () => assert.match(await text("scenario").inputValue(), /A storm/));
	await row("messageExamples").getByText("Left out in this chat.").waitFor();
	await text("personality").fill("merry");
	await text("personality").press("Tab");
	await row("personality").getByText("This chat").waitFor();
	await row("scenario").getByRole("button", { name: "Scenario: restore the card's text" }).focus();
	await page.keyboard.press("Enter");
	await row("scenario").getByText("Card", { exact: true }).waitFor();
	await eventually(async () => assert.doesNotMatch(await text("scenario").inputValue(), /A storm/));
	await eventually(async () => assert.ok(await text("scenario").evaluate((node) => node === document.activeElement)));
	await eventually(async () => assert.equal(await text("personality").inputValue(), "merry"));
});

test("no script error", () => assert.deepEqual(errors, []));
